import Time

/// A sliding window `(now − window, now]` over the subject's earlier events.
public struct VelocityWindow: Sendable, Hashable {
    /// What is taken of the events in the window.
    public enum Measure: Sendable, Hashable {
        /// How many evaluations.
        case count
        /// The correctly rounded sum of a numeric attribute; events without it add nothing.
        case sum(attribute: String)
        /// How many different values of an attribute.
        case distinct(attribute: String)

        /// The attribute that is summed or told apart; nil for a count.
        public var attribute: String? {
            switch self {
            case .count: nil
            case .sum(let attribute), .distinct(let attribute): attribute
            }
        }
    }

    /// The name under `velocity.` in expressions.
    public let name: String
    /// What is measured.
    public let measure: Measure
    /// The categories whose evaluations count: the one named, else all of the policy.
    public let categories: [Category]
    /// Only events with this event's value of the attribute count; nil for all.
    public let by: String?
    /// How far back the window reaches; above zero, at most ``PolicyLimits/window``.
    public let window: Duration

    /// A window as a policy states it.
    public init(
        name: String, measure: Measure, categories: [Category], by: String?, window: Duration
    ) {
        self.name = name
        self.measure = measure
        self.categories = categories
        self.by = by
        self.window = window
    }

    /// Whether the window's value is an int in expressions (sums are doubles).
    public var isWhole: Bool {
        if case .sum = measure { false } else { true }
    }
}
