import CEL
import JSON
import Policies
import Scoring
import Time
import TrustInsights

/// What rules and models can read of an action, but for the insight.
struct Facts {
    var category: Policies.Category
    /// Sorted by name.
    var attributes: [RecordedAttribute]
    /// In the policy's order.
    var velocity: [VelocityValue]
    var device: Double?
    var authorization: AuthorizationStatus
    var authorizationEndsAt: Instant?
    var now: Instant

    /// The facts as they were when an evaluation was recorded.
    init(_ record: EvaluationRecord) {
        self.init(
            category: record.category, attributes: record.attributes, velocity: record.velocity,
            device: record.device?.value, authorization: record.authorization,
            authorizationEndsAt: record.authorizationEndsAt, now: record.receivedAt)
    }

    init(
        category: Policies.Category, attributes: [RecordedAttribute], velocity: [VelocityValue],
        device: Double?, authorization: AuthorizationStatus, authorizationEndsAt: Instant?,
        now: Instant
    ) {
        self.category = category
        self.attributes = attributes
        self.velocity = velocity
        self.device = device
        self.authorization = authorization
        self.authorizationEndsAt = authorizationEndsAt
        self.now = now
    }

    // MARK: Rules

    /// Runs a policy's rules over the facts and an insight.
    ///
    /// The activation is one of the policy's; it only saves taking memory each time.
    func judge(
        by policy: TrustPolicy, insight: InsightResult, _ activation: inout Activation
    ) -> Judgement {
        fill(&activation, policy: policy, insight: insight)
        return policy.judge(&activation, isDegraded: insight.degraded != nil)
    }

    /// Sets every slot that the policy's expressions can read.
    func fill(_ activation: inout Activation, policy: TrustPolicy, insight: InsightResult) {
        activation.reset()
        typealias Fixed = SlotLayout.Fixed
        activation.set(Fixed.insightKind, InsightKind.isLikelyBeingCoached.rawValue)
        activation.set(Fixed.insightOutcome, (insight.outcome ?? .unknown).rawValue)
        if let score = insight.score { activation.set(Fixed.insightScore, score) }
        activation.set(Fixed.insightDegraded, insight.degraded != nil)
        activation.set(Fixed.insightModelVersion, insight.modelVersion)
        if let device { activation.set(Fixed.deviceValue, device) }
        activation.set(Fixed.contextCategory, category.rawValue)
        activation.set(Fixed.subjectAuthorization, authorization.rawValue)
        if let authorizationEndsAt {
            activation.set(Fixed.subjectAuthorizationEndsAt, .timestamp(authorizationEndsAt))
        }
        activation.set(Fixed.now, .timestamp(now))
        for (index, declaration) in policy.attributes.enumerated() {
            guard let value = attribute(declaration.name) else { continue }
            let slot = policy.slots.attribute(index)
            switch value {
            case .value(.bool(let flag)): activation.set(slot, flag)
            case .value(.int(let number)): activation.set(slot, number)
            case .value(.double(let number)): activation.set(slot, number)
            case .value(.string(let text)): activation.set(slot, text)
            case .value(.timestamp(let instant)): activation.set(slot, .timestamp(instant))
            // Rules may only ask whether it is there.
            case .digest(let digest): activation.set(slot, digest)
            }
        }
        for (index, value) in velocity.enumerated() where index < policy.velocity.count {
            let slot = policy.slots.velocity(index)
            switch value {
            case .count(let count): activation.set(slot, count)
            case .sum(let sum): activation.set(slot, sum)
            }
        }
    }

    private func attribute(_ name: String) -> RecordedValue? {
        for attribute in attributes where attribute.name == name { return attribute.value }
        return nil
    }

    // MARK: Scoring

    /// What a model says of the facts. A model that fails says `unknown` and why, never "low".
    func score(by model: Model, sources: [FeatureSource], thresholds: ModelReference)
        -> InsightResult
    {
        let result = model.scorecard.evaluate(at: { feature(sources[$0]) })
        let outcome = result.score.map { thresholds.outcome(score: $0) } ?? .unknown
        var degraded: String?
        if result.score == nil {
            degraded = "insightEvaluationFailed"
        } else if !result.failed.isEmpty {
            degraded = "inputFailed: " + result.failed.joined(separator: ", ")
        }
        return InsightResult(
            outcome: outcome, score: result.score, modelVersion: String(model.reference.version),
            degraded: degraded,
            contributions: result.contributions.map {
                .init(input: $0.input, value: $0.amount)
            }.sorted { $0.input.utf8.lexicographicallyPrecedes($1.input.utf8) },
            missing: zip(model.scorecard.inputs, sources).compactMap { input, source in
                // A window that the policy does not have is no news. An attribute that it does not
                // declare is listed nevertheless: entries are recorded so, and must replay so.
                if case .nothing = source { return nil }
                return result.missing.contains(input) ? input : nil
            })
    }

    /// The value of a model's input. What is missing is missing, not zero.
    private func feature(_ source: FeatureSource) -> FeatureValue? {
        switch source {
        case .device: return device.map { .number($0) }
        case .category: return .string(category.rawValue)
        case .attribute(let name):
            switch attribute(name) {
            case .value(.bool(let flag))?: return .bool(flag)
            case .value(.int(let number))?: return .number(Double(number))
            case .value(.double(let number))?: return .number(number)
            case .value(.string(let text))?: return .string(text)
            case .value(.timestamp)?, .digest?, nil: return nil
            }
        case .velocity(let index):
            guard index < velocity.count else { return nil }
            switch velocity[index] {
            case .count(let count): return .number(Double(count))
            case .sum(let sum): return .number(sum)
            }
        case .nothing: return nil
        }
    }
}

/// Where a model's input comes from, found once for each policy and model.
enum FeatureSource: Sendable {
    case device
    case category
    case attribute(String)
    /// The window at that index of the policy.
    case velocity(Int)
    /// The policy has nothing of that name: always missing.
    case nothing

    /// The source of an input's name as rules write it: `device.value`, `attributes.amount`,
    /// `velocity.spent24h`.
    init(_ name: String, of policy: TrustPolicy) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        switch (parts.first, parts.last) {
        case ("device"?, "value"?): self = .device
        case ("context"?, "category"?): self = .category
        case ("attributes"?, let attribute?): self = .attribute(attribute)
        case ("velocity"?, let window?):
            let index = policy.velocity.firstIndex { $0.name == window }
            self = index.map { .velocity($0) } ?? .nothing
        default: self = .nothing
        }
    }
}

extension Value {
    /// The instant in the language's terms; both have the same range.
    static func timestamp(_ instant: Instant) -> Value {
        let seconds = instant.seconds
        let nanoseconds = Int32((instant.milliseconds - seconds * 1000) * 1_000_000)
        return Timestamp(seconds: seconds, nanoseconds: nanoseconds).map { .timestamp($0) } ?? .null
    }
}
