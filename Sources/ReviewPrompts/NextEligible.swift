import Policies
import Time

/// When a donation would be answered otherwise, if nothing else happens.
extension Situation {
    /// The earliest instant from `from` on at which all rules pass for a donation made then; or nil
    /// with the rules that time alone never clears.
    func nextEligible(from: Instant) -> (Instant?, missing: [String]) {
        firstPass(of: rules, from: from)
    }

    /// The verdicts, each that does not pass with the instant at which its rule alone would.
    func clearing(_ verdicts: [RuleVerdict], from: Instant) -> [RuleVerdict] {
        zip(rules, verdicts).map { rule, verdict in
            // A donation imagined later is fresh; freshness itself is never waited for.
            if case .fresh = rule { return verdict }
            guard verdict.result != .pass else { return verdict }
            var verdict = verdict
            (verdict.clearsAt, _) = firstPass(of: [rule], from: from)
            return verdict
        }
    }

    /// The earliest instant from `from` on at which those rules pass together; or nil with those
    /// that time alone never clears.
    ///
    /// The time line is walked from one change of the state to the next. Between two of them each
    /// rule gives the first instant at which it passes, so going on to the latest of them can never
    /// overshoot; where another rule does not pass there, the walk repeats.
    private func firstPass(of rules: [Rule], from: Instant) -> (Instant?, missing: [String]) {
        var situation = self
        var instant = from
        for _ in 0..<ReviewPromptLimits.searchSteps {
            situation.subject.settle(at: instant)
            let change = situation.nextChange(after: instant)
            var latest = instant
            var missing: [String] = []
            for rule in rules {
                if let pass = situation.earliestPass(of: rule, from: instant) {
                    latest = max(latest, pass)
                } else {
                    missing.append(situation.verdict(of: rule, at: instant).rule)
                }
            }
            if let change, !missing.isEmpty || change <= latest {
                instant = change
                continue
            }
            if !missing.isEmpty || latest >= .max { return (nil, missing) }
            if latest == instant { return (instant, []) }
            instant = latest
        }
        return (nil, [])
    }

    /// The first instant after `instant` at which time alone changes what is remembered: a lease
    /// has ended, or a prompt of an erased subject no longer counts.
    private func nextChange(after instant: Instant) -> Instant? {
        let leases = openGrants(at: instant).map(\.leaseEndsAt)
        let erased = device.ledger.grants.compactMap(\.countsErasedUntil)
        return (leases + erased).map { $0 + .milliseconds(1) }.filter { $0 > instant }.min()
    }

    // MARK: Reasons

    /// The earliest instant at which the reason passes for a donation made then. Counts change
    /// with time only where a donation leaves a window or another day begins.
    func earliestReason(from: Instant) -> Instant? {
        guard let reason = policy.reason(named: donation.reason) else { return nil }
        let readsNow = isImagined && reason.when?.readsNow == true
        if !readsNow, countsAs(at: from) != .holds { return nil }
        var moments: Set<Instant> = []
        addMoments(of: reason.requirement, from: from, to: &moments)
        if readsNow { moments.formUnion(Self.probes(from: from)) }
        var before = from
        for moment in moments.sorted() where moment > from {
            if passes(reason, at: moment) {
                return readsNow ? firstPass(of: reason, after: before, to: moment) : moment
            }
            before = moment
        }
        return nil
    }

    private func passes(_ reason: ReviewReason, at instant: Instant) -> Bool {
        var parts: [RuleVerdict.Part] = []
        return countsAs(at: instant) == .holds
            && isMet(reason.requirement, at: instant, &parts)
    }

    /// Instants at which a condition that reads `now` is tried: no rule says where such a one
    /// changes.
    private static func probes(from: Instant) -> [Instant] {
        (1...ReviewPromptLimits.probedHours).map { from + .hours(Int64($0)) }
            + (1...ReviewPromptLimits.probedDays).map { from + .days(Int64($0)) }
    }

    /// The instant between one that does not pass and one that does at which that changes, to the
    /// millisecond.
    private func firstPass(of reason: ReviewReason, after before: Instant, to after: Instant)
        -> Instant
    {
        var (low, high) = (before, after)
        while high - low > .milliseconds(1) {
            let middle = low + .milliseconds((high - low).milliseconds / 2)
            if passes(reason, at: middle) { high = middle } else { low = middle }
        }
        return high
    }

    private func addMoments(
        of requirement: ReviewRequirement, from: Instant, to moments: inout Set<Instant>
    ) {
        switch requirement {
        case .count(_, _, nil), .weighted(_, _, nil):
            break
        case .count(let reason, _, let window?):
            addMoments(of: reason, leaving: window, from: from, to: &moments)
        case .weighted(let sum, _, let window?):
            for part in sum {
                addMoments(of: part.reason, leaving: window, from: from, to: &moments)
            }
        case .distinctDays(let reason, _, let window):
            addDays(of: reason, within: window, from: from, to: &moments)
        case .all(let parts), .any(let parts):
            for part in parts { addMoments(of: part, from: from, to: &moments) }
        case .not(let part):
            addMoments(of: part, from: from, to: &moments)
        }
    }

    private func addMoments(
        of reason: String, leaving window: Duration, from: Instant,
        to moments: inout Set<Instant>
    ) {
        for instant in subject.counters[reason]?.recent ?? [] where instant + window > from {
            moments.insert(instant + window)
        }
    }

    /// Where the set of days that are counted changes: with a day that has its donations already
    /// (it was counted in another zone), with the day after, on which the donation is a new day's,
    /// and with one that leaves the window. Where the clock goes back over midnight, days change
    /// once more.
    private func addDays(
        of reason: String, within window: Int, from: Instant, to moments: inout Set<Instant>
    ) {
        let today = zone.date(at: from)
        var days: Set<Int64> = [today.daysSinceEpoch + 1]
        for day in subject.counters[reason]?.days ?? [] {
            days.formUnion([day, day + 1, day + Int64(window)])
        }
        var last = from
        for day in days where day > today.daysSinceEpoch {
            guard
                let start = zone.earliestInstant(
                    of: CivilDate(daysSinceEpoch: day), notBefore: from)
            else { continue }
            moments.insert(start)
            last = max(last, start)
        }
        for back in zone.returnsToEarlierDays(after: from, to: last) {
            moments.formUnion([back.instant, back.end])
        }
    }
}
