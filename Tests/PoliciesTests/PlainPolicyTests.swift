import CEL
import Policies
import Testing

/// Plain CEL policies: the standard grammar, with an environment beside it.
@Suite struct PlainPolicyTests {
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
            [
                Expected(
                    1, "policy.incompatibleOutputs",
                    "block has output type string, but previous outputs have type bool")
            ])
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
            [Expected(1, "cel.undeclared.field", "'variables'")])
    }

    /// The result for one input `x`, as text.
    private func result(_ rule: String, x: Int64) throws -> String {
        let load = plain("name: p\n" + rule, config: "variables: [{name: x, type: int}]")
        let policy = try #require(load.plainPolicy, "\(load.rendered())")
        return try policy.evaluate([("x", .int(x))]).get().text
    }

    struct Outcome: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rule: String
        /// For inputs the results.
        let results: [Int64: String]
    }

    static let outcomes: [Outcome] = [
        Outcome(
            testDescription: "no match without a default gives none",
            rule: "rule: {match: [{condition: x > 1, output: \"'a'\"}]}",
            results: [2: "optional.of(\"a\")", 1: "optional.none()"]),
        Outcome(
            testDescription: "a nested block without a result goes on, if nothing led into it",
            rule: """
                rule:
                  match:
                    - rule: {match: [{condition: x > 1, output: "'a'"}]}
                    - output: "'b'"
                """,
            results: [2: "\"a\"", 1: "\"b\""]),
        Outcome(
            testDescription: "the literal true is no condition",
            rule: """
                rule:
                  match:
                    - {condition: "true", rule: {match: [{condition: x > 1, output: "'a'"}]}}
                    - output: "'b'"
                """,
            results: [2: "\"a\"", 1: "\"b\""]),
        Outcome(
            testDescription: "a nested block under a condition ends the search",
            rule: """
                rule:
                  match:
                    - {condition: x < 9, rule: {match: [{condition: x > 1, output: "'a'"}]}}
                    - output: "'b'"
                """,
            results: [
                2: "optional.of(\"a\")", 1: "optional.none()",
                9: "optional.of(\"b\")",
            ]),
        Outcome(
            testDescription: "what ends the search of a nested block does not end that around it",
            rule: """
                rule:
                  match:
                    - rule:
                        match:
                          - {condition: x < 9, rule: {match: [{condition: x > 1, output: "1"}]}}
                          - output: "2"
                    - output: "3"
                """,
            results: [2: "1", 1: "3", 9: "2"]),
        Outcome(
            testDescription: "inner variables hide outer ones, for their block alone",
            rule: """
                rule:
                  variables: [{name: i, expression: "1"}, {name: j, expression: variables.i + 1}]
                  match:
                    - condition: x == 1
                      rule:
                        variables: [{name: i, expression: "'five'"}]
                        match: [{output: "variables.i + string(variables.j)"}]
                    - output: string(variables.i + variables.j)
                """,
            results: [1: "\"five2\"", 2: "\"3\""]),
        Outcome(
            testDescription: "a variable that is not read is not computed",
            rule: """
                rule:
                  variables: [{name: bad, expression: 1 / x}]
                  match:
                    - {condition: x == 0, output: "0"}
                    - output: variables.bad
                """,
            results: [0: "0", 1: "1"]),
        Outcome(
            testDescription: "an output that is an optional itself stays one",
            rule: "rule: {match: [{condition: x > 1, output: optional.none()}]}",
            results: [2: "optional.of(optional.none())", 1: "optional.none()"]),
    ]

    @Test(arguments: outcomes) func gives(_ outcome: Outcome) throws {
        for (x, expected) in outcome.results {
            #expect(try result(outcome.rule, x: x) == expected, "x = \(x)")
        }
    }

    @Test func aFunctionWithoutABodyFailsByName() throws {
        let load = plain(
            "name: p\nrule: {match: [{output: place('x')}]}",
            config: """
                functions:
                  - name: place
                    overloads: [{id: p, args: [{type_name: string}], return: {type_name: string}}]
                """)
        let policy = try #require(load.plainPolicy, "\(load.rendered())")
        guard case .failure(let failure) = policy.evaluate([]) else {
            Issue.record("there is nothing that could answer")
            return
        }
        #expect(failure.error.message.contains("`place` is declared without a body"))
    }

    @Test func aFailureShowsItsPlace() throws {
        let load = plain(
            """
            name: p
            rule:
              variables:
                - {name: l, expression: "[1, 2, 3]"}
              match:
                - condition: "variables.l[x] == 1"
                  output: "'a'"
            """,
            config: "variables:\n  - {name: x, type_name: int}")
        let policy = try #require(load.plainPolicy, "\(load.rendered())")
        guard case .failure(let failure) = policy.evaluate([("x", .int(5))]) else {
            Issue.record("there is no such element")
            return
        }
        let lines = policy.rendered(failure).split(separator: "\n")
        #expect(
            lines[0]
                == "policy.yaml:6:19: error: index 5 is outside of a list of 3 [cel.evaluation.indexOutOfRange]"
        )
        #expect(lines.count == 3 && lines[1].contains("variables.l[x]"), "\(lines)")
        #expect(lines[2].contains("^"))
    }
}

/// Loads a plain policy with what lies beside it.
func plain(_ policy: String, config: String? = nil, tests: String? = nil) -> PolicyLoad {
    let files = [("policy.yaml", policy), ("config.yaml", config), ("tests.yaml", tests)]
    return PolicyLoader().load(
        files.compactMap { name, text in
            text.map { PolicyLoader.File(path: name, bytes: Array($0.utf8)) }
        })
}

extension PolicyLoad {
    var plainPolicy: PlainPolicy? {
        if case .plain(let policy)? = set?.policies.first { policy } else { nil }
    }
}
