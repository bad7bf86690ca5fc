import Time

/// A number, span or text in a verdict.
public enum ReviewAmount: Sendable, Hashable {
    /// So many.
    case count(Int)
    /// Elapsed time.
    case elapsed(Duration)
    /// Days of the calendar.
    case days(Int64)
    /// Anything else.
    case text(String)
}

/// What a rule needs in order to pass.
public enum ReviewNeed: Sendable, Hashable {
    /// So much or more.
    case atLeast(ReviewAmount)
    /// Less than that.
    case below(ReviewAmount)
    /// Exactly that.
    case equal(ReviewAmount)
}

/// Why a rule does not pass, or how it can.
public enum ReviewCause: String, Sendable, Hashable, CaseIterable {
    /// The kill switch is off.
    case disabled
    /// Nothing is shown in builds that are not from the App Store.
    case notFromAppStore
    /// The donation happened too long ago; a fresh one can pass.
    case stale
    /// The version cannot be read as one.
    case unreadableVersion
    /// A grant is open.
    case reservationOpen
    /// The subject is held out.
    case heldOut
    /// No more versions can be remembered.
    case ledgerFull
    /// As many grants as allowed lie in the window.
    case capReached
    /// The version has had its prompts; another version can pass.
    case alreadyPrompted
    /// The last grant is too recent.
    case tooSoon
    /// A stored instant lies after `now`.
    case clockSkew
    /// Something happened that suppresses prompts.
    case suppressed
    /// More donations are needed.
    case moreDonations
    /// This donation does not count.
    case conditionNotMet
    /// Whether this donation counts cannot be said.
    case conditionUnknown
    /// The name suppresses and is no reason to ask.
    case onlySuppresses
    /// When the app was installed is not known.
    case installUnknown
    /// Donations have to grow old, or more of them are needed.
    case requirementNotMet
}

/// What one rule says about a donation at an instant.
public struct RuleVerdict: Sendable, Hashable {
    /// Whether the rule lets the prompt through. Only `pass` does.
    public enum Result: String, Sendable, Hashable, CaseIterable {
        case pass
        case fail
        /// A fact is missing, so that nothing can be said.
        case unknown
    }

    /// One count that a reason needs.
    public struct Part: Sendable, Hashable {
        /// The reason that is counted.
        public var reason: String
        /// The count, this donation included.
        public var have: Int
        /// What it needs.
        public var need: ReviewNeed
        /// Whether it is met.
        public var isMet: Bool
    }

    /// The rule: a limit's name, the reason's name, or one of `ReviewRuleName`.
    public var rule: String
    /// Whether it passes.
    public var result: Result
    /// Why it does not.
    public var cause: ReviewCause?
    /// What is.
    public var have: ReviewAmount?
    /// What it needs.
    public var need: ReviewNeed?
    /// The earliest instant at which this rule by itself passes, if time alone can clear it.
    public var clearsAt: Instant?
    /// For a reason: each count it reads.
    public var parts: [Part] = []
    /// Free text: the error of a condition, the reason of a suppression.
    public var detail: String?

    static func pass(
        _ rule: String, have: ReviewAmount? = nil, need: ReviewNeed? = nil
    ) -> RuleVerdict {
        RuleVerdict(rule: rule, result: .pass, have: have, need: need)
    }

    static func fail(
        _ rule: String, _ cause: ReviewCause, have: ReviewAmount? = nil, need: ReviewNeed? = nil,
        detail: String? = nil
    ) -> RuleVerdict {
        RuleVerdict(
            rule: rule, result: .fail, cause: cause, have: have, need: need, detail: detail)
    }

    static func unknown(
        _ rule: String, _ cause: ReviewCause, need: ReviewNeed? = nil, detail: String? = nil
    ) -> RuleVerdict {
        RuleVerdict(rule: rule, result: .unknown, cause: cause, need: need, detail: detail)
    }
}
