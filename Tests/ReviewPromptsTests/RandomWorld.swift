import Foundation
import JSON
import Policies
import ReviewPrompts
import Time

/// A small generator with a seed, so that a failure can be run again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func pick<T>(_ values: [T]) -> T {
        values[Int.random(in: values.indices, using: &self)]
    }

    /// True once in so many times.
    mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

/// A property that does not hold.
struct Broken: Error, CustomStringConvertible {
    var description: String

    static func unless(_ holds: Bool, _ text: @autoclosure () -> String) throws {
        if !holds { throw Broken(description: text()) }
    }
}

/// A command, as it could be recorded.
enum HistoryCommand {
    case donate(ReviewDonation, grantID: String)
    case report(ReviewOutcome, grantID: String)
    case merge(install: String, account: String)
    case reset(String)
    case erase(String)
}

/// What a service remembers, and what commands make of it.
struct RandomWorld {
    let policy: ReviewPromptPolicy
    let environment: ReviewEnvironment
    var subjects: [String: ReviewSubjectState] = [:]
    var devices: [String: ReviewDeviceState] = [:]
    /// As they were given, or last reported.
    var grants: [String: ReviewGrant] = [:]

    /// The subject, or the account that it was merged into.
    func account(of subject: String) -> String {
        var account = subject
        while let next = subjects[account]?.aliasOf { account = next }
        return account
    }

    /// What a donation comes to; nothing is kept.
    func judged(_ donation: ReviewDonation, at now: Instant, grantID: String = "probe") throws
        -> ReviewDecision
    {
        var donation = donation
        donation.subject = account(of: donation.subject)
        return try ReviewPrompts.decide(
            donation, device: devices[donation.device] ?? ReviewDeviceState(),
            subject: subjects[donation.subject] ?? ReviewSubjectState(), policy: policy,
            zones: TestZones.database, environment: environment, now: now, grantID: grantID)
    }

    func status(_ donation: ReviewDonation, at now: Instant) throws -> ReviewStatus {
        var donation = donation
        donation.subject = account(of: donation.subject)
        return try ReviewPrompts.status(
            donation, device: devices[donation.device] ?? ReviewDeviceState(),
            subject: subjects[donation.subject] ?? ReviewSubjectState(), policy: policy,
            zones: TestZones.database, environment: environment, now: now)
    }

    @discardableResult
    mutating func apply(_ command: HistoryCommand, at now: Instant) throws -> ReviewDecision? {
        switch command {
        case .donate(let donation, let grantID):
            let decision = try judged(donation, at: now, grantID: grantID)
            subjects[account(of: donation.subject)] = decision.subject
            devices[donation.device] = decision.device
            if case .ask(let grant) = decision.answer { grants[grant.id] = grant }
            return decision
        case .report(let outcome, let grantID):
            try report(outcome, of: grantID, at: now)
        case .merge(let install, let account):
            let merged = try ReviewPrompts.merge(
                install: subjects[install] ?? ReviewSubjectState(), installID: install,
                into: subjects[account] ?? ReviewSubjectState(), accountID: account,
                policy: policy, now: now)
            subjects[install] = merged.install
            subjects[account] = merged.account
            for grant in merged.superseded { devices[grant.device]?.supersede(grant.id) }
        case .reset(let subject):
            let account = account(of: subject)
            subjects[account] = try ReviewPrompts.reset(
                subjects[account] ?? ReviewSubjectState(), now: now)
        case .erase(let subject):
            let account = account(of: subject)
            let people = Set(subjects.keys.filter { self.account(of: $0) == account } + [account])
            let erased = Set(grants.values.filter { people.contains($0.subject) }.map(\.id))
            for person in people { subjects[person] = nil }
            for device in devices.keys { devices[device]?.erase(grants: erased) }
        }
        return nil
    }

    @discardableResult
    mutating func report(_ outcome: ReviewOutcome, of grantID: String, at now: Instant) throws
        -> ReviewOutcomeResult?
    {
        guard let grant = grants[grantID] else { return nil }
        let account = account(of: grant.subject)
        let result = try ReviewPrompts.recordOutcome(
            outcome, of: grant, device: devices[grant.device] ?? ReviewDeviceState(),
            subject: subjects[account] ?? ReviewSubjectState(), policy: policy, now: now)
        subjects[account] = result.subject
        devices[grant.device] = result.device
        grants[grantID] = result.grant
        return result
    }
}

/// Policies, places and times of random histories.
enum RandomScenes {
    static let reasons = [
        "use", "use", "use", "day", "day", "both", "windowed", "windowed", "scored", "guarded",
        "guarded", "crash",
    ]
    static let versions = [
        "1.0", "1.0.0", "1.0.1", "1.1", "1.2", "1.3", "1.9", "1.10", "2.0-beta", "2.0", "2.0.1",
        "3.1", "4.0", "4.1", "5", "?",
    ]

    /// Zones shortly before their clocks do something, and some where they never do.
    static let stages: [(zone: String, start: Instant)] = [
        ("Europe/London", "2025-03-22"), ("Europe/London", "2025-10-18"),
        ("America/New_York", "2025-03-01"), ("America/New_York", "2025-10-25"),
        ("Pacific/Apia", "2011-12-22"), ("Pacific/Kiritimati", "1994-12-23"),
        ("America/St_Johns", "2010-10-30"), ("America/St_Johns", "2011-03-05"),
        ("Australia/Lord_Howe", "2025-03-28"), ("Australia/Lord_Howe", "2025-09-27"),
        ("Asia/Kathmandu", "1985-12-24"), ("Asia/Kathmandu", "2026-01-01"),
        ("Africa/Casablanca", "2026-02-07"), ("Africa/Casablanca", "2026-03-14"),
        ("Asia/Beirut", "2025-03-22"), ("Asia/Beirut", "2025-10-18"),
        ("America/Havana", "2024-10-26"), ("America/Sao_Paulo", "2018-10-27"),
        ("America/Sao_Paulo", "2019-02-09"), ("Asia/Tokyo", "2024-02-25"), ("UTC", "2023-12-28"),
        ("+05:30", "2024-02-25"), ("-11:00", "2024-12-20"),
    ].map { ($0.0, instant($0.1)) }

    /// Conditions as a policy file has them. Some read the clock, the counts, the history.
    static let conditions: [DonationCondition] = {
        let texts = [
            "counts.use < 3", "history.prompts < 2", "version != '1.1'",
            "!has(history.lastPromptAt) || now - history.lastPromptAt >= duration('240h')",
            "now.getHours() >= 9 && now.getHours() < 17", "donation.attributes.minutes >= 5",
        ]
        return texts.compactMap { text in
            let text = """
                kind: reviewPrompt
                name: conditions
                version: 1
                reasons:
                  use: {atLeast: 1}
                  guarded:
                    atLeast: 1
                    when: "\(text)"
                """
            let file = PolicyLoader.File(path: "conditions.yaml", bytes: Array(text.utf8))
            return PolicyLoader(zones: .utc).load([file]).set?.reviewPromptPolicies.first?
                .reason(named: "guarded")?.when
        }
    }()

    private static func limits(_ random: inout SeededGenerator) -> [ReviewLimit] {
        func suppression(
            _ name: String, _ trigger: ReviewSuppression.Trigger, _ end: ReviewSuppression.End
        ) -> ReviewLimit {
            ReviewLimit(
                name: name, kind: .suppression(ReviewSuppression(after: trigger, until: end)))
        }
        let scopes = ReviewScope.allCases
        let intervals: [ReviewInterval] = [
            .calendarDays(1), .calendarDays(2), .calendarDays(7), .elapsed(.hours(36)),
            .elapsed(.days(5)),
        ]
        let windows: [Time.Duration] = [.days(1), .days(7), .days(30), .days(365)]
        let limits: [ReviewLimit] = [
            .cap(Int.random(in: 1...3, using: &random), random.pick(windows), random.pick(scopes)),
            .interval(random.pick(intervals), random.pick(scopes)),
            ReviewLimit(
                name: "version",
                kind: .perVersion(
                    count: Int.random(in: 1...2, using: &random),
                    grain: random.pick(VersionGrain.allCases), scope: random.pick(scopes))),
            .settled(.days(2)), .later(.days(3)),
            suppression("declined", .notRequested(reason: "userDeclined"), .never),
            suppression("rest", .requested, .elapsed(.hours(30))),
            suppression("calm", .event("crash"), .elapsed(.hours(20))),
            ReviewLimit(name: "ever", kind: .max(count: 6, within: nil, scope: .both)),
        ]
        return limits.filter { _ in !random.once(in: 3) }
            + [ReviewLimit(name: "year", kind: .max(count: 4, within: .days(365), scope: .both))]
    }

    static func policy(_ random: inout SeededGenerator) -> ReviewPromptPolicy {
        let use = ReviewRequirement.count(reason: "use", atLeast: 2, within: nil)
        let day = ReviewRequirement.distinctDays(
            reason: "day", atLeast: random.pick([2, 3]), withinDays: random.pick([3, 5]))
        let windowed = ReviewRequirement.count(reason: "windowed", atLeast: 2, within: .hours(30))
        let scored = ReviewRequirement.weighted(
            [ReviewPoints("use", 1), ReviewPoints("windowed", 3)], atLeast: 5,
            within: random.pick([nil, .days(4)]))
        let once = { (name: String) in
            ReviewRequirement.count(reason: name, atLeast: 1, within: nil)
        }
        return ReviewPromptPolicy(
            name: "random", version: 1, zone: random.once(in: 5) ? .utc : .subject,
            limits: limits(&random),
            reasons: [
                ReviewReason(name: "use", requirement: use),
                ReviewReason(name: "day", requirement: day),
                ReviewReason(name: "both", requirement: .any([.all([use, day]), .not(windowed)])),
                ReviewReason(name: "windowed", requirement: windowed),
                ReviewReason(name: "scored", requirement: scored),
                ReviewReason(
                    name: "guarded", requirement: once("guarded"), when: random.pick(conditions)),
                ReviewReason(
                    name: "crash",
                    requirement: .count(reason: "crash", atLeast: 1000, within: nil)),
            ],
            whileThrottled: random.pick(WhileThrottled.allCases),
            afterGrant: random.pick([.reset, .requireMore(2), .none]),
            resetOnVersion: random.once(in: 4) ? .counts : .none,
            lease: ReviewLease(
                length: .minutes(10), silence: random.pick(ReviewLease.Silence.allCases)),
            holdout: ReviewHoldout(percent: random.once(in: 10) ? 50 : 0, salt: "salt"),
            isEnabled: !random.once(in: 50))
    }
}
