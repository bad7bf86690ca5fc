import CEL
import JSON
import Policies
import Scoring
import Time
import TrustInsights

/// All that judging an action depends on, besides the command itself. A class, so that handing it on
/// copies nothing of it.
final class EvaluationContext {
    let tenant: Tenant
    /// The app's clock, by which windows, ages and deadlines go.
    let now: Instant
    /// The id that the evaluation gets if it is recorded.
    let evaluationID: Identifier
    let configuration: Configuration
    let configurationDigest: String
    /// The policy that acts for the category.
    let acting: ActingPolicy?
    /// The policy that runs in shadow beside it.
    let shadow: ActingPolicy?
    /// The debt as of `now`, its threshold, and since when it refuses.
    let debt: (count: Int64, threshold: Int64, refusingSince: Instant?)
    /// Evaluations of the app today.
    let evaluationsToday: Int64
    let subject: SubjectState
    /// The evaluation that occupies the requestID.
    let earlier: EvaluationRecord?

    init(
        tenant: Tenant, now: Instant, evaluationID: Identifier, configuration: Configuration,
        configurationDigest: String, acting: ActingPolicy?, shadow: ActingPolicy? = nil,
        debt: (count: Int64, threshold: Int64, refusingSince: Instant?) = (0, 0, nil),
        evaluationsToday: Int64 = 0, subject: SubjectState, earlier: EvaluationRecord? = nil
    ) {
        self.tenant = tenant
        self.now = now
        self.evaluationID = evaluationID
        self.configuration = configuration
        self.configurationDigest = configurationDigest
        self.acting = acting
        self.shadow = shadow
        self.debt = debt
        self.evaluationsToday = evaluationsToday
        self.subject = subject
        self.earlier = earlier
    }
}

/// What became of a request to judge an action.
enum EvaluationAnswer {
    /// Judged: to be recorded.
    case judged(EvaluationRecord)
    /// The same request came before: this was its answer.
    case replayed(EvaluationRecord)
    case refused(Refusal)
}

extension EvaluateCommand {
    /// Judges the action. Pure: the same command and context give the same answer.
    ///
    /// The order of checks: replay → shape by the policy → suspension, debt, rate →
    /// authorization → device result → evaluation.
    ///
    /// The activation is one of the acting policy; it only saves taking memory each time.
    func decide(
        in context: EvaluationContext, attributes: Result<[RecordedAttribute], Refusal>,
        _ activations: ActivationPool
    ) -> EvaluationAnswer {
        if let earlier = context.earlier {
            return earlier.action == action
                ? .replayed(earlier) : .refused(.requestIDReused(requestID))
        }
        do throws(Refusal) {
            guard let acting = context.acting else { throw Refusal.noPolicy(category) }
            let attributes = try attributes.get()
            if force != nil, context.tenant.environment != .sandbox { throw Refusal.sandboxOnly }
            try context.checkDebtAndRate()
            var authorization = context.subject.authorization(for: category, at: context.now)
            if case .evaluationError(let code)? = force {
                // These two come with a decision, like the honest ones.
                switch code {
                case .denied: authorization = (.denied, nil)
                case .notAvailable: authorization = (.unavailable, nil)
                default: throw Refusal.forced(code)
                }
            }
            if authorization.status == .authorized {
                try checkDevice(at: context.now, in: context.tenant.environment)
            }
            let events = context.subject.events(judging: requestKey)
            try acting.checkEventCount(events, at: context.now)
            let judge = { (policy: ActingPolicy) -> EvaluationRecord in
                let judging = Judging(
                    command: self, attributes: attributes, acting: policy, context: context,
                    events: events, authorization: authorization)
                return activations.use(policy.policy) { judging.record(&$0) }
            }
            var record = judge(acting)
            record.shadowPolicy = context.shadow.map { ShadowJudgement(judge($0)) }
            return .judged(record)
        } catch {
            return .refused(error)
        }
    }

    /// Whether the device result is of this request, and fresh.
    ///
    /// In sandbox a result may say neither when nor for which request it was made: it is then
    /// of now, and of this one.
    private func checkDevice(at now: Instant, in environment: DataEnvironment) throws(Refusal) {
        guard let device else {
            throw Refusal(
                .localError, "the device result is missing; without it nothing can be judged",
                field: "/device")
        }
        if let bound = device.requestID, bound != requestID {
            throw Refusal(
                .payloadSecurityError, "the device result was made for another request",
                field: "/device/requestID", value: .string(bound), allowed: [.string(requestID)])
        }
        if environment == .production, device.requestID == nil {
            throw Refusal(
                .payloadSecurityError, "the device result does not say for which request it is",
                field: "/device/requestID", allowed: [.string(requestID)])
        }
        guard let generatedAt = device.generatedAt else {
            if environment == .sandbox { return }
            throw Refusal(
                .localError, "the device result does not say when it was made",
                field: "/device/generatedAt")
        }
        if generatedAt > now + TrustLimits.clockSkew {
            throw Refusal.clockSkew("/device/generatedAt", generatedAt, now: now)
        }
        if now - generatedAt > TrustLimits.deviceResultAge {
            throw Refusal(
                .deviceResultExpired, "the device result is older than 120 s: make a new one",
                field: "/device/generatedAt", value: .string(generatedAt.rfc3339),
                isRetryable: true)
        }
    }
}

extension EvaluationContext {
    /// Suspension, then debt, then rate.
    fileprivate func checkDebtAndRate() throws(Refusal) {
        if let since = debt.refusingSince, !configuration.debt.warnOnly {
            let members: JSONObject = [
                "debt": .int(debt.count), "threshold": .int(debt.threshold),
                "since": .string(since.rfc3339), "open": "/v1/consumption/debt",
            ]
            if now - since > configuration.debt.suspendAfter {
                throw Refusal(
                    .accessSuspended,
                    "\(debt.count) consumption reports are overdue for more than "
                        + "\(configuration.debt.suspendAfter.policyText); report them to go on",
                    members: members)
            }
            throw Refusal(
                .reportDebt, "\(debt.count) consumption reports are overdue; report them to go on",
                members: members)
        }
        if let limit = configuration.evaluationsPerDay, evaluationsToday >= limit {
            let reset = Instant(milliseconds: (now.milliseconds / 86_400_000 + 1) * 86_400_000)
            throw Refusal(
                .rateLimitExceeded, "the app has used up its evaluations of today",
                isRetryable: true,
                members: [
                    "scope": "app", "limit": .int(limit), "used": .int(evaluationsToday),
                    "reset": .string(reset.rfc3339),
                    "retryAfter": .int(((reset - now).milliseconds + 999) / 1000),
                ])
        }
    }
}

extension Refusal {
    static func noPolicy(_ category: Policies.Category) -> Refusal {
        Refusal(
            .contextInvalid, "no policy acts for the category `\(category.rawValue)`",
            reason: "noPolicy", field: "/context/category", value: .string(category.rawValue))
    }

    static func requestIDReused(_ id: String) -> Refusal {
        Refusal(
            .requestIDReused, "another action was evaluated under this requestID",
            field: "/requestID", value: .string(id))
    }

    static let sandboxOnly = Refusal(
        .sandboxOnly, "results can be forced with a sandbox key only", field: "/force")

    static func forced(_ code: Code) -> Refusal {
        Refusal(code, "forced by the request", isRetryable: code == .serverError)
    }

    /// A caller's time lies too far in the future.
    public static func clockSkew(_ field: String, _ given: Instant, now: Instant) -> Refusal {
        Refusal(
            .clockSkew, "this time is more than 5 minutes ahead of the service's clock",
            field: field, value: .string(given.rfc3339),
            allowed: [.string("at most " + (now + TrustLimits.clockSkew).rfc3339)])
    }
}
