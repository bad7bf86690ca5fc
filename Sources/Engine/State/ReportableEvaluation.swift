import Policies
import Time
import TrustInsights

/// What a report or a label of an evaluation is judged by: a fold over its entry and those about it.
///
/// Small, since every evaluation is kept for the report that will follow. The rest of the record is
/// read where it is shown (``EvaluationState``).
struct ReportableEvaluation {
    /// Whose it is.
    let tenant: Tenant
    let evaluationID: Identifier
    let subject: Pseudonym
    /// What the acting insight says.
    let outcome: Outcome
    /// What was decided.
    let friction: Friction
    /// Whether a matched rule read the insight.
    let insightWasRead: Bool
    /// How many insights were answered.
    let insightCount: Int
    /// The last instant at which the report is in time; `nil` where none is owed.
    let reportDueAt: Instant?
    /// The last instant at which labels are taken.
    let labelDeadline: Instant
    /// The effective report.
    private(set) var consumption: ConsumptionRecord?
    /// All labels, in ledger order.
    private(set) var labels: [Label] = []

    /// An evaluation after which nothing came yet.
    init(_ record: EvaluationRecord, tenant: Tenant) {
        self.tenant = tenant
        evaluationID = record.evaluationID
        subject = record.subject
        outcome = record.acting.outcome ?? .unknown
        friction = record.decision.output.friction
        insightWasRead = record.insightWasRead
        insightCount = record.results.count
        reportDueAt = record.reportDueAt
        labelDeadline = record.labelDeadline
    }

    /// An evaluation with all that came after it.
    init(_ state: EvaluationState) {
        self.init(state.record, tenant: state.tenant)
        consumption = state.consumption
        labels = state.labels
    }

    mutating func apply(_ record: ConsumptionRecord) {
        if consumption == nil { consumption = record }
    }

    mutating func apply(_ record: LabelRecord, sequence: Int64) {
        labels.append(record.label(sequence: sequence))
    }

    /// Whether an id is the evaluation's own or that of one of its insights.
    func has(_ id: Identifier) -> Bool {
        evaluationID == id.part(0) && Int(id.ordinal) <= insightCount
    }

    /// The ids of its insights.
    var insightIDs: [String] { (0..<insightCount).map { evaluationID.insight($0).text } }

    /// Where it stands with its report; `nil` where none is owed.
    func consumptionState(at now: Instant) -> ConsumptionState? {
        reportDueAt.map {
            ConsumptionState(dueAt: $0, reportedAt: consumption?.reportedAt, now: now)
        }
    }
}

extension Identifier {
    /// The id of an insight of this evaluation, by its place among those answered.
    func insight(_ index: Int) -> Identifier {
        part(Part.firstInsight.rawValue + UInt16(index))
    }
}
