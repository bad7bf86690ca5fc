import CEL
import Policies
import Scoring
import Time
import TrustInsights

/// One action being judged: windows, score, rules, in this order.
struct Judging {
    let command: EvaluateCommand
    let attributes: [RecordedAttribute]
    let acting: ActingPolicy
    let context: EvaluationContext
    let events: VelocityEvents
    let authorization: (status: AuthorizationStatus, endsAt: Instant?)
    /// What a policy's test puts in the model's place.
    var standIn: InsightResult?

    func record(_ activation: inout Activation) -> EvaluationRecord {
        let policy = acting.policy
        let velocity = policy.velocity.map {
            $0.value(of: events, at: context.now, judging: attributes)
        }
        let facts = Facts(
            category: command.category, attributes: attributes, velocity: velocity,
            // Where the person refused the insight, nothing of the device is looked at.
            device: authorization.status == .authorized ? command.device?.value : nil,
            authorization: authorization.status, authorizationEndsAt: authorization.endsAt,
            now: context.now)
        let insight = actingInsight(facts)
        let judgement = facts.judge(by: policy, insight: insight, &activation)
        let insightWasRead = judgement.verdicts.indices.contains { index in
            judgement.verdicts[index].isMatch && policy.rules[index].mode == .enforce
                && policy.rules[index].readsInsight
        }
        return EvaluationRecord(
            requestID: command.requestID, subject: command.subject, action: command.action,
            category: command.category, attributes: attributes, insights: command.insights,
            device: authorization.status == .authorized ? command.device : nil,
            force: command.force, evaluationID: context.evaluationID, receivedAt: context.now,
            completedAt: context.now, authorization: authorization.status,
            authorizationEndsAt: authorization.endsAt, acting: insight,
            results: results(insight, facts), newestModelVersion: acting.newestModelVersion,
            velocity: velocity, verdicts: judgement.verdicts, decision: judgement.decision,
            shadowDecision: judgement.shadowDecision, shadowPolicy: nil,
            insightWasRead: insightWasRead,
            policy: acting.reference,
            model: acting.model?.reference,
            configuration: context.configurationDigest,
            reportDueAt: authorization.status == .authorized
                ? context.now + context.configuration.reportWithin : nil,
            labelDeadline: context.now + context.configuration.labelWindow)
    }

    /// What the acting model says. A technical error never becomes a risk value.
    private func actingInsight(_ facts: Facts) -> InsightResult {
        let version = acting.actingModelVersion
        if let standIn { return standIn }
        guard authorization.status == .authorized else {
            return InsightResult(outcome: .unknown, modelVersion: version)
        }
        switch command.force {
        case .outcome(let outcome)?:
            return InsightResult(outcome: outcome, modelVersion: version)
        case .insightError(let error)?:
            return InsightResult(
                outcome: .unknown, modelVersion: version, degraded: error.rawValue)
        case .evaluationError?, nil: break
        }
        guard let model = acting.model, let thresholds = acting.policy.model else {
            return InsightResult(
                outcome: .unknown, modelVersion: version,
                degraded: acting.policy.model == nil ? nil : "insightUnavailable")
        }
        return facts.score(
            by: model, sources: acting.sources(of: model), thresholds: thresholds)
    }

    /// What is answered for each insight asked for. Another version than the acting one is
    /// answered and recorded, and never acts: the caller cannot pick its judge.
    private func results(_ insight: InsightResult, _ facts: Facts) -> [InsightResult] {
        let requests = command.insights.isEmpty ? [InsightRequest()] : command.insights
        return requests.map { request in
            if request.schema != 1 {
                return InsightResult(
                    outcome: nil, modelVersion: request.modelVersion,
                    error: .insightVersionIncompatible)
            }
            if case .insightError(let error)? = command.force {
                let isCurrent = request.modelVersion == "current"
                return InsightResult(
                    outcome: nil,
                    modelVersion: isCurrent ? acting.actingModelVersion : request.modelVersion,
                    error: error)
            }
            if request.modelVersion == "current"
                || request.modelVersion == acting.actingModelVersion
            {
                return insight
            }
            guard authorization.status == .authorized, let thresholds = acting.policy.model,
                let model = Int(request.modelVersion).flatMap({ acting.models[$0] })
            else {
                return InsightResult(
                    outcome: nil, modelVersion: request.modelVersion,
                    error: .insightVersionUnavailable)
            }
            return facts.score(
                by: model, sources: acting.sources(of: model), thresholds: thresholds)
        }
    }
}
