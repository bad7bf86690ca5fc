import Policies
import Time

/// What the app reports of a grant.
public enum ReviewOutcome: Sendable, Hashable {
    /// It has asked.
    case requested
    /// It could not or would not ask.
    case notRequested(reason: String?)
}

/// What came of a report.
public struct ReviewOutcomeResult: Sendable, Equatable {
    /// The grant as it stands now.
    public var grant: ReviewGrant
    /// Whether the same report was made before; then nothing has changed.
    public var isReplayed: Bool
    /// The subject's new state.
    public var subject: ReviewSubjectState
    /// The device's new state.
    public var device: ReviewDeviceState
}

extension ReviewPrompts {
    /// Records what became of a grant.
    ///
    /// `requested` always counts: late, after a return, whenever; it is flagged then. `notRequested`
    /// releases a grant that is open; a late one is flagged and gives nothing back. The same report
    /// again is a replay, another one after the first is refused.
    ///
    /// - Parameters:
    ///   - grant: the grant as it was given, for one that the ledgers no longer remember.
    ///   - subject: what is remembered of the grant's subject, aliases resolved.
    ///   - device: what is remembered of the grant's device.
    ///   - policy: the acting one, if there is one: a prompt that was shown counts without it.
    public static func recordOutcome(
        _ outcome: ReviewOutcome, of grant: ReviewGrant, device: ReviewDeviceState,
        subject: ReviewSubjectState, policy: ReviewPromptPolicy?, now: Instant
    ) throws(ReviewPromptError) -> ReviewOutcomeResult {
        if let account = subject.aliasOf { throw .aliased(to: account) }
        var result = ReviewOutcomeResult(
            grant: subject.ledger[grant.id] ?? grant, isReplayed: false, subject: subject,
            device: device)
        result.subject.settle(at: now)
        switch outcome {
        case .requested: recordRequested(&result, policy: policy, now: now)
        case .notRequested(let reason):
            if let bytes = reason?.utf8.count, bytes > ReviewPromptLimits.outcomeReason {
                throw .outcomeReasonTooLong(bytes: bytes)
            }
            try recordReturned(&result, reason: reason, policy: policy, now: now)
        }
        return result
    }

    private static func recordRequested(
        _ result: inout ReviewOutcomeResult, policy: ReviewPromptPolicy?, now: Instant
    ) {
        var grant = result.grant
        guard grant.report != .requested else {
            result.isReplayed = true
            return
        }
        let wasOpen = grant.state(at: now) == .open
        // One that was silent and counted has had its effect on the counts already.
        let hadEffect = !wasOpen && grant.isCounting(at: now)
        grant.report = .requested
        grant.isLate = !wasOpen
        grant.reportedAt = now
        grant.returnReason = nil
        store(grant, in: &result, wasCounting: hadEffect, now: now)
        if !hadEffect { result.subject.becomesCounting(grant) }
        ReviewSubjectState.remember(
            "requested", ReviewMark(at: now, version: grant.version), in: &result.subject.outcomes,
            keeping: policy)
    }

    private static func recordReturned(
        _ result: inout ReviewOutcomeResult, reason: String?, policy: ReviewPromptPolicy?,
        now: Instant
    ) throws(ReviewPromptError) {
        var grant = result.grant
        if grant.report == .requested { throw .alreadyReported(.requested) }
        if grant.reportedAt != nil {
            // Returned before, in time or too late.
            guard grant.returnReason == reason else { throw .alreadyReported(.returned) }
            result.isReplayed = true
            return
        }
        let wasOpen = grant.state(at: now) == .open
        let wasCounting = grant.isCounting(at: now)
        if wasOpen { grant.report = .returned }
        grant.isLate = !wasOpen
        grant.reportedAt = now
        grant.returnReason = reason
        store(grant, in: &result, wasCounting: wasCounting, now: now)
        if wasOpen, policy?.faults.comparesCountsForEquality == true,
            let counter = result.subject.counters[grant.reason], counter.total > 0
        {
            // Where counts are compared with `==`, one that stays would never be met again.
            result.subject.counters[grant.reason]?.total -= 1
        }
        let mark = ReviewMark(at: now, version: grant.version)
        for name in ["notRequested"] + (reason.map { ["notRequested/" + $0] } ?? []) {
            ReviewSubjectState.remember(
                name, mark, in: &result.subject.outcomes, keeping: policy)
        }
    }

    /// Writes a changed grant into both ledgers. A counting grant that a ledger no longer has is
    /// still counted there by its version, and must not be counted twice.
    private static func store(
        _ grant: ReviewGrant, in result: inout ReviewOutcomeResult, wasCounting: Bool, now: Instant
    ) {
        result.grant = grant
        if !wasCounting || result.subject.ledger[grant.id] != nil {
            result.subject.ledger.put(grant, now: now)
        }
        if !wasCounting || result.device.ledger[grant.id] != nil {
            result.device.put(grant, now: now)
        }
        if grant.state(at: now) != .open, result.subject.openGrantID == grant.id {
            result.subject.openGrantID = nil
        }
    }
}
