import JSON
import Testing

import Policies

/// Changes that findings propose: what they make of a file, and when none is made.
@Suite struct FixTests {
    static let cases: [(String, String)] = [
        ("conditon: attributes.amount > 5.0", "condition: attributes.amount > 5.0"),
        ("condition: attributes.amuont > 5.0", "condition: attributes.amount > 5.0"),
        (
            "condition: attributes.amount > 5.0, mode: shdow",
            "condition: attributes.amount > 5.0, mode: shadow"
        ),
        (
            "condition: 'insight.outcome >= \"medium\"'",
            "condition: 'insight.outcome in [\"medium\", \"high\"]'"
        ),
        ("condition: 'insight.outcome > \"medium\"'", "condition: 'insight.outcome == \"high\"'"),
        ("condition: 'insight.outcome == \"hihg\"'", "condition: 'insight.outcome == \"high\"'"),
        ("condition: 'attributes.amount.sise() > 5'", "condition: 'attributes.amount.sise() > 5'"),
        // What is below an outcome is not clear, and escapes are not looked through.
        ("condition: 'insight.outcome < \"high\"'", "condition: 'insight.outcome < \"high\"'"),
        (
            "condition: \"insight.outcome >= \\\"high\\\"\"",
            "condition: \"insight.outcome >= \\\"high\\\"\""
        ),
        // The near key is there already: the change would give two of them.
        ("condition: 'true', conditio: 'true'", "condition: 'true', conditio: 'true'"),
    ]

    @Test(arguments: cases) func mends(_ rule: String, _ expected: String) throws {
        let make = { (rule: String) in
            trustPolicy(rules: "- {id: rule, \(rule), output: {friction: increased}}")
        }
        let file = PolicyLoader.File(path: "p.yaml", bytes: Array(make(rule).utf8))
        let run = FixRun([file, testModel], with: PolicyLoader())
        let text = String(decoding: run.files[0].bytes, as: UTF8.self)
        #expect(text == make(expected), "\(run.load.rendered())")
        #expect(run.changes.isEmpty == (rule == expected))
        #expect(run.changedPaths == (rule == expected ? [] : ["p.yaml"]))
    }

    @Test func severalRoundsAndSeveralFilesAtOnce() throws {
        let policy = trustPolicy(
            rules:
                "- {conditon: attributes.amuont > 5.0, output: {friction: increased, steps: [wran]}}"
        )
        .replacing("version: 1\n", with: "version: \"1\"\n")
        let tests = """
            policy: sampel
            section:
              - name: amounts
                tests:
                  - {name: one, input: {atributes: {amount: 1.0}}, expect: {friction: unchanged}}

            """
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let run = FixRun(
            [
                .init(path: "p.yaml", bytes: mark + Array(policy.utf8)),
                .init(path: "p_test.yaml", bytes: Array(tests.utf8)), testModel,
            ], with: PolicyLoader())
        #expect(!run.load.hasErrors, "\(run.load.rendered())")
        #expect(run.changedPaths == ["p.yaml", "p_test.yaml"])
        #expect(run.files[0].bytes.starts(with: mark))
    }

    @Test func severalNearNamesMendNothing() {
        #expect(
            NearestName.question("abd", among: ["abc", "abe"]) == "did you mean `abc` or `abe`?")
        #expect(NearestName.question("abd", among: ["abc", "xyz"]) == "did you mean `abc`?")
    }

    @Test func editorsAreToldTheEdit() throws {
        let text = trustPolicy(rules: "- {conditon: 'true', output: {friction: increased}}")
        let load = PolicyLoader().load([.init(path: "p.yaml", bytes: Array(text.utf8)), testModel])
        let finding = try #require(load.diagnostics.first)
        let edit = try #require(finding.fix?.edits.first)
        #expect(edit.replacement == "condition" && edit.range == finding.range)
        let json = finding.json["fix"]?["edits"]
        #expect(json?.text.contains("\"replacement\":\"condition\"") == true, "\(json?.text ?? "")")
    }
}
