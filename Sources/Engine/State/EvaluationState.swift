import JSON
import Policies
import Time
import TrustInsights

/// An evaluation and what came after it: a fold over its entry and those about it.
public struct EvaluationState: Sendable {
    /// Whose it is.
    public let tenant: Tenant
    /// What was asked and decided.
    public let record: EvaluationRecord
    /// The effective report.
    public private(set) var consumption: ConsumptionRecord?
    /// All labels, in ledger order.
    public private(set) var labels: [Label] = []

    /// An evaluation after which nothing came yet.
    public init(_ record: EvaluationRecord, tenant: Tenant) {
        self.record = record
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

/// A record that was judged, by reference: it is large, and whoever passes it on need not copy it.
public final class JudgedEvaluation: Sendable {
    /// What was asked and decided.
    public let record: EvaluationRecord

    /// A record that does not change any more.
    public init(_ record: EvaluationRecord) { self.record = record }
}
