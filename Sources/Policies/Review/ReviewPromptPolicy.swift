import Time

/// A checked policy of kind `reviewPrompt`: immutable, complete, ready to run.
///
/// Whoever builds one has checked what ``ReviewPolicyLimits`` says, that names of limits and
/// reasons are unique and not among ``ReviewRuleName/reserved``, that every reason named in a
/// condition is one of ``reasons``, and that a named zone exists.
public struct ReviewPromptPolicy: Sendable {
    /// The policy's name.
    public var name: String
    /// The policy's version, from 1.
    public var version: Int
    /// The zone in which days of the calendar are counted.
    public var zone: ReviewZone
    /// The limits, in file order; every one must pass.
    public var limits: [ReviewLimit]
    /// The reasons a donation may name, in file order.
    public var reasons: [ReviewReason]
    /// What becomes of a donation while a limit holds or a grant is open.
    public var whileThrottled: WhileThrottled
    /// What happens to the counts when a grant becomes counting.
    public var afterGrant: AfterGrant
    /// Whether the first donation of another app version starts the counts anew.
    public var resetOnVersion: ResetOnVersion
    /// How long a grant may be used, and what silence means.
    public var lease: ReviewLease
    /// The share of subjects that are never asked.
    public var holdout: ReviewHoldout
    /// The kill switch: false holds every donation.
    public var isEnabled: Bool
    /// Faults of other libraries that are reproduced on purpose; none in a sound policy.
    public var faults: ReviewFaults
    /// The lowercase hexadecimal SHA-256 of the file's exact bytes; empty without a file.
    public var digest: String
    /// Where limits and reasons stand in the file, by name; empty without a file.
    package var positions: [String: SourcePosition] = [:]

    /// `name@version`, as activations name it.
    public var reference: String { "\(name)@\(version)" }

    /// A policy; what is left out is as in a file that leaves it out.
    public init(
        name: String, version: Int, zone: ReviewZone = .utc, limits: [ReviewLimit] = [],
        reasons: [ReviewReason], whileThrottled: WhileThrottled = .drop,
        afterGrant: AfterGrant = .reset, resetOnVersion: ResetOnVersion = .none,
        lease: ReviewLease = ReviewLease(), holdout: ReviewHoldout = ReviewHoldout(),
        isEnabled: Bool = true, faults: ReviewFaults = ReviewFaults(), digest: String = ""
    ) {
        self.name = name
        self.version = version
        self.zone = zone
        self.limits = limits
        self.reasons = reasons
        self.whileThrottled = whileThrottled
        self.afterGrant = afterGrant
        self.resetOnVersion = resetOnVersion
        self.lease = lease
        self.holdout = holdout
        self.isEnabled = isEnabled
        self.faults = faults
        self.digest = digest
    }

    /// The names under `donation.attributes` that conditions read; nil where that cannot be told.
    ///
    /// Others are not recorded: nothing that the policy does not ask for is ever stored.
    public var donationAttributes: Set<String>? {
        var names: Set<String> = []
        for condition in reasons.compactMap(\.when) {
            guard let read = condition.attributes else { return nil }
            names.formUnion(read)
        }
        return names
    }

    /// The reason of that name; nil if there is none.
    public func reason(named name: String) -> ReviewReason? {
        reasons.first { $0.name == name }
    }

    /// Every name that a donation may carry: the reasons, then the events that only suppress.
    public var donatedNames: [String] {
        var names = reasons.map(\.name)
        for limit in limits {
            if case .suppression(let suppression) = limit.kind,
                case .event(let name) = suppression.trigger, !names.contains(name)
            {
                names.append(name)
            }
        }
        return names
    }
}

/// The zone in which days of the calendar are counted. In YAML: `subject`, `UTC` or `Area/City`.
public enum ReviewZone: Sendable, Hashable {
    /// The zone that the donation names, else the one last named for the subject.
    case subject
    /// Coordinated universal time.
    case utc
    /// A zone of the database, or a fixed offset.
    case named(String)
}

/// What becomes of a donation while a limit holds or a grant is open.
public enum WhileThrottled: String, Sendable, Hashable, CaseIterable {
    /// It is not counted.
    case drop
    /// It is counted.
    case keep
}

/// What happens to the counts when a grant becomes counting: when it is confirmed, or when its
/// lease ends in silence and silence counts.
public enum AfterGrant: Sendable, Hashable {
    /// Every count starts anew.
    case reset
    /// The counts stay, and so many more donations of the reason are needed before the next grant.
    /// At least 1.
    case requireMore(Int)
    /// Nothing.
    case none
}

/// Whether the first donation of another app version starts the counts anew.
public enum ResetOnVersion: String, Sendable, Hashable, CaseIterable {
    case none
    case counts
}

/// How long a grant may be used, and what it means when nothing is reported by then.
public struct ReviewLease: Sendable, Hashable {
    /// What silence means.
    public enum Silence: String, Sendable, Hashable, CaseIterable {
        /// The prompt may have been shown, so the grant goes on counting.
        case count
        /// The grant is given back.
        case release
    }

    /// From the grant on; its last millisecond is still in time.
    public var length: Duration
    /// What silence means.
    public var silence: Silence

    /// Ten minutes, and silence counts, unless said otherwise.
    public init(length: Duration = .minutes(10), silence: Silence = .count) {
        self.length = length
        self.silence = silence
    }
}

/// The share of subjects that are never asked, chosen by a salted hash, so that it is stable.
public struct ReviewHoldout: Sendable, Hashable {
    /// 0…100; two decimals matter.
    public var percent: Double
    /// Another salt chooses other subjects.
    public var salt: String

    /// Nobody, unless said otherwise.
    public init(percent: Double = 0, salt: String = "") {
        self.percent = percent
        self.salt = salt
    }
}

/// Faults of other libraries, reproduced on purpose so that they can be compared with the sound
/// behaviour. Only the preset `treaty` sets them.
public struct ReviewFaults: Sendable, Hashable {
    /// Counts are compared with `==`: a count that jumps over the number never asks.
    public var comparesCountsForEquality: Bool
    /// The distance in days is taken without its sign: a clock that went back counts as a wait.
    public var takesAbsoluteDistance: Bool
    /// Only the last prompted version is remembered, not the set of them.
    public var remembersLastVersionOnly: Bool
    /// An unreadable version is read as `1.0.0`.
    public var readsUnreadableVersionAs1: Bool

    /// No faults.
    public init() {
        comparesCountsForEquality = false
        takesAbsoluteDistance = false
        remembersLastVersionOnly = false
        readsUnreadableVersionAs1 = false
    }

    /// All of them: the rules of the article that this kind of policy goes back to.
    public static var treaty: ReviewFaults {
        var faults = ReviewFaults()
        faults.comparesCountsForEquality = true
        faults.takesAbsoluteDistance = true
        faults.remembersLastVersionOnly = true
        faults.readsUnreadableVersionAs1 = true
        return faults
    }
}
