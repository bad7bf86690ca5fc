import Policies
import Time

/// What a reason needs of the counts, the donation itself included.
extension Situation {
    func requireMore(_ count: Int) -> RuleVerdict {
        let need = ReviewNeed.atLeast(.count(count))
        guard subject.hasCountedGrant else {
            return .pass(ReviewRuleName.requireMore, need: need)
        }
        // A reason made of others goes by the donations of all of them together.
        var names = policy.reason(named: donation.reason)?.requirement.reasons ?? []
        if !names.contains(donation.reason) { names.append(donation.reason) }
        let have = names.reduce(1) { sum, name in
            let counter = subject.counters[name]
            return sum + (counter?.total ?? 0) - (counter?.atLastGrant ?? 0)
        }
        return have >= count
            ? .pass(ReviewRuleName.requireMore, have: .count(have), need: need)
            : .fail(ReviewRuleName.requireMore, .moreDonations, have: .count(have), need: need)
    }

    func reasonVerdict(at now: Instant) -> RuleVerdict {
        guard let reason = policy.reason(named: donation.reason) else {
            return .fail(donation.reason, .onlySuppresses)
        }
        var parts: [RuleVerdict.Part] = []
        let isMet = isMet(reason.requirement, at: now, &parts)
        let first = parts.count == 1 ? parts[0] : nil
        var verdict = RuleVerdict(
            rule: reason.name, result: isMet ? .pass : .fail, have: first.map { .count($0.have) },
            need: first?.need, parts: parts)
        if !isMet { verdict.cause = first == nil ? .requirementNotMet : .moreDonations }
        switch countsAs(at: now) {
        case .holds:
            break
        case .doesNotHold:
            (verdict.result, verdict.cause) = (.fail, .conditionNotMet)
            verdict.detail = reason.when?.source
        case .unknown(let why):
            (verdict.result, verdict.cause) = (.unknown, .conditionUnknown)
            verdict.detail = why
        }
        return verdict
    }

    /// Evaluates every part, without a shortcut, so that the verdict shows them all.
    func isMet(
        _ requirement: ReviewRequirement, at now: Instant, _ parts: inout [RuleVerdict.Part]
    ) -> Bool {
        switch requirement {
        case .count(let reason, let atLeast, let window):
            let have = count(of: reason, within: window, at: now)
            let needsEqual = policy.faults.comparesCountsForEquality
            let isMet = needsEqual ? have == atLeast : have >= atLeast
            parts.append(
                RuleVerdict.Part(
                    reason: reason, have: have,
                    need: needsEqual ? .equal(.count(atLeast)) : .atLeast(.count(atLeast)),
                    isMet: isMet))
            return isMet
        case .distinctDays(let reason, let atLeast, let window):
            let have = distinctDays(of: reason, within: window, at: now)
            parts.append(
                RuleVerdict.Part(
                    reason: reason, have: have, need: .atLeast(.days(Int64(atLeast))),
                    isMet: have >= atLeast))
            return have >= atLeast
        case .weighted(let sum, let atLeast, let window):
            let have = sum.reduce(0) {
                $0 + $1.points * count(of: $1.reason, within: window, at: now)
            }
            parts.append(
                RuleVerdict.Part(
                    reason: ReviewPoints.text(sum), have: have, need: .atLeast(.count(atLeast)),
                    isMet: have >= atLeast))
            return have >= atLeast
        case .all(let requirements):
            return requirements.reduce(true) { isMet($1, at: now, &parts) && $0 }
        case .any(let requirements):
            return requirements.reduce(false) { isMet($1, at: now, &parts) || $0 }
        case .not(let part):
            return !isMet(part, at: now, &parts)
        }
    }

    /// The counter of a reason with this donation added to it, if it is of that reason.
    private func counter(_ reason: String, at now: Instant) -> ReasonCounter {
        var counter = subject.counters[reason] ?? ReasonCounter()
        if reason == donation.reason {
            let instant = happenedAt ?? now
            counter.add(at: instant, day: zone.date(at: instant))
        }
        return counter
    }

    private func count(of reason: String, within window: Duration?, at now: Instant) -> Int {
        let counter = counter(reason, at: now)
        return window.map { counter.count(within: $0, at: now) } ?? counter.total
    }

    private func distinctDays(of reason: String, within window: Int, at now: Instant) -> Int {
        counter(reason, at: now).distinctDays(within: window, today: zone.date(at: now))
    }
}
