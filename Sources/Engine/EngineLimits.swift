import Time

/// The limits of the engine. Beyond each: back-pressure or a clear refusal, never silent loss.
public enum EngineLimits {
    /// Commands that may wait; the next is answered `queueFull`.
    public static let queued = 4_096
    /// Commands that one commit takes at most.
    public static let batch = 1_024
    /// Items of one batch call at most.
    public static let batchItems = 1_000
    /// People whose state is kept in memory at most.
    static let cachedSubjects = 100_000
    /// Evaluations kept in memory at most.
    static let cachedEvaluations = 50_000
    /// Entries after which the registry is kept anew: what a start reads at most, more or less.
    static let snapshotInterval: Int64 = 50_000
    /// Overdue evaluations named in one refusal.
    static let debtListed = 100
    /// How far a sandbox clock may be ahead in all: ten years.
    static let sandboxClockAhead = Duration.days(3_660)
    /// Apps at most.
    static let apps = 10_000
    /// Keys at most, revoked ones included.
    static let keys = 100_000
}
