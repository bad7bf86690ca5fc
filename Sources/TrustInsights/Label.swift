import JSON
import Time

/// What turned out to be true.
public enum LabelValue: String, Sendable, CaseIterable {
    case confirmedFraud, suspectedFraud, confirmedLegitimate
    /// Takes out an earlier label, which it names.
    case retracted
}

/// What kind of fraud it was.
public enum LabelCategory: String, Sendable, CaseIterable {
    case vishing, remoteAccess, impersonation, familyEmergency, mule, chargeback, other
}

/// Where the finding comes from.
public enum LabelSource: String, Sendable, CaseIterable {
    case customerReport, manualReview, chargeback, partner
}

/// One label of an evaluation's history.
public struct Label: Sendable, Equatable {
    /// The caller's id of the label.
    public var labelID: String
    /// What turned out to be true.
    public var label: LabelValue
    /// What kind of fraud it was, if known.
    public var category: LabelCategory?
    /// Where the finding comes from.
    public var source: LabelSource
    /// When the finding was made.
    public var occurredAt: Instant
    /// For `retracted`: the id of the label that it takes out.
    public var retracts: String?
    /// The ledger's number of the entry that holds it.
    public var sequence: Int64

    /// A label of these parts.
    public init(
        labelID: String, label: LabelValue, category: LabelCategory?, source: LabelSource,
        occurredAt: Instant, retracts: String?, sequence: Int64
    ) {
        self.labelID = labelID
        self.label = label
        self.category = category
        self.source = source
        self.occurredAt = occurredAt
        self.retracts = retracts
        self.sequence = sequence
    }
}

extension Sequence<Label> {
    /// The label that counts: of those not retracted, the one found latest; of two found at
    /// the same instant, the one recorded later.
    public var current: Label? {
        let retracted = Set(compactMap { $0.retracts.map(ExactText.init) })
        return filter { $0.label != .retracted && !retracted.contains(ExactText($0.labelID)) }
            .max { ($0.occurredAt, $0.sequence) < ($1.occurredAt, $1.sequence) }
    }
}
