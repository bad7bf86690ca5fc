import CEL
import Policies
import Scoring
import Testing
import Time

/// The policies that ship: they load without a finding and judge the documented request.
@Suite struct ShippedPolicyTests {
    @Test func loadWithoutFindings() throws {
        let load = PolicyLoader().load(try ShippedPolicies.all())
        #expect(load.diagnostics == [], "\(load.rendered())")
        let set = try #require(load.set)
        let trust = set.trustPolicies.filter { $0.name.hasPrefix("transcripts-") }
        let categories = trust.flatMap(\.categories)
        #expect(categories.count == Category.allCases.count)
        #expect(Set(categories) == Set(Category.allCases))
        // Every policy has tests beside it.
        #expect(set.tests.count >= trust.count + 1)
    }

    @Test func theDocumentedRequestIsHeld() throws {
        let set = try #require(PolicyLoader().load(try ShippedPolicies.all()).set)
        guard case .trust(let policy)? = set.policy("transcripts-payments") else {
            Issue.record("no policy for payments")
            return
        }
        let reference = try #require(policy.model)
        let model = try #require(set.model(reference.name, version: reference.version))
        guard case .scorecard(let card) = model.definition else { return }
        let features: [String: FeatureValue] = [
            "device.value": .number(0.97), "attributes.amount": .number(900),
            "attributes.newPayee": .bool(true),
        ]
        let result = Scorecard(card).evaluate(at: { features[card.inputs[$0].name] })
        let score = try #require(result.score)
        #expect(score == 0.91)
        #expect(reference.outcome(score: score) == .high)
        #expect(!result.isDegraded)
        #expect(result.missing.contains("attributes.accountAgeDays"))

        var activation = Activation(policy.environment)
        activation.set(SlotLayout.Fixed.insightOutcome, "high")
        activation.set(SlotLayout.Fixed.insightScore, score)
        activation.set(SlotLayout.Fixed.contextCategory, "payment")
        let values: [String: Value] = [
            "amount": .double(900), "currency": .string("EUR"), "newPayee": .bool(true),
        ]
        for (index, attribute) in policy.attributes.enumerated() {
            if let value = values[attribute.name] {
                activation.set(policy.slots.attribute(index), value)
            }
        }
        for (index, window) in policy.velocity.enumerated() {
            activation.set(policy.slots.velocity(index), window.isWhole ? .int(0) : .double(0))
        }
        var matched: [String] = []
        for match in policy.rule.matches {
            guard let condition = match.condition else { continue }
            switch condition.program.evaluateCondition(&activation) {
            case .matched: matched.append(match.id)
            case .notMatched: break
            case .failed(let error): Issue.record("\(match.id): \(error.message)")
            }
        }
        #expect(matched == ["hold-coached-transfer"])
        let rule = try #require(policy.rule.matches.first { $0.id == "hold-coached-transfer" })
        #expect(
            rule.output
                == DecisionOutput(
                    friction: .increased, steps: StepSet([.warn, .manualReview]),
                    holdFor: .minutes(15),
                    notify: ["call-centre"]))
        let text = try #require(rule.explanation).program.evaluate(&activation)
        #expect(text.value == .string("transfer of 900 to a new payee"))
    }

    @Test func slotsAreThoseOfTheEnvironment() throws {
        let set = try #require(PolicyLoader().load(try ShippedPolicies.all()).set)
        for policy in set.trustPolicies {
            #expect(policy.environment.slots.map(\.path) == policy.slots.slots.map(\.name))
            #expect(policy.rules.count == Set(policy.rules.map(\.id)).count)
        }
    }
}
