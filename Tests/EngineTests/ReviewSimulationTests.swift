import Engine
import Policies
import ReviewPrompts
import Testing
import Time

/// What a simulation counts.
@Suite struct ReviewSimulationTests {
    /// Asks at every donation of `done`; `crashed` is an event that it does not know.
    private static func policy(_ limits: [ReviewLimit] = []) -> ReviewPromptPolicy {
        ReviewPromptPolicy(
            name: "eager", version: 4, limits: limits,
            reasons: [
                ReviewReason(
                    name: "done", requirement: .count(reason: "done", atLeast: 1, within: nil))
            ])
    }

    private static let start = Instant(milliseconds: 1_767_225_600_000)  // 2026-01-01T00:00:00Z

    private static func event(
        _ hours: Int64, _ subject: String = "anna", device: String = "phone",
        version: String = "1.0", reason: String = "done", milliseconds: Int64 = 0,
        _ change: (inout ReviewEvent) -> Void = { _ in }
    ) -> ReviewEvent {
        let at = start + .hours(hours) + .milliseconds(milliseconds)
        var event = ReviewEvent(
            donation: ReviewDonation(
                reason: reason, subject: subject, device: device, version: version, zone: "UTC",
                occurredAt: at),
            receivedAt: at)
        change(&event)
        return event
    }

    private static func run(
        _ events: [ReviewEvent], _ policy: ReviewPromptPolicy = policy()
    ) throws -> (steps: [ReviewSimulation.Step], report: SimulationReport) {
        let simulation = ReviewSimulation(policy, zones: .utc)
        let steps = try events.map { try simulation.take($0) }
        return (steps, simulation.finish())
    }

    @Test func promptsAreCountedByMonthReasonVersionAndPerson() throws {
        let (_, report) = try Self.run([
            Self.event(0), Self.event(1, "ben", device: "b"),
            Self.event(31 * 24 - 1, version: "1.1"),
            Self.event(31 * 24, version: "1.2"),
            Self.event(31 * 24 + 1, "eve", device: "e") {
                $0.hasActiveScene = false
            },
            Self.event(59 * 24, reason: "crashed"),
        ])
        #expect(report.policy == "eager@4")
        #expect(report.events == 6)
        #expect(report.judged == 5)
        #expect(report.unknownReasons.named == ["crashed": 1])
        #expect(report.prompts == 4)
        #expect(report.returned.named == ["noActiveScene": 1])
        #expect(report.counted == 5)
        #expect(
            report.months.map { ($0.key.description, $0.value) }.sorted { $0 < $1 }.map { "\($0)" }
                == ["(\"2026-01\", 3)", "(\"2026-02\", 1)"])
        #expect(report.reasons.named == ["done": 4])
        #expect(report.versions.named == ["1.0": 2, "1.1": 1, "1.2": 1])
        #expect(report.people == 3)
        #expect(report.devices == 3)
        #expect(report.peopleByPrompts == [0: 1, 1: 1, 3: 1])
        #expect(report.peopleNeverAsked == 1)
        #expect(report.peopleAtCap == 1)
        #expect(report.first == Self.start)
        #expect(report.last == Self.start + .days(59))
    }

    @Test func whatAnAppReportsIsWhatBecomesOfAGrant() throws {
        let (steps, report) = try Self.run(
            [
                Self.event(0) { $0.report = .silent },
                // The lease of ten minutes is over.
                Self.event(1) { $0.report = .notRequested(reason: "later") },
                Self.event(2) { $0.report = .notRequested(reason: nil) },
                Self.event(3) { $0.hasActiveScene = false },
                Self.event(4),
            ])
        #expect(
            steps.map(\.result) == [
                .prompted(isSilent: true), .returned(reason: "later"), .returned(reason: nil),
                .returned(reason: "noActiveScene"), .prompted(isSilent: false),
            ])
        #expect(report.prompts == 2)
        #expect(report.silent == 1)
        #expect(report.returned.named == ["later": 1, "": 1, "noActiveScene": 1])
    }

    @Test func aSilentGrantStaysOpenForItsLease() throws {
        let (steps, report) = try Self.run([
            Self.event(0) { $0.report = .silent }, Self.event(0, milliseconds: 600_000),
            Self.event(0, milliseconds: 600_001),
        ])
        #expect(steps[1].failing.map(\.rule) == ["reservation"])
        #expect(steps[2].result == .prompted(isSilent: false))
        #expect(report.held.named == ["reservation": 1])
    }

    // MARK: The platform's limits

    /// Hours of prompts on one device, in a version each, and which of them are one too many.
    static let caps: [(name: String, hours: [Int64], over: [Int])] = [
        ("three are allowed", [0, 1, 2], []),
        ("the fourth is not", [0, 1, 2, 3], [3]),
        ("each further one is", [0, 1, 2, 3, 4], [3, 4]),
        ("exactly 365 days later the first still counts", [0, 1, 2, 365 * 24], [3]),
        ("an hour later it does not", [0, 2, 3, 365 * 24 + 1], []),
        ("those over the cap count too", [0, 1, 2, 3, 365 * 24 + 2], [3]),
        ("spread out they never are", [0, 4_000, 8_000, 12_000, 16_800], []),
    ]

    @Test(arguments: caps.indices) func threeIn365Days(_ index: Int) throws {
        let (name, hours, over) = Self.caps[index]
        let (steps, report) = try Self.run(
            hours.enumerated().map { Self.event($1, version: "1.\($0)") })
        let found = steps.indices.filter { steps[$0].violations == [.moreThanThreeIn365Days] }
        #expect(found == over, "\(name)")
        #expect((report.violations[.moreThanThreeIn365Days] ?? 0) == over.count, "\(name)")
        #expect(report.prompts == hours.count)
    }

    @Test func limitsAreADevicesNotAPersons() throws {
        let (_, report) = try Self.run(
            (0..<6).map {
                Self.event($0, device: $0 < 3 ? "phone" : "tablet", version: "1.\($0)")
            })
        #expect(report.violations.isEmpty)
        #expect(report.peopleByPrompts == [6: 1])
        // Two people on one device share its limits.
        let (steps, _) = try Self.run(
            (0..<4).map { Self.event($0, "person \($0)", version: "1.\($0)") })
        #expect(steps[3].violations == [.moreThanThreeIn365Days])
    }

    /// Two versions, and whether the second prompt is in the same.
    @Test(arguments: [
        ("1.0", "1.0", true), ("1.0", "1.0.0", true), ("1.0", "1.0+7", true),
        ("1.0", "1.0.1", false), ("1.0", "1.0-beta", false), ("", "", true),
        ("new", "new", true), ("new", "newer", false), ("", "1.0.0", false),
    ]) func aVersionIsAskedInOnce(_ first: String, _ second: String, _ isSame: Bool) throws {
        // The server's own rules would hold, so the treaty's decide, of an install that is new.
        let events = [
            Self.event(0, version: first, reason: "done") {
                $0.donation.installedAt = Self.start
            },
            Self.event(2_000, version: second, reason: "exported") {
                $0.donation.installedAt = Self.start + .hours(1_000)
            },
        ]
        let (steps, report) = try Self.run(events, Self.treaty)
        #expect(steps.map(\.result) == Array(repeating: .prompted(isSilent: false), count: 2))
        #expect((report.violations[.versionAskedAgain] ?? 0) == (isSame ? 1 : 0))
    }

    @Test func onlyTheAppStoreShowsPromptsInProduction() throws {
        let build: (inout ReviewEvent) -> Void = { $0.donation.distribution = .testFlight }
        let (steps, _) = try Self.run([Self.event(0) { build(&$0) }], Self.treaty)
        #expect(steps[0].violations == [.notFromAppStore])
        // One prompt that breaks two limits is one prompt.
        let again: (inout ReviewEvent) -> Void = {
            build(&$0)
            $0.donation.installedAt = Self.start + .hours(1)
        }
        let (_, report) = try Self.run(
            [
                Self.event(0) {
                    build(&$0)
                    $0.donation.installedAt = Self.start
                }, Self.event(2) { again(&$0) },
            ], Self.treaty)
        #expect(report.violations == [.versionAskedAgain: 1, .notFromAppStore: 2])
        #expect(report.promptsAgainstLimits == 2)
        let (sandbox, _) = try Self.run(
            [
                Self.event(0) {
                    build(&$0)
                    $0.environment = .sandbox
                }
            ], Self.treaty)
        #expect(sandbox[0].violations.isEmpty)
        let (sound, _) = try Self.run([Self.event(0) { build(&$0) }])
        #expect(sound[0].failing.map(\.rule) == ["distribution"])
    }

    @Test func environmentsShareNothing() throws {
        let limits = [
            ReviewLimit(name: "one", kind: .max(count: 1, within: nil, scope: .both))
        ]
        let (steps, report) = try Self.run(
            [Self.event(0), Self.event(1) { $0.environment = .sandbox }, Self.event(2)],
            Self.policy(limits))
        #expect(steps.map { $0.failing.map(\.rule) } == [[], [], ["one"]])
        #expect(report.people == 2)
    }

    // MARK: The treaty

    private static var treaty: ReviewPromptPolicy {
        ReviewPromptPolicy(
            name: "treaty", version: 1, zone: .subject,
            limits: [
                ReviewLimit(name: "pause", kind: .interval(.calendarDays(7), scope: .device)),
                ReviewLimit(
                    name: "once", kind: .perVersion(count: 1, grain: .full, scope: .device)),
            ],
            reasons: ["done", "exported"].map { name in
                ReviewReason(
                    name: name, requirement: .count(reason: name, atLeast: 1, within: nil))
            },
            whileThrottled: .drop, afterGrant: .none, faults: .treaty)
    }

    @Test func theTreatyDecidesOnTheDevice() throws {
        #expect(ReviewSimulation(Self.treaty, zones: .utc).decidesOnDevice)
        #expect(!ReviewSimulation(Self.policy(), zones: .utc).decidesOnDevice)
        let (steps, report) = try Self.run(
            [
                Self.event(0), Self.event(1, reason: "exported"),
                // Another device knows nothing of the first.
                Self.event(2, device: "tablet"),
                Self.event(24 * 8, reason: "exported"),
                Self.event(24 * 8, version: "1.1"),
                // By its own clock, months ago.
                Self.event(24 * 9, version: "1.1", reason: "exported") {
                    $0.donation.occurredAt = Self.start - .days(90)
                    $0.hasActiveScene = false
                },
            ], Self.treaty)
        #expect(
            steps.map { $0.failing.map(\.rule) } == [
                [], ["pause"], [], ["once"], ["done"], [],
            ])
        #expect(steps[4].failing[0].have == .count(2))
        #expect(steps[4].failing[0].need == .equal(.count(1)))
        #expect(steps[5].result == .returned(reason: "noActiveScene"))
        #expect(steps.map(\.isCounted) == [true, false, true, false, true, false])
        #expect(report.held.named == ["pause": 1, "once": 1, "done": 1])
    }

    // MARK: What is refused

    @Test func eventsComeInTheirOrder() throws {
        let simulation = ReviewSimulation(Self.policy(), zones: .utc)
        try simulation.take(Self.event(5))
        // The same instant is in order.
        try simulation.take(Self.event(5))
        #expect(
            throws: SimulationError.outOfOrder(
                Self.start + .hours(4), after: Self.start + .hours(5))
        ) { try simulation.take(Self.event(4)) }
        #expect(simulation.finish().events == 2)
    }

    @Test func whatCannotBeJudgedIsCountedAndChangesNothing() throws {
        let (steps, report) = try Self.run([
            Self.event(0) { $0.donation.occurredAt = $0.receivedAt + .minutes(6) },
            Self.event(1) { $0.donation.zone = "Mars/Base" }, Self.event(2),
        ])
        #expect(report.refused.named == ["clockSkew": 1, "unknownZone": 1])
        #expect(report.judged == 1)
        #expect(steps[2].result == .prompted(isSilent: false))
    }

    @Test func namesBeyondTheLimitAreCountedTogether() throws {
        let events = (0..<SimulationLimits.names + 3).map {
            Self.event(Int64($0), "person \($0)", device: "device \($0)", version: "1.\($0)")
        }
        let (_, report) = try Self.run(events)
        #expect(report.versions.named.count == SimulationLimits.names)
        #expect(report.versions.others == 3)
        #expect(report.versions.total == events.count)
    }

    @Test func peopleAndDevicesAreLimited() throws {
        let simulation = ReviewSimulation(Self.policy(), zones: .utc)
        let most = SimulationLimits.entities / 2
        for number in 0..<most {
            // Of a reason it does not know, which is quickest; they are remembered all the same.
            try simulation.take(
                Self.event(0, "p\(number)", device: "d\(number)", reason: "crashed"))
        }
        try simulation.take(Self.event(1, "p0", device: "d0"))
        #expect(throws: SimulationError.tooManyEntities) {
            try simulation.take(Self.event(1, "one more", device: "d0"))
        }
    }
}
