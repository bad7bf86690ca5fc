import Time

/// How much a decision interrupts the person. The order is the order of strictness.
public enum Friction: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    case reduced = 0
    case unchanged = 1
    case increased = 2

    /// The name used in policies, answers and the ledger.
    public var name: String {
        switch self {
        case .reduced: "reduced"
        case .unchanged: "unchanged"
        case .increased: "increased"
        }
    }

    /// Reads a name as it stands in a policy; nil for any other text.
    public init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// Whether `lhs` interrupts less than `rhs`.
    public static func < (lhs: Friction, rhs: Friction) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// One thing the app should make the person pass. The raw value gives the fixed order in which
/// steps are listed and shown.
public enum Step: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    case warn = 0
    case stepUp = 1
    case manualReview = 2
    case block = 3

    /// The name used in policies, answers and the ledger.
    public var name: String {
        switch self {
        case .warn: "warn"
        case .stepUp: "stepUp"
        case .manualReview: "manualReview"
        case .block: "block"
        }
    }

    /// Reads a name as it stands in a policy; nil for any other text.
    public init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// Whether `lhs` comes before `rhs`.
    public static func < (lhs: Step, rhs: Step) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// A set of steps; listing it always gives the fixed order, so a union needs no sorting.
public struct StepSet: OptionSet, Sendable, Hashable {
    /// One bit per step, at the step's raw value.
    public let rawValue: UInt8

    /// Any bits; those above the known steps are kept but never listed.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The set holding the given steps.
    public init(_ steps: some Sequence<Step>) {
        rawValue = steps.reduce(0) { $0 | (1 << $1.rawValue) }
    }

    /// Whether the step is in the set.
    public func contains(_ step: Step) -> Bool { rawValue & (1 << step.rawValue) != 0 }

    /// The set with one step replaced by another; unchanged where `old` is not in it.
    public func replacing(_ old: Step, with new: Step) -> StepSet {
        guard contains(old) else { return self }
        return StepSet(rawValue: (rawValue & ~(1 << old.rawValue)) | (1 << new.rawValue))
    }

    /// The steps in their fixed order.
    public var steps: [Step] { Step.allCases.filter(contains) }
}

/// What a rule decides. Always a literal in the policy file, so that what a policy can do is known
/// without running it.
public struct DecisionOutput: Sendable, Hashable {
    /// How much to interrupt.
    public let friction: Friction
    /// What to make the person pass; empty unless `friction` is `increased`.
    public let steps: StepSet
    /// How long the action waits, counted from `completedAt`; nil for no hold. Above zero and at
    /// most ``PolicyLimits/hold``.
    public let holdFor: Duration?
    /// Names that the app resolves, in file order and without repetition. The service sends nothing.
    public let notify: [String]

    /// An output as a rule states it. Consistency is checked while reading the policy.
    public init(
        friction: Friction, steps: StepSet = [], holdFor: Duration? = nil, notify: [String] = []
    ) {
        self.friction = friction
        self.steps = steps
        self.holdFor = holdFor
        self.notify = notify
    }

    /// Combines two outputs as `strictest` does: the highest friction, all steps, the longest hold,
    /// everyone to notify (in the order of first mention).
    public func strictest(with other: DecisionOutput) -> DecisionOutput {
        let hold: Duration? =
            switch (holdFor, other.holdFor) {
            case (let mine?, let theirs?): max(mine, theirs)
            case (let mine, let theirs): mine ?? theirs
            }
        return DecisionOutput(
            friction: max(friction, other.friction),
            steps: steps.union(other.steps),
            holdFor: hold,
            notify: notify + other.notify.filter { !notify.contains($0) })
    }
}
