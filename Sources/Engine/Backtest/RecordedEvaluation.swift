import JSON
import Policies
import Time
import TrustInsights

/// What a backtest needs of a recorded evaluation.
public struct RecordedEvaluation: Sendable {
    /// Its id.
    public var evaluationID: Identifier
    /// Whose it is.
    public var subject: Pseudonym
    /// When it was received.
    public var receivedAt: Instant
    var category: Policies.Category
    var attributes: [RecordedAttribute]
    var device: Double?
    var authorization: AuthorizationStatus
    var authorizationEndsAt: Instant?
    var isForced: Bool
    /// What the acting model said: outcome, score, and why it gave no result.
    var insight: InsightResult
    var model: VersionReference?
    var policy: VersionReference
    var output: DecisionOutput
    /// What would have been put out had the policy's shadow rules acted.
    var shadowOutput: DecisionOutput?
    /// What a policy in shadow would have put out.
    var shadowPolicy: (policy: VersionReference, output: DecisionOutput)?
}

/// Reads recorded evaluations out of payloads, and only the parts that matter: a year of them is
/// read in one go.
public struct RecordedEvaluationReader {
    /// Records in a row mostly name the same policy and model.
    private var policy: VersionReference?
    private var model: VersionReference?
    private var shadow: VersionReference?
    private let readsShadows: Bool

    /// A reader; of what ran in shadow as well, if asked to.
    public init(readsShadows: Bool = false) { self.readsShadows = readsShadows }

    /// Reads the payload of an entry of kind ``RecordKind/evaluation``.
    public mutating func read(_ payload: JSONCursor, sequence: Int64) throws(CorruptEntry)
        -> RecordedEvaluation
    {
        func corrupt(_ name: String) -> CorruptEntry {
            CorruptEntry(sequence: sequence, detail: "`\(name)` is missing or not as written")
        }
        guard let command = payload["command"], let result = payload["result"] else {
            throw corrupt("command")
        }
        guard let subject = command["subject"]?.pseudonym else { throw corrupt("subject") }
        guard let category = command["category"]?.choice(Policies.Category.self) else {
            throw corrupt("category")
        }
        guard let id = result["evaluationID"]?.identifier else {
            throw corrupt("evaluationID")
        }
        guard let receivedAt = result["receivedAt"]?.instant else { throw corrupt("receivedAt") }
        guard let status = result["authorization"]?.choice(AuthorizationStatus.self) else {
            throw corrupt("authorization")
        }
        guard let acting = result["acting"], let decision = result["decision"],
            let output = decision.output
        else { throw corrupt("decision") }
        guard let policy = result["policy"]?.reference(like: self.policy) else {
            throw corrupt("policy")
        }
        self.policy = policy
        if let model = result["model"] {
            self.model = model.reference(like: self.model)
        } else {
            self.model = nil
        }
        guard let attributes = command["attributes"]?.recordedAttributes else {
            throw corrupt("attributes")
        }
        var record = RecordedEvaluation(
            evaluationID: id, subject: subject, receivedAt: receivedAt, category: category,
            attributes: attributes, device: command["device"]?["value"]?.double,
            authorization: status, authorizationEndsAt: result["authorizationEndsAt"]?.instant,
            isForced: command["force"] != nil,
            insight: InsightResult(
                outcome: acting["outcome"]?.choice(Outcome.self),
                score: acting["score"]?.double, modelVersion: "",
                degraded: acting["degraded"]?.string),
            model: model, policy: policy, output: output)
        guard readsShadows else { return record }
        record.shadowOutput = result["shadowDecision"]?.output
        if let judged = result["shadowPolicy"] {
            guard let policy = judged["policy"]?.reference(like: shadow),
                let output = judged["decision"]?.output
            else { throw corrupt("shadowPolicy") }
            shadow = policy
            record.shadowPolicy = (policy, output)
        }
        return record
    }
}

extension JSONCursor {
    /// What a recorded decision puts out.
    fileprivate var output: DecisionOutput? {
        guard let text = self["friction"],
            let friction = Friction.allCases.first(where: { text.isText($0.name) })
        else { return nil }
        var steps: [Step] = []
        self["steps"]?.forEach { if let step = $0.string.flatMap(Step.init) { steps.append(step) } }
        var notify: [String] = []
        self["notify"]?.forEach { if let name = $0.string { notify.append(name) } }
        return DecisionOutput(
            friction: friction, steps: StepSet(steps),
            holdFor: self["holdFor"]?.string.flatMap { Duration(iso8601: $0) }, notify: notify)
    }
}
