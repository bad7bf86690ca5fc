import Time

/// The limits of the trust flow that no configuration changes. Beyond each: a clear error.
public enum TrustLimits {
    /// Events of one subject in one velocity window at most; a further evaluation is
    /// answered `rateLimitExceeded`, scope `subject`.
    public static let eventsPerWindow = 10_000
    /// Labels of one evaluation at most, retractions included.
    public static let labels = 1_000
    /// Unicode scalars of a rule's explanation at most; longer ones are cut.
    public static let explanation = 500
    /// How far in the future a caller's time may lie.
    public static let clockSkew = Duration.minutes(5)
    /// How old a device result may be, this age included.
    public static let deviceResultAge = Duration.seconds(120)
    /// Insights asked for in one evaluation at most.
    public static let insights = 10
}
