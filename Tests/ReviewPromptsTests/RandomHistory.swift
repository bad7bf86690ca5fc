import Foundation
import JSON
import Policies
import ReviewPrompts
import Time

/// How often things happened, so that nothing is proven by never having been tried.
struct HistoryTally {
    var histories = 0, commands = 0, asks = 0, awaited = 0, hopeless = 0, skewed = 0, merges = 0
    var superseded = 0, lateReports = 0, repeatedReports = 0, refusedReports = 0, erasures = 0
    var calm = 0

    static func += (left: inout HistoryTally, right: HistoryTally) {
        left.histories += right.histories
        left.commands += right.commands
        left.asks += right.asks
        left.awaited += right.awaited
        left.hopeless += right.hopeless
        left.skewed += right.skewed
        left.merges += right.merges
        left.superseded += right.superseded
        left.lateReports += right.lateReports
        left.repeatedReports += right.repeatedReports
        left.refusedReports += right.refusedReports
        left.erasures += right.erasures
        left.calm += right.calm
    }
}

/// One random history: three subjects that may become one, three devices, every kind of command in
/// any order and at any distance, with the properties that must hold after each.
struct RandomHistory {
    private static let people = ["anna", "bert", "carl"]

    var random: SeededGenerator
    var world: RandomWorld
    var known = KnownPrompts()
    var now: Instant
    var tally = HistoryTally()
    private let zones: [String]
    private let installedAt: Instant
    private(set) var log: [(command: HistoryCommand, now: Instant)] = []
    private var lastNext: Instant?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let stage = random.pick(RandomScenes.stages)
        // Some people travel.
        zones =
            random.once(in: 3)
            ? [stage.zone, random.pick(RandomScenes.stages).zone] : [stage.zone]
        now = stage.start + .milliseconds(Int64.random(in: 0..<86_400_000, using: &random))
        installedAt = now - .hours(Int64.random(in: 0...120, using: &random))
        world = RandomWorld(
            policy: RandomScenes.policy(&random),
            environment: random.once(in: 5) ? .sandbox : .production)
    }

    mutating func run(_ steps: Int) throws {
        tally.histories += 1
        for step in 0..<steps {
            wait()
            tally.commands += 1
            if areTwoOpen, random.once(in: 2) {
                try merge()
                continue
            }
            switch Int.random(in: 0..<40, using: &random) {
            case 0..<27: try donate(step)
            case 27..<36: try report()
            case 36, 37: try merge()
            case 38: try reset()
            default: if random.once(in: 3) { try erase() }
            }
            try hasOneOpenGrant()
        }
        try survivesJSON()
        try replayed()
    }

    private var areTwoOpen: Bool {
        let open = known.grants.suffix(4).filter {
            !$0.isErased && $0.isOpen(at: now)
        }
        return Set(open.map(\.grant.subject)).count > 1
    }

    /// Most gaps are short, also while a grant is open; some jump over months, or to where
    /// something clears.
    private mutating func wait() {
        if let last = known.grants.last?.grant, now == last.grantedAt, random.once(in: 3) { return }
        if let next = lastNext, next > now, random.once(in: 3) {
            now = random.once(in: 2) ? next : next - .milliseconds(1)
            lastNext = nil
            return
        }
        let gaps: [Time.Duration] = [
            .zero, .zero, .milliseconds(1), .seconds(30), .minutes(9), .minutes(11), .hours(1),
            .hours(3), .hours(8), .days(1), .days(3),
        ]
        let jumps: [Time.Duration] = [.days(31), .days(365), .days(366), .days(401)]
        now = now + (random.once(in: 30) ? random.pick(jumps) : random.pick(gaps))
    }

    private mutating func perform(_ command: HistoryCommand) throws -> ReviewDecision? {
        log.append((command, now))
        return try world.apply(command, at: now)
    }

    // MARK: Commands

    private mutating func donation() -> ReviewDonation {
        let ages: [Time.Duration] = [
            .milliseconds(-1), .minutes(-5), .seconds(60), .milliseconds(60_001), .hours(1),
            .days(2), .days(31), .days(500),
        ]
        var attributes: JSONObject = [:]
        if !random.once(in: 4) { attributes["minutes"] = .int(random.pick([4, 5, 9])) }
        return ReviewDonation(
            reason: random.pick(RandomScenes.reasons), subject: random.pick(Self.people),
            device: random.pick(["phone", "phone", "tablet", "desk"]),
            version: random.pick(RandomScenes.versions),
            distribution: random.once(in: 12) ? .testFlight : .appStore, zone: random.pick(zones),
            occurredAt: random.once(in: 5) ? now - random.pick(ages) : now,
            installedAt: installedAt, attributes: attributes)
    }

    private mutating func donate(_ step: Int) throws {
        var donation = donation()
        if random.once(in: 25) {
            try refusesTheFuture(&donation)
            return
        }
        // Who has no crash to tell of was never told that one calms.
        if !world.policy.donatedNames.contains(donation.reason) { return }
        let account = world.account(of: donation.subject)
        let command = HistoryCommand.donate(donation, grantID: "g\(step)")
        guard let decision = try perform(command) else { return }
        if donation.reason == "crash" {
            let at = min(donation.occurredAt, now)
            known.crashes[account] = max(known.crashes[account] ?? at, at)
            tally.calm += 1
        }
        lastNext = decision.nextEligibleAt
        if case .ask(let grant) = decision.answer {
            tally.asks += 1
            try Broken.unless(grant.subject == account, "granted to \(grant.subject)")
            try known.check(grant, donation, in: world, at: now)
            known.grants.append(KnownGrant(grant: grant))
        } else {
            try nextEligibleIsTrue(decision, donation)
        }
        if random.once(in: 3) { try clearingIsTrue(decision, donation) }
    }

    /// A clock too far ahead is refused, and nothing is remembered of it.
    private mutating func refusesTheFuture(_ donation: inout ReviewDonation) throws {
        tally.skewed += 1
        donation.occurredAt = now + .minutes(5) + .milliseconds(1)
        let (subjects, devices) = (world.subjects, world.devices)
        do {
            _ = try perform(.donate(donation, grantID: "none"))
            throw Broken(description: "a donation from the future was taken")
        } catch is ReviewPromptError {
            log.removeLast()
        }
        try Broken.unless(
            world.subjects == subjects && world.devices == devices, "a refusal left something")
    }

    private mutating func report() throws {
        guard let index = known.grants.indices.suffix(4).randomElement(using: &random),
            !known.grants[index].isErased
        else { return }
        let before = known.grants[index]
        let id = before.grant.id
        let wasOpen = before.isOpen(at: now)
        let reasons = ["userPostponed", "userDeclined", "noScene", "r\(known.grants.count)"]
        let outcome: ReviewOutcome =
            random.once(in: 2) ? .requested : .notRequested(reason: random.pick(reasons))
        do {
            log.append((.report(outcome, grantID: id), now))
            let result = try world.report(outcome, of: id, at: now)
            try note(outcome, index, isReplayed: result?.isReplayed ?? false, wasOpen: wasOpen)
        } catch let error as ReviewPromptError {
            log.removeLast()
            tally.refusedReports += 1
            guard case .notRequested(let reason) = outcome else {
                throw Broken(description: "a request was refused: \(error)")
            }
            let isOther =
                before.isRequested && error == .alreadyReported(.requested)
                || before.returned != nil && before.returned != reason
                    && error == .alreadyReported(.returned)
            try Broken.unless(isOther, "refused without a reason: \(error)")
        }
    }

    private mutating func note(
        _ outcome: ReviewOutcome, _ index: Int, isReplayed: Bool, wasOpen: Bool
    ) throws {
        let before = known.grants[index]
        let account = before.grant.subject
        let isSame =
            switch outcome {
            case .requested: before.isRequested
            case .notRequested(let reason): !before.isRequested && before.returned == reason
            }
        try Broken.unless(isSame == isReplayed, "\(outcome) replayed: \(isReplayed)")
        if isReplayed {
            tally.repeatedReports += 1
            return
        }
        if !wasOpen { tally.lateReports += 1 }
        switch outcome {
        case .requested:
            known.grants[index].isRequested = true
            known.outcomes[account, default: [:]]["requested"] = now
        case .notRequested(let reason):
            try Broken.unless(!before.isRequested, "given back after it was requested")
            known.grants[index].returned = reason
            if wasOpen { known.grants[index].isReturnedInTime = true }
            known.outcomes[account, default: [:]]["notRequested/" + (reason ?? "")] = now
        }
    }

    private mutating func merge() throws {
        // Those whose grants are open rather than others.
        let open = known.grants.suffix(4).filter {
            $0.isOpen(at: now)
        }.map(\.grant.subject)
        let install = random.pick(open.count > 1 ? open : Self.people)
        let account = random.pick(open.count > 1 ? open : Self.people)
        let isPossible =
            install != account && world.subjects[install]?.aliasOf == nil
            && world.subjects[account]?.aliasOf == nil
        guard isPossible else { return }
        tally.merges += 1
        let before = (world.subjects[install]?.ledger, world.subjects[account]?.ledger)
        let counts = [before.0, before.1].map { $0?.countingTotal(at: now) ?? 0 }
        let openGrants = known.grants.indices.filter {
            let grant = known.grants[$0]
            return [install, account].contains(grant.grant.subject) && !grant.isErased
                && grant.isOpen(at: now)
        }
        _ = try perform(.merge(install: install, account: account))
        known.merge(install, into: account, open: openGrants)
        tally.superseded += max(0, openGrants.count - 1)
        // Of two open grants the newer is silent now; it counts where silence does.
        let released = world.policy.lease.silence == .release ? max(0, openGrants.count - 1) : 0
        let after = world.subjects[account]?.ledger.countingTotal(at: now) ?? 0
        try Broken.unless(
            after == counts[0] + counts[1] - released && after >= counts[0] && after >= counts[1],
            "\(counts) prompts became \(after) by a merge")
        try countsAgree(account)
    }

    /// The prompts that a ledger counts are those that the test knows.
    private func countsAgree(_ account: String) throws {
        let ours = known.grants.count {
            $0.grant.subject == account && $0.countsForSubject(at: now)
        }
        let theirs = world.subjects[account]?.ledger.countingTotal(at: now) ?? 0
        try Broken.unless(ours == theirs, "\(ours) prompts are known, \(theirs) counted")
    }

    private mutating func reset() throws {
        let account = world.account(of: random.pick(Self.people))
        let before = world.subjects[account]?.ledger
        _ = try perform(.reset(account))
        try Broken.unless(
            world.subjects[account]?.ledger == before ?? PromptLedger(), "a reset lost a prompt")
        try countsAgree(account)
    }

    private mutating func erase() throws {
        tally.erasures += 1
        let account = world.account(of: random.pick(Self.people))
        _ = try perform(.erase(account))
        known.erase(account)
    }
}
