import Policies
import Time

/// What came of a donation.
public struct ReviewDecision: Sendable, Equatable {
    /// The answer to the app.
    public enum Answer: Sendable, Equatable {
        /// Ask now, under this grant.
        case ask(ReviewGrant)
        /// Do not ask.
        case hold
    }

    /// The answer to the app.
    public var answer: Answer
    /// What every rule says, in policy order.
    public var verdicts: [RuleVerdict]
    /// The earliest instant at which a donation of that reason would ask if nothing else happens;
    /// nil when it asks now, or when time alone is not enough.
    public var nextEligibleAt: Instant?
    /// The rules that time alone does not clear, when that is why `nextEligibleAt` is nil.
    public var missing: [String]
    /// Whether the donation was counted.
    public var isCounted: Bool
    /// Whether it happened too long ago to ask.
    public var isStale: Bool
    /// Whether the caller's clock was ahead of the engine's, within what is tolerated.
    public var isClockAhead: Bool
    /// The policy that decided, as `name@version`.
    public var policy: String
    /// The subject's new state.
    public var subject: ReviewSubjectState
    /// The device's new state.
    public var device: ReviewDeviceState

    /// The names of the rules that do not pass.
    public var failing: [String] { verdicts.filter { $0.result != .pass }.map(\.rule) }

    /// Whether the answer is to ask.
    public var asks: Bool { if case .ask = answer { true } else { false } }
}

/// Why not, and when: what a donation made now would get. Nothing changes.
public struct ReviewStatus: Sendable, Equatable {
    /// Whether a donation made now would ask.
    public var wouldAsk: Bool
    /// What every rule says about it.
    public var verdicts: [RuleVerdict]
    /// The earliest instant at which one would ask; `now` if it would at once.
    public var nextEligibleAt: Instant?
    /// The rules that time alone does not clear.
    public var missing: [String]
    /// The count of each reason, in policy order.
    public var counts: [(reason: String, count: Int)]
    /// Counting grants of the subject, ever.
    public var prompts: Int
    /// When the last of them was given.
    public var lastPromptAt: Instant?
    /// The policy that was asked, as `name@version`.
    public var policy: String

    /// The names of the rules that do not pass.
    public var failing: [String] { verdicts.filter { $0.result != .pass }.map(\.rule) }

    /// Whether both say the same.
    public static func == (left: ReviewStatus, right: ReviewStatus) -> Bool {
        left.wouldAsk == right.wouldAsk && left.verdicts == right.verdicts
            && left.nextEligibleAt == right.nextEligibleAt && left.missing == right.missing
            && left.counts.elementsEqual(right.counts, by: ==) && left.prompts == right.prompts
            && left.lastPromptAt == right.lastPromptAt && left.policy == right.policy
    }
}
