import Policies
import Testing

/// What is refused in plain policies: where, and in which words.
@Suite struct PlainRefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let policy: String
        let findings: [Expected]
        var config = "variables: [{name: x, type: int}]"
    }

    static let cases: [Case] = [
        Case(
            testDescription: "operators in quoted, plain, folded and literal scalars",
            policy: """
                name: p
                rule:
                  variables:
                    - {name: a, expression: "x «1»+ 'a'"}
                    - {name: b, expression: x «2»- 'a'}
                    - name: c
                      expression: >
                        1 +
                        (x «3»* 'a')
                    - name: d
                      expression: |
                        1 +
                          (2 «4»/ 'a')
                  match: [{output: "1"}]

                """,
            findings: ["_+_", "_-_", "_*_", "_/_"].enumerated().map {
                Expected(
                    $0.offset + 1, "cel.type.overload",
                    "found no matching overload for '\($0.element)' applied to '(int, string)'")
            }),
        Case(
            testDescription: "outputs of several types, a block scalar among them",
            policy: """
                name: p
                rule:
                  match:
                    - {condition: x > 1, output: "true"}
                    - condition: x > 2
                      output: |
                «1»        'text'
                    - {condition: x > 3, output: "1"}

                """,
            findings: [
                Expected(
                    1, "policy.incompatibleOutputs",
                    "incompatible output types: block has output type string, but previous "
                        + "outputs have type bool")
            ]),
        Case(
            testDescription: "a nested block of another type",
            policy: """
                name: p
                rule:
                  match:
                    - {condition: x > 1, output: "[1]"}
                    - condition: x > 2
                      rule:
                        «1»match: [{output: "['a']"}]

                """,
            findings: [
                Expected(
                    1, "policy.incompatibleOutputs",
                    "block has output type list(string), but previous outputs have type list(int)")
            ]),
        Case(
            testDescription: "types that may go together",
            policy: """
                name: p
                rule:
                  match:
                    - {condition: x > 1, output: "[]"}
                    - {condition: x > 2, output: "[1]"}
                    - {condition: x > 3, output: "dyn('a')"}
                    - output: "['a']"

                """, findings: []),
        Case(
            testDescription: "only the last of what hides others is reported",
            policy: """
                name: p
                rule:
                  match:
                    - output: "1"
                    - «1»condition: "true"
                      output: "2"
                    - output: "3"

                """,
            findings: [
                Expected(1, "policy.unreachableRule", "match creates unreachable outputs")
            ]),
        Case(
            testDescription: "a nested block that hides what follows",
            policy: """
                name: p
                rule:
                  match:
                    - rule:
                        «1»match:
                          - {condition: x > 1, output: "1"}
                          - output: "2"
                    - output: "3"

                """,
            findings: [
                Expected(1, "policy.unreachableRule", "rule creates unreachable outputs")
            ]),
        Case(
            testDescription: "nothing is hidden by a condition that is wrong",
            policy: """
                name: p
                rule:
                  match:
                    - {condition: «1»y > 1, output: "1"}
                    - output: "2"

                """,
            findings: [
                Expected(1, "cel.undeclared", "undeclared reference to 'y' (in container '')")
            ]),
        Case(
            testDescription: "a name twice in a block; both expressions are checked",
            policy: """
                name: p
                rule:
                  variables:
                    - {name: a, expression: "1"}
                    - {«1»name: a, expression: «2»y}
                  match: [{output: variables.a}]

                """,
            findings: [
                Expected(
                    1, "policy.duplicateName",
                    "invalid variable declaration: overlapping identifier for name 'variables.a'"),
                Expected(2, "cel.undeclared", "'y'"),
            ]),
        Case(
            testDescription: "a bracket that is missing counts as closed",
            policy: """
                name: p
                rule: {match: [{output: "[x].exists(i, !(i «1»of.it)«2»)"}]}

                """,
            findings: [Expected(1, "cel.syntax", "`)`"), Expected(2, "cel.syntax", "the end")]),
        Case(
            testDescription: "one token too many",
            policy: "name: p\nrule: {match: [{output: \"{'a': (x «1»1)}\"}]}\n",
            findings: [Expected(1, "cel.syntax", "expected `)`, found `1`")]),
        Case(
            testDescription: "one operator too many",
            policy: "name: p\nrule: {match: [{output: \"[1 + «1»* 2, x]\"}]}\n",
            findings: [Expected(1, "cel.syntax", "expected an expression, found `*`")]),
        Case(
            testDescription: "an explanation where there is no output",
            policy: """
                name: p
                rule:
                  match:
                    - {rule: {match: [{output: "1"}]}, «1»explanation: "'a'"}

                """,
            findings: [
                Expected(1, "policy.invalidValue", "explanation can only be set on output match")
            ]),
        Case(
            testDescription: "what can only fail is allowed, for it may never be read",
            policy: """
                name: p
                rule:
                  variables: [{name: a, expression: "«1»1 / 0"}]
                  match: [{output: "1"}]

                """,
            findings: [Expected(1, "cel.alwaysFails", "division by zero")]),
    ]

    @Test(arguments: cases) func refuses(_ example: Case) {
        expectFindings(
            in: example.policy, example.findings,
            beside: [PolicyLoader.File(path: "config.yaml", bytes: Array(example.config.utf8))],
            at: \.place)
    }

    /// Variables and nested rules, counted in the order they are read.
    private func policy(variables: Int, rules: Int) -> String {
        var text = "name: p\nrule:\n  variables:\n"
        for index in 0..<variables { text += "    - {name: v\(index), expression: \"1\"}\n" }
        text += "  match:\n"
        for _ in 0..<rules {
            text += "    - {condition: x > 1, rule: {match: [{output: \"1\"}]}}\n"
        }
        return text + "    - output: \"1\"\n"
    }

    @Test func variablesAndNestedRulesAreLimitedTogether() {
        let most = PolicyLimits.nestedExpressions
        let load = { (variables: Int, rules: Int) in
            plain(policy(variables: variables, rules: rules), config: Self.cases[0].config)
        }
        #expect(load(most - 1, 1).diagnostics == [])
        let rule = load(most - 1, 3).diagnostics
        #expect(rule.map(\.message) == ["rule exceeds nested expression limit"])
        #expect(rule.first?.place == SourcePosition(line: most + 5, column: 33))
        let variable = load(most + 2, 0).diagnostics
        #expect(variable.map(\.message) == ["variable exceeds nested expression limit"])
        #expect(variable.first?.place == SourcePosition(line: most + 4, column: 14))
    }
}
