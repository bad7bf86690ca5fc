import JSON
import Policies
import Scoring
import Time
import TrustInsights

/// A trust policy ready to act: with the model it names and all other versions of it.
public final class ActingPolicy: Sendable {
    /// The policy.
    public let policy: TrustPolicy
    /// How records name it.
    public let reference: VersionReference
    /// The acting model; `nil` where the policy names none.
    public let model: Model?
    /// All versions of the model that are loaded, by version.
    public let models: [Int: Model]
    /// The policy's attributes in the byte order of their names, as they are recorded.
    private let attributes: [AttributeDeclaration]
    /// Where the inputs of each model version come from.
    private let sources: [Int: [FeatureSource]]

    /// A policy with the versions of its model.
    public init(policy: TrustPolicy, models: [Int: Model]) {
        self.policy = policy
        reference = VersionReference(
            name: policy.name, version: Int64(policy.version), digest: policy.digest)
        model = policy.model.flatMap { models[$0.version] }
        self.models = models
        sources = models.mapValues { model in
            model.scorecard.inputs.map { FeatureSource($0, of: policy) }
        }
        attributes = policy.attributes.sorted {
            $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
    }

    /// A policy with the models of its set.
    convenience init(_ policy: TrustPolicy, in set: PolicySet) {
        var models: [Int: Model] = [:]
        for file in set.models where file.name == policy.model?.name {
            models[file.version] = Model(file)
        }
        self.init(policy: policy, models: models)
    }

    /// Where the inputs of one of the models come from.
    func sources(of model: Model) -> [FeatureSource] { sources[model.file.version] ?? [] }

    /// The newest version of the model, as answers name it.
    var newestModelVersion: String {
        models.keys.max().map(String.init) ?? actingModelVersion
    }

    /// The acting version of the model, as answers name it.
    var actingModelVersion: String { policy.model.map { String($0.version) } ?? "none" }

    /// How far back the policy's windows reach.
    var horizon: Duration { policy.velocity.map(\.window).max() ?? .zero }

    /// A window that is too full would be slow to read: it is refused, not cut.
    func checkEventCount(_ events: VelocityEvents, at now: Instant) throws(Refusal) {
        guard events.count >= TrustLimits.eventsPerWindow else { return }
        let start = now - horizon
        let used = events.times.count { $0 > start }
        guard used >= TrustLimits.eventsPerWindow else { return }
        // Room is made when the oldest of the latest 10,000 leaves the window.
        let leaving = events.times[events.count - TrustLimits.eventsPerWindow]
        let reset = leaving + horizon
        throw Refusal(
            .rateLimitExceeded, "the subject has too many events in the policy's windows",
            isRetryable: true,
            members: [
                "scope": "subject", "limit": .int(Int64(TrustLimits.eventsPerWindow)),
                "used": .int(Int64(used)), "reset": .string(reset.rfc3339),
                "retryAfter": .int(max((reset - now).milliseconds + 999, 1_000) / 1_000),
            ])
    }

    /// Reads a caller's attributes as the policy declares them. A value that is not stored
    /// becomes its keyed digest here, before anything is recorded.
    public func readAttributes(
        _ object: JSONObject, at pointer: String, pseudonymizer: Pseudonymizer, tenant: Tenant
    ) throws(Refusal) -> [RecordedAttribute] {
        for member in object.members where !attributes.contains(where: { $0.name == member.key }) {
            throw Refusal(
                .contextInvalid, "the policy declares no such attribute",
                reason: "unknownAttribute", field: pointer + "/" + JSONPointer.escape(member.key),
                allowed: policy.attributes.map { .string($0.name) })
        }
        var recorded: [RecordedAttribute] = []
        for declaration in attributes {
            guard let json = object[declaration.name], json != .null else {
                if declaration.isOptional { continue }
                throw Refusal(
                    .contextInvalid, "the policy requires this attribute",
                    reason: "missingAttribute",
                    field: pointer + "/" + JSONPointer.escape(declaration.name))
            }
            switch declaration.check(json) {
            case .success(let value):
                recorded.append(
                    RecordedAttribute(
                        name: declaration.name,
                        value: declaration.isStored
                            ? .value(value)
                            : .digest(
                                pseudonymizer.value(
                                    value.text, of: declaration.name, tenant: tenant
                                ).text)))
            case .failure(let refusal):
                throw Refusal(
                    .contextInvalid, refusal.message, reason: "invalidAttribute",
                    field: pointer + "/" + JSONPointer.escape(declaration.name),
                    value: declaration.isStored ? json.shortened : nil,
                    allowed: refusal.allowed.map { .string($0) })
            }
        }
        return recorded
    }
}

extension AttributeValue {
    /// One text for each value, of which the digest is made.
    var text: String {
        switch self {
        case .bool(let flag): String(flag)
        case .int(let number): String(number)
        case .double(let number): String(number)
        case .string(let text): text
        case .timestamp(let instant): instant.rfc3339
        }
    }
}
