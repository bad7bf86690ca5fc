import JSON
import Policies
import Time
import TrustInsights

/// What a command came to. What it says was done is on disk.
public struct Reply: Sendable {
    /// What it came to.
    public enum Content: Sendable {
        case authorization(status: AuthorizationStatus, endsAt: Instant?)
        case evaluation(
            JudgedEvaluation, isReplay: Bool, consumption: ConsumptionState?)
        case consumption(ConsumptionRecord, isReplay: Bool)
        case label(LabelRecord, status: LabelStatus)
        case labels([(LabelRecord, status: LabelStatus)])
        case review(ReviewAnswer)
        case erased(ErasureAnswer)
        case sandboxClock
        indirect case shown(EvaluationState)
        case debt(DebtAnswer)
        case administered(AdministrationAnswer)
        case refused(Refusal)
        /// One of several failed, at that index; none was stored.
        case refusedAt(Int, Refusal)
    }

    /// What a label did.
    public enum LabelStatus: String, Sendable {
        /// It was added, and the label that counts is what it was or the first.
        case recorded
        /// It was known already.
        case replayed
        /// Another label counts from now on.
        case superseding
    }

    /// What it came to.
    public var content: Content
    /// The app's clock.
    public var now: Instant
    /// The app's overdue reports.
    public var debt: Int64 = 0
}

/// What an app owes.
public struct DebtAnswer: Sendable {
    /// Overdue and unreported.
    public var count: Int64
    /// From which debt on evaluations are refused.
    public var threshold: Int64
    /// Since when they are; `nil` if they are not.
    public var refusingSince: Instant?
    /// The oldest of them.
    public var evaluations: [EvaluationRecord]
    /// What to ask for to go on; `nil` when these were all.
    public var next: Int64?
}

/// What an administrative command did.
public enum AdministrationAnswer: Sendable {
    case done
    /// Policies and models that became candidates, and those that act from now on.
    case loaded(added: [String], activated: [String])
    case activated(ActivationRecord)
    case deactivated(DeactivationRecord)
    case rolledBack(RollbackRecord)
}
