import JSON
import Ledger
import Policies
import Time

/// Which of the two kinds of policy acts where.
public enum ActingKind: String, Sendable {
    case trust, reviewPrompt
}

/// A policy that acts from here on.
public struct ActivationRecord: Record, Equatable {
    public static var kind: RecordKind { .activation }

    /// The policy.
    public var policy: VersionReference
    /// Its kind.
    public var policyKind: ActingKind
    /// The categories of a trust policy; none for a review policy.
    public var categories: [Category]
    /// Whether it only runs in shadow beside the acting one.
    public var isShadow: Bool
    /// Why, in the actor's words.
    public var reason: String
    /// What the guards were told and found; `nil` where none was asked: at the first load, in
    /// development, and in entries from before there were guards.
    public var check: GuardCheck?

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command", writeMembers)
        if let check { writer.object("result", check.writeResult) }
        writer.endObject()
    }

    func writeMembers(to writer: inout JSONWriter) {
        if let check { writer.member("allow", check.allow.map(\.rawValue)) }
        if !categories.isEmpty { writer.member("categories", categories.map(\.rawValue)) }
        writer.member("kind", policyKind.rawValue)
        writer.object("policy", policy.write)
        writer.member("reason", reason)
        if isShadow {
            writer.key("shadow")
            writer.bool(true)
        }
        if let tests = check?.tests { writer.object("tests", tests.write) }
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        try self.init(members: command)
        guard command.value["allow"] != nil else { return }
        check = try GuardCheck(command: command, result: payload.object("result"))
    }

    init(members: RecordReader) throws(CorruptEntry) {
        self.init(
            policy: try VersionReference(payload: members.object("policy")),
            policyKind: try members.choice("kind"),
            categories: try members.strings("categories").compactMap(Category.init(rawValue:)),
            isShadow: members.flag("shadow"), reason: try members.string("reason"))
    }

    init(
        policy: VersionReference, policyKind: ActingKind, categories: [Category], isShadow: Bool,
        reason: String, check: GuardCheck? = nil
    ) {
        self.policy = policy
        self.policyKind = policyKind
        self.categories = categories
        self.isShadow = isShadow
        self.reason = reason
        self.check = check
    }
}

/// What acts in one place instead of something else.
public struct ActingChange: Sendable, Equatable {
    /// The category; `nil` for review prompts.
    public var category: Category?
    /// What acted there.
    public var from: VersionReference
    /// What acts there now; `nil` for nothing of its own.
    public var to: VersionReference?

    func write(to writer: inout JSONWriter) {
        writer.member("category", category?.rawValue)
        writer.object("from", from.write)
        if let to { writer.object("to", to.write) }
    }

    init(category: Category?, from: VersionReference, to: VersionReference?) {
        self.category = category
        self.from = from
        self.to = to
    }

    init(payload: RecordReader) throws(CorruptEntry) {
        category = try payload.choiceIfPresent("category")
        from = try VersionReference(payload: payload.object("from"))
        to = try payload.objectIfPresent("to").map(VersionReference.init(payload:))
    }
}

/// A policy that no longer acts, or no longer runs in shadow.
public struct DeactivationRecord: Record, Equatable {
    public static var kind: RecordKind { .deactivation }

    /// The policy's name, or `name@version`, as it was asked for.
    public var policy: String
    /// Whether it was taken out of shadow.
    public var isShadow: Bool
    /// Why, in the actor's words.
    public var reason: String
    /// Where it acted.
    public var changes: [ActingChange]

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.member("policy", policy)
            writer.member("reason", reason)
            if isShadow {
                writer.key("shadow")
                writer.bool(true)
            }
        }
        writer.object("result") { $0.member("changes", changes) }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        self.init(
            policy: try command.string("policy"), isShadow: command.flag("shadow"),
            reason: try command.string("reason"), changes: try payload.changes())
    }

    init(policy: String, isShadow: Bool, reason: String, changes: [ActingChange]) {
        self.policy = policy
        self.isShadow = isShadow
        self.reason = reason
        self.changes = changes
    }
}

/// What acted before a policy's latest activation acts again.
public struct RollbackRecord: Record, Equatable {
    public static var kind: RecordKind { .rollback }

    /// The name of the policy that was rolled back.
    public var policy: String
    /// Why, in the actor's words.
    public var reason: String
    /// What acts where instead.
    public var changes: [ActingChange]

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.member("policy", policy)
            writer.member("reason", reason)
        }
        writer.object("result") { $0.member("changes", changes) }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        self.init(
            policy: try command.string("policy"), reason: try command.string("reason"),
            changes: try payload.changes())
    }

    init(policy: String, reason: String, changes: [ActingChange]) {
        self.policy = policy
        self.reason = reason
        self.changes = changes
    }
}

extension RecordReader {
    fileprivate func changes() throws(CorruptEntry) -> [ActingChange] {
        try object("result").objects("changes").map(ActingChange.init(payload:))
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ changes: [ActingChange]) {
        key(name)
        beginArray()
        for change in changes {
            beginObject()
            change.write(to: &self)
            endObject()
        }
        endArray()
    }
}
