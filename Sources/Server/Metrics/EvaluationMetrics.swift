import Engine
import Policies
import Synchronization
import TrustInsights

/// What is counted of evaluations: outcomes, frictions, and the rules that decided.
public final class EvaluationMetrics: Sendable {
    private let registry: MetricsRegistry
    private let outcomes: [Counter]
    private let degraded: Counter
    /// By policy and rule. A name is an operator's, so there are few; still there is an end.
    private let rules = Mutex<[String: Counter]>([:])
    private static let mostRules = 5_000

    /// Registers the metrics.
    public init(registry: MetricsRegistry) {
        self.registry = registry
        outcomes = Policies.Category.allCases.flatMap { category in
            Outcome.allCases.flatMap { outcome in
                Friction.allCases.map { friction in
                    registry.counter(
                        "discern_evaluations_total",
                        "Actions judged, by category, outcome and friction.",
                        labels: [
                            ("category", category.rawValue), ("outcome", outcome.rawValue),
                            ("friction", friction.name),
                        ])
                }
            }
        }
        degraded = registry.counter(
            "discern_evaluations_degraded_total", "Actions judged without a result of the model.")
    }

    /// Counts an evaluation that was judged now, not a replay.
    func count(_ record: EvaluationRecord) {
        let category = Policies.Category.allCases.firstIndex(of: record.category) ?? 0
        let outcome =
            Outcome.allCases.firstIndex(of: record.acting.outcome ?? .unknown) ?? 0
        let friction = Int(record.decision.output.friction.rawValue)
        outcomes[(category * Outcome.allCases.count + outcome) * Friction.allCases.count + friction]
            .add()
        if record.acting.degraded != nil { degraded.add() }
        for reason in record.decision.reasons { rule(record.policy.name, reason.rule)?.add() }
    }

    private func rule(_ policy: String, _ rule: String) -> Counter? {
        rules.withLock { rules in
            let key = policy + " " + rule
            if let counter = rules[key] { return counter }
            guard rules.count < Self.mostRules else { return nil }
            let counter = registry.counter(
                "discern_rule_matches_total", "Decisions that a rule is a reason of.",
                labels: [("policy", policy), ("rule", rule)])
            rules[key] = counter
            return counter
        }
    }
}
