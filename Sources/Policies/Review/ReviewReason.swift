import Time

/// One entry of `reasons:`: what a donation of that name needs before it may ask.
public struct ReviewReason: Sendable {
    /// The name that donations carry.
    public var name: String
    /// What must be true of the counts, this donation included.
    public var requirement: ReviewRequirement
    /// `when:`: which donations of this name count; nil for all. One that does not count never
    /// asks.
    public var when: DonationCondition?

    /// A reason.
    public init(
        name: String, requirement: ReviewRequirement, when: DonationCondition? = nil
    ) {
        self.name = name
        self.requirement = requirement
        self.when = when
    }
}

/// A condition on counts. In YAML the parts of `all`, `any` and `not` name their reason:
/// `{any: [{finishedTranscript: 2}, {exportedVideo: {atLeast: 2, within: 7d}}]}`.
public indirect enum ReviewRequirement: Sendable, Hashable {
    /// `{atLeast: 3}`, `{atLeast: 3, within: 7d}`: so many donations, in `(now − within, now]` if
    /// a window is given.
    case count(reason: String, atLeast: Int, within: Duration?)
    /// `{distinctDays: 5, within: 7d}`: donations on so many days among the last so many, today
    /// included, in the policy's zone.
    case distinctDays(reason: String, atLeast: Int, withinDays: Int)
    /// `{weighted: {points: {finishedTranscript: 1, exportedVideo: 3}, atLeast: 5}}`: donations
    /// worth so many points together, in `(now − within, now]` if a window is given.
    case weighted([ReviewPoints], atLeast: Int, within: Duration?)
    /// Every part.
    case all([ReviewRequirement])
    /// At least one part.
    case any([ReviewRequirement])
    /// Not that.
    case not(ReviewRequirement)

    /// The reasons whose counts it reads, each once, in order.
    public var reasons: [String] {
        var names: [String] = []
        func visit(_ requirement: ReviewRequirement) {
            switch requirement {
            case .count(let reason, _, _), .distinctDays(let reason, _, _):
                if !names.contains(reason) { names.append(reason) }
            case .weighted(let points, _, _):
                for reason in points.map(\.reason) where !names.contains(reason) {
                    names.append(reason)
                }
            case .all(let parts), .any(let parts): parts.forEach(visit)
            case .not(let part): visit(part)
            }
        }
        visit(self)
        return names
    }
}

/// How many points each donation of a reason is worth in a weighted sum.
public struct ReviewPoints: Sendable, Hashable {
    /// The reason that is counted.
    public var reason: String
    /// Points of one donation, from 1.
    public var points: Int

    /// Points of a reason.
    public init(_ reason: String, _ points: Int) {
        self.reason = reason
        self.points = points
    }

    /// A sum as verdicts name it: `1 × finishedTranscript + 3 × exportedVideo`.
    public static func text(_ sum: [ReviewPoints]) -> String {
        sum.map { "\($0.points) × \($0.reason)" }.joined(separator: " + ")
    }
}

/// The limits of what a review-prompt policy may say; loading checks them.
public enum ReviewPolicyLimits {
    /// The most limits of one policy.
    public static let limits = 50
    /// The most reasons and suppressing events of one policy.
    public static let reasons = 50
    /// The deepest nesting of `all`, `any` and `not`.
    public static let requirementDepth = 8
    /// The most parts of one requirement, nested ones included.
    public static let requirementParts = 50
    /// The most grants a limit may allow in its window. As many are remembered one by one.
    public static let maxGrants = 50
    /// The most donations or points that may be asked for within a window. As many donations are
    /// remembered one by one, and each is worth at least one point.
    public static let windowedCount = 100
    /// The most points that one donation may be worth.
    public static let points = 1_000
    /// The most donations or points that may be asked for without a window.
    public static let count = 1_000_000
    /// The longest window, interval or suppression.
    public static let window = Duration.days(400)
    /// The longest lease.
    public static let lease = Duration.days(1)
}

/// The names of the rules that every policy has; limits and reasons may not use them.
public enum ReviewRuleName {
    /// The kill switch.
    public static let enabled = "enabled"
    /// Only an App Store build may ask with a production key.
    public static let distribution = "distribution"
    /// The donation has just happened.
    public static let fresh = "fresh"
    /// The app's version can be read as one.
    public static let readableVersion = "readableVersion"
    /// No grant is open for the subject or the device.
    public static let reservation = "reservation"
    /// The subject is not in the holdout.
    public static let holdout = "holdout"
    /// So many more donations since the last counting grant.
    public static let requireMore = "requireMore"
    /// There is room to remember one more grant.
    public static let remembered = "remembered"

    /// All of them.
    public static let reserved = [
        enabled, distribution, fresh, readableVersion, reservation, holdout, requireMore,
        remembered,
    ]
}
