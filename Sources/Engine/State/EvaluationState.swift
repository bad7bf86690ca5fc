import JSON
import Policies
import Time
import TrustInsights

/// An evaluation and what came after it: a fold over its entry and those about it.
public struct EvaluationState: Sendable {
    /// Whose it is.
    public let tenant: Tenant
    /// What was asked and decided.
    public var record: EvaluationRecord {
        _read { yield judged.record }
    }
    /// A record is large, and never changes: states that are copied share it.
    private let judged: Judged

    private final class Judged: Sendable {
        let record: EvaluationRecord

        init(_ record: EvaluationRecord) { self.record = record }
    }

    /// The effective report.
    public private(set) var consumption: ConsumptionRecord?
    /// All labels, in ledger order.
    public private(set) var labels: [Label] = []

    /// An evaluation after which nothing came yet.
    public init(record: EvaluationRecord, tenant: Tenant) {
        judged = Judged(record)
        self.tenant = tenant
    }

    mutating func apply(_ record: ConsumptionRecord) {
        if consumption == nil { consumption = record }
    }

    mutating func apply(_ record: LabelRecord, sequence: Int64) {
        labels.append(record.label(sequence: sequence))
    }

    /// Where it stands with its report; `nil` where none is owed.
    public func consumptionState(at now: Instant) -> ConsumptionState? {
        record.reportDueAt.map {
            ConsumptionState(dueAt: $0, reportedAt: consumption?.reportedAt, now: now)
        }
    }
}
