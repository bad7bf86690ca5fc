import ReviewPrompts
import Time

/// What a review policy did over a stream.
public struct SimulationReport: Sendable, Equatable {
    /// A month of the calendar, in UTC.
    public struct Month: Hashable, Comparable, Sendable {
        /// The year.
        public var year: Int
        /// 1 to 12.
        public var month: Int

        /// The month of an instant.
        public init(_ instant: Instant) {
            let parts = CivilDateTime(localSeconds: instant.seconds).date.components
            (year, month) = (parts.year, parts.month)
        }

        /// The one after it.
        public var next: Month {
            var next = self
            (next.year, next.month) = month == 12 ? (year + 1, 1) : (year, month + 1)
            return next
        }

        /// Whether the left one is the earlier one.
        public static func < (left: Month, right: Month) -> Bool {
            (left.year, left.month) < (right.year, right.month)
        }
    }

    /// Counts by name; names beyond ``SimulationLimits/names`` are counted together.
    public struct Counts: Sendable, Equatable {
        /// The counts of the names.
        public private(set) var named: [String: Int] = [:]
        /// The count of all further names.
        public private(set) var others = 0

        /// All of them.
        public var total: Int { named.values.reduce(others, +) }

        mutating func add(_ name: String) {
            if named[name] != nil || named.count < SimulationLimits.names {
                named[name, default: 0] += 1
            } else {
                others += 1
            }
        }
    }

    /// The policy, as `name@version`.
    public let policy: String
    /// The digest of its file.
    public let digest: String
    /// When the first event came in.
    public internal(set) var first: Instant?
    /// When the last event came in.
    public internal(set) var last: Instant?
    /// Events.
    public internal(set) var events = 0
    /// Events that the policy has no name for. They change nothing.
    public internal(set) var unknownReasons = Counts()
    /// Events that could not be judged, by what was wrong. They change nothing.
    public internal(set) var refused = Counts()
    /// Events that were added to the counts.
    public internal(set) var counted = 0
    /// Prompts: the app asked, or may have.
    public internal(set) var prompts = 0
    /// Those of them about which the app said nothing.
    public internal(set) var silent = 0
    /// Grants that were given back, by reason; prompts that found no scene too.
    public internal(set) var returned = Counts()
    /// Prompts by month.
    public internal(set) var months: [Month: Int] = [:]
    /// Prompts by reason.
    public internal(set) var reasons = Counts()
    /// Prompts by version.
    public internal(set) var versions = Counts()
    /// Prompts that break a limit of the platform, or several.
    public internal(set) var promptsAgainstLimits = 0
    /// Prompts by the limit of the platform that they break; one may break several.
    public internal(set) var violations: [PromptViolation: Int] = [:]
    /// How often each rule kept the app from asking; several may at once.
    public internal(set) var held = Counts()
    /// Distinct people.
    public internal(set) var people = 0
    /// Distinct devices.
    public internal(set) var devices = 0
    /// How many people were asked so often.
    public internal(set) var peopleByPrompts: [Int: Int] = [:]
    /// People who were asked on a device that had been asked three times in 365 days then.
    public internal(set) var peopleAtCap = 0

    /// Events that were decided on.
    public var judged: Int { events - unknownReasons.total - refused.total }

    /// People who were never asked.
    public var peopleNeverAsked: Int { peopleByPrompts[0] ?? 0 }

    init(policy: String, digest: String) {
        self.policy = policy
        self.digest = digest
    }

    mutating func add(_ step: ReviewSimulation.Step, _ event: ReviewEvent) {
        events += 1
        first = first ?? event.receivedAt
        last = event.receivedAt
        if step.isCounted { counted += 1 }
        switch step.result {
        case .held:
            for failing in step.failing { held.add(failing.rule) }
        case .refused(.unknownReason(let given, _)):
            unknownReasons.add(given)
        case .refused(let error):
            refused.add(error.name)
        case .returned(let reason):
            returned.add(reason ?? "")
        case .prompted(let isSilent):
            prompts += 1
            if isSilent { silent += 1 }
            months[Month(event.receivedAt), default: 0] += 1
            reasons.add(event.donation.reason)
            versions.add(event.donation.version)
            if !step.violations.isEmpty { promptsAgainstLimits += 1 }
            for violation in step.violations { violations[violation, default: 0] += 1 }
        }
    }
}

extension SimulationReport.Month: CustomStringConvertible {
    /// `2026-03`.
    public var description: String {
        let digits = String(year)
        let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
        return zeros + digits + (month < 10 ? "-0" : "-") + String(month)
    }
}

extension ReviewPromptError {
    /// The error's name, without what was given.
    fileprivate var name: String {
        switch self {
        case .unknownReason: "unknownReason"
        case .clockSkew: "clockSkew"
        case .missingZone: "missingZone"
        case .unknownZone: "unknownZone"
        case .versionTooLong: "versionTooLong"
        case .outcomeReasonTooLong: "outcomeReasonTooLong"
        case .aliased: "aliased"
        case .alreadyReported: "alreadyReported"
        case .mergedIntoItself: "mergedIntoItself"
        case .tooManyInstalls: "tooManyInstalls"
        }
    }
}
