import Policies
import Time

/// How much the state of one subject or device may hold. Each is tested on both sides.
public enum ReviewPromptLimits {
    /// Counting grants that are remembered one by one, the newest. No limit of a policy can count
    /// further (``ReviewPolicyLimits/maxGrants``), so every window stays exact.
    public static let grants = 64
    /// Returned grants that are remembered, the newest.
    public static let returnedGrants = 16
    /// Installs that one account takes in at most, those that they had taken in included.
    public static let absorbedInstalls = 100
    /// How long grants are remembered one by one: as long as the longest window of a policy.
    public static let grantAge = ReviewPolicyLimits.window
    /// How long the prompts of an erased subject go on counting on the device: as long as the
    /// platform's own limit looks back.
    public static let erasedGrantAge = Duration.days(365)
    /// Versions of older grants. Beyond it the rule `remembered` holds: forgetting a version could
    /// ask twice in it.
    public static let versions = 1000
    /// Donations of one reason whose instants are remembered, the newest.
    public static let recentDonations = ReviewPolicyLimits.windowedCount
    /// Days of one reason that are remembered, the newest.
    public static let days = 400
    /// Reasons that are counted. Beyond it those that the policy does not know are forgotten.
    public static let counters = 100
    /// Events and outcomes whose last time is remembered, the newest.
    public static let marks = 64
    /// A count stops here.
    public static let count = 1_000_000_000
    /// The longest reason of a returned grant, in bytes.
    public static let outcomeReason = 64
    /// A donation that happened longer ago counts but does not ask.
    public static let freshness = Duration.seconds(60)
    /// A donation further in the future is refused.
    public static let clockTolerance = Duration.minutes(5)
    /// A condition that reads `now` is tried every hour for so many hours, then every day.
    static let probedHours = 8 * 24
    /// How many days ahead such a condition is tried.
    static let probedDays = 400
    /// Steps in the search for the next eligible instant; each passes one rule's change.
    static let searchSteps = 1000
}
