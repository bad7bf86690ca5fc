import Policies
import Testing

/// Everything that `check` refuses in trust policies, each at the exact place.
@Suite struct RefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let expected: [Expected]
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ expected: Expected...) {
            self.name = name
            self.text = text
            self.expected = expected
        }
    }

    static let rules: [Case] = [
        Case(
            "unknown key, with the nearest known one",
            "- {«1»conditon: 'true', output: {friction: unchanged}}",
            Expected(1, "policy.unknownKey", "a match has no key `conditon`")),
        Case(
            "syntax error in an expression",
            "- {condition: 'attributes.amount > «1»)', output: {friction: increased}}",
            Expected(1, "cel.syntax", "")),
        Case(
            "type error in an expression",
            "- {condition: '«1»attributes.amount > \"a\"', output: {friction: increased}}",
            Expected(1, "cel.type.overload", "")),
        Case(
            "undeclared attribute",
            "- {condition: '«1»attributes.amuont > 1.0', output: {friction: increased}}",
            Expected(1, "cel.undeclared.field", "amuont")),
        Case(
            "undeclared window",
            "- {condition: '«1»velocity.recnt > 1', output: {friction: increased}}",
            Expected(1, "cel.undeclared.field", "recnt")),
        Case(
            "a condition that is no bool",
            "- {condition: «1»attributes.amount, output: {friction: increased}}",
            Expected(1, "policy.conditionNotBool", "not `double`")),
        Case(
            "an explanation that is no string",
            "- {condition: attributes.amount > 1.0, output: {friction: increased}, explanation: «1»attributes.amount}",
            Expected(1, "policy.explanationNotString", "not `double`")),
        Case(
            "a duplicate id",
            "- {id: «1»uses-all, condition: attributes.amount > 1.0, output: {friction: increased}}",
            Expected(1, "policy.duplicateID", "`uses-all` is given twice")),
        Case(
            "a match without output", "- {«1»condition: attributes.amount > 1.0}",
            Expected(1, "policy.emptyRule", "neither `output` nor `rule`")),
        Case(
            "a match with output and rule",
            "- {condition: attributes.amount > 1.0, output: {friction: increased}, «1»rule: {match: [{output: {friction: unchanged}}]}}",
            Expected(1, "policy.invalidValue", "not both")),
        Case(
            "a nested rule without matches",
            "- {condition: attributes.amount > 1.0, rule: {match: «1»[]}}",
            Expected(1, "policy.emptyRule", "lists no rules")),
        Case(
            "an order of outcomes",
            "- {condition: '«1»insight.outcome >= \"medium\"', output: {friction: increased}}",
            Expected(1, "policy.outcomeOrder", "no order")),
        Case(
            "steps without increased",
            "- {condition: attributes.amount > 1.0, output: {friction: unchanged, «1»steps: [warn]}}",
            Expected(1, "policy.needsIncreased", "`steps` needs")),
        Case(
            "a hold without increased",
            "- {condition: attributes.amount > 1.0, output: {friction: reduced, «1»holdFor: 1m}}",
            Expected(1, "policy.needsIncreased", "`holdFor` needs")),
        Case(
            "a hold beyond 72 hours",
            "- {condition: attributes.amount > 1.0, output: {friction: increased, holdFor: «1»73h}}",
            Expected(1, "policy.holdTooLong", "longer than")),
        Case(
            "a hold of nothing",
            "- {condition: attributes.amount > 1.0, output: {friction: increased, holdFor: «1»0s}}",
            Expected(1, "policy.outOfRange", "above zero")),
        Case(
            "a hold that is no duration",
            "- {condition: attributes.amount > 1.0, output: {friction: increased, holdFor: «1»15}}",
            Expected(1, "policy.wrongType", "a duration")),
        Case(
            "an unknown step",
            "- {condition: attributes.amount > 1.0, output: {friction: increased, steps: [«1»wran]}}",
            Expected(1, "policy.invalidValue", "must be one of")),
        Case(
            "an unknown friction",
            "- {condition: attributes.amount > 1.0, output: {friction: «1»more}}",
            Expected(1, "policy.invalidValue", "`friction` must be one of")),
        Case(
            "an output that is an expression",
            "- {condition: attributes.amount > 1.0, output: «1»'\"warn\"'}",
            Expected(1, "policy.wrongType", "an output must be a mapping")),
        Case(
            "block on the insight alone",
            "- {condition: 'insight.outcome == \"high\"', «1»output: {friction: increased, steps: [block]}}",
            Expected(1, "policy.blockNeedsOtherEvidence", "reads no insight value")),
        Case(
            "block without a condition",
            "- {«1»output: {friction: increased, steps: [block]}}",
            Expected(1, "policy.blockNeedsOtherEvidence", "reads no insight value")),
        Case(
            "block with an alternative in place of a conjunction",
            "- {condition: 'insight.outcome == \"high\" || attributes.amount > 5.0', «1»output: {friction: increased, steps: [block]}}",
            Expected(1, "policy.blockNeedsOtherEvidence", "reads no insight value")),
        Case(
            "block with evidence that is always true",
            "- {condition: 'insight.outcome == \"high\" && now > timestamp(\"2020-01-01T00:00:00Z\")', «1»output: {friction: increased, steps: [block]}}",
            Expected(1, "policy.blockNeedsOtherEvidence", "reads no insight value")),
        Case(
            "division by zero",
            "- {condition: '«1»velocity.recent / 0 > 1', output: {friction: increased}}",
            Expected(1, "cel.alwaysFails", "zero")),
        Case(
            "an index outside of a list",
            "- {condition: '«1»[1, 2][2] == velocity.recent', output: {friction: increased}}",
            Expected(1, "cel.alwaysFails", "can only fail")),
        Case(
            "an index outside of a list that depends on the event",
            "- {condition: '[1, velocity.recent][«1»2] == 5', output: {friction: increased}}",
            Expected(1, "cel.alwaysFails", "index 2")),
        Case(
            "a divisor that comes to zero",
            "- {condition: '«1»velocity.recent % (4 - 2 * 2) == 0', output: {friction: increased}}",
            Expected(1, "cel.alwaysFails", "zero")),
        Case(
            "a text that is no time",
            "- {condition: 'now > «1»timestamp(\"yesterday\")', output: {friction: increased}}",
            Expected(1, "cel.alwaysFails", "can only fail")),
        Case(
            "an unknown mode",
            "- {condition: attributes.amount > 1.0, output: {friction: increased}, mode: «1»shdow}",
            Expected(1, "policy.invalidValue", "must be one of `enforce`, `shadow`")),
    ]

    @Test(arguments: rules) func refuses(_ example: Case) {
        expectFindings(in: trustPolicy(rules: example.text), example.expected, beside: [testModel])
    }

    static let declarations: [Case] = [
        Case(
            "an unknown type", "amount: {type: «1»money}",
            Expected(1, "policy.invalidValue", "must be one of")),
        Case(
            "a declaration that is no mapping", "amount: «1»double",
            Expected(1, "policy.wrongType", "must be a mapping")),
        Case(
            "bounds in the wrong order", "amount: {type: double, min: «1»5, max: 1}",
            Expected(1, "policy.outOfRange", "no value fits")),
        Case(
            "a bound of a string", "amount: {type: double}\nname: {type: string, min: «1»1}",
            Expected(1, "policy.invalidValue", "for numbers")),
        Case(
            "the name of an engine value", "amount: {type: double}\n«1»score: {type: double}",
            Expected(1, "policy.reservedName", "engine value")),
        Case(
            "a word of the language", "amount: {type: double}\n«1»in: {type: double}",
            Expected(1, "policy.reservedName", "word of the expression language")),
        Case(
            "a name with a dash", "amount: {type: double}\n«1»pay-ee: {type: string}",
            Expected(1, "policy.badName", "letters, digits and `_`")),
        Case(
            "the same attribute twice", "amount: {type: double}\n«1»amount: {type: int}",
            Expected(1, "yaml.duplicateKey", "given twice")),
        Case(
            "values of a number", "amount: {type: double, values: «1»[a]}",
            Expected(1, "policy.invalidValue", "for strings")),
    ]

    @Test(arguments: declarations) func refusesAttribute(_ example: Case) {
        let text = trustPolicy(
            attributes: example.text, used: "velocity.recent > 1", rules: "# none")
        expectFindings(in: text, example.expected, beside: [testModel])
    }

    static let windows: [Case] = [
        Case(
            "an undeclared attribute", "recent: {sum: «1»attributes.amuont, window: 1h}",
            Expected(1, "policy.undeclaredAttribute", "amuont")),
        Case(
            "a sum of text", "recent: {sum: «1»attributes.name, window: 1h}",
            Expected(1, "policy.wrongType", "needs a number")),
        Case(
            "a sum of what is not stored", "recent: {sum: «1»attributes.secret, window: 1h}",
            Expected(1, "policy.notStored", "attributes.secret")),
        Case(
            "a group by what is not stored",
            "recent: {count: evaluations, by: «1»attributes.secret, window: 1h}",
            Expected(1, "policy.notStored", "attributes.secret")),
        Case(
            "nothing to measure", "recent: {«1»window: 1h}",
            Expected(1, "policy.missingKey", "one of `count`, `sum`, `distinct`")),
        Case(
            "two things to measure",
            "recent: {count: evaluations, «1»sum: attributes.amount, window: 1h}",
            Expected(1, "policy.invalidValue", "only one of")),
        Case(
            "no window", "recent: {«1»count: evaluations}",
            Expected(1, "policy.missingKey", "needs `window`")),
        Case(
            "a window of nothing", "recent: {count: evaluations, window: «1»0h}",
            Expected(1, "policy.outOfRange", "above zero")),
        Case(
            "a window beyond 400 days", "recent: {count: evaluations, window: «1»401d}",
            Expected(1, "policy.outOfRange", "at most")),
        Case(
            "an unknown category",
            "recent: {count: evaluations, category: «1»paymnet, window: 1h}",
            Expected(1, "policy.invalidValue", "must be one of")),
    ]

    @Test(arguments: windows) func refusesWindow(_ example: Case) {
        let text = trustPolicy(
            attributes: """
                amount: {type: double}
                name: {type: string}
                secret: {type: double, store: false, optional: true}
                """,
            velocity: example.text, used: "attributes.amount > 1.0", rules: "# none")
        expectFindings(in: text, example.expected, beside: [testModel])
    }

    static let notStored: [(String, [Expected])] = [
        (
            "{condition: '«1»attributes.secret == \"x\"', output: {friction: increased}}",
            [Expected(1, "policy.notStored", "attributes.secret")]
        ),
        (
            "{condition: has(attributes.secret), output: {friction: increased}, explanation: '\"to \" + «1»attributes.secret'}",
            [Expected(1, "policy.notStored", "attributes.secret")]
        ),
    ]

    @Test(arguments: notStored) func refusesReadingWhatIsNotStored(
        _ rule: String, _ expected: [Expected]
    ) {
        let text = trustPolicy(
            attributes: "secret: {type: string, store: false, optional: true}",
            velocity: "others: {distinct: attributes.secret, window: 7d}",
            used: "velocity.others > 1 && has(attributes.secret)", rules: "- " + rule)
        expectFindings(in: text, expected, beside: [testModel])
    }

    @Test func refusesAModelThatReadsWhatIsNotStored() {
        let model = PolicyLoader.File(
            path: "models/m.yaml",
            bytes: Array(
                """
                {kind: scorecard, name: card, version: 1, provenance: {author: tests},
                 inputs: [{name: attributes.secret, weight: 1}]}
                """.utf8))
        let text = trustPolicy(
            attributes: "secret: {type: double, store: false, optional: true}",
            used: "velocity.recent > 1", rules: "# none"
        ).replacing("model:", with: "«1»model:")
        expectFindings(
            in: text, [Expected(1, "policy.notStored", "the model reads")], beside: [model])
    }

    static let heads: [Case] = [
        Case(
            "thresholds out of order",
            "model: {name: card, version: 1, medium: «1»0.8, high: 0.4}",
            Expected(1, "policy.thresholdOrder", "must be below")),
        Case(
            "equal thresholds", "model: {name: card, version: 1, medium: «1»0.8, high: 0.8}",
            Expected(1, "policy.thresholdOrder", "must be below")),
        Case(
            "a threshold above 1",
            "model: {name: card, version: 1, medium: 0.4, high: «1»1.5}",
            Expected(1, "policy.outOfRange", "at most 1")),
        Case(
            "an unknown model", "model: {name: «1»crad, version: 1, medium: 0.4, high: 0.8}",
            Expected(1, "policy.undeclaredModel", "no model `crad` version 1")),
        Case(
            "an unknown version of a model",
            "model: {name: card, version: «1»2, medium: 0.4, high: 0.8}",
            Expected(1, "policy.undeclaredModel", "no model `card` version 2")),
    ]

    @Test(arguments: heads) func refusesModel(_ example: Case) {
        let text = trustPolicy(rules: "# none").replacing(
            "model: {name: card, version: 1, medium: 0.4, high: 0.8}", with: example.text)
        expectFindings(in: text, example.expected, beside: [testModel])
    }

    @Test func refusesInsightWithoutAModel() {
        let text = trustPolicy(rules: "# none").replacing(
            "model: {name: card, version: 1, medium: 0.4, high: 0.8}\n", with: "")
        expectFindings(
            in: "«1»" + text, [Expected(1, "policy.undeclaredModel", "names no `model`")])
    }

    static let throughVariables: [(String, [Expected])] = [
        (
            "- {condition: '«1»variables.said < \"z\"', output: {friction: increased}}",
            [Expected(1, "policy.outcomeOrder", "no order")]
        ),
        (
            "- {condition: '(«1»now > timestamp(0) ? variables.said : \"x\") < \"z\"', output: {friction: increased}}",
            [Expected(1, "policy.outcomeOrder", "no order")]
        ),
        (
            "- {condition: 'insight.degraded && (variables.scored || newPayee)', «1»output: {friction: increased, steps: [block]}}",
            [Expected(1, "policy.blockNeedsOtherEvidence", "reads no insight value")]
        ),
    ]

    /// Names for an outcome and for a test of the score change nothing.
    @Test(arguments: throughVariables) func followsVariables(_ rule: String, _ expected: [Expected])
    {
        let text = """
            kind: trust
            name: sample
            version: 1
            categories: [payment]
            attributes: {newPayee: {type: bool}}
            model: {name: card, version: 1, medium: 0.4, high: 0.8}
            rule:
              variables:
                - {name: outcome, expression: insight.outcome}
                - {name: said, expression: variables.outcome}
                - {name: scored, expression: has(insight.score)}
                - {name: risky, expression: variables.scored && attributes.newPayee && variables.said == "high"}
              match:
                - {condition: variables.risky, output: {friction: increased}}
                \(rule.replacing("newPayee)", with: "attributes.newPayee)"))
                - output: {friction: unchanged}

            """
        expectFindings(in: text, expected, beside: [testModel])
    }

    /// Each variable names the one before twice: following all ways would never end.
    @Test func chainsOfVariablesAreFollowedOnce() {
        let chain = (1..<60).map {
            "    - {name: v\($0), expression: variables.v\($0 - 1) && variables.v\($0 - 1)}"
        }.joined(separator: "\n")
        expectFindings(
            in: """
                kind: trust
                name: sample
                version: 1
                categories: [payment]
                attributes: {newPayee: {type: bool}}
                rule:
                  variables:
                    - {name: v0, expression: attributes.newPayee}
                \(chain)
                  match:
                    - {condition: variables.v59, output: {friction: increased, steps: [block]}}
                    - output: {friction: unchanged}

                """, [])
    }

    static let endings: [(String, Bool)] = [
        ("- output: {friction: unchanged}", true),
        ("- {condition: 'true', output: {friction: unchanged}}", true),
        ("- {condition: attributes.newPayee, output: {friction: unchanged}}", false),
        ("- {mode: shadow, output: {friction: unchanged}}", false),
        ("- rule: {match: [{output: {friction: unchanged}}]}", true),
        (
            "- rule: {match: [{condition: attributes.newPayee, output: {friction: unchanged}}]}",
            false
        ),
        (
            "- {condition: attributes.newPayee, rule: {match: [{output: {friction: unchanged}}]}}",
            false
        ),
    ]

    @Test(arguments: endings) func refusesAnEndWithoutAMatch(_ rule: String, _ isFine: Bool) {
        let text = """
            kind: trust
            name: sample
            version: 1
            categories: [payment]
            attributes: {newPayee: {type: bool}}
            «1»rule:
              match:
              - {condition: attributes.newPayee && now > timestamp("2020-01-01T00:00:00Z"), output: {friction: unchanged}}
              \(rule)

            """
        expectFindings(
            in: text,
            isFine ? [] : [Expected(1, "policy.endsWithoutMatch", "can end without a match")])
    }

    @Test func reportsFiveMistakesOfOneFileAtOnce() {
        expectFindings(
            in: """
                kind: trust
                name: sample
                version: «1»zero
                categories: [«2»paymnet, account]
                attributes:
                  amount: {type: double, «3»optinal: true}
                rule:
                  match:
                  - condition: «4»attributes.amount
                    output: {friction: increased}
                  - output: {friction: unchanged, «5»steps: [warn]}

                """,
            [
                Expected(1, "policy.wrongType", "whole number"),
                Expected(2, "policy.invalidValue", "category"),
                Expected(3, "policy.unknownKey", "optinal"),
                Expected(4, "policy.conditionNotBool", "double"),
                Expected(5, "policy.needsIncreased", "steps"),
            ])
    }
}
