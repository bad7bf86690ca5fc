import Policies
import ReviewPrompts
import Testing
import Time

/// The rules of the article as they run on a device, and each of their faults.
@Suite struct TreatyOnDeviceTests {
    /// The article's own reasons.
    static let treaty = Treaty(
        triggers: [
            .init(reason: "feed", count: 3), .init(reason: "hygiene", count: 3),
            .init(reason: "walk", count: 1),
        ])

    /// One donation, by the device's clock, and what comes of it; nil for a prompt.
    struct Step: Sendable, CustomTestStringConvertible {
        var at: String
        var reason: String
        var version: String
        var hold: Treaty.Hold?
        var zone: String
        var hasScene: Bool
        var installedAt: String?

        init(
            _ at: String, _ reason: String, _ version: String = "1.0", _ hold: Treaty.Hold? = nil,
            zone: String = "UTC", scene: Bool = true, installedAt: String? = nil
        ) {
            (self.at, self.reason, self.version, self.hold) = (at, reason, version, hold)
            (self.zone, hasScene, self.installedAt) = (zone, scene, installedAt)
        }

        var testDescription: String { "\(at) \(reason) \(version)" }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var steps: [Step]
        /// The counts at the end.
        var counts: [String: Int]
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(
            name: "triggers of 3, 3 and 1",
            steps: [
                Step("2026-01-01", "feed", "1.0", .countDiffers),
                Step("2026-01-02", "hygiene", "1.0", .countDiffers),
                Step("2026-01-03", "feed", "1.0", .countDiffers),
                Step("2026-01-04", "feed"),
                Step("2026-02-01", "hygiene", "1.1", .countDiffers),
                Step("2026-02-02", "hygiene", "1.1"),
                Step("2026-03-01", "walk", "1.2"),
            ], counts: ["feed": 3, "hygiene": 3, "walk": 1]),
        Case(
            name: "a count is never met again once it is passed: three prompts in a life",
            steps: [
                Step("2026-01-01", "walk"),
                Step("2027-01-01", "walk", "2.0", .countDiffers),
                Step("2028-01-01", "walk", "3.0", .countDiffers),
            ], counts: ["walk": 3]),
        Case(
            name: "within seven days nothing is counted",
            steps: [
                Step("2026-01-01", "walk"),
                Step("2026-01-07", "feed", "1.1", .tooSoon),
                Step("2026-01-08", "feed", "1.1", .countDiffers),
                Step("2026-01-08", "feed", "1.1", .countDiffers),
                Step("2026-01-08", "feed", "1.1"),
            ], counts: ["walk": 1, "feed": 3]),
        Case(
            name: "days are the calendar's in the device's zone: 23:59 to 00:00 is one",
            steps: [
                Step("2026-01-01T23:59:00Z", "walk"),
                Step("2026-01-07T23:59:59Z", "feed", "1.1", .tooSoon),
                Step("2026-01-08T00:00:00Z", "feed", "1.1", .countDiffers),
            ], counts: ["walk": 1, "feed": 1]),
        Case(
            name: "a journey moves both days into the zone of now",
            steps: [
                Step("2026-01-01T20:00:00Z", "walk"),
                // In Tokyo the prompt was on the 2nd.
                Step("2026-01-08T12:00:00Z", "feed", "1.1", .tooSoon, zone: "Asia/Tokyo"),
                Step("2026-01-08T15:00:00Z", "feed", "1.1", .countDiffers, zone: "Asia/Tokyo"),
            ], counts: ["walk": 1, "feed": 1]),
        Case(
            name: "the distance has no sign: a clock that goes back counts as a wait",
            steps: [
                Step("2026-03-01", "walk"),
                Step("2026-02-23", "feed", "1.1", .tooSoon),
                Step("2026-02-22", "feed", "1.1", .countDiffers),
                Step("2026-02-22", "feed", "1.1", .countDiffers),
                Step("2026-02-22", "feed", "1.1"),
            ], counts: ["walk": 1, "feed": 3]),
        Case(
            name: "a clock that was ahead holds for as long as it was, when it is right again",
            steps: [
                Step("2026-03-05", "walk"),
                Step("2026-03-01", "feed", "1.1", .tooSoon),
                Step("2026-03-11", "feed", "1.1", .tooSoon),
                Step("2026-03-12", "feed", "1.1", .countDiffers),
            ], counts: ["walk": 1, "feed": 1]),
        Case(
            name: "in the version that was asked in nothing is counted, for good",
            steps: [
                Step("2026-01-01", "walk"),
                Step("2026-06-01", "feed", "1.0", .alreadyPrompted),
                Step("2026-07-01", "feed", "1.0", .alreadyPrompted),
                Step("2026-07-01", "feed", "1.1", .countDiffers),
            ], counts: ["walk": 1, "feed": 1]),
        Case(
            name: "only the last version is remembered",
            steps: [
                Step("2026-01-01", "walk"),
                Step("2026-02-01", "feed", "1.1", .countDiffers),
                Step("2026-02-01", "feed", "1.1", .countDiffers),
                Step("2026-02-01", "feed", "1.1"),
                Step("2026-03-01", "hygiene", "1.0", .countDiffers),
                Step("2026-03-01", "hygiene", "1.0", .countDiffers),
                Step("2026-03-01", "hygiene", "1.0"),
            ], counts: ["walk": 1, "feed": 3, "hygiene": 3]),
        Case(
            name: "versions are texts: 1.0 and 1.0.0 are two",
            steps: [
                Step("2026-01-01", "walk"),
                Step("2026-02-01", "feed", "1.0.0", .countDiffers),
                Step("2026-02-01", "feed", "not one", .countDiffers),
            ], counts: ["walk": 1, "feed": 2]),
        Case(
            name: "no version is 1.0.0",
            steps: [
                Step("2026-01-01", "walk", ""),
                Step("2026-02-01", "feed", "1.0.0", .alreadyPrompted),
                Step("2026-02-01", "feed", "", .alreadyPrompted),
                Step("2026-02-01", "feed", "1.0", .countDiffers),
            ], counts: ["walk": 1, "feed": 1]),
        Case(
            name: "without a scene nothing is recorded, and the next donation asks",
            steps: [
                Step("2026-01-01", "walk", "1.0", .noActiveScene, scene: false),
                Step("2026-01-01", "walk", "1.0", .noActiveScene, scene: false),
                Step("2026-01-01", "walk"),
            ], counts: ["walk": 1]),
        Case(
            name: "the scene is looked for only when it would ask",
            steps: [
                Step("2026-01-01", "feed", "1.0", .countDiffers, scene: false),
                Step("2026-01-01", "feed", "1.0", .countDiffers, scene: false),
                Step("2026-01-01", "feed"),
            ], counts: ["feed": 3]),
        Case(
            name: "a reinstall forgets everything: the same version, the same day, once more",
            steps: [
                Step("2026-01-02", "walk", installedAt: "2026-01-01"),
                Step("2026-01-02", "feed", "1.0", .tooSoon, installedAt: "2026-01-01"),
                Step("2026-01-02", "walk", installedAt: "2026-01-02"),
            ], counts: ["walk": 1]),
    ]

    @Test(arguments: cases) func `case by case`(_ test: Case) throws {
        var install = Treaty.Install()
        for step in test.steps {
            let decision = try Self.treaty.decide(
                ReviewDonation(
                    reason: step.reason, subject: "anna", device: "phone", version: step.version,
                    zone: step.zone, occurredAt: instant(step.at),
                    installedAt: step.installedAt.map(instant)),
                install: install, hasActiveScene: step.hasScene, zones: TestZones.database)
            #expect(decision.hold == step.hold, "\(step)")
            #expect(decision.asks == (step.hold == nil), "\(step)")
            install = decision.install
        }
        #expect(install.counts == test.counts)
    }

    @Test func `what it does not know is refused and changes nothing`() {
        func decide(_ reason: String, zone: String?) throws(ReviewPromptError) {
            _ = try Self.treaty.decide(
                ReviewDonation(
                    reason: reason, subject: "anna", device: "phone", version: "1.0", zone: zone,
                    occurredAt: instant("2026-01-01")),
                install: Treaty.Install(), hasActiveScene: true, zones: TestZones.database)
        }
        #expect(
            throws: ReviewPromptError.unknownReason(
                given: "ran", allowed: ["feed", "hygiene", "walk"])
        ) { try decide("ran", zone: "UTC") }
        #expect(throws: ReviewPromptError.missingZone) { try decide("walk", zone: nil) }
        #expect(throws: ReviewPromptError.unknownZone("Mars/Base")) {
            try decide("walk", zone: "Mars/Base")
        }
    }

    // MARK: Policies

    static func policy(_ change: (inout ReviewPromptPolicy) -> Void = { _ in })
        -> ReviewPromptPolicy
    {
        var policy = ReviewPromptPolicy(
            name: "treaty", version: 1, zone: .subject,
            limits: [.interval(.calendarDays(7), .device), .version()],
            reasons: treaty.triggers.map { trigger in
                ReviewReason(
                    name: trigger.reason,
                    requirement: .count(
                        reason: trigger.reason, atLeast: trigger.count, within: nil))
            },
            whileThrottled: .drop, afterGrant: .none, faults: .treaty)
        change(&policy)
        return policy
    }

    @Test func `a policy with the preset names its reasons and days`() {
        #expect(Treaty(Self.policy()) == Self.treaty)
        let other = Self.policy { $0.limits[0] = .interval(.calendarDays(30)) }
        #expect(Treaty(other)?.days == 30)
    }

    static let others: [(String, @Sendable (inout ReviewPromptPolicy) -> Void)] = [
        ("without the preset", { $0.faults = ReviewFaults() }),
        ("another zone", { $0.zone = .utc }),
        ("counts kept", { $0.whileThrottled = .keep }),
        ("counts reset", { $0.afterGrant = .reset }),
        ("counts reset by versions", { $0.resetOnVersion = .counts }),
        ("a holdout", { $0.holdout.percent = 1 }),
        ("off", { $0.isEnabled = false }),
        ("a limit more", { $0.limits.append(.cap(3, .days(365))) }),
        ("another limit", { $0.limits[1] = .cap(3, .days(365)) }),
        ("a limit less", { $0.limits.removeLast() }),
        ("elapsed days", { $0.limits[0] = .interval(.elapsed(.days(7))) }),
        ("minor versions", { $0.limits[1] = .version(.minor) }),
        ("a condition", { $0.reasons[0].when = .minutesAtLeast5 }),
        (
            "a window",
            { $0.reasons[0].requirement = .count(reason: "feed", atLeast: 3, within: .days(7)) }
        ),
        (
            "another's count",
            { $0.reasons[0].requirement = .count(reason: "walk", atLeast: 3, within: nil) }
        ),
    ]

    @Test(arguments: others.indices) func `a policy that asks for more is no such policy`(
        _ index: Int
    ) {
        let (name, change) = Self.others[index]
        #expect(Treaty(Self.policy(change)) == nil, "\(name)")
    }

    // MARK: Beside the server's

    /// Where the two models can agree, they do: one device that is never put on anew, readable
    /// versions, the right time, and an app that always asks.
    @Test(arguments: 1...40) func `the server's preset decides the same of one install`(
        _ seed: UInt64
    ) throws {
        var random = seed &* 0x9E37_79B9_7F4A_7C15
        func below(_ limit: UInt64) -> UInt64 {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return random % limit
        }
        var story = Story(Self.policy())
        story.zone = "Europe/London"
        var install = Treaty.Install()
        var now = instant("2026-01-01")
        var asked = 0
        for step in 0..<60 {
            now = now + .minutes(Int64(11 + below(4_000)))
            let reason = Self.treaty.triggers[Int(below(3))].reason
            let version = "1.\(step / 9 + Int(below(2)))"
            let hasScene = below(4) > 0
            let mine = try Self.treaty.decide(
                story.donation(reason, at: now, version: version), install: install,
                hasActiveScene: hasScene, zones: TestZones.database)
            install = mine.install
            let theirs = try story.donate(reason, at: now, version: version)
            if theirs.asks {
                try story.report(
                    hasScene ? .requested : .notRequested(reason: "noActiveScene"), at: now)
            }
            #expect(theirs.asks == (mine.asks || mine.hold == .noActiveScene), "\(seed) \(step)")
            asked += mine.asks ? 1 : 0
        }
        #expect((1...3).contains(asked), "\(seed): the story must ask")
    }
}
