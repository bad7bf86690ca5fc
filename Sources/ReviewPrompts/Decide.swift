import Policies
import Time

/// The review-prompt flow: pure functions from states, policy and time to new states.
public enum ReviewPrompts {
    /// Judges a donation and counts it.
    ///
    /// - Parameters:
    ///   - donation: what happened; ids are pseudonyms, aliases resolved.
    ///   - device: what is remembered of the donation's device.
    ///   - subject: what is remembered of the donation's subject.
    ///   - now: the engine's time, which never goes back.
    ///   - grantID: the id of the grant, should there be one.
    ///   - foresees: whether the decision says when what holds clears. That is half of the work, and a
    ///     simulation has no use for it.
    public static func decide(
        _ donation: ReviewDonation, device: ReviewDeviceState, subject: ReviewSubjectState,
        policy: ReviewPromptPolicy, zones: ZoneDatabase, environment: ReviewEnvironment,
        now: Instant, grantID: String, foresees: Bool = true
    ) throws(ReviewPromptError) -> ReviewDecision {
        let isAhead = donation.occurredAt > now
        guard donation.occurredAt <= now + ReviewPromptLimits.clockTolerance else {
            throw .clockSkew(field: "occurredAt", given: donation.occurredAt, now: now)
        }
        // A clock that is a little ahead means now.
        let happenedAt = min(donation.occurredAt, now)
        var situation = try situation(
            donation, device: device, subject: subject, policy: policy, zones: zones,
            environment: environment, now: now, happenedAt: happenedAt)
        var verdicts = situation.verdicts(at: now)
        let asks = verdicts.allSatisfy { $0.result == .pass }
        let isThrottled = zip(situation.rules, verdicts).contains { rule, verdict in
            rule.throttles && verdict.result != .pass
        }
        let isReason = policy.reason(named: donation.reason) != nil
        let isCounted =
            isReason && situation.countedAs == .holds
            && (!isThrottled || policy.whileThrottled == .keep)

        if isCounted {
            situation.subject.count(
                donation.reason, at: happenedAt, day: situation.zone.date(at: happenedAt),
                known: policy.reasons.map(\.name))
        }
        if policy.suppresses(after: donation.reason) {
            ReviewSubjectState.remember(
                donation.reason, ReviewMark(at: happenedAt, version: donation.version),
                in: &situation.subject.events, keeping: policy)
        }
        // What clears and when is asked of the state that the donation leaves behind.
        let imagined = asks || !foresees ? nil : situation.imagining()
        if let imagined { verdicts = imagined.clearing(verdicts, from: now) }
        var decision = ReviewDecision(
            answer: .hold, verdicts: verdicts, nextEligibleAt: nil, missing: [],
            isCounted: isCounted, isStale: situation.isStale, isClockAhead: isAhead,
            policy: policy.reference, subject: situation.subject, device: situation.device)
        if asks {
            let grant = ReviewGrant(
                id: grantID, subject: donation.subject, device: donation.device,
                reason: donation.reason, version: situation.versionText, grantedAt: now,
                leaseEndsAt: now + policy.lease.length, silence: policy.lease.silence,
                afterGrant: policy.afterGrant)
            decision.answer = .ask(grant)
            decision.subject.ledger.put(grant, now: now)
            decision.subject.openGrantID = grantID
            decision.device.put(grant, now: now)
        } else if let imagined {
            (decision.nextEligibleAt, decision.missing) = imagined.nextEligible(from: now)
        }
        return decision
    }

    /// Says what a donation made now would get and when one would ask. Changes nothing.
    ///
    /// The donation's `occurredAt` is not looked at.
    public static func status(
        _ donation: ReviewDonation, device: ReviewDeviceState, subject: ReviewSubjectState,
        policy: ReviewPromptPolicy, zones: ZoneDatabase, environment: ReviewEnvironment,
        now: Instant
    ) throws(ReviewPromptError) -> ReviewStatus {
        let situation = try situation(
            donation, device: device, subject: subject, policy: policy, zones: zones,
            environment: environment, now: now, happenedAt: nil)
        let verdicts = situation.verdicts(at: now)
        let imagined = situation.imagining()
        let (next, missing) = imagined.nextEligible(from: now)
        let ledger = situation.subject.ledger
        return ReviewStatus(
            wouldAsk: verdicts.allSatisfy { $0.result == .pass },
            verdicts: imagined.clearing(verdicts, from: now), nextEligibleAt: next,
            missing: missing, counts: situation.counts,
            prompts: ledger.countingTotal(at: now),
            lastPromptAt: ledger.lastCounting(at: now)?.grantedAt, policy: policy.reference)
    }

    /// Starts every count of a subject anew. Prompt ledger, suppressions and an open grant stay.
    public static func reset(
        _ subject: ReviewSubjectState, now: Instant
    ) throws(ReviewPromptError) -> ReviewSubjectState {
        if let account = subject.aliasOf { throw .aliased(to: account) }
        var subject = subject
        // First what the end of a lease did to the counts, or it would be done after the reset.
        subject.settle(at: now)
        subject.resetCounts()
        return subject
    }

    /// Brings the states up to `now` and looks up what the rules need.
    private static func situation(
        _ donation: ReviewDonation, device: ReviewDeviceState, subject: ReviewSubjectState,
        policy: ReviewPromptPolicy, zones: ZoneDatabase, environment: ReviewEnvironment,
        now: Instant, happenedAt: Instant?
    ) throws(ReviewPromptError) -> Situation {
        if let account = subject.aliasOf { throw .aliased(to: account) }
        let names = policy.donatedNames
        guard names.contains(donation.reason) else {
            throw .unknownReason(given: donation.reason, allowed: names)
        }
        let bytes = donation.version.utf8.count
        guard bytes <= AppVersion.maxLength else { throw .versionTooLong(bytes: bytes) }
        if let installedAt = donation.installedAt,
            installedAt > now + ReviewPromptLimits.clockTolerance
        {
            throw .clockSkew(field: "installedAt", given: installedAt, now: now)
        }
        var (subject, device) = (subject, device)
        let zone = try policy.zoneRules(for: donation, subject: subject, in: zones)
        subject.zone = donation.zone ?? subject.zone
        subject.lastDonationAt = now
        device.installedAt = donation.installedAt ?? device.installedAt
        subject.settle(at: now)
        if let version = AppVersion(donation.version) {
            if policy.resetOnVersion == .counts, let last = subject.lastVersion,
                AppVersion(last) != version
            {
                subject.resetCounts()
            }
            subject.lastVersion = donation.version
        }
        var situation = Situation(
            policy: policy, donation: donation, environment: environment, zone: zone,
            subject: subject, device: device, countedAs: .holds, happenedAt: happenedAt,
            isStale: happenedAt.map { now - $0 > ReviewPromptLimits.freshness } ?? false)
        if let condition = policy.reason(named: donation.reason)?.when {
            situation.countedAs = condition.evaluate(situation.facts(at: now))
        }
        return situation
    }
}

extension Situation {
    /// The count of each reason, in policy order.
    var counts: [(reason: String, count: Int)] {
        policy.reasons.map { ($0.name, subject.counters[$0.name]?.total ?? 0) }
    }

    /// What a `when:` expression may read.
    func facts(at now: Instant) -> DonationFacts {
        DonationFacts(
            reason: donation.reason, attributes: donation.attributes, version: donation.version,
            counts: counts, prompts: subject.ledger.countingTotal(at: now),
            lastPromptAt: subject.ledger.lastCounting(at: now)?.grantedAt, now: now)
    }
}

extension ReviewPromptPolicy {
    /// Whether a limit suppresses prompts after a donation of that name.
    func suppresses(after name: String) -> Bool {
        limits.contains { limit in
            guard case .suppression(let suppression) = limit.kind else { return false }
            return suppression.trigger == .event(name)
        }
    }

    /// The zone in which days are counted for a donation.
    func zoneRules(
        for donation: ReviewDonation, subject: ReviewSubjectState, in zones: ZoneDatabase
    ) throws(ReviewPromptError) -> ZoneRules {
        // A zone that the caller names must exist even where the policy counts in another.
        if let given = donation.zone, zones[given] == nil { throw .unknownZone(given) }
        switch zone {
        case .utc:
            return .utc
        case .named(let name):
            guard let rules = zones[name] else { throw .unknownZone(name) }
            return rules
        case .subject:
            guard let name = donation.zone ?? subject.zone else { throw .missingZone }
            guard let rules = zones[name] else { throw .unknownZone(name) }
            return rules
        }
    }
}
