import Policies
import Testing

/// Everything that `check` warns about; a policy with warnings still loads.
@Suite struct WarningTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let strategy: String
        let rules: String
        let expected: [Expected]
        var testDescription: String { name }

        init(_ name: String, _ strategy: String, _ rules: String, _ expected: Expected...) {
            self.name = name
            self.strategy = strategy
            self.rules = rules
            self.expected = expected
        }
    }

    static let cases: [Case] = [
        Case(
            "a rule after a default", "firstMatch",
            """
            - {id: all, output: {friction: unchanged}}
            - {«1»id: never, condition: attributes.amount > 5.0, output: {friction: unchanged}}
            """,
            Expected(1, "policy.unreachableRule", "`all` takes everything"),
            Expected(2, "policy.unreachableRule", "`all` takes everything")),
        Case(
            "a rule that an earlier set of outcomes takes", "firstMatch",
            """
            - {id: wide, condition: 'insight.outcome in ["medium", "high"]', output: {friction: increased}}
            - {«1»id: narrow, condition: 'insight.outcome == "high"', output: {friction: increased}}
            """,
            Expected(1, "policy.unreachableRule", "`wide` takes everything")),
        Case(
            "a rule that an earlier bound takes", "firstMatch",
            """
            - {id: wide, condition: attributes.amount > 5.0, output: {friction: increased}}
            - {«1»id: narrow, condition: attributes.amount >= 6.0 && velocity.recent > 2, output: {friction: increased}}
            """,
            Expected(1, "policy.unreachableRule", "`wide` takes everything")),
        Case(
            "a rule that an earlier bound of the same sum takes", "firstMatch",
            """
            - {id: wide, condition: double(velocity.recent) + attributes.amount > 2000.0, output: {friction: increased}}
            - {«1»id: narrow, condition: double(velocity.recent) + attributes.amount > 3000.0, output: {friction: increased}}
            """,
            Expected(1, "policy.unreachableRule", "`wide` takes everything")),
        Case(
            "nothing is taken by a shadow rule", "firstMatch",
            """
            - {id: wide, condition: attributes.amount > 5.0, mode: shadow, output: {friction: increased}}
            - {id: narrow, condition: attributes.amount > 6.0, output: {friction: increased}}
            """),
        Case(
            "a condition that contradicts itself", "strictest",
            "- {«1»id: never, condition: attributes.amount > 5.0 && attributes.amount < 4.0, output: {friction: increased}}",
            Expected(1, "policy.unreachableRule", "can never hold")),
        Case(
            "a condition outside of the declared bounds", "strictest",
            "- {«1»id: never, condition: attributes.amount < 0.0, output: {friction: increased}}",
            Expected(1, "policy.unreachableRule", "can never hold")),
        Case(
            "a value that can never be", "strictest",
            "- {«1»id: never, condition: 'insight.outcome == «3»\"hihg\"', output: {friction: increased}}",
            Expected(1, "policy.unreachableRule", "can never hold"),
            Expected(3, "policy.impossibleValue", "`insight.outcome` is never `hihg`")),
        Case(
            "overlapping rules that decide differently", "firstMatch",
            """
            - {id: one, condition: attributes.amount > 5.0, output: {friction: increased, steps: [warn]}}
            - {«1»id: two, condition: velocity.recent > 3, output: {friction: increased, steps: [stepUp]}}
            """,
            Expected(1, "policy.overlappingRules", "`one` and `two` can both match")),
        Case(
            "rules that exclude each other do not overlap", "firstMatch",
            """
            - {id: one, condition: attributes.amount > 5.0, output: {friction: increased, steps: [warn]}}
            - {id: two, condition: attributes.amount <= 5.0, output: {friction: increased, steps: [stepUp]}}
            """),
        Case(
            "overlap under strictest is meant", "strictest",
            """
            - {id: one, condition: attributes.amount > 5.0, output: {friction: increased, steps: [warn]}}
            - {id: two, condition: velocity.recent > 3, output: {friction: increased, steps: [stepUp]}}
            """),
        Case(
            "reduced whatever the outcome", "strictest",
            "- {«1»id: easy, condition: attributes.amount < 5.0, output: {friction: reduced}}",
            Expected(1, "policy.reducedWhenUnknown", "`easy` reduces friction")),
        Case(
            "reduced with evidence", "strictest",
            "- {id: easy, condition: 'insight.outcome == \"medium\" && attributes.amount < 5.0', output: {friction: reduced}}"
        ),
        Case(
            "raising friction with noMatch", "strictest",
            "- {id: loose, condition: attributes.amount > 5.0, output: {friction: increased}, «1»onMissing: noMatch}",
            Expected(1, "policy.raisesButNoMatch", "does not match when a value is missing")),
        Case(
            "a score that may be absent", "strictest",
            "- {«1»id: sharp, condition: insight.score > 0.9, output: {friction: increased}}",
            Expected(1, "policy.scoreMayBeAbsent", "absent")),
        Case(
            "a score that was tested for", "strictest",
            "- {id: sharp, condition: has(insight.score) && insight.score > 0.9, output: {friction: increased}}"
        ),
    ]

    @Test(arguments: cases) func warns(_ example: Case) {
        var text = trustPolicy(
            used:
                "now < timestamp(\\\"2020-01-01T00:00:00Z\\\") && velocity.recent > 90000 && attributes.amount > 900000.0",
            strategy: example.strategy, rules: example.rules)
        text.replace("- {id: last,", with: "- {«2»id: last,")
        // With an explanation a rule adds that, whatever else it says.
        text.replace("- {id: uses-all,", with: "- {id: uses-all, explanation: '\"all\"',")
        expectFindings(in: text, example.expected, beside: [testModel])
    }

    @Test func warnsOfWhatIsNotUsed() {
        expectFindings(
            in: """
                kind: trust
                name: sample
                version: 1
                categories: [payment]
                attributes:
                  «1»amount: {type: double}
                velocity:
                  «2»recent: {count: evaluations, window: 1h}
                rule:
                  variables:
                  - {name: «3»large, expression: 'true'}
                  match:
                  - output: {friction: unchanged}

                """,
            [
                Expected(1, "policy.unused", "attribute `amount`"),
                Expected(2, "policy.unused", "window `recent`"),
                Expected(3, "policy.unused", "variable `large`"),
            ])
    }

    @Test func warnsOfOtherUnlessItIsDescribed() {
        let text = """
            kind: trust
            name: sample
            version: 1
            categories: [«1»other]
            rule: {match: [{output: {friction: unchanged}}]}

            """
        expectFindings(in: text, [Expected(1, "policy.categoryOther", "says nothing")])
        expectFindings(in: text + "description: exports\n", [])
    }

    @Test func warningsDoNotStopASetFromLoading() {
        let file = PolicyLoader.File(
            path: "p.yaml",
            bytes: Array(
                "{kind: trust, name: a, version: 1, categories: [other], rule: {match: [{output: {friction: unchanged}}]}}"
                    .utf8))
        let load = PolicyLoader().load([file])
        #expect(load.diagnostics.map(\.severity) == [.warning])
        #expect(load.set?.policies.count == 1)
    }
}
