import CEL
import JSON
import Policies
import Testing
import Time

/// The compiled model: outputs, outcomes, attributes, ids, other evidence.
@Suite struct ModelTests {
    private func policy(_ text: String) throws -> TrustPolicy {
        let load = PolicyLoader().load([
            .init(path: "p.yaml", bytes: Array(text.utf8)), testModel,
        ])
        return try #require(load.set?.trustPolicies.first, "\(load.rendered())")
    }

    @Test func stepsKeepTheirOrder() {
        let steps = StepSet([.block, .warn, .manualReview])
        #expect(steps.steps.map(\.name) == ["warn", "manualReview", "block"])
        #expect(steps.replacing(.block, with: .manualReview).steps == [.warn, .manualReview])
        #expect(StepSet([.warn]).replacing(.block, with: .stepUp).steps == [.warn])
    }

    @Test func theStrictestPartsAreTaken() {
        let one = DecisionOutput(
            friction: .increased, steps: [], holdFor: .minutes(5), notify: ["a", "b"])
        let two = DecisionOutput(friction: .unchanged, notify: ["b", "c"])
        let three = DecisionOutput(
            friction: .increased, steps: StepSet([.stepUp]), holdFor: .hours(1))
        let all = one.strictest(with: two).strictest(with: three)
        #expect(
            all
                == DecisionOutput(
                    friction: .increased, steps: StepSet([.stepUp]), holdFor: .hours(1),
                    notify: ["a", "b", "c"]))
        #expect(three.strictest(with: one).steps == all.steps)
    }

    @Test func thresholdsAreReachedAtTheirValue() {
        let model = ModelReference(name: "m", version: 1, medium: 0.45, high: 0.8)
        let cases: [(Double, Outcome)] = [
            (0, .unknown), (0.45.nextDown, .unknown), (0.45, .medium), (0.8.nextDown, .medium),
            (0.8, .high), (1, .high), (.nan, .unknown),
        ]
        for (score, outcome) in cases { #expect(model.outcome(score: score) == outcome) }
    }

    @Test func attributesKeepTheirTypes() throws {
        let whole = AttributeDeclaration(
            name: "n", type: .int, minimum: .int(-1), maximum: .int(9_007_199_254_740_993))
        #expect(try whole.check(.double(5)).get() == .int(5))
        #expect(try whole.check(.int(9_007_199_254_740_993)).get() == .int(9_007_199_254_740_993))
        for value in [JSONValue.double(5.5), .string("5"), .null, .uint(.max)] {
            #expect(throws: AttributeRefusal.self) { try whole.check(value).get() }
        }
        #expect(throws: AttributeRefusal.self) { try whole.check(.int(-2)).get() }
        #expect(throws: AttributeRefusal.self) {
            try whole.check(.int(9_007_199_254_740_994)).get()
        }

        let real = AttributeDeclaration(name: "x", type: .double)
        #expect(try real.check(.int(5)).get() == .double(5))
        #expect(throws: AttributeRefusal.self) {
            try real.check(.int(9_007_199_254_740_993)).get()
        }
        let text = AttributeDeclaration(name: "t", type: .string, maxLength: 2)
        #expect(try text.check(.string("🙂🙂")).get() == .string("🙂🙂"))
        #expect(throws: AttributeRefusal.self) { try text.check(.string("abc")).get() }
        let time = AttributeDeclaration(name: "t", type: .timestamp)
        #expect(
            try time.check(.string("1970-01-01T00:00:01Z")).get()
                == .timestamp(Instant(milliseconds: 1_000)))
        #expect(throws: AttributeRefusal.self) { try time.check(.string("today")).get() }
    }

    private static func unnamed(_ rules: String) -> String {
        """
        kind: trust
        name: sample
        version: 1
        categories: [payment]
        attributes: {amount: {type: double}}
        rule:
          strategy: strictest
          match:
        \(rules)

        """
    }

    @Test func derivedIDsComeFromContentNotFromPlaces() throws {
        let low = "  - {condition: attributes.amount > 1.0, output: {friction: increased}}"
        let spaced =
            "  - output: {friction: increased}\n    condition: >\n      attributes.amount   >\n      1.0"
        let high = "  - {condition: attributes.amount > 9.0, output: {friction: increased}}"
        let last = "  - output: {friction: unchanged}"
        let one = try policy(Self.unnamed([low, high, last].joined(separator: "\n")))
        let two = try policy(Self.unnamed([high, spaced, last].joined(separator: "\n")))
        #expect(one.rules[0].id == two.rules[1].id)
        #expect(one.rules[1].id == two.rules[0].id)
        #expect(one.rules[0].id != one.rules[1].id)
        #expect(one.rules[2].id == "default")
        #expect(one.rules[0].id.hasPrefix("rule-"))
        let twice = try policy(Self.unnamed([low, low, last].joined(separator: "\n")))
        #expect(twice.rules[1].id == twice.rules[0].id + "-2")
    }

    @Test func rulesStandInPolicyOrder() throws {
        let policy = try policy(
            Self.unnamed(
                """
                  - id: outer
                    condition: attributes.amount > 1.0
                    mode: shadow
                    rule:
                      match:
                        - {id: inner, condition: attributes.amount > 5.0, output: {friction: increased}}
                        - {id: rest, output: {friction: unchanged}}
                  - {id: last, output: {friction: unchanged}}
                """))
        #expect(policy.rules.map(\.id) == ["outer", "inner", "rest", "last"])
        #expect(policy.rules.map(\.parent) == [nil, 0, 0, nil])
        #expect(policy.rules.map(\.mode) == [.shadow, .shadow, .shadow, .enforce])
        #expect(policy.rule.matches[0].raisesFriction)
        #expect(policy.rule.matches[0].onMissing == .match)
        #expect(policy.rule.matches[1].onMissing == .noMatch)
    }

    @Test func partsHaveTheirPlaceInTheFile() throws {
        let marked = MarkedText(
            Self.unnamed(
                """
                  - condition: >
                      attributes.amount > 1.0 &&
                      «1»attributes.amount < 9.0«2»
                    output: {friction: increased}
                  - output: {friction: unchanged}
                """))
        let condition = try #require(try policy(marked.text).rule.matches[0].condition)
        let ast = condition.program.ast
        let node = try #require(ast.conjuncts(of: condition.program.root).last)
        let place = condition.place(of: ast[node].range)
        #expect(place.start == marked.places[1])
        #expect(place.end == marked.places[2])
    }

    @Test func nestedVariablesHideOuterOnes() throws {
        let policy = try policy(
            Self.unnamed(
                """
                  - rule:
                      variables:
                        - {name: limit, expression: '5.0'}
                      match:
                        - condition: attributes.amount > variables.limit
                          rule:
                            variables: [{name: limit, expression: variables.limit + 1.0}]
                            match: [{condition: attributes.amount > variables.limit, output: {friction: increased}}]
                        - {condition: attributes.amount < variables.limit, output: {friction: unchanged}}
                  - {id: last, output: {friction: unchanged}}
                """))
        #expect(policy.variables.map(\.name) == ["limit", "limit"])
        guard case .block(let outer) = policy.rule.matches[0].action,
            case .block(let inner) = outer.matches[0].action
        else {
            Issue.record("two blocks are nested")
            return
        }
        let slot = policy.slots.variable
        #expect(inner.matches[0].condition?.reads.contains(slot(1)) == true)
        #expect(outer.matches[1].condition?.reads.contains(slot(0)) == true)
        #expect(inner.variables[0].expression.reads == [slot(0)])
    }

    @Test func variablesOfOneBlockAreOutOfSightInAnother() {
        expectFindings(
            in: Self.unnamed(
                """
                  - rule:
                      variables: [{name: limit, expression: '5.0'}]
                      match: [{condition: attributes.amount > variables.limit, output: {friction: increased}}]
                  - {condition: attributes.amount > «1»variables.limit, output: {friction: increased}}
                  - {id: last, output: {friction: unchanged}}
                """),
            [Expected(1, "cel.undeclared", "")])
    }

    static let evidence: [(String, [String])] = [
        ("insight.outcome == \\\"high\\\" && attributes.amount > 5.0", ["attributes.amount > 5.0"]),
        ("variables.risky && insight.outcome == \\\"high\\\"", ["attributes.amount > 7.0"]),
        (
            "attributes.amount > 5.0 && velocity.recent > 2 && insight.degraded",
            ["attributes.amount > 5.0", "velocity.recent > 2"]
        ),
    ]

    @Test(arguments: evidence) func findsOtherEvidence(
        _ condition: String, _ expected: [String]
    ) throws {
        let text = trustPolicy(
            rules:
                "- {id: stop, condition: \"\(condition)\", output: {friction: increased, steps: [block]}}"
        ).replacing(
            "  match:\n    - {id: uses-all",
            with:
                "  variables: [{name: risky, expression: 'insight.degraded || attributes.amount > 6.0'}, {name: sure, expression: 'attributes.amount > 7.0 && insight.degraded'}]\n  match:\n    - {id: uses-risky, condition: variables.risky || variables.sure, output: {friction: increased}}\n    - {id: uses-all"
        )
        .replacing("variables.risky && insight", with: "variables.sure && insight")
        let policy = try policy(text)
        let rule = try #require(policy.rule.matches.first { $0.id == "stop" })
        #expect(rule.otherEvidence.map(\.source) == expected)
    }
}
