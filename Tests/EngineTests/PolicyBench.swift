import CEL
import Policies
import Testing
import TrustInsights

/// A value for a slot of a policy.
enum Input: Sendable {
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
}

/// A policy written in a test, and events to judge by it.
struct PolicyBench {
    let policy: TrustPolicy

    static let model = """
        kind: scorecard
        name: card
        version: 1
        provenance: {author: tests}
        inputs: [{name: device.value, weight: 1}]
        """

    /// A policy of some attributes, all optional: `a`, `b` (int), `d` (double), `s` (string),
    /// `flag` (bool), and a velocity window `n`.
    static func source(_ rule: String, name: String = "bench", version: Int = 1) -> String {
        """
        kind: trust
        name: \(name)
        version: \(version)
        categories: [payment]
        attributes:
          a: {type: int, optional: true}
          b: {type: int, optional: true}
          d: {type: double, optional: true}
          s: {type: string, maxLength: 4000, optional: true}
          flag: {type: bool, optional: true}
        velocity:
          n: {count: evaluations, window: 1h}
        model: {name: card, version: 1, medium: 0.4, high: 0.8}
        rule:

        """
            + rule.split(separator: "\n", omittingEmptySubsequences: false)
            .map { "  " + $0 }.joined(separator: "\n") + "\n"
    }

    init(_ rule: String) throws {
        let load = PolicyLoader().load([
            .init(path: "model.yaml", bytes: Array(Self.model.utf8)),
            .init(path: "policy.yaml", bytes: Array(Self.source(rule).utf8)),
        ])
        let set = try #require(load.set, "\(load.rendered())")
        policy = try #require(set.trustPolicies.first)
    }

    /// Judges an event. What is not given is absent, but for the insight, which is `unknown`.
    func judge(_ inputs: [String: Input], degraded: Bool = false) throws -> Judgement {
        var activation = Activation(policy.environment)
        activation.reset()
        var values: [String: Input] = [
            "insight.kind": .string("isLikelyBeingCoached"), "insight.outcome": .string("unknown"),
            "insight.degraded": .bool(degraded), "insight.modelVersion": .string("1"),
            "context.category": .string("payment"), "subject.authorization": .string("authorized"),
            "velocity.n": .int(0),
        ]
        values.merge(inputs) { $1 }
        for (name, value) in values {
            let slot = try #require(
                policy.slots.slots.firstIndex { $0.name == name }, "no slot \(name)")
            switch value {
            case .bool(let flag): activation.set(slot, flag)
            case .int(let number): activation.set(slot, number)
            case .double(let number): activation.set(slot, number)
            case .string(let text): activation.set(slot, text)
            }
        }
        activation.set(
            SlotLayout.Fixed.now, .timestamp(try #require(Timestamp(seconds: 1_800_000_000))))
        return policy.judge(&activation, isDegraded: degraded)
    }
}

extension Judgement {
    var letters: String { Verdict.letters(verdicts) }
    var steps: [Step] { decision.output.steps.steps }
    var rules: [String] { decision.reasons.map(\.rule) }
}
