import Policies
import Time

/// When something last happened, and in which version.
public struct ReviewMark: Sendable, Hashable {
    /// When.
    public var at: Instant
    /// The app's version, as the caller wrote it.
    public var version: String
}

/// What is remembered of one device.
public struct ReviewDeviceState: Sendable, Hashable {
    /// The prompts on this device, whoever used it.
    public internal(set) var ledger = PromptLedger()
    /// When the app was installed, as last reported.
    public internal(set) var installedAt: Instant?

    /// A device never seen before.
    public init() {}

    /// Takes a grant in. Whom it was given to stays out: a device may have several users, and the
    /// state of it stands in the entries of each.
    mutating func put(_ grant: ReviewGrant, now: Instant) {
        var grant = grant
        grant.subject = ""
        ledger.put(grant, now: now)
    }

    /// A grant became silent, since its subject was merged with one who has an older open one.
    public mutating func supersede(_ id: String) { ledger.update(id) { $0.isSuperseded = true } }

    /// Leaves of the grants of an erased subject their times and versions, or the same device would
    /// be asked once too often.
    public mutating func erase(grants ids: Set<String>) { ledger.erase(ids) }
}

/// What is remembered of one subject.
public struct ReviewSubjectState: Sendable, Hashable {
    /// The prompts of this subject, on whatever device.
    public internal(set) var ledger = PromptLedger()
    /// Counted donations by reason.
    public internal(set) var counters: [String: ReasonCounter] = [:]
    /// The last donation of each suppressing event.
    public internal(set) var events: [String: ReviewMark] = [:]
    /// The last report of each outcome: `requested`, `notRequested`, `notRequested/<reason>`.
    public internal(set) var outcomes: [String: ReviewMark] = [:]
    /// The grant whose effect on the counts is still undecided because it is open.
    public internal(set) var openGrantID: String?
    /// The version of the last donation that had a readable one.
    public internal(set) var lastVersion: String?
    /// The zone last named for the subject.
    public internal(set) var zone: String?
    /// When the last donation came in, of which version and zone are: in a merge the later ones stay.
    public internal(set) var lastDonationAt: Instant?
    /// Whether a grant has counted since the counts were last reset, for `requireMore`.
    public internal(set) var hasCountedGrant = false
    /// The pseudonym of the account this install was merged into; everything else is then empty.
    public internal(set) var aliasOf: String?
    /// How many installs were merged into it, those that they had taken in included.
    public internal(set) var absorbed = 0

    /// A subject never seen before.
    public init() {}

    /// Starts every count anew. The prompt ledger, suppressions and an open grant stay.
    public mutating func resetCounts() {
        counters = [:]
        hasCountedGrant = false
    }

    /// Draws the consequence of a lease that has ended in silence: time alone writes nothing, so
    /// it is drawn when the state is next used.
    mutating func settle(at now: Instant) {
        guard let id = openGrantID, let grant = ledger[id] else {
            openGrantID = nil
            return
        }
        guard grant.state(at: now) != .open else { return }
        openGrantID = nil
        if grant.isCounting(at: now) { becomesCounting(grant) }
    }

    /// Applies `afterGrant`.
    mutating func becomesCounting(_ grant: ReviewGrant) {
        switch grant.afterGrant {
        case .reset:
            resetCounts()
        case .requireMore:
            counters = counters.mapValues { counter in
                var counter = counter
                counter.atLastGrant = counter.total
                return counter
            }
            hasCountedGrant = true
        case .none:
            break
        }
    }

    /// Remembers when something happened, if that is later than what is remembered. Beyond the
    /// limit the oldest mark goes, of those first that no limit of the policy looks at: a caller
    /// that reports ever new reasons must not make a refusal forgotten.
    static func remember(
        _ name: String, _ mark: ReviewMark, in marks: inout [String: ReviewMark],
        keeping policy: ReviewPromptPolicy?
    ) {
        if let known = marks[name], known.at > mark.at { return }
        marks[name] = mark
        guard marks.count > ReviewPromptLimits.marks else { return }
        let kept = policy?.markNames ?? []
        let oldest = marks.min {
            (kept.contains($0.key) ? 1 : 0, $0.value.at, $0.key)
                < (kept.contains($1.key) ? 1 : 0, $1.value.at, $1.key)
        }
        if let oldest { marks[oldest.key] = nil }
    }

    /// Counts a donation, forgetting counters of reasons the policy does not know if there are too
    /// many.
    mutating func count(_ reason: String, at instant: Instant, day: CivilDate, known: [String]) {
        counters[reason, default: ReasonCounter()].add(at: instant, day: day)
        if counters.count > ReviewPromptLimits.counters {
            counters = counters.filter { known.contains($0.key) }
        }
    }
}

extension ReviewSuppression.Trigger {
    /// What its mark is called, among events or outcomes.
    var markName: String {
        switch self {
        case .event(let name): name
        case .requested: "requested"
        case .notRequested(nil): "notRequested"
        case .notRequested(let reason?): "notRequested/" + reason
        }
    }
}

extension ReviewPromptPolicy {
    /// The marks that limits look at; no more than there may be limits.
    fileprivate var markNames: Set<String> {
        Set(
            limits.compactMap { limit in
                guard case .suppression(let suppression) = limit.kind else { return nil }
                return suppression.trigger.markName
            })
    }
}
