import CEL
import Foundation
import Policies
import Testing

/// Plain CEL policies: the standard grammar, with an environment beside it.
@Suite struct PlainPolicyTests {
    private static let folder =
        ProcessInfo.processInfo.environment["DISCERN_CONFORMANCE"].map { $0 + "/cel-policy/" }

    private func load(_ name: String) throws -> PolicyLoad {
        let folder = try #require(Self.folder) + name + "/"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".yaml") }
        return PolicyLoader().load(
            try names.map {
                PolicyLoader.File(
                    path: $0, bytes: Array(try Data(contentsOf: URL(filePath: folder + $0))))
            })
    }

    static let accepted = [
        "nested_rules_unconditional_chaining", "nested_rules_unconditional_chaining_optional",
        "nested_rules_variable_shadowing", "restricted_destinations", "variable_type_propagation",
        "yaml_parsing",
    ]

    @Test(.enabled(if: folder != nil), arguments: accepted)
    func loads(_ name: String) throws {
        let load = try load(name)
        #expect(load.diagnostics == [], "\(load.rendered())")
        #expect(load.set?.policies.count == 1)
    }

    /// Line and column of every finding.
    static let refused: [(String, [String])] = [
        ("errors", ["19:7", "20:12", "24:19", "25:7", "28:50", "30:27", "38:75"]),
        ("errors_unreachable", ["28:9", "36:13"]),
        ("nested_incompatible_outputs", ["22:9"]),
    ]

    @Test(.enabled(if: folder != nil), arguments: refused)
    func refuses(_ name: String, _ places: [String]) throws {
        let load = try load(name)
        let given = load.diagnostics.map { "\($0.range.start.line):\($0.range.start.column)" }
        #expect(Array(given.prefix(places.count)) == places, "\(load.rendered())")
    }

    @Test(.enabled(if: folder != nil)) func findsFaultsInBlockScalars() throws {
        let load = try load("yaml_parsing_cel_error")
        #expect(load.diagnostics.map(\.range.start.line) == [11, 15, 19, 23])
    }

    /// A triple-quoted string keeps the lines and the indentation of the file.
    @Test(.enabled(if: folder != nil)) func readsBlockScalarsAsTheyStand() throws {
        let set = try #require(try load("yaml_parsing").set)
        guard case .plain(let policy)? = set.policies.first else { return }
        let expected = [
            "folded_unambiguous": "a string expression that is folded",
            "folded_line_break": "a string expression that\n        is folded",
            "folded_line_break_indent": "a string expression that\n          is folded",
            "literal_line_break": "a string expression that\n        is a literal block",
            "none": "no match encountered",
        ]
        for (id, text) in expected {
            var activation = Activation(policy.environment)
            activation.set(0, id)
            var result: Value?
            for match in policy.rule.matches where result == nil {
                let holds = match.condition?.program.evaluate(&activation).value
                guard holds == nil || holds == .bool(true) else { continue }
                if case .output(let output) = match.action {
                    result = output.program.evaluate(&activation).value
                }
            }
            #expect(result == .string(text), "\(id)")
        }
    }

    @Test func outputsAreOfOneType() {
        expectFindings(
            in: """
                name: a
                rule:
                  match:
                    - {condition: 1 > 2, output: "true"}
                    - {condition: 1 > 2, output: "dyn(1)"}
                    - output: "«1»'text'"

                """,
            [Expected(1, "policy.incompatibleOutputs", "this is `string`")])
    }

    @Test func withoutAnEnvironmentNamesMayBeAnything() {
        expectFindings(
            in: """
                name: a
                rule:
                  variables: [{name: size, expression: request.size}]
                  match:
                    - condition: variables.size > 3 && [1].all(x, x < request.limit)
                      output: "'big'"
                    - output: «1»variables.sise

                """,
            [Expected(1, "cel.undeclared.field", "sise")])
    }
}
