import CEL
import Testing

/// The lexis of the language definition.
@Suite("Literals and names")
struct LiteralTests {
    @Test func strings() {
        holds([
            #"'''x''x''' == "x''x""#, #""\"" == '"'"#, #"r"\\" == "\\\\""#, #"'\"' == "\"""#,
            #""\303\277" == "Ãÿ".replace("ÿ", "¿")"#, #""\377" == "ÿ""#, #""\xFF" == "ÿ""#,
            #""\XfF" == "\u00ff""#, #""\u00e9" == "é" && "\U000000e9" == "é""#,
            #""\a\b\f\n\r\t\v" == "\007\010\014\012\015\011\013""#, #""\?\`\'\"\\" == "?`'\"\\""#,
            "'''a\nb''' == 'a\\nb'", #"R'\n' == '\\n'"#, #"r"""\""" == "\\""#,
            #"size('') == 0 && size("") == 0"#, #"'\x00' != '' && size('\x00') == 1"#,
        ])
    }

    @Test func codePointsBeyondTheFirstPlane() {
        holds([
            #""\U0001F62C" == "😬""#, #""\uD83D\uDE2C" == "😬""#, #"size("\ud83d\ude2c") == 1"#,
            #"size("\U0010FFFF") == 1"#,
        ])
        isRefused(
            "cel.syntax.escape",
            [
                #""\uD83D""#, #""\uDE2C""#, #""\uD83Dx""#, #""\uD83D\u0041""#, #""\uDE2C\uD83D""#,
                #""\U0000D800""#, #""\U00110000""#, #""\uD83D\U0000DE2C""#,
            ])
    }

    @Test func bytes() {
        holds([
            #"b"ÿ" == b"\303\277""#, #"b"\377" == b"\xff" && size(b"\377") == 1"#,
            #"b'abc' == bytes('abc')"#, #"br'\x' == b'\\x'"#, #"bR"\x" == rb"\x""#,
            #"B'''a'b''' == b"a'b""#, #"b'\a\?\`' == b'\007?`'"#,
        ])
        isRefused("cel.syntax.escape", [#"b"\u00ff""#, #"b"\U000000ff""#])
    }

    @Test func brokenLiterals() {
        isRefused("cel.syntax.escape", [#"'\z'"#, #"'\400'"#, #"'\12'"#, #"'\x4'"#, #"'\u12'"#])
        isRefused("cel.syntax.string", ["'a", "'a\nb'", "'a\rb'", "'''a''", #""a\""#])
        isRefused("cel.syntax.number", ["1a", "0x", "1e3u", "1uu", "0xg"])
    }

    @Test func numbers() {
        holds([
            "0x7fffffffffffffff == 9223372036854775807",
            "-0x8000000000000000 == -9223372036854775808",
            "0XaBu == 171u", "18446744073709551615u == 0xffffffffffffffffu", "1U == 1u",
            ".5 == 0.5", "1e3 == 1000.0", "1E+3 == 1000.0", "1.5e-1 == 0.15", "5e-325 == 0.0",
            "5e-324 > 0.0", "- 1 == -1", "--1 == 1", "1 -1 == 0", "[1][0]-1 == 0", "-(-1) == 1",
            "007 == 7",
        ])
        isRefused(
            "cel.syntax.number",
            [
                "9223372036854775808", "-9223372036854775809", "0x8000000000000000",
                "18446744073709551616u", "1e309", "-1e309",
            ])
        isRefused("cel.type.overload", ["-5u"])
        isRefused("cel.syntax", ["1."])
        fails(.overflow, ["-(-9223372036854775808)", "-(-0x8000000000000000)"])
    }

    @Test func blanksAndComments() {
        holds([
            "\t\n\u{c}\r true", "true // false", "// x\ntrue", "// x\rtrue", "// x\r\ntrue",
            "1 + // one\n 1 == 2", "'//' == \"//\"",
        ])
        isRefused("cel.syntax", ["1 /* c */"])
        isRefused("cel.syntax.character", ["true\u{a0}", "true\u{b}", "a # b"])
    }

    @Test func names() {
        holds([
            "{'if': 1}.if == 1", "{'a-b': 1}.`a-b` == 1", "{'a b/c.d': 1}.`a b/c.d` == 1",
            "has({'a.b': 1}.`a.b`)", "[1].exists(_, _ == 1)", "[1].all(_x1, _x1 == 1)",
        ])
        isRefused("cel.syntax", ["if", "`a`", "{'in': 1}.in", "{'true': 1}.true", "a.null"])
        for word in [
            "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
            "loop", "package", "namespace", "return", "var", "void", "while",
        ] {
            isRefused("cel.syntax", [word, "[1].all(\(word), true)"])
            holds(["{'\(word)': 1}.\(word) == 1"])
        }
    }

    /// The least that every implementation has to take.
    @Test func repetitions() {
        let numbers = (0..<32).map(String.init)
        holds([
            Array(repeating: "false", count: 31).joined(separator: " || ") + " || true",
            Array(repeating: "true", count: 32).joined(separator: " && "),
            Array(repeating: "1", count: 33).joined(separator: " + ") + " == 33",
            Array(repeating: "2", count: 33).joined(separator: " * 1 / 1 * ") + " == 8589934592",
            "true" + String(repeating: " == true", count: 32),
            String(repeating: "(", count: 32) + "true" + String(repeating: ")", count: 32),
            String(repeating: "false ? false : ", count: 32) + "true",
            String(repeating: "!", count: 32) + "true",
            String(repeating: "-", count: 32) + "1 == 1",
            String(repeating: "[", count: 32) + "true" + String(repeating: "]", count: 32)
                + String(repeating: "[0]", count: 32),
            String(repeating: "{'a': ", count: 32) + "true" + String(repeating: "}", count: 32)
                + String(repeating: ".a", count: 32),
            "[\(numbers.joined(separator: ", "))].size() == 32",
            "{\(numbers.map { "\($0): \($0)" }.joined(separator: ", "))}.size() == 32",
            "math.greatest(\(numbers.joined(separator: ", "))) == 31",
            String(repeating: "int(uint(", count: 16) + "7" + String(repeating: "))", count: 16)
                + " == 7",
        ])
    }

    @Test func trailingCommas() {
        holds(["[1, 2,] == [1, 2]", "{'a': 1,} == {'a': 1}"])
        holds(["google.protobuf.Int32Value{value: 1,} == 1"])
        isRefused("cel.syntax", ["[,]", "{,}", "size([1],)", "[1,,2]"])
    }

    @Test func precedence() {
        holds([
            "1 + 2 * 3 == 7", "(1 + 2) * 3 == 9", "10 - 4 - 3 == 3", "24 / 4 / 2 == 3",
            "-2 * -3 == 6", "1 < 2 == true", "1 in [1] == true", "!true == false",
            "true || false && false", "false ? 1 == 1 : true ? true : false",
            "-{'a': 1}.a == -1", "!{'a': true}.a == false", "5 % 3 * 2 == 4",
        ])
        isRefused("cel.syntax", ["1 +", "1 2", "(1", "1)", "a ? b", "", "?"])
    }
}
