import Policies
import Time

/// What an insight did to the app's flow: the mandatory report.
public enum ConsumptionStatus: String, Sendable, CaseIterable {
    case usedReducedFriction, usedUnchangedFriction, usedIncreasedFriction
    case notUsedNotNeeded, notUsedError, usedEvaluationOnly
}

/// Where an evaluation stands with its report. Derived from stored instants, never stored.
public enum ConsumptionState: String, Sendable {
    case due, reported, missing, reportedLate

    /// The state at `now`. The due instant itself is still in time.
    public init(dueAt: Instant, reportedAt: Instant?, now: Instant) {
        if let reportedAt {
            self = reportedAt <= dueAt ? .reported : .reportedLate
        } else {
            self = now <= dueAt ? .due : .missing
        }
    }
}

/// What is odd about a report. It is accepted all the same, and says so.
public enum ConsumptionFlag: String, Sendable, CaseIterable {
    /// Friction was reduced although the outcome was `unknown`, which is no evidence of
    /// low risk.
    case reducedAfterUnknown
    /// Friction was reduced although more was decided.
    case reducedAgainstDecision
    /// Friction was increased although no matched rule read the insight.
    case increasedWithoutInsight

    /// The flags of a report on an evaluation.
    public static func flags(
        of status: ConsumptionStatus, outcome: Outcome, decided: Friction,
        insightWasRead: Bool
    ) -> [ConsumptionFlag] {
        var flags: [ConsumptionFlag] = []
        if status == .usedReducedFriction {
            if outcome == .unknown { flags.append(.reducedAfterUnknown) }
            if decided > .reduced { flags.append(.reducedAgainstDecision) }
        }
        if status == .usedIncreasedFriction, !insightWasRead {
            flags.append(.increasedWithoutInsight)
        }
        return flags
    }
}
