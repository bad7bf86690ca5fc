import JSON
import Policies
import Time
import TrustInsights

/// Answers about evaluations, as the API shows them. One place writes them, so that the first
/// answer, a replay and a later look show the same.
extension EvaluationRecord {
    /// Writes the answer to an evaluation. `more` adds members at its end.
    public func writeAnswer(
        to writer: inout JSONWriter, isReplay: Bool, consumption: ConsumptionState?,
        more: (inout JSONWriter) -> Void = { _ in }
    ) {
        writer.beginObject()
        writer.member("evaluationID", evaluationID)
        writer.member("requestID", requestID)
        writer.key("replayed")
        writer.bool(isReplay)
        writer.key("insights")
        writer.beginArray()
        for index in results.indices { writeInsight(index, to: &writer) }
        writer.endArray()
        writer.object("decision", decision.writeMembers)
        if let shadowDecision { writer.object("shadowDecision", shadowDecision.writeMembers) }
        if let shadowPolicy {
            writer.object("shadowPolicy") { writer in
                writer.object("policy", shadowPolicy.policy.writeMembers)
                writer.member("outcome", shadowPolicy.outcome.rawValue)
                writer.object("decision", shadowPolicy.decision.writeMembers)
            }
        }
        writer.object("policy", policy.writeMembers)
        if let model { writer.object("model", model.writeMembers) }
        if let consumption, let reportDueAt {
            writer.object("consumption") { writer in
                writer.member("state", consumption.rawValue)
                writer.member("dueAt", reportDueAt)
            }
        }
        writer.member("labelDeadline", labelDeadline)
        writer.member("receivedAt", receivedAt)
        writer.member("completedAt", completedAt)
        more(&writer)
        writer.endObject()
    }

    private func writeInsight(_ index: Int, to writer: inout JSONWriter) {
        let result = results[index]
        writer.beginObject()
        writer.member("insightID", insightID(index))
        let kind = index < insights.count ? insights[index].kind : .isLikelyBeingCoached
        writer.member("kind", kind.rawValue)
        if let error = result.error {
            writer.member("error", error.rawValue)
        } else {
            writer.member("outcome", (result.outcome ?? .unknown).rawValue)
        }
        if let score = result.score {
            writer.key("score")
            writer.double(score)
        }
        writer.member("modelVersion", result.modelVersion)
        writer.member("newestModelVersion", newestModelVersion)
        writer.key("degraded")
        writer.bool(result.degraded != nil || result.error != nil)
        writer.member("cause", result.degraded)
        writer.endObject()
    }
}

extension Decision {
    /// The decision's members. Always the same ones, so that a client can rely on them.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.member("friction", output.friction.name)
        writer.member("steps", output.steps)
        writer.member("holdFor", output.holdFor?.iso8601)
        writer.member("notify", output.notify)
        writer.key("reasons")
        writer.beginArray()
        for reason in reasons {
            writer.beginObject()
            writer.member("rule", reason.rule)
            writer.member("explanation", reason.explanation)
            writer.member("note", reason.note)
            writer.endObject()
        }
        writer.endArray()
    }

    /// The decision as a value.
    public var json: JSONValue {
        var writer = JSONWriter()
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
        return (try? JSONReader.parse(writer.bytes)) ?? .null
    }
}

extension VersionReference {
    /// Name, version, digest.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.member("name", name)
        writer.key("version")
        writer.int(version)
        writer.member("digest", digest)
    }
}

extension EvaluationState {
    /// Writes an evaluation with all that came after it, and every rule's verdict with what
    /// it read.
    public func writeAnswer(to writer: inout JSONWriter, now: Instant, policy: ActingPolicy?) {
        record.writeAnswer(
            to: &writer, isReplay: false, consumption: consumptionState(at: now)
        ) { writer in
            writer.member("authorization", record.authorization.rawValue)
            if let consumption { writer.object("report", consumption.writeMembers) }
            writer.key("labels")
            writer.beginArray()
            for label in labels { label.write(to: &writer) }
            writer.endArray()
            if let current = labels.current {
                writer.key("currentLabel")
                current.write(to: &writer)
            }
            if let policy, policy.reference == record.policy {
                writer.key("rules")
                record.writeRules(to: &writer, policy: policy.policy)
            }
            if !record.acting.missing.isEmpty {
                writer.member("missingInputs", record.acting.missing)
            }
            writer.object("contributions") { writer in
                for contribution in record.acting.contributions {
                    writer.key(contribution.input)
                    writer.double(contribution.value)
                }
            }
        }
    }
}

extension ConsumptionRecord {
    /// The report's members.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.member("evaluationID", evaluationID)
        writer.member("status", status.rawValue)
        if let insightsUsed { writer.member("insightsUsed", insightsUsed) }
        writer.member("reportedAt", reportedAt)
        writer.member("dueAt", dueAt)
        writer.member(
            "state", (reportedAt <= dueAt ? ConsumptionState.reported : .reportedLate).rawValue)
        writer.member("flags", flags.map(\.rawValue))
    }
}

extension Label {
    /// The label as an object.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("labelID", labelID)
        writer.member("label", label.rawValue)
        writer.member("category", category?.rawValue)
        writer.member("source", source.rawValue)
        writer.member("occurredAt", occurredAt)
        writer.member("retracts", retracts)
        writer.endObject()
    }
}

extension LabelRecord {
    /// The answer to a label.
    public func writeMembers(to writer: inout JSONWriter, status: Reply.LabelStatus) {
        writer.member("labelID", labelID)
        writer.member("evaluationID", evaluationID)
        writer.member("label", label.rawValue)
        writer.member("status", status.rawValue)
        writer.member("effectiveAt", receivedAt)
    }
}
