import Policies
import Time

/// The limits of a policy: what each says at an instant, and when it clears.
extension Situation {
    func verdict(of limit: ReviewLimit, at now: Instant) -> RuleVerdict {
        switch limit.kind {
        case .max(let count, let window, let scope):
            let have =
                ledgers(scope).map { ledger in
                    window.map { ledger.countingTimes(at: now, within: $0).count }
                        ?? ledger.countingTotal(at: now)
                }.max() ?? 0
            return below(count, have, limit.name, .capReached)
        case .perVersion(let count, let grain, let scope):
            return perVersion(limit.name, count, grain, scope, at: now)
        case .interval(let interval, let scope):
            return intervalVerdict(limit.name, interval, scope, at: now)
        case .sinceInstall(let length):
            return sinceInstall(limit.name, length, at: now)
        case .suppression(let suppression):
            return suppressionVerdict(limit.name, suppression, at: now)
        }
    }

    func earliestPass(of limit: ReviewLimit, from: Instant) -> Instant? {
        switch limit.kind {
        case .max(let count, let window?, let scope) where count > 0:
            // Grants leave the window one by one; the last that has to leave decides. A window is
            // closed at both ends, so it is left a millisecond after its full length.
            return ledgers(scope).map { ledger in
                let times = ledger.countingTimes(at: from, within: window)
                if times.count < count { return from }
                return times[times.count - count] + window + .milliseconds(1)
            }.max()
        case .interval(let interval, let scope):
            return ledgers(scope).map { clears(interval, after: $0, from: from) }
                .reduce(from) { latest, clear in
                    latest.flatMap { latest in clear.map { max(latest, $0) } }
                }
        case .sinceInstall(let length):
            return device.installedAt.map { max(from, $0 + length) }
        case .suppression(let suppression):
            guard case .elapsed(let length) = suppression.end, let mark = mark(of: suppression)
            else { return nil }
            return max(from, mark.at + length)
        case .max, .perVersion:
            return nil
        }
    }

    private func below(
        _ limit: Int, _ have: Int, _ name: String, _ cause: ReviewCause
    ) -> RuleVerdict {
        have < limit
            ? .pass(name, have: .count(have), need: .below(.count(limit)))
            : .fail(name, cause, have: .count(have), need: .below(.count(limit)))
    }

    private func perVersion(
        _ name: String, _ count: Int, _ grain: VersionGrain, _ scope: ReviewScope, at now: Instant
    ) -> RuleVerdict {
        if policy.faults.remembersLastVersionOnly {
            let last = ledgers(scope).compactMap { $0.lastCounting(at: now)?.version }
            let have = last.contains(versionText) ? 1 : 0
            return below(1, have, name, .alreadyPrompted)
        }
        guard let version = AppVersion(versionText) else {
            return .unknown(name, .unreadableVersion, need: .below(.count(count)))
        }
        let have =
            ledgers(scope).map {
                $0.countingCount(of: version, grain: grain, at: now)
            }.max() ?? 0
        return below(count, have, name, .alreadyPrompted)
    }

    // MARK: Interval

    private func intervalVerdict(
        _ name: String, _ interval: ReviewInterval, _ scope: ReviewScope, at now: Instant
    ) -> RuleVerdict {
        // The ledger with the smallest distance decides; none at all passes.
        let last = ledgers(scope).compactMap { $0.lastCounting(at: now)?.grantedAt }.max()
        let (needed, isElapsed): (ReviewAmount, Bool) =
            switch interval {
            case .elapsed(let length): (.elapsed(length), true)
            case .calendarDays(let days): (.days(Int64(days)), false)
            }
        guard let last else { return .pass(name, need: .atLeast(needed)) }
        let have: ReviewAmount =
            isElapsed ? .elapsed(now - last) : .days(zone.calendarDays(from: last, to: now))
        if isFarEnough(interval, from: last, to: now) {
            return .pass(name, have: have, need: .atLeast(needed))
        }
        let isSkewed = now < last && !policy.faults.takesAbsoluteDistance
        return .fail(
            name, isSkewed ? .clockSkew : .tooSoon, have: have, need: .atLeast(needed))
    }

    /// Whether the distance is long enough. A negative one never is, unless the fault of taking
    /// it without its sign is asked for.
    private func isFarEnough(
        _ interval: ReviewInterval, from last: Instant, to now: Instant
    ) -> Bool {
        let ignoresSign = policy.faults.takesAbsoluteDistance
        if now < last && !ignoresSign { return false }
        switch interval {
        case .elapsed(let length):
            let distance = now - last
            return (ignoresSign ? max(distance, -distance) : distance) >= length
        case .calendarDays(let days):
            let distance = zone.calendarDays(from: last, to: now)
            return (ignoresSign ? max(distance, -distance) : distance) >= Int64(days)
        }
    }

    private func clears(
        _ interval: ReviewInterval, after ledger: PromptLedger, from: Instant
    ) -> Instant? {
        guard let last = ledger.lastCounting(at: from)?.grantedAt,
            !isFarEnough(interval, from: last, to: from)
        else { return from }
        switch interval {
        case .elapsed(let length):
            return max(from, last + length)
        case .calendarDays(let days):
            return zone.earliestInstant(
                of: zone.date(at: last).adding(days: Int64(days)), notBefore: max(from, last))
        }
    }

    // MARK: Install and suppression

    private func sinceInstall(_ name: String, _ length: Duration, at now: Instant) -> RuleVerdict {
        let need = ReviewNeed.atLeast(.elapsed(length))
        guard let installedAt = device.installedAt else {
            return .unknown(name, .installUnknown, need: need)
        }
        let have = now - installedAt
        if have < .zero {
            return .fail(name, .clockSkew, have: .elapsed(have), need: need)
        }
        return have >= length
            ? .pass(name, have: .elapsed(have), need: need)
            : .fail(name, .tooSoon, have: .elapsed(have), need: need)
    }

    private func mark(of suppression: ReviewSuppression) -> ReviewMark? {
        let name = suppression.trigger.markName
        return if case .event = suppression.trigger {
            subject.events[name]
        } else {
            subject.outcomes[name]
        }
    }

    private func suppressionVerdict(
        _ name: String, _ suppression: ReviewSuppression, at now: Instant
    ) -> RuleVerdict {
        let mark = mark(of: suppression)
        switch suppression.end {
        case .elapsed(let length):
            let need = ReviewNeed.atLeast(.elapsed(length))
            guard let mark else { return .pass(name, need: need) }
            let have = now - mark.at
            return have >= length
                ? .pass(name, have: .elapsed(have), need: need)
                : .fail(
                    name, have < .zero ? .clockSkew : .suppressed, have: .elapsed(have), need: need)
        case .nextVersion(let grain):
            guard let mark else { return .pass(name) }
            guard let then = AppVersion(mark.version), let version = AppVersion(versionText) else {
                return .unknown(name, .unreadableVersion, detail: mark.version)
            }
            return version.cut(to: grain) > then.cut(to: grain)
                ? .pass(name, have: .text(versionText))
                : .fail(
                    name, .suppressed, have: .text(versionText),
                    detail: "since version \(mark.version)")
        case .never:
            return mark == nil ? .pass(name) : .fail(name, .suppressed)
        }
    }
}
