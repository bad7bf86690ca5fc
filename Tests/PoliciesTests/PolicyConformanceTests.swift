import CELConformance
import Foundation
import JSON
import Policies
import Testing
import Time

/// Checks of the suite that do not pass, each with its reason. The list can only shrink: a check
/// that passes although it is listed fails the run.
private let knownFailures: [String: String] = [:]

private let folder = ProcessInfo.processInfo.environment["DISCERN_CONFORMANCE"].map {
    URL(filePath: $0 + "/cel-policy", directoryHint: .isDirectory)
}

@Suite(
    "Conformance with the suite of CEL policies",
    .enabled(if: folder != nil, "set DISCERN_CONFORMANCE to the folder of the suites"))
struct PolicySuiteTests {
    private func cases() throws -> [PolicyCase] {
        let manager = FileManager.default
        let folder = try #require(folder)
        let names = try manager.contentsOfDirectory(atPath: folder.path).sorted()
        return try names.compactMap { name in
            let place = folder.appending(path: name)
            let policy = place.appending(path: PolicyCase.policyFile)
            guard manager.fileExists(atPath: policy.path) else { return nil }
            let files = try manager.contentsOfDirectory(atPath: place.path)
                .filter { $0.hasSuffix(".yaml") }
            return PolicyCase(
                name: name,
                files: try files.map {
                    let bytes = try Data(contentsOf: place.appending(path: $0))
                    return PolicyLoader.File(path: $0, bytes: Array(bytes))
                })
        }
    }

    @Test func suite() throws {
        let expectations = try Data(
            contentsOf: try #require(folder).appending(path: "expectations.json"))
        let expected = PolicyExpectations(
            try JSONReader.parse(Array(expectations), limits: JSONLimits(bytes: 64 << 20)))
        let runner = PolicyConformanceRunner(zones: .utc)
        var ran = 0
        for policyCase in try cases() {
            for check in runner.run(policyCase, expected) {
                switch check.outcome {
                case .skipped: continue
                case .passed:
                    #expect(
                        knownFailures[check.id] == nil, "\(check.id) passes: take it off the list")
                case .failed(let expected, let actual):
                    if knownFailures[check.id] == nil {
                        Issue.record("\(check.id): expected \(expected), got \(actual)")
                    }
                }
                ran += 1
            }
        }
        #expect(ran > 0)
    }
}

/// The runner itself, with cases of our own.
@Suite struct PolicyRunnerTests {
    private func run(
        _ files: [String: String], name: String = "own", expecting expectations: String = "{}"
    ) throws -> [String: Bool] {
        let policyCase = PolicyCase(
            name: name,
            files: files.map { PolicyLoader.File(path: $0.key, bytes: Array($0.value.utf8)) })
        let json = try JSONReader.parse(Array(expectations.utf8))
        let checks = PolicyConformanceRunner(zones: .utc).run(
            policyCase, PolicyExpectations(json))
        return Dictionary(
            uniqueKeysWithValues: checks.map { check in
                if case .passed = check.outcome { (check.id, true) } else { (check.id, false) }
            })
    }

    @Test func runsTestsWithTheFunctionsOfTheSuite() throws {
        let results = try run([
            "policy.yaml": "name: p\nrule: {match: [{output: locationCode(ip)}]}",
            "config.yaml": """
            variables: [{name: ip, type: string}]
            functions:
              - name: locationCode
                overloads: [{id: l, args: [{type_name: string}], return: {type_name: string}}]
            """,
            "tests.yaml": """
            section:
              - name: s
                tests:
                  - {name: right, input: {ip: {value: 10.0.0.2}}, output: {value: de}}
                  - {name: wrong, input: {ip: {value: 10.0.0.3}}, output: {value: de}}
            """,
        ])
        #expect(results == ["own/compile": true, "own/s/right": true, "own/s/wrong": false])
    }

    @Test func readsWholeAndPartialConfigurations() throws {
        let results = try run([
            "policy.yaml": "name: p\nrule: {match: [{output: x}]}",
            "config.yaml": "variables: [{name: x, type: int}]",
            "base_config.yaml": "name: nothing",
        ])
        #expect(
            results == [
                "own/compile (config.yaml)": true, "own/compile (base_config.yaml)": false,
            ])
    }

    /// The findings of a wrong policy: all of them, in place and words; of syntax errors the place.
    static let refusals: [(lines: [String], passes: Bool)] = [
        (
            [
                "3:41: undeclared reference to 'y' (in container '')",
                "4:23: Syntax error: whatever they say",
            ], true
        ),
        (["3:41: undeclared reference to 'y' (in container '')"], false),
        (
            [
                "3:40: undeclared reference to 'y' (in container '')",
                "4:23: Syntax error: whatever they say",
            ], false
        ),
        (["3:41: no such y", "4:23: Syntax error: whatever they say"], false),
        (["3:41: Syntax error: not so", "4:23: Syntax error: whatever they say"], false),
    ]

    @Test(arguments: refusals) func comparesRefusals(_ lines: [String], _ passes: Bool) throws {
        let policy = """
            name: p
            rule:
              variables: [{name: a, expression: 1 + y}]
              match: [{output: "1 2"}]
            """
        let error = lines.map { "ERROR: some/policy.yaml:\($0)\\n | excerpt" }
            .joined(separator: "\\n")
        let results = try run(
            ["policy.yaml": policy, "config.yaml": "name: c"],
            expecting: "{\"compile_errors\": [{\"case\": \"own\", \"error\": \"\(error)\"}]}")
        #expect(results == ["own/compile": passes])
    }

    @Test func comparesResultTypesAndOutputs() throws {
        let files = [
            "policy.yaml":
                "name: p\nrule: {match: [{condition: match_id != 'b', output: match_id}]}",
            "config.yaml": "variables: [{name: match_id, type: string}]",
        ]
        let expectations = { (type: String) in
            "{\"cel_go_actual\": [{\"case\": \"own\", \"output_type\": \"\(type)\", "
                + "\"outputs_by_match_id\": {\"a\": \"a\"}}]}"
        }
        let right = try run(files, expecting: expectations("optional_type(string)"))
        #expect(right["own/compile"] == true)
        #expect(try run(files, expecting: expectations("string"))["own/compile"] == false)
    }

    @Test func limitsAreThoseOfTheSuite() throws {
        let files = [
            "policy.yaml": """
            name: p
            rule:
              variables:
                - {name: a, expression: "1"}
                - {name: b, expression: "1"}
                - {name: c, expression: "1"}
              match: [{output: "1"}]
            """
        ]
        let error = "ERROR: policy.yaml:6:14: variable exceeds nested expression limit"
        let results = try run(
            files, name: "limits",
            expecting: "{\"compile_errors\": [{\"case\": \"limits\", \"error\": \"\(error)\"}]}")
        #expect(results == ["limits/compile within 2": true, "limits/compile": true])
    }

    @Test func readsAdmissionPolicies() throws {
        let results = try run([
            "policy.yaml": """
            kind: ValidatingAdmissionPolicy
            metadata: {name: p}
            spec:
              failurePolicy: Fail
              variables: [{name: big, expression: x > 5}]
              validations:
                - {expression: "!variables.big", messageExpression: "'too big'"}
                - {expression: x != 0}
            """,
            "config.yaml": "variables: [{name: x, type: int}]",
            "tests.yaml": """
            section:
              - name: s
                tests:
                  - {name: big, input: {x: {value: 6}}, output: {value: too big}}
                  - {name: zero, input: {x: {value: 0}}, output: {value: invalid admission request}}
                  - {name: fine, input: {x: {value: 1}}, output: {expr: optional.none()}}
            """,
        ])
        #expect(results.count == 4 && results.values.allSatisfy { $0 }, "\(results)")
    }
}
