import CEL
import Policies
import ReviewPrompts
import Time
import TrustInsights

/// A policy made ready to be timed on the inputs of its tests. It measures nothing itself.
public struct BenchSubject: ~Copyable {
    /// A rule with expressions: its name and how many it has.
    public struct Rule: Sendable {
        /// The id; of a plain policy `match 1`.
        public var name: String
        fileprivate var item: Int
    }

    private enum Input {
        case trust(EvaluationRecord)
        case plain([(name: String, value: Value)])
        case story(ReviewPromptTests)
    }

    /// The policy.
    public let policy: Policy
    /// Its rules that have an expression, in policy order.
    public let rules: [Rule]
    private let traced: TracedPolicy
    private let inputs: [Input]
    private let zones: ZoneDatabase
    /// With all variables in sight.
    private let environment: Environment
    private var activation: Activation
    private var prepared = 0

    /// A policy of a set. Tests whose input it refuses are left out.
    public init(_ policy: Policy, in set: PolicySet, zones: ZoneDatabase) {
        self.policy = policy
        self.zones = zones
        inputs = Self.inputs(of: policy, in: set)
        var environment = Environment()
        switch policy {
        case .trust(let policy):
            traced = TracedPolicy(policy)
            environment = policy.environment
        case .plain(let policy):
            traced = TracedPolicy(policy)
            environment = policy.environment
        case .reviewPrompt(let policy): traced = TracedPolicy(policy)
        }
        activation = Activation(environment)
        for slot in environment.slots.indices where environment.slots[slot].program != nil {
            environment.show(environment.slots[slot].path, slot: slot)
        }
        self.environment = environment
        let traced = traced
        let canRunAlone = if case .reviewPrompt = policy { false } else { true }
        rules = traced.items.indices.filter {
            canRunAlone && !traced.items[$0].expressions.isEmpty
                && traced.items[$0].kind == .rule
        }.map { Rule(name: traced.items[$0].name, item: $0) }
    }

    private static func inputs(of policy: Policy, in set: PolicySet) -> [Input] {
        set.tests.flatMap { tests -> [Input] in
            switch (tests, policy) {
            case (.trust(let tests), .trust(let policy)):
                guard set.policy(tests.policy)?.reference == policy.reference else { return [] }
                let trial = Trial(policy, in: set)
                return tests.sections.flatMap(\.tests).compactMap {
                    (try? trial.judge($0)).map(Input.trust)
                }
            case (.plain(let tests), .plain(let policy)):
                guard set.policy(tests.policy)?.reference == policy.name else { return [] }
                return tests.sections.flatMap(\.tests).compactMap {
                    (try? policy.inputs(of: $0).get()).map { .plain($0.values) }
                }
            case (.reviewPrompt(let tests, _), .reviewPrompt(let policy)):
                guard set.policy(tests.policy)?.reference == policy.reference else { return [] }
                return tests.sections.flatMap { section in
                    section.tests.map { test in
                        .story(
                            ReviewPromptTests(
                                policy: policy.reference,
                                sections: [.init(name: section.name, tests: [test])]))
                    }
                }
            default: return []
            }
        }
    }

    /// How many inputs there are.
    public var inputCount: Int { inputs.count }

    /// How many events one input stands for: the steps of a story, else one.
    public func events(of input: Int) -> Int {
        if case .story(let tests) = inputs[input] {
            return max(tests.sections.flatMap(\.tests).reduce(0) { $0 + $1.steps.count }, 1)
        }
        return 1
    }

    /// Puts an input's values where rules read them; variables are then computed anew.
    public mutating func prepare(_ input: Int) {
        prepared = input
        switch (inputs[input], policy) {
        case (.trust(let record), .trust(let policy)):
            Facts(record).fill(&activation, policy: policy, insight: record.acting)
        case (.plain(let values), .plain(let policy)):
            activation.reset()
            for (name, value) in values {
                if let slot = policy.environment.slot(name) { activation.set(slot, value) }
            }
        default: break
        }
    }

    /// Judges the input that was prepared by all rules; of a review-prompt policy its whole story.
    public mutating func judge() {
        switch (inputs[prepared], policy) {
        case (.trust(let record), .trust(let policy)):
            _ = policy.judge(&activation, isDegraded: record.acting.degraded != nil)
        case (.plain(let values), .plain(let policy)): _ = policy.evaluate(values)
        case (.story(let tests), .reviewPrompt(let policy)):
            _ = ReviewPrompts.run(tests, policy: policy, zones: zones)
        default: break
        }
    }

    /// Evaluates the expressions of one rule, and the variables they read, on that input.
    public mutating func evaluate(_ rule: Int) {
        for (_, index) in traced.items[rules[rule].item].expressions {
            _ = traced.expressions[index].program.evaluate(&activation)
        }
    }

    /// Compiles the expressions of one rule. False where that cannot be done outside of the
    /// policy: two blocks have variables of one name and different types.
    public func compile(_ rule: Int) -> Bool {
        traced.items[rules[rule].item].expressions.allSatisfy {
            environment.compile(traced.expressions[$0.index].source).program != nil
        }
    }
}
