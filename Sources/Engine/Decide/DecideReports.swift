import JSON
import Policies
import Time
import TrustInsights

/// What became of a consumption report.
enum ReportAnswer {
    case recorded(ConsumptionRecord)
    case replayed(ConsumptionRecord)
    case refused(Refusal)
}

extension ReportCommand {
    /// Takes a report on an evaluation. One is effective: the same again is a replay,
    /// another is refused.
    func decide(on evaluation: ReportableEvaluation, at now: Instant) -> ReportAnswer {
        guard let dueAt = evaluation.reportDueAt else {
            return .refused(
                Refusal(
                    .reportNotOwed,
                    "the insight was refused by the person's authorization, so no report is owed",
                    field: "/" + self.evaluation.field, value: .string(self.evaluation.text)))
        }
        if let used = insightsUsed {
            let known = evaluation.insightIDs
            if let index = used.firstIndex(where: { !known.contains($0) }) {
                return .refused(
                    Refusal(
                        .invalidValue, "the evaluation has no such insight",
                        field: "/insightsUsed/\(index)", value: .string(used[index]),
                        allowed: known.map { .string($0) }))
            }
        }
        if let earlier = evaluation.consumption {
            if earlier.status == status, earlier.insightsUsed == insightsUsed {
                return .replayed(earlier)
            }
            return .refused(
                Refusal(
                    .alreadyReported,
                    "the consumption of this evaluation was reported as "
                        + "\(earlier.status.rawValue) at \(earlier.reportedAt)",
                    field: "/status", value: .string(status.rawValue),
                    allowed: [.string(earlier.status.rawValue)]))
        }
        return .recorded(
            ConsumptionRecord(
                evaluationID: evaluation.evaluationID, subject: evaluation.subject, status: status,
                insightsUsed: insightsUsed,
                reportedAt: now, dueAt: dueAt,
                flags: ConsumptionFlag.flags(
                    of: status, outcome: evaluation.outcome, decided: evaluation.friction,
                    insightWasRead: evaluation.insightWasRead)))
    }
}

/// What became of a label.
enum LabelAnswer {
    case recorded(LabelRecord, isSuperseding: Bool)
    case replayed(LabelRecord)
    case refused(Refusal)
}

extension LabelCommand {
    /// Takes a label. `earlier` is what was recorded under its labelID.
    func decide(on evaluation: ReportableEvaluation, earlier: LabelRecord?, at now: Instant)
        -> LabelAnswer
    {
        let record = LabelRecord(
            evaluationID: evaluation.evaluationID, subject: evaluation.subject,
            labelID: labelID, label: label,
            category: category, source: source, occurredAt: occurredAt, retracts: retracts,
            receivedAt: now)
        if let earlier {
            var same = record
            same.receivedAt = earlier.receivedAt
            return same == earlier
                ? .replayed(earlier)
                : .refused(
                    Refusal(
                        .labelIDReused, "another label was recorded under this labelID",
                        field: "/labelID", value: .string(labelID)))
        }
        if now > evaluation.labelDeadline {
            return .refused(
                Refusal(
                    .labelWindowClosed,
                    "labels of this evaluation were taken until \(evaluation.labelDeadline)",
                    members: [
                        "labelDeadline": .string(evaluation.labelDeadline.rfc3339)
                    ]))
        }
        guard evaluation.labels.count < TrustLimits.labels else {
            return .refused(
                Refusal(
                    .tooManyLabels, "the evaluation has \(evaluation.labels.count) labels",
                    allowed: [.string("at most \(TrustLimits.labels)")]))
        }
        if occurredAt > now + TrustLimits.clockSkew {
            return .refused(.clockSkew("/occurredAt", occurredAt, now: now))
        }
        if let retracts,
            !evaluation.labels.contains(where: { ExactText($0.labelID) == ExactText(retracts) })
        {
            return .refused(
                Refusal(
                    .invalidValue, "the evaluation has no label of this id", field: "/retracts",
                    value: .string(retracts),
                    allowed: evaluation.labels.map { .string($0.labelID) }))
        }
        let before = evaluation.labels.current
        let after = (evaluation.labels + [record.label(sequence: .max)]).current
        return .recorded(record, isSuperseding: before != nil && before != after)
    }
}

extension EvaluationRecord {
    /// The id of an insight, by its place among those answered.
    public func insightID(_ index: Int) -> Identifier { evaluationID.insight(index) }
}
