import Policies
import Scoring
import Testing

/// Reading scorecards, and what they compute.
@Suite struct ScorecardTests {
    private func card(_ body: String) throws -> Scorecard {
        let text = "kind: scorecard\nname: card\nversion: 1\nprovenance: {author: tests}\n" + body
        let load = PolicyLoader().load([.init(path: "m.yaml", bytes: Array(text.utf8))])
        #expect(load.diagnostics == [], "\(load.rendered())")
        guard case .scorecard(let definition)? = load.set?.models.first?.definition else {
            throw Missing()
        }
        return Scorecard(definition)
    }

    private struct Missing: Error {}

    private static let three = """
        inputs:
          - {name: attributes.a, weight: 1}
          - {name: attributes.b, weight: 1}
          - {name: attributes.c, weight: 1}
        """

    @Test func whatFailsIsOutOfTheDenominator() throws {
        let values: [String: FeatureValue] = [
            "attributes.a": .number(1), "attributes.b": .number(0), "attributes.c": .number(.nan),
        ]
        let result = try card(Self.three).evaluate(named: { values[$0] })
        #expect(result.score == 0.5)
        #expect(result.isDegraded)
        #expect(result.failed == ["attributes.c"])
        #expect(result.contributions.map(\.amount) == [0.5, 0])
    }

    @Test func missingIsNotZero() throws {
        let values: [String: FeatureValue] = ["attributes.a": .number(0.8)]
        let result = try card(Self.three).evaluate(named: { values[$0] })
        #expect(result.score == 0.8)
        #expect(!result.isDegraded)
        #expect(result.missing == ["attributes.b", "attributes.c"])
    }

    @Test func nothingLeftGivesNoScore() throws {
        let result = try card(Self.three).evaluate(named: { _ in nil })
        #expect(result.score == nil)
        #expect(result.isDegraded)
        #expect(result.contributions == [])
    }

    @Test func withoutARequiredInputThereIsNoScore() throws {
        let card = try card(
            "inputs: [{name: device.value, weight: 1, required: true}, {name: attributes.a, weight: 1}]\n"
        )
        let result = card.evaluate(named: { $0 == "attributes.a" ? .number(1) : nil })
        #expect(result.score == nil)
        #expect(result.isDegraded)
    }

    @Test func bandsHoldTheirLowerLimit() throws {
        let card = try card(
            """
            inputs:
              - name: attributes.a
                weight: 1
                bands: [{points: 0.1}, {from: 10, points: 0.5}, {from: 20, points: 0.9}]
            """)
        let cases: [(Double, Double)] = [
            (-1e300, 0.1), (9.999, 0.1), (10, 0.5), (19.999, 0.5), (20, 0.9), (1e300, 0.9),
            (-.infinity, 0.1),
        ]
        for (value, points) in cases {
            #expect(card.evaluate(named: { _ in .number(value) }).score == points, "at \(value)")
        }
        #expect(card.evaluate(named: { _ in .string("10") }).failed == ["attributes.a"])
    }

    @Test func textsAndTruthValuesHavePoints() throws {
        let card = try card(
            "inputs: [{name: attributes.a, weight: 2, values: {\"true\": 0.75, draft: 0.25}}]\n")
        #expect(card.evaluate(named: { _ in .bool(true) }).score == 0.75)
        #expect(card.evaluate(named: { _ in .string("draft") }).score == 0.25)
        #expect(card.evaluate(named: { _ in .bool(false) }).score == nil)
        #expect(card.evaluate(named: { _ in .bool(false) }).isDegraded)
    }

    @Test func logisticAddsUpBeforeTheFunction() throws {
        let card = try card(
            "method: logistic\nbias: -1\ninputs: [{name: attributes.a, weight: 2}, {name: attributes.b, weight: -3}]\n"
        )
        let half = card.evaluate(named: { $0 == "attributes.a" ? .number(0.5) : nil })
        #expect(half.score == 0.5)
        #expect(half.contributions.map(\.amount) == [-1, 1])
        #expect(card.evaluate(named: { _ in .number(-1e300) }).score == 1)
        #expect(
            card.evaluate(named: { _ in .number(1e308) }).failed == [
                "attributes.a", "attributes.b",
            ])
    }

    static let refused: [(String, [Expected])] = [
        ("inputs: «1»[]\n", [Expected(1, "policy.outOfRange", "at least one input")]),
        (
            "inputs: [{name: «1»insight.score, weight: 1}]\n",
            [Expected(1, "policy.invalidValue", "a model reads")]
        ),
        (
            "inputs: [{name: device.value, weight: «1»0}]\n",
            [Expected(1, "policy.outOfRange", "above zero")]
        ),
        (
            "inputs: [{name: device.value, weight: 1}, {name: «1»device.value, weight: 1}]\n",
            [Expected(1, "policy.duplicateName", "given twice")]
        ),
        (
            "inputs: [{name: attributes.a, weight: 1, bands: [{from: «1»0, points: 0.5}]}]\n",
            [Expected(1, "model.bandOrder", "below 0.0 fall into no band")]
        ),
        (
            "inputs: [{name: attributes.a, weight: 1, bands: [{points: 0}, {from: 5, points: 0.5}, {from: «1»5, points: 1}]}]\n",
            [Expected(1, "model.bandOrder", "above that of the band before")]
        ),
        (
            "inputs: [{name: attributes.a, weight: 1, bands: [{points: 0}, {«1»points: 1}]}]\n",
            [Expected(1, "model.bandOrder", "only the first band")]
        ),
        (
            "inputs: [{name: attributes.a, weight: 1, bands: [{points: «1»2}]}]\n",
            [Expected(1, "policy.outOfRange", "points are 0 to 1")]
        ),
        (
            "inputs: [{name: device.value, weight: 1}]\n«1»bias: 1\n",
            [Expected(1, "policy.invalidValue", "`bias` goes with")]
        ),
    ]

    @Test(arguments: refused) func refuses(_ body: String, _ expected: [Expected]) {
        expectFindings(
            in: "kind: scorecard\nname: card\nversion: 1\nprovenance: {author: tests}\n" + body,
            expected)
    }

    @Test func refusesAModelWithoutProvenance() {
        expectFindings(
            in:
                "«1»kind: scorecard\nname: card\nversion: 1\ninputs: [{name: device.value, weight: 1}]\n",
            [Expected(1, "policy.missingKey", "`provenance`")])
    }
}

extension Scorecard {
    /// Inputs by name, as tests like them.
    fileprivate func evaluate(named feature: (String) -> FeatureValue?) -> ScorecardResult {
        evaluate(at: { feature(inputs[$0]) })
    }
}
