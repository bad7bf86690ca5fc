import Policies
import Time

/// The place that a policy can act in.
struct ActingSlot: Hashable, Sendable {
    /// `nil` for every app and environment that has no activation of its own.
    var tenant: Tenant?
    /// `nil` for a review policy.
    var category: Policies.Category?
    var isShadow: Bool
}

/// When a change was recorded, and by whom.
struct EntryStamp: Sendable {
    var sequence: Int64
    var at: Instant
    var actor: String
}

/// A policy that acts in a place.
struct ActingFact: Sendable {
    var policy: VersionReference
    var reason: String
    var stamp: EntryStamp
}

/// What happened to what acts, one line of its history.
public struct ActingEvent: Sendable {
    /// What happened.
    public enum Kind: String, Sendable {
        case activated, deactivated, rolledBack
    }

    /// What happened.
    public var kind: Kind
    /// Where; `nil` for all apps and environments without an activation of their own.
    public var tenant: Tenant?
    /// The policy that began or ceased to act.
    public var policy: VersionReference
    /// For a roll-back: what acts instead; `nil` for nothing of its own.
    public var replacement: VersionReference?
    /// The categories; none for a review policy.
    public var categories: [Policies.Category]
    /// Whether it was about running in shadow only.
    public var isShadow: Bool
    /// Why, in the actor's words.
    public var reason: String
    /// What the guards of an activation found; `nil` where none was asked.
    public var check: GuardCheck?
    /// The number of the ledger's entry.
    public var sequence: Int64
    /// When.
    public var at: Instant
    /// Who.
    public var actor: String
}

/// What acts where, what acted before, and how that came. A fold over entries.
struct ActingState {
    private(set) var facts: [ActingSlot: ActingFact] = [:]
    /// What acted in each place before, the latest last.
    private var before: [ActingSlot: [VersionReference]] = [:]
    /// The latest changes, the oldest first.
    private(set) var history: [ActingEvent] = []
    /// Whether any policy was ever activated.
    private(set) var hasActed = false

    /// Changes, and earlier policies of a place, that are remembered; the ledger has all.
    private static let remembered = 10_000
    private static let rememberedBefore = 100

    /// What acts in a place.
    subscript(slot: ActingSlot) -> VersionReference? { facts[slot]?.policy }

    /// What acts for an app in an environment: its own activation, else the common one.
    func reference(for tenant: Tenant, category: Policies.Category?, isShadow: Bool)
        -> VersionReference?
    {
        (facts[ActingSlot(tenant: tenant, category: category, isShadow: isShadow)]
            ?? facts[ActingSlot(tenant: nil, category: category, isShadow: isShadow)])?.policy
    }

    // MARK: What a command would change

    /// Where a policy acts or runs in shadow, by its name or `name@version`.
    func deactivation(of policy: String, tenant: Tenant?, isShadow: Bool) -> [ActingChange] {
        changes(tenant, isShadow) { fact in
            policy == fact.policy.name || policy == fact.policy.text
        }.map { ActingChange(category: $0.slot.category, from: $0.fact.policy, to: nil) }
    }

    /// What acted before the latest activation of a policy, where that still acts.
    func rollback(of name: String, tenant: Tenant?) -> [ActingChange] {
        let acting = changes(tenant, false) { $0.policy.name == name }
        let latest = acting.map(\.fact.stamp.sequence).max()
        return acting.filter { $0.fact.stamp.sequence == latest }.map { slot, fact in
            ActingChange(
                category: slot.category, from: fact.policy, to: before[slot]?.last)
        }
    }

    private func changes(
        _ tenant: Tenant?, _ isShadow: Bool, where isMeant: (ActingFact) -> Bool
    ) -> [(slot: ActingSlot, fact: ActingFact)] {
        facts.filter { slot, fact in
            slot.tenant == tenant && slot.isShadow == isShadow && isMeant(fact)
        }.map { ($0.key, $0.value) }.sorted {
            ($0.slot.category?.rawValue ?? "") < ($1.slot.category?.rawValue ?? "")
        }
    }

    // MARK: Folding

    mutating func apply(_ record: ActivationRecord, tenant: Tenant?, _ stamp: EntryStamp) {
        hasActed = true
        let categories: [Policies.Category?] =
            record.policyKind == .trust ? record.categories : [nil]
        for category in categories {
            let slot = ActingSlot(tenant: tenant, category: category, isShadow: record.isShadow)
            if let current = facts[slot]?.policy, current != record.policy {
                remember(current, in: slot)
            }
            facts[slot] = ActingFact(policy: record.policy, reason: record.reason, stamp: stamp)
            // A policy is no shadow of itself: letting it act ends its time in shadow, and
            // naming the acting one as shadow takes the shadow out.
            let shadow = ActingSlot(tenant: tenant, category: category, isShadow: true)
            let act = ActingSlot(tenant: tenant, category: category, isShadow: false)
            if self[shadow] != nil, self[shadow] == self[act] { facts[shadow] = nil }
        }
        tell(
            .activated, record.policy, record.categories, record.isShadow, record.reason, tenant,
            stamp, check: record.check)
    }

    mutating func apply(_ record: DeactivationRecord, tenant: Tenant?, _ stamp: EntryStamp) {
        for change in record.changes {
            let slot = ActingSlot(
                tenant: tenant, category: change.category, isShadow: record.isShadow)
            remember(change.from, in: slot)
            facts[slot] = nil
        }
        tell(.deactivated, record.changes, record.isShadow, record.reason, tenant, stamp)
    }

    mutating func apply(_ record: RollbackRecord, tenant: Tenant?, _ stamp: EntryStamp) {
        for change in record.changes {
            let slot = ActingSlot(tenant: tenant, category: change.category, isShadow: false)
            _ = before[slot]?.popLast()
            facts[slot] = change.to.map {
                ActingFact(policy: $0, reason: record.reason, stamp: stamp)
            }
        }
        tell(.rolledBack, record.changes, false, record.reason, tenant, stamp)
    }

    private mutating func remember(_ policy: VersionReference, in slot: ActingSlot) {
        before[slot, default: []].append(policy)
        if before[slot, default: []].count > Self.rememberedBefore {
            before[slot]?.removeFirst()
        }
    }

    /// One event for all places where the same gave way to the same.
    private mutating func tell(
        _ kind: ActingEvent.Kind, _ changes: [ActingChange], _ isShadow: Bool, _ reason: String,
        _ tenant: Tenant?, _ stamp: EntryStamp
    ) {
        var told: [ActingChange] = []
        for change in changes
        where !told.contains(where: { $0.from == change.from && $0.to == change.to }) {
            told.append(change)
            let same = changes.filter { $0.from == change.from && $0.to == change.to }
            tell(
                kind, change.from, same.compactMap(\.category), isShadow, reason, tenant, stamp,
                replacement: change.to)
        }
    }

    private mutating func tell(
        _ kind: ActingEvent.Kind, _ policy: VersionReference, _ categories: [Policies.Category],
        _ isShadow: Bool, _ reason: String, _ tenant: Tenant?, _ stamp: EntryStamp,
        replacement: VersionReference? = nil, check: GuardCheck? = nil
    ) {
        history.append(
            ActingEvent(
                kind: kind, tenant: tenant, policy: policy, replacement: replacement,
                categories: categories, isShadow: isShadow, reason: reason, check: check,
                sequence: stamp.sequence, at: stamp.at, actor: stamp.actor))
        if history.count > Self.remembered { history.removeFirst(Self.remembered / 10) }
    }
}

extension VersionReference {
    /// `name@version`.
    public var text: String { "\(name)@\(version)" }
}
