import CEL
import Policies
import TrustInsights

/// What an audit filter can read of an entry: one slot for each, in this order.
public enum AuditVariable: String, Sendable, CaseIterable {
    case sequence, at, kind, app, environment, actor, erased
    case receivedAt, category, outcome, score, degraded, friction, rules, policy, policyVersion
    case attributes, subject, evaluationID, status, label, source, reason, asked
    case now

    /// Its type in CEL.
    public var type: Type {
        switch self {
        case .sequence, .policyVersion: .int
        case .at, .receivedAt, .now: .timestamp
        case .erased, .degraded, .asked: .bool
        case .score: .double
        case .rules: .list(.string)
        case .attributes: .map(.string, .dyn)
        default: .string
        }
    }

    /// What it is, and of which kinds of entries; the documentation has the same words.
    public var meaning: String {
        switch self {
        case .sequence: "the number of the entry, from 1"
        case .at: "when it was recorded, by the engine's clock; it never goes back"
        case .kind: "the kind of entry"
        case .app: "the app's id; empty for the service as a whole"
        case .environment: "`sandbox`, `production`, or empty for the service as a whole"
        case .actor: "who caused it: a key's id, `operator`, `system` or `unknown`"
        case .erased: "whether its payload was erased"
        case .receivedAt:
            "when it was received, by the app's clock: `at`, plus what a sandbox's clock was ahead"
        case .category: "of evaluations, authorizations and labels"
        case .outcome: "of evaluations: what the acting model said; of grant outcomes: what became"
        case .score: "of evaluations: the model's score, where it gave one"
        case .degraded: "of evaluations: whether the model gave no full result"
        case .friction: "of evaluations: what was decided"
        case .rules: "of evaluations: the rules that gave the decision's reasons"
        case .policy: "the name of the policy that judged, or that the entry is about"
        case .policyVersion: "its version, where one is named"
        case .attributes:
            "of evaluations and donations, by name; those stored as digests are absent"
        case .subject: "the person's pseudonym"
        case .evaluationID: "of evaluations, consumptions and labels: the evaluation"
        case .status: "of authorizations and consumptions"
        case .label: "of labels: what turned out to be true"
        case .source: "of labels: where the finding comes from"
        case .reason: "of donations, grant outcomes, and changes of what acts"
        case .asked: "of donations: whether the answer was to ask"
        case .now: "when the query began; the same on all of its pages"
        }
    }

    /// Whether it stands in the row beside the envelope, and is never absent.
    var isOfRow: Bool {
        switch self {
        case .sequence, .at, .kind, .app, .environment, .erased, .now: true
        default: false
        }
    }

    /// Whether it is read out of the payload.
    var isOfPayload: Bool { !isOfRow && self != .actor }

    /// Every value it can have, where that is a closed set.
    public var values: [String]? {
        switch self {
        case .kind: RecordKind.allCases.map(\.rawValue)
        case .environment: DataEnvironment.allCases.map(\.rawValue) + [""]
        case .category:
            Policies.Category.allCases.map(\.rawValue) + LabelCategory.allCases.map(\.rawValue)
        case .outcome: Outcome.names + ["requested", "notRequested"]
        case .friction: Friction.allCases.map(\.name)
        case .label: LabelValue.allCases.map(\.rawValue)
        case .source: LabelSource.allCases.map(\.rawValue)
        case .status:
            AuthorizationStatus.allCases.map(\.rawValue)
                + ConsumptionStatus.allCases.map(\.rawValue)
        default: nil
        }
    }

    /// The slot in ``AuditFilter/language``.
    var slot: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Some variables.
struct AuditVariables: Sendable {
    private var bits: UInt64 = 0

    init() {}

    init(slots: some Sequence<Int>) { for slot in slots { bits |= 1 << UInt64(slot) } }

    var isEmpty: Bool { bits == 0 }

    func contains(_ variable: AuditVariable) -> Bool { bits >> UInt64(variable.slot) & 1 == 1 }

    mutating func formUnion(_ other: AuditVariables) { bits |= other.bits }

    var all: [AuditVariable] { AuditVariable.allCases.filter(contains) }
}
