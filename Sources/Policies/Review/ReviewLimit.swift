import Time

/// One entry of `limits:`: a named rule that must pass before a prompt may be shown.
public struct ReviewLimit: Sendable, Hashable {
    /// The name used in verdicts, given or derived from the kind.
    public var name: String
    /// What it limits.
    public var kind: Kind

    /// A limit.
    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// The kinds of limits.
    public enum Kind: Sendable, Hashable {
        /// `{max: 3, within: 365d, scope: device}`: at most so many counting grants in
        /// `[now − within, now]`; without `within`, ever.
        case max(count: Int, within: Duration?, scope: ReviewScope)
        /// `{max: 1, per: version, grain: full}`: at most so many counting grants for the donation's
        /// version, compared at that grain.
        case perVersion(count: Int, grain: VersionGrain, scope: ReviewScope)
        /// `{atLeast: 7d, unit: calendarDay}`: the distance from the last counting grant.
        case interval(ReviewInterval, scope: ReviewScope)
        /// `{sinceInstall: 2d}`: elapsed time since the app was installed on the device.
        case sinceInstall(Duration)
        /// `{after: …, for: …}`: nothing is asked for some time after an event or an outcome.
        case suppression(ReviewSuppression)
    }
}

/// Whose grants a limit counts. `both` is the default: neither ledger may be over.
public enum ReviewScope: String, Sendable, Hashable, CaseIterable {
    /// The grants of the device, whoever used it.
    case device
    /// The grants of the subject, on whatever device.
    case subject
    /// Each of the two by itself.
    case both
}

/// How much of a version is compared: `4.6.1` is `4.6.1`, `4.6` or `4`.
public enum VersionGrain: String, Sendable, Hashable, CaseIterable {
    case full
    case minor
    case major
}

/// A distance with its unit.
public enum ReviewInterval: Sendable, Hashable {
    /// `unit: elapsed`: so much time; exactly so much is enough.
    case elapsed(Duration)
    /// `unit: calendarDay`: so many days by subtraction of dates in the policy's zone; written in
    /// whole days (`7d`).
    case calendarDays(Int)
}

/// Nothing is asked for some time after an event or an outcome.
public struct ReviewSuppression: Sendable, Hashable {
    /// What starts it.
    public enum Trigger: Sendable, Hashable {
        /// `after: transcriptionFailed`: a donation of that name.
        case event(String)
        /// `after: requested`: a confirmed grant.
        case requested
        /// `after: notRequested, reason: userPostponed`: a grant returned for that reason; without
        /// a reason, for any.
        case notRequested(reason: String?)
    }

    /// When it is over.
    public enum End: Sendable, Hashable {
        /// `for: 10d`: elapsed time; exactly so much is enough.
        case elapsed(Duration)
        /// `until: nextVersion, grain: major`: a version above the one it happened in, at that
        /// grain.
        case nextVersion(VersionGrain)
        /// `until: never`.
        case never
    }

    /// What starts it.
    public var trigger: Trigger
    /// When it is over.
    public var end: End

    /// A suppression.
    public init(after trigger: Trigger, until end: End) {
        self.trigger = trigger
        self.end = end
    }
}
