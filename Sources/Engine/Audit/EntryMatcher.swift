import CEL
import JSON
import Time

/// An entry as a store has it at hand, valid while it is looked at.
public struct EntryView {
    /// Its number.
    public var sequence: Int64
    /// When it was recorded.
    public var at: Instant
    /// Its kind, app and environment, as the columns have them.
    public var kind: String
    public var app: String
    public var environment: String
    /// Its envelope; empty where the plan does not need it.
    public var envelope: UnsafeRawBufferPointer
    /// Its payload; empty where the plan does not need it, and where it was erased.
    public var payload: UnsafeRawBufferPointer
    /// Whether the payload was erased.
    public var isErased: Bool

    /// An entry of these parts.
    public init(
        sequence: Int64, at: Instant, kind: String, app: String, environment: String,
        envelope: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer, isErased: Bool
    ) {
        self.sequence = sequence
        self.at = at
        self.kind = kind
        self.app = app
        self.environment = environment
        self.envelope = envelope
        self.payload = payload
        self.isErased = isErased
    }
}

/// Decides of entries whether a query wants them. For one thread.
public struct EntryMatcher: ~Copyable {
    private let plan: AuditPlan
    private var activation: Activation

    /// What is known of an entry.
    public enum Verdict: Sendable {
        case matched, notMatched
        /// The filter is an error for it: something that it reads is absent.
        case undecided
    }

    /// A matcher for a plan. Whoever uses it keeps to the plan's bounds.
    public init(_ plan: AuditPlan) {
        self.plan = plan
        activation = Activation(AuditFilter.language)
    }

    /// Evaluates what the bounds do not stand for. Throws if the filter costs too much.
    public mutating func match(_ entry: EntryView) throws(AuditFilterError) -> Verdict {
        guard !plan.early.isEmpty || !plan.late.isEmpty else { return .matched }
        activation.reset()
        fill(entry)
        var verdict = try evaluate(plan.early, .matched, entry.sequence)
        guard verdict != .notMatched, !plan.late.isEmpty else { return verdict }
        if entry.payload.count > 0 {
            // A payload that is no JSON leaves all of its members absent; verifying tells of it.
            try? JSONReader.withCursor(
                entry.payload, limits: JSONLimits(bytes: 64 << 20, depth: 100)
            ) {
                EntryMembers.fill(&activation, from: $0, plan.members)
            }
        }
        verdict = try evaluate(plan.late, verdict, entry.sequence)
        return verdict
    }

    /// `&&` over conjuncts: false goes before an error, whatever their order.
    private mutating func evaluate(
        _ programs: [Program], _ before: Verdict, _ sequence: Int64
    ) throws(AuditFilterError) -> Verdict {
        var verdict = before
        for program in programs {
            switch program.evaluateCondition(&activation) {
            case .matched: break
            case .notMatched: return .notMatched
            case .failed(let error):
                if error.code == .costLimit || error.code == .sizeLimit {
                    throw AuditFilterError.costs(plan.source, error, sequence: sequence)
                }
                verdict = .undecided
            }
        }
        return verdict
    }

    private mutating func fill(_ entry: EntryView) {
        for variable in plan.reads {
            let slot = variable.slot
            switch variable {
            case .sequence: activation.set(slot, entry.sequence)
            case .at: activation.set(slot, Value.timestamp(entry.at))
            case .kind: activation.set(slot, entry.kind)
            case .app: activation.set(slot, entry.app)
            case .environment: activation.set(slot, entry.environment)
            case .erased: activation.set(slot, entry.isErased)
            case .now: activation.set(slot, Value.timestamp(plan.now))
            case .actor:
                guard entry.envelope.count > 0 else { continue }
                try? JSONReader.withCursor(entry.envelope) {
                    activation.set($0["actor"], .actor)
                }
            default: break
            }
        }
    }
}

/// Sets the slots of what a payload holds.
enum EntryMembers {
    static func fill(
        _ activation: inout Activation, from payload: JSONCursor, _ members: AuditMembers
    ) {
        let command = payload["command"]
        let result = payload["result"]
        for variable in members.variables.all where variable.isOfPayload {
            switch variable {
            case .category, .label, .source, .status, .subject:
                let donation = command?["donation"]
                let name = command?[variable.member] ?? donation?[variable.member]
                activation.set(name, variable)
            case .receivedAt:
                let time = result?["receivedAt"] ?? result?["reportedAt"]
                if let instant = time?.instant {
                    activation.set(variable.slot, Value.timestamp(instant))
                }
            case .outcome:
                activation.set(result?["acting"]?["outcome"] ?? command?["outcome"], variable)
            case .score:
                if let score = result?["acting"]?["score"]?.double {
                    activation.set(variable.slot, score)
                }
            case .degraded:
                if let acting = result?["acting"] {
                    activation.set(variable.slot, acting["degraded"] != nil)
                }
            case .friction: activation.set(result?["decision"]?["friction"], variable)
            case .evaluationID:
                activation.set(command?["evaluationID"] ?? result?["evaluationID"], variable)
            case .reason:
                activation.set(command?["donation"]?["reason"] ?? command?["reason"], variable)
            case .asked:
                if command?["donation"] != nil, let result {
                    activation.set(variable.slot, result["grant"] != nil)
                }
            case .rules: rules(&activation, result?["decision"]?["reasons"])
            case .policy, .policyVersion:
                policy(&activation, result?["policy"] ?? command?["policy"], variable)
            case .attributes:
                let given = command?["attributes"] ?? command?["donation"]?["attributes"]
                attributes(&activation, given, members.attributes)
            default: break
            }
        }
    }

    private static func rules(_ activation: inout Activation, _ reasons: JSONCursor?) {
        guard let reasons else { return }
        var rules: [Value] = []
        reasons.forEach { if let rule = $0["rule"]?.string { rules.append(.string(rule)) } }
        activation.set(AuditVariable.rules.slot, .list(rules))
    }

    /// A reference, or what `deactivate` and `rollback` were given: a name, perhaps with a version.
    private static func policy(
        _ activation: inout Activation, _ policy: JSONCursor?, _ variable: AuditVariable
    ) {
        guard let policy else { return }
        let parts = policy.string?.split(separator: "@", maxSplits: 1).map(String.init)
        if variable == .policy {
            if let name = parts?.first ?? policy["name"]?.string {
                activation.set(variable.slot, name)
            }
        } else if let version = parts.map({ $0.count > 1 ? Int64($0[1]) : nil })
            ?? policy["version"]?.int
        {
            activation.set(variable.slot, version)
        }
    }

    private static func attributes(
        _ activation: inout Activation, _ given: JSONCursor?, _ wanted: Set<String>?
    ) {
        guard let given else { return }
        var map = ValueMap()
        given.forEachMember { name, value in
            let name = String(decoding: name, as: UTF8.self)
            guard wanted?.contains(name) ?? true, let value = value.attribute else { return }
            map.entries.append(ValueMap.Entry(key: .string(name), value: value))
        }
        activation.set(AuditVariable.attributes.slot, .map(map))
    }
}

extension AuditVariable {
    /// The member of a command that has its name.
    fileprivate var member: StaticString {
        switch self {
        case .category: "category"
        case .label: "label"
        case .source: "source"
        case .status: "status"
        default: "subject"
        }
    }
}

extension Activation {
    fileprivate mutating func set(_ text: JSONCursor?, _ variable: AuditVariable) {
        _ = text?.withText { set(variable.slot, utf8: UnsafeRawBufferPointer($0)) }
    }
}

extension JSONCursor {
    /// An attribute as CEL has it; `nil` where only its digest was stored.
    fileprivate var attribute: Value? {
        if let text = string { return .string(text) }
        if let flag = bool { return .bool(flag) }
        if isDouble { return double.map { .double($0) } }
        if let number = int { return .int(number) }
        return self["timestamp"]?.instant.map { Value.timestamp($0) }
    }
}
