/// Where a value of an expression comes from.
public enum SlotSource: Sendable, Hashable {
    case insightKind
    case insightOutcome
    case insightScore
    case insightDegraded
    case insightModelVersion
    case deviceValue
    case contextCategory
    case subjectAuthorization
    case subjectAuthorizationEndsAt
    case now
    /// The attribute at this index of ``TrustPolicy/attributes``.
    case attribute(Int)
    /// The window at this index of ``TrustPolicy/velocity``.
    case velocity(Int)
    /// The variable at this index of ``TrustPolicy/variables``.
    case variable(Int)

    /// Whether the value is part of the insight. Other evidence for `block` reads none of these.
    public var isInsight: Bool {
        switch self {
        case .insightKind, .insightOutcome, .insightScore, .insightDegraded, .insightModelVersion:
            true
        default: false
        }
    }
}

/// One value that expressions of a policy can read.
public struct Slot: Sendable, Hashable {
    /// The name as written in expressions, such as `attributes.amount`.
    public let name: String
    /// Where the value comes from.
    public let source: SlotSource
}

/// The index of every value that expressions of one policy can read. The engine's own values stand
/// first, at the same index in every policy; then attributes, windows and variables in file order.
public struct SlotLayout: Sendable, Hashable {
    /// All slots; a slot's index is its place here.
    public let slots: [Slot]
    /// The index of the first attribute.
    public let firstAttribute: Int
    /// The index of the first velocity window.
    public let firstVelocity: Int
    /// The index of the first variable.
    public let firstVariable: Int

    /// The engine's own values, which stand at the same index in every policy.
    public enum Fixed {
        /// `insight.kind`.
        public static let insightKind = 0
        /// `insight.outcome`.
        public static let insightOutcome = 1
        /// `insight.score`.
        public static let insightScore = 2
        /// `insight.degraded`.
        public static let insightDegraded = 3
        /// `insight.modelVersion`.
        public static let insightModelVersion = 4
        /// `device.value`.
        public static let deviceValue = 5
        /// `context.category`.
        public static let contextCategory = 6
        /// `subject.authorization`.
        public static let subjectAuthorization = 7
        /// `subject.authorizationEndsAt`.
        public static let subjectAuthorizationEndsAt = 8
        /// `now`.
        public static let now = 9
        /// How many there are; the first attribute has this index.
        public static let count = 10
    }

    /// Lays out the values of a policy. A variable that a nested block declares again has a slot of
    /// its own, so names of variables may repeat.
    public init(attributes: [String], velocity: [String], variables: [String]) {
        var slots = Self.fixedSlots
        firstAttribute = slots.count
        for (index, name) in attributes.enumerated() {
            slots.append(Slot(name: "attributes." + name, source: .attribute(index)))
        }
        firstVelocity = slots.count
        for (index, name) in velocity.enumerated() {
            slots.append(Slot(name: "velocity." + name, source: .velocity(index)))
        }
        firstVariable = slots.count
        for (index, name) in variables.enumerated() {
            slots.append(Slot(name: "variables." + name, source: .variable(index)))
        }
        self.slots = slots
    }

    private static let fixedSlots = [
        Slot(name: "insight.kind", source: .insightKind),
        Slot(name: "insight.outcome", source: .insightOutcome),
        Slot(name: "insight.score", source: .insightScore),
        Slot(name: "insight.degraded", source: .insightDegraded),
        Slot(name: "insight.modelVersion", source: .insightModelVersion),
        Slot(name: "device.value", source: .deviceValue),
        Slot(name: "context.category", source: .contextCategory),
        Slot(name: "subject.authorization", source: .subjectAuthorization),
        Slot(name: "subject.authorizationEndsAt", source: .subjectAuthorizationEndsAt),
        Slot(name: "now", source: .now),
    ]

    /// The number of slots.
    public var count: Int { slots.count }

    /// The slot of the attribute at this index of the policy.
    public func attribute(_ index: Int) -> Int { firstAttribute + index }

    /// The slot of the window at this index of the policy.
    public func velocity(_ index: Int) -> Int { firstVelocity + index }

    /// The slot of the variable at this index of the policy.
    public func variable(_ index: Int) -> Int { firstVariable + index }
}
