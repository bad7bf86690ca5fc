import Foundation
import Policies
import ReviewPrompts
import Time

/// What the test itself knows of a grant, kept apart from the code under test.
struct KnownGrant {
    var grant: ReviewGrant
    var isRequested = false
    var isReturnedInTime = false
    /// The reason it was given back for, in time or too late; nil if it was not.
    var returned: String?
    /// Whether a merge put an older open grant in its place.
    var isSuperseded = false
    var isErased = false

    func isOpen(at now: Instant) -> Bool {
        !isRequested && !isReturnedInTime && !isSuperseded && now <= grant.leaseEndsAt
    }

    private func counts(at now: Instant) -> Bool {
        if isRequested { return true }
        if isReturnedInTime { return false }
        return isOpen(at: now) || grant.silence == .count
    }

    func countsForSubject(at now: Instant) -> Bool {
        !isErased && counts(at: now)
    }

    func countsOnDevice(at now: Instant) -> Bool {
        if isErased, now - grant.grantedAt > .days(365) { return false }
        return counts(at: now)
    }
}

/// What the test knows of all that has happened, and what may be asked by it.
struct KnownPrompts {
    var grants: [KnownGrant] = []
    /// By account: the last crash, the last report of an outcome.
    var crashes: [String: Instant] = [:]
    var outcomes: [String: [String: Instant]] = [:]

    mutating func merge(_ install: String, into account: String, open: [Int]) {
        // The account's own comes first where both were given at the same instant.
        let order = open.sorted {
            (grants[$0].grant.grantedAt, grants[$0].grant.subject == install ? 1 : 0)
                < (grants[$1].grant.grantedAt, grants[$1].grant.subject == install ? 1 : 0)
        }
        for index in order.dropFirst() { grants[index].isSuperseded = true }
        for index in grants.indices
        where grants[index].grant.subject == install && !grants[index].isErased {
            grants[index].grant.subject = account
        }
        crashes[account] = [crashes[account], crashes[install]].compactMap { $0 }.max()
        outcomes[account, default: [:]].merge(outcomes[install] ?? [:]) { max($0, $1) }
        (crashes[install], outcomes[install]) = (nil, nil)
    }

    mutating func erase(_ account: String) {
        for index in grants.indices where grants[index].grant.subject == account {
            grants[index].isErased = true
        }
        (crashes[account], outcomes[account]) = (nil, nil)
    }

    /// The counting grants that each of the ledgers of a scope has.
    private func ledgers(_ scope: ReviewScope, of asked: ReviewGrant, at now: Instant)
        -> [[ReviewGrant]]
    {
        let onDevice = grants.filter {
            $0.grant.device == asked.device && $0.countsOnDevice(at: now)
        }
        let ofSubject = grants.filter {
            $0.grant.subject == asked.subject && $0.countsForSubject(at: now)
        }
        switch scope {
        case .device: return [onDevice.map(\.grant)]
        case .subject: return [ofSubject.map(\.grant)]
        case .both: return [onDevice.map(\.grant), ofSubject.map(\.grant)]
        }
    }

    /// Whether nothing forbids the grant that was given now.
    func check(
        _ asked: ReviewGrant, _ donation: ReviewDonation, in world: RandomWorld, at now: Instant
    ) throws {
        let isAlone = !grants.contains {
            $0.grant.device == asked.device
                && $0.isOpen(at: now)
                || $0.grant.subject == asked.subject && !$0.isErased
                    && $0.isOpen(at: now)
        }
        try Broken.unless(isAlone, "a second open grant")
        try Broken.unless(now - donation.occurredAt <= .seconds(60), "asked by a stale donation")
        try Broken.unless(AppVersion(donation.version) != nil, "asked in no version")
        try Broken.unless(
            world.environment == .sandbox || donation.distribution == .appStore,
            "asked where nothing is shown")
        try Broken.unless(world.policy.isEnabled, "asked although switched off")
        for limit in world.policy.limits {
            try Broken.unless(
                allows(limit.kind, asked, donation, in: world, at: now), "against \(limit.name)")
        }
    }

    private func allows(
        _ limit: ReviewLimit.Kind, _ asked: ReviewGrant, _ donation: ReviewDonation,
        in world: RandomWorld, at now: Instant
    ) -> Bool {
        switch limit {
        case .max(let count, let window, let scope):
            return ledgers(scope, of: asked, at: now).allSatisfy { ledger in
                ledger.count { grant in window.map { now - grant.grantedAt <= $0 } ?? true } < count
            }
        case .perVersion(let count, let grain, let scope):
            let version = AppVersion(asked.version)?.cut(to: grain)
            return ledgers(scope, of: asked, at: now).allSatisfy { ledger in
                ledger.count { AppVersion($0.version)?.cut(to: grain) == version } < count
            }
        case .interval(let interval, let scope):
            let zone =
                world.policy.zone == .utc
                ? ZoneRules.utc : TestZones.database[donation.zone ?? ""] ?? .utc
            return ledgers(scope, of: asked, at: now).joined().allSatisfy { grant in
                switch interval {
                case .elapsed(let length): now - grant.grantedAt >= length
                case .calendarDays(let days):
                    zone.date(at: now) - zone.date(at: grant.grantedAt) >= Int64(days)
                }
            }
        case .sinceInstall(let length):
            return donation.installedAt.map { now - $0 >= length } ?? false
        case .suppression(let suppression):
            let outcomes = outcomes[asked.subject] ?? [:]
            let last =
                switch suppression.trigger {
                case .event: crashes[asked.subject]
                case .requested: outcomes["requested"]
                case .notRequested(let reason): outcomes["notRequested/" + (reason ?? "")]
                }
            guard let last else { return true }
            guard case .elapsed(let length) = suppression.end else { return false }
            return now - last >= length
        }
    }
}
