import JSON
import Ledger
import Policies
import Time
import TrustInsights

/// What the engine can be asked to do. Personal ids have become pseudonyms already.
///
/// What is large is kept by reference: a command passes through several hands.
public enum Command: Sendable {
    case authorize(AuthorizeCommand)
    case evaluate(EvaluateCommand)
    case reportConsumption(ReportCommand)
    case label(LabelCommand)
    /// All of them, or none.
    case labelAll([LabelCommand])
    case review(ReviewCommand)
    case erase(EraseCommand)
    case advanceSandboxClock(Duration)
    /// Show an evaluation with all that came after it: changes nothing.
    case show(EvaluationAddress)
    /// List overdue reports, from the one after that entry on: changes nothing.
    case listDebt(after: Int64, limit: Int)
    case administer(AdministrationCommand)
}

/// A command with who gives it, and the randomness that deciding it may need.
public struct Submission: Sendable {
    /// Whose data it is about; `nil` for the service as a whole.
    public var tenant: Tenant?
    /// Who gives it: a key's id, `operator`, `system`.
    public var actor: String
    /// What to do.
    public var command: Command
    /// 16 random bytes: the salt of the entry and the chance in its ids. Empty until the engine
    /// takes the command; then it draws those of a whole batch at once.
    public var salt: [UInt8]

    /// A command of an actor. The salt is random unless a recorded one is given.
    public init(tenant: Tenant?, actor: String, command: Command, salt: [UInt8] = []) {
        self.tenant = tenant
        self.actor = actor.isEmpty ? "unknown" : actor
        self.command = command
        self.salt = salt
    }

    /// Bytes of a salt.
    public static let saltLength = 16

    /// 12 bits of chance for ids, taken from the salt.
    var chance: UInt16 { UInt16(salt[0]) << 8 | UInt16(salt[1]) }
}

/// Report an authorization.
public struct AuthorizeCommand: Sendable {
    /// Whose it is.
    public var subject: Pseudonym
    /// For which kind of action.
    public var category: Category
    /// The status.
    public var status: AuthorizationStatus

    /// A reported status.
    public init(subject: Pseudonym, category: Category, status: AuthorizationStatus) {
        self.subject = subject
        self.category = category
        self.status = status
    }
}

/// Judge an action.
public final class EvaluateCommand: Sendable {
    /// The caller's id of the request.
    public let requestID: String
    /// Who is about to act.
    public let subject: Pseudonym
    /// Stands for subject, context and insights asked for.
    public let action: Pseudonym
    /// The kind of action.
    public let category: Category
    /// The facts as the acting policy declares them, sorted by name; or why they are not.
    public let attributes: Result<[RecordedAttribute], Refusal>
    /// The digest of the policy by which they were read.
    public let policyDigest: String
    /// Reads them by another policy, should one have begun to act meanwhile.
    public let reread: (@Sendable (ActingPolicy) -> Result<[RecordedAttribute], Refusal>)?
    /// The insights asked for; empty stands for the current one.
    public let insights: [InsightRequest]
    /// What the device sent.
    public let device: DeviceResult?
    /// What a sandbox key forces.
    public let force: ForcedResult?
    /// The key of the request, computed off the engine's thread.
    public let requestKey: EntityKey
    /// The key of the subject.
    public let subjectKey: EntityKey

    /// An action to judge.
    public init(
        tenant: Tenant, requestID: String, subject: Pseudonym, action: Pseudonym,
        category: Category, attributes: Result<[RecordedAttribute], Refusal>,
        policyDigest: String,
        reread: (@Sendable (ActingPolicy) -> Result<[RecordedAttribute], Refusal>)? = nil,
        insights: [InsightRequest] = [], device: DeviceResult?, force: ForcedResult? = nil
    ) {
        self.requestID = requestID
        self.subject = subject
        self.action = action
        self.category = category
        self.attributes = attributes
        self.policyDigest = policyDigest
        self.reread = reread
        self.insights = insights
        self.device = device
        self.force = force
        requestKey = .request(requestID, of: tenant)
        subjectKey = .subject(subject, of: tenant)
    }
}

/// How a caller names an evaluation.
public enum EvaluationAddress: Sendable, Equatable {
    case evaluationID(String)
    case insightID(String)
    case requestID(String)

    /// The name of the field, for messages.
    var field: String {
        switch self {
        case .evaluationID: "evaluationID"
        case .insightID: "insightID"
        case .requestID: "requestID"
        }
    }

    /// The text given.
    var text: String {
        switch self {
        case .evaluationID(let text), .insightID(let text), .requestID(let text): text
        }
    }
}

/// Report what an insight did.
public struct ReportCommand: Sendable {
    /// The evaluation.
    public var evaluation: EvaluationAddress
    /// What the insight did to the flow.
    public var status: ConsumptionStatus
    /// The insights used, if the caller says.
    public var insightsUsed: [String]?

    /// A report.
    public init(
        evaluation: EvaluationAddress, status: ConsumptionStatus, insightsUsed: [String]? = nil
    ) {
        self.evaluation = evaluation
        self.status = status
        self.insightsUsed = insightsUsed
    }
}

/// Say what turned out to be true.
public struct LabelCommand: Sendable {
    /// The caller's id of the label.
    public var labelID: String
    /// The evaluation.
    public var evaluation: EvaluationAddress
    /// What turned out to be true.
    public var label: LabelValue
    /// What kind of fraud it was.
    public var category: LabelCategory?
    /// Where the finding comes from.
    public var source: LabelSource
    /// When the finding was made.
    public var occurredAt: Instant
    /// For `retracted`: the label that it takes out.
    public var retracts: String?

    /// A label.
    public init(
        labelID: String, evaluation: EvaluationAddress, label: LabelValue,
        category: LabelCategory?, source: LabelSource, occurredAt: Instant, retracts: String? = nil
    ) {
        self.labelID = labelID
        self.evaluation = evaluation
        self.label = label
        self.category = category
        self.source = source
        self.occurredAt = occurredAt
        self.retracts = retracts
    }
}

/// Erase a person: the subject, and whoever it was merged with.
public struct EraseCommand: Sendable {
    /// Who.
    public var subject: Pseudonym
    /// Why, in the actor's words; it is recorded and stays.
    public var reason: String?

    /// An erasure.
    public init(subject: Pseudonym, reason: String? = nil) {
        self.subject = subject
        self.reason = reason
    }
}

/// Change who may call, what acts, and by which numbers.
public enum AdministrationCommand: Sendable {
    case registerApp(id: String, name: String)
    case issueKey(KeyRecord)
    case revokeKey(id: String)
    case configure(Configuration, zones: String)
    /// Candidates that were checked, or the faults for which a load failed.
    case loadPolicies(CandidateLoad)
    /// Let a candidate act, or run in shadow.
    case activate(ActivateCommand)
    /// Take a policy away from where it acts, or out of shadow. It is named by its name or
    /// `name@version`.
    case deactivate(policy: String, isShadow: Bool, reason: String)
    /// Let what acted before a policy's latest activation act again.
    case rollBack(policy: String, reason: String)
    /// The ledger is not the one that its latest checkpoint was made of, and is to be gone on with.
    case acceptFork(LedgerForkRecord)
}

/// Let a candidate act, or run in shadow beside what acts.
public struct ActivateCommand: Sendable {
    /// The policy as `name@version`.
    public var reference: String
    /// Whether it runs in shadow only.
    public var isShadow: Bool
    /// Why, in the actor's words.
    public var reason: String
    /// What the guards are told. `nil` asks none: only the replay of an entry from before there
    /// were guards does so.
    public var check: GuardCheck?

    /// An activation that the guards are asked about.
    public init(
        reference: String, isShadow: Bool = false, reason: String, allow: [PolicyGuard] = [],
        tests: TestEvidence? = nil
    ) {
        self.reference = reference
        self.isShadow = isShadow
        self.reason = reason
        check = GuardCheck(allow: allow, tests: tests)
    }

    /// The activation that a record tells of.
    init(_ record: ActivationRecord) {
        reference = record.policy.text
        isShadow = record.isShadow
        reason = record.reason
        check = record.check.map { GuardCheck(allow: $0.allow, tests: $0.tests) }
    }
}
