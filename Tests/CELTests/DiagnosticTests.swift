import CEL
import Testing

@Suite("Diagnostics point at the exact text")
struct DiagnosticTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var source: String
        var code: String
        var help: String?
        var testDescription: String { source }
        init(_ source: String, _ code: String, help: String? = nil) {
            self.source = source
            self.code = code
            self.help = help
        }
    }

    static let cases: [Case] = [
        Case("1 +«»", "cel.syntax"),
        Case("(1 + 2«»", "cel.syntax"),
        Case("1 «2»", "cel.syntax"),
        Case("[1, 2«}»", "cel.syntax"),
        Case("{'a' «1»}", "cel.syntax"),
        Case("f(«,» 1)", "cel.syntax"),
        Case("«=» 1", "cel.syntax.character"),
        Case("a «&» b", "cel.syntax.character", help: "write `&&`"),
        Case("«'abc»", "cel.syntax.string"),
        Case("'a «\\q»b'", "cel.syntax.escape"),
        Case("'«\\ud800»'", "cel.syntax.escape"),
        Case("1 + «9223372036854775808»", "cel.syntax.number"),
        Case("«12abc»", "cel.syntax.number"),
        Case("«1e999»", "cel.syntax.number"),
        Case("«if»", "cel.syntax"),
        Case("«amount» > 3", "cel.undeclared"),
        Case("«noww» > timestamp(0)", "cel.undeclared", help: "did you mean `now`?"),
        Case(
            "«attributes.amout» > 3.0", "cel.undeclared.field",
            help: "did you mean `amount`?"),
        Case("has(«attributes») && true", "cel.macro.has", help: "write `has(a.b)`"),
        Case("«has(attributes.nope)»", "cel.undeclared.field"),
        Case(
            "«attributes.amount + 1»", "cel.type.overload",
            help: "convert one side: `double(x)`, or write the number with a point"),
        Case(
            "«attributes.amount» && true", "cel.type.condition", help: "each operand must be bool"),
        Case("«!attributes.amount»", "cel.type.overload", help: "the operand must be bool"),
        Case("«'a' == 1»", "cel.type.overload", help: "`dyn(x)` compares different types"),
        Case(
            "«true ? 1 : 'a'»", "cel.type.overload",
            help: "both results must be of one type; `dyn(x)` allows different ones"),
        Case("«'a'.startWith('b')»", "cel.undeclared.function", help: "did you mean `startsWith`?"),
        Case(
            "«startsWith('a', 'b')»", "cel.undeclared.function",
            help: "call it as `x.startsWith(…)`"),
        Case("«'a'.matches(1)»", "cel.type.overload", help: "it takes (string)"),
        Case("'a'.matches(«'('»)", "cel.regex"),
        Case("[1].all(«x.y», true)", "cel.macro.variable"),
        Case("[1].all(x, «x»)", "cel.type.condition"),
        Case("«1».all(x, true)", "cel.type.range"),
        Case("[1].transformList(a, «a», a)", "cel.macro.variable"),
        Case("«1.field»", "cel.type.select"),
        Case("«Unknown{}»", "cel.undeclared.type"),
    ]

    @Test(arguments: cases)
    func place(_ example: Case) throws {
        let (text, range) = unmark(example.source)
        let result = try Environment.payment().compile(text)
        #expect(result.program == nil)
        let first = try #require(result.diagnostics.first)
        #expect(first.code == example.code, "\(first)")
        #expect(first.range == range, "\(first)")
        if let help = example.help { #expect(first.help == help) }
        // House style of messages: lower case, no full stop, one line.
        #expect(first.message.last != "." && !first.message.contains("\n"))
    }

    @Test func severalFaultsAreReportedAtOnce() throws {
        let result = Environment().compile("[1 +, foo(), 'a' ~ 3, bar]")
        #expect(result.diagnostics.count >= 2)
        let checked = Environment().compile("foo + bar + baz")
        #expect(checked.diagnostics.map(\.code) == Array(repeating: "cel.undeclared", count: 3))
    }

    @Test(arguments: [
        "«[1, 2][5]» > 1", "attributes.amount > 2.0 || «1 / 0» > 1",
        "«attributes.accountAgeDays / 0» > 1",
        "[1].exists(x, «x % 0» == 1)", "«{'a': 1}.b» == 1",
    ])
    func whatCanOnlyFailIsAWarning(_ marked: String) throws {
        let (text, range) = unmark(marked)
        let result = try Environment.payment().compile(text)
        #expect(result.program != nil)
        #expect(result.diagnostics.map(\.code) == ["cel.alwaysFails"])
        #expect(result.diagnostics.first?.range == range)
        #expect(result.diagnostics.first?.severity == .warning)
    }

    /// Trying a constant part beforehand reports nothing a second time.
    @Test(arguments: [
        ("'a'.matches('(?=a)')", ["cel.regex"]),
        ("'a'.matches('(') || 'b'.matches('(')", ["cel.regex", "cel.regex"]),
        ("true || 'a'.matches('(')", ["cel.regex"]), ("1 / 0", ["cel.alwaysFails"]),
        ("strings.format('a', [])", ["cel.undeclared"]),
    ])
    func eachFaultIsReportedOnce(_ row: (text: String, codes: [String])) {
        #expect(Environment().compile(row.text).diagnostics.map(\.code) == row.codes, "\(row.text)")
    }

    @Test(arguments: ["attributes.amount / 0.0 > 1.0", "true || 1 / 0 > 1", "[1, 2][1] > 1"])
    func whatCanWorkIsNoWarning(_ text: String) throws {
        #expect(try Environment.payment().compile(text).diagnostics.isEmpty)
    }

    @Test func invalidUTF8IsNamed() throws {
        let result = Environment().compile(utf8: [0x27, 0x61, 0xFF, 0x27])
        #expect(result.diagnostics.map(\.code) == ["cel.syntax.utf8"])
        #expect(result.diagnostics.first?.range == 2..<3)
    }

    @Test func rendering() throws {
        let source = "true &&\n  größe > 3"
        let diagnostic = try #require(
            Environment().compile("true &&\n  groesse > 3").diagnostics.first)
        #expect(
            SourceText(Array("true &&\n  groesse > 3".utf8), name: "rule.yaml").render(diagnostic)
                == """
                rule.yaml:2:3: error: undeclared reference to 'groesse' (in container '') [cel.undeclared]
                    groesse > 3
                    ^^^^^^^

                """)
        // Columns count code points: `ö` and `ß` are one each.
        #expect(SourceText(Array(source.utf8)).position(of: source.utf8.count) == (2, 12))
    }

    @Test func renderingAtTheEndsOfTheText() {
        for bytes in [
            [], Array("a".utf8), Array("a\n".utf8), Array(String(repeating: "é", count: 999).utf8),
        ] {
            let source = SourceText(bytes)
            for offset in [-5, 0, bytes.count, bytes.count + 9] {
                let text = source.render(
                    Diagnostic(range: max(0, offset)..<max(0, offset), code: "x", message: "y"))
                #expect(text.contains("^"))
            }
        }
    }
}
