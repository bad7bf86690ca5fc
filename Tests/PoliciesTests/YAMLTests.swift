import Policies
import Testing

/// YAML that is refused, and the places of faults inside embedded expressions.
@Suite struct YAMLTests {
    static let refused: [(String, [Expected])] = [
        ("«1»", [Expected(1, "yaml.emptyFile", "nothing but blanks and comments")]),
        ("«1»# kind: trust\n# name: a\n", [Expected(1, "yaml.emptyFile", "nothing but")]),
        ("«1»---\n...\n", [Expected(1, "yaml.emptyFile", "nothing but")]),
        (
            "kind: trust\n«1»kind: trust\nrule: {match: [{output: {friction: unchanged}}]}\nname: a\nversion: 1\ncategories: [payment]\n",
            [Expected(1, "yaml.duplicateKey", "`kind` is given twice")]
        ),
        (
            "name: a\nrule: {match: [{condition: 'true && true', output: «1»&x '1'}, {output: «2»*x}]}\n",
            [
                Expected(1, "yaml.anchorOrAlias", "anchors"),
                Expected(2, "yaml.anchorOrAlias", "aliases"),
                Expected(2, "policy.wrongType", "must be an expression"),
            ]
        ),
        (
            "name: «1»!secret a\nrule: {match: [{output: '1'}]}\n",
            [Expected(1, "yaml.unknownTag", "`!secret`")]
        ),
        (
            "name: a\nrule: {match: [{output: '1'}]}\n«1»---\nname: b\n",
            [Expected(1, "yaml.severalDocuments", "one document")]
        ),
        (
            "name: a\nrule: {match: [{output: '1'\n«1»",
            [Expected(1, "yaml.syntax", "expected")]
        ),
        ("«1»- a\n", [Expected(1, "policy.wrongType", "the file must be a mapping")]),
        ("kind: «1»turst\n", [Expected(1, "policy.unknownKind", "`turst` is no kind")]),
        (
            "«1»name: a\ncategories: [payment]\nrule: {match: [{output: '1'}]}\n",
            [Expected(1, "policy.missingKey", "`categories` needs `kind`")]
        ),
    ]

    @Test(arguments: refused) func refuses(_ text: String, _ expected: [Expected]) {
        expectFindings(in: text, expected)
    }

    @Test func refusesKeysThatAreNoText() {
        expectFindings(
            in: "name: a\n? «1»[b]\n: c\nrule: {match: [{output: '1'}]}\n",
            [Expected(1, "yaml.badKey", "plain text")])
    }

    /// The library breaks lines there, editors do not.
    @Test(arguments: ["\u{85}", "\u{2028}", "\u{2029}", "\r"])
    func refusesLineBreaksThatEditorsDoNotCount(_ lineBreak: String) {
        expectFindings(
            in: "name: a\ndescription: b«1»\(lineBreak)c\nrule: {match: [{output: '1'}]}\n",
            [Expected(1, "yaml.lineBreak", "not allowed")])
    }

    @Test func refusesOtherEncodings() {
        let load = PolicyLoader().load([
            .init(path: "p.yaml", bytes: Array("a: b\nname: ".utf8) + [0xFF, 0x0A])
        ])
        #expect(load.diagnostics.map(\.code) == ["yaml.encoding"])
        #expect(load.diagnostics[0].range.start == SourcePosition(line: 2, column: 7))
    }

    @Test func skipsAByteOrderMark() {
        let text = "name: a\nrule: {match: [{condition: 1 +, output: '1'}]}\n"
        let plain = PolicyLoader().load([.init(path: "p.yaml", bytes: Array(text.utf8))])
        let marked = PolicyLoader().load([
            .init(path: "p.yaml", bytes: [0xEF, 0xBB, 0xBF] + Array(text.utf8))
        ])
        #expect(plain.hasErrors)
        #expect(marked.diagnostics == plain.diagnostics)
    }

    @Test func countsLinesAlikeWithEitherLineEnd() {
        let text =
            "name: a\n\nrule:\n  match:\n  - condition: >\n      1 == 1 &&\n      x +\n    output: '1'\n"
        let unix = PolicyLoader().load([.init(path: "p.yaml", bytes: Array(text.utf8))])
        let windows = PolicyLoader().load([
            .init(path: "p.yaml", bytes: Array(text.replacing("\n", with: "\r\n").utf8))
        ])
        #expect(unix.hasErrors)
        #expect(unix.diagnostics == windows.diagnostics)
    }

    @Test func limitsDepthAndSize() {
        let nested = { (depth: Int) -> [String] in
            let text =
                "name: a\nx: " + String(repeating: "[", count: depth)
                + String(repeating: "]", count: depth) + "\n"
            return PolicyLoader().load([.init(path: "p.yaml", bytes: Array(text.utf8))])
                .diagnostics.map(\.code)
        }
        #expect(!nested(PolicyLimits.yamlDepth - 1).contains("yaml.tooDeep"))
        #expect(nested(PolicyLimits.yamlDepth).contains("yaml.tooDeep"))
        #expect(nested(200_000).contains("yaml.tooDeep"))

        let sized = { (count: Int) -> [String] in
            let head = "name: a\nrule: {match: [{output: '1'}]}\n#"
            let bytes = Array(head.utf8) + Array(repeating: 0x20, count: count - head.utf8.count)
            return PolicyLoader().load([.init(path: "p.yaml", bytes: bytes)]).diagnostics.map(
                \.code)
        }
        #expect(sized(PolicyLimits.fileBytes) == [])
        #expect(sized(PolicyLimits.fileBytes + 1) == ["yaml.tooLarge"])
    }

    @Test func reportsAtMostOneHundredErrors() {
        let text =
            "name: a\nrule: {match: [{output: '1'}]}\n" + (0..<150).map { "k\($0): 1\n" }.joined()
        let load = PolicyLoader().load([.init(path: "p.yaml", bytes: Array(text.utf8))])
        #expect(load.diagnostics.count == PolicyLimits.diagnosticsPerFile + 1)
        #expect(load.diagnostics.last?.message == "50 more findings of this kind are not shown")
        #expect(load.diagnostics.last?.code == "tooManyDiagnostics")
    }

    /// The wrong operand `1` stands at the mark, whatever way the scalar is written.
    static let scalars: [String] = [
        "condition: «1»x + true == 1",
        "condition: 1 == 1 &&\n        «1»x + true == 1",
        "condition: 1 == 1 &&\n\n        «1»x + true == 1",
        "condition: '«1»x + true == 1'",
        "condition: 'y == ''a'' && «1»x + true == 1'",
        "condition: 'y == ''a''\n\n        && «1»x + true == 1'",
        "condition: \"«1»x + true == 1\"",
        "condition: \"y == \\\"a\\u0062\\\" && «1»x + true == 1\"",
        "condition: \"y == 'a' \\\n        && «1»x + true == 1\"",
        "condition: \"y == 'ä🙂' &&\n        «1»x + true == 1\"",
        "condition: |\n        y == 'a' &&\n          «1»x + true == 1",
        "condition: |-\n        y == 'a' && // said\n\n        «1»x + true == 1",
        "condition: >\n        y == 'a' &&\n        «1»x + true == 1",
        "condition: >2-\n         y == 'a' &&\n        «1»x + true == 1",
        "condition: >-  # why\n        y == 'ä🙂' &&\n\n        «1»x + true == 1",
    ]

    @Test(arguments: scalars) func findsThePlaceInAnyScalar(_ condition: String) {
        let config = PolicyLoader.File(
            path: "config.yaml",
            bytes: Array("variables: [{name: x, type: int}, {name: y, type: string}]\n".utf8))
        let text = """
            name: sample
            rule:
              match:
                - \(condition.replacing("\n", with: "\n"))
                  output: "true"

            """
        expectFindings(
            in: text, [Expected(1, "cel.type.overload", "(int, bool)")], beside: [config])
    }
}
