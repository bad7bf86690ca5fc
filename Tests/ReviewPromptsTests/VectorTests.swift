import Policies
import ReviewPrompts
import Testing
import Time

/// Tables of days, clocks, years and versions that are often got wrong.
@Suite struct VectorTests {
    // MARK: Days and clocks

    struct Days: Sendable, CustomTestStringConvertible {
        var trap, zone, last, now: String
        /// Days of the calendar between the two, and whether a week of them is enough.
        var days: Int64
        var weekOfDays: Bool
        var elapsed: Duration
        var weekElapsed: Bool
        var testDescription: String { "\(trap), \(zone)" }
    }

    static let days: [Days] = [
        Days(
            trap: "spring shortens", zone: "America/New_York", last: "2025-03-08T23:30:00-05:00",
            now: "2025-03-15T00:15:00-04:00", days: 7, weekOfDays: true,
            elapsed: .days(5) + .hours(23) + .minutes(45), weekElapsed: false),
        Days(
            trap: "autumn lengthens", zone: "America/New_York", last: "2025-10-27T00:05:00-04:00",
            now: "2025-11-02T23:55:00-05:00", days: 6, weekOfDays: false,
            elapsed: .days(7) + .minutes(50), weekElapsed: true),
        Days(
            trap: "the same wall time", zone: "Europe/London", last: "2025-03-29T12:00:00Z",
            now: "2025-04-05T12:00:00+01:00", days: 7, weekOfDays: true,
            elapsed: .days(6) + .hours(23), weekElapsed: false),
        Days(
            trap: "the zone decides", zone: "Asia/Tokyo", last: "2026-05-01T14:00:00Z",
            now: "2026-05-08T06:00:00Z", days: 7, weekOfDays: true,
            elapsed: .days(6) + .hours(16), weekElapsed: false),
        Days(
            trap: "the zone decides", zone: "UTC", last: "2026-05-01T14:00:00Z",
            now: "2026-05-08T06:00:00Z", days: 7, weekOfDays: true,
            elapsed: .days(6) + .hours(16), weekElapsed: false),
        Days(
            trap: "the zone decides", zone: "America/Los_Angeles", last: "2026-05-01T14:00:00Z",
            now: "2026-05-08T06:00:00Z", days: 6, weekOfDays: false,
            elapsed: .days(6) + .hours(16), weekElapsed: false),
        Days(
            trap: "days are not cut at the hour of the first", zone: "UTC",
            last: "2026-01-01T15:00:00Z", now: "2026-01-08T08:00:00Z", days: 7, weekOfDays: true,
            elapsed: .days(6) + .hours(17), weekElapsed: false),
        Days(
            trap: "the clock is behind", zone: "UTC", last: "2026-01-10T12:00:00Z",
            now: "2026-01-01T12:00:00Z", days: -9, weekOfDays: false, elapsed: .days(-9),
            weekElapsed: false),
        Days(
            trap: "a little behind is not today", zone: "UTC", last: "2026-01-02T12:00:00Z",
            now: "2026-01-02T01:00:00Z", days: 0, weekOfDays: false, elapsed: .hours(-11),
            weekElapsed: false),
        Days(
            trap: "a skipped day counts", zone: "Pacific/Apia", last: "2011-12-29T12:00:00-10:00",
            now: "2011-12-31T12:00:00+14:00", days: 2, weekOfDays: false, elapsed: .days(1),
            weekElapsed: false),
        Days(
            trap: "a month and a day are 31 days", zone: "UTC", last: "2022-09-27T12:00:00Z",
            now: "2022-10-28T12:00:00Z", days: 31, weekOfDays: true, elapsed: .days(31),
            weekElapsed: true),
        // Neighbours: half hours, three quarters, a fast that puts the clock back for a month.
        Days(
            trap: "half an hour", zone: "Australia/Lord_Howe", last: "2025-03-30T23:45:00+11:00",
            now: "2025-04-06T00:05:00+11:00", days: 7, weekOfDays: true,
            elapsed: .days(6) + .minutes(20), weekElapsed: false),
        Days(
            trap: "an offset of 5:45", zone: "Asia/Kathmandu", last: "2026-01-01T18:14:00Z",
            now: "2026-01-08T18:14:59Z", days: 7, weekOfDays: true,
            elapsed: .days(7) + .seconds(59), weekElapsed: true),
        Days(
            trap: "an offset of 5:45, a minute later", zone: "Asia/Kathmandu",
            last: "2026-01-01T18:15:00Z", now: "2026-01-08T18:14:59Z", days: 6, weekOfDays: false,
            elapsed: .days(6) + .hours(23) + .minutes(59) + .seconds(59), weekElapsed: false),
        Days(
            trap: "back for the month of fasting", zone: "Africa/Casablanca",
            last: "2026-02-14T23:30:00Z", now: "2026-02-21T23:30:00Z", days: 6, weekOfDays: false,
            elapsed: .days(7), weekElapsed: true),
    ]

    @Test(.enabled(if: TestZones.arePresent), arguments: days)
    func vectorDays_calendarAndElapsed(_ vector: Days) throws {
        for (fixture, have, asks) in [
            ("vector-calendar-week", ReviewAmount.days(vector.days), vector.weekOfDays),
            ("vector-elapsed-week", .elapsed(vector.elapsed), vector.weekElapsed),
        ] {
            var story = try Story.of(fixture)
            story.zone = vector.zone
            try story.prompt(at: instant(vector.last))
            let now = instant(vector.now)
            let status = try story.status("use", at: now)
            let verdict = try #require(status.verdicts.first { $0.rule == "week" })
            #expect(status.wouldAsk == asks, "\(fixture)")
            #expect(verdict.have == have, "\(fixture)")
            if now < instant(vector.last) { #expect(verdict.cause == .clockSkew) }
            // What it says of the future is so.
            let next = try #require(status.nextEligibleAt)
            #expect(try story.status("use", at: next).wouldAsk)
            #expect(try asks || !story.status("use", at: next - .milliseconds(1)).wouldAsk)
        }
    }

    struct DayStart: Sendable {
        var zone, last, clears: String
    }

    /// A day clears where it begins, be that midnight or not.
    @Test(
        .enabled(if: TestZones.arePresent),
        arguments: [
            // Clocks jump over midnight: the day begins at 01:00.
            DayStart(
                zone: "Asia/Beirut", last: "2025-03-29T12:00:00+02:00",
                clears: "2025-03-30T01:00:00+03:00"),
            DayStart(
                zone: "America/Sao_Paulo", last: "2018-11-03T12:00:00-03:00",
                clears: "2018-11-04T01:00:00-02:00"),
            // The 30th was left out: the 31st begins where it would have begun.
            DayStart(
                zone: "Pacific/Apia", last: "2011-12-29T12:00:00-10:00",
                clears: "2011-12-31T00:00:00+14:00"),
            DayStart(
                zone: "Pacific/Kiritimati", last: "1994-12-30T12:00:00-10:00",
                clears: "1995-01-01T00:00:00+14:00"),
            // Midnight comes twice; the first one counts.
            DayStart(
                zone: "America/Havana", last: "2024-11-02T12:00:00-04:00",
                clears: "2024-11-03T00:00:00-04:00"),
            DayStart(
                zone: "America/St_Johns", last: "2010-11-06T12:00:00-02:30",
                clears: "2010-11-07T00:00:00-02:30"),
            DayStart(
                zone: "Asia/Kathmandu", last: "1985-12-31T12:00:00+05:30",
                clears: "1986-01-01T00:15:00+05:45"),
        ])
    func vectorDays_aDayClearsWhereItBegins(_ vector: DayStart) throws {
        var story = try Story.of("vector-next-day")
        story.zone = vector.zone
        try story.prompt(at: instant(vector.last))
        let held = try story.donate("use", at: instant(vector.last) + .hours(1))
        let clears = instant(vector.clears)
        #expect(held.nextEligibleAt == clears)
        #expect(held.verdicts.first { $0.rule == "nextDay" }?.clearsAt == clears)
        #expect(try !story.status("use", at: clears - .milliseconds(1)).wouldAsk)
        #expect(try story.donate("use", at: clears).asks)
    }

    /// Where clocks go back over midnight, the new day is left again for an hour.
    @Test(.enabled(if: TestZones.arePresent)) func vectorDays_aDayThatIsLeftAgain() throws {
        var story = try Story.of("vector-next-day")
        story.zone = "America/St_Johns"
        try story.prompt(at: instant("2010-11-06T12:00:00-02:30"))
        for (now, asks) in [
            ("2010-11-06T23:59:59-02:30", false), ("2010-11-07T00:00:59-02:30", true),
            ("2010-11-06T23:01:00-03:30", false), ("2010-11-06T23:59:59-03:30", false),
            ("2010-11-07T00:00:00-03:30", true),
        ] {
            let status = try story.status("use", at: instant(now))
            #expect(status.wouldAsk == asks, "\(now)")
        }
        #expect(
            try story.status("use", at: instant("2010-11-06T23:01:00-03:30")).nextEligibleAt
                == instant("2010-11-07T00:00:00-03:30"))
    }

    /// The day that comes again has a donation five days before it in its window, which the day
    /// after has not: for 59 minutes, time going back helps.
    @Test(.enabled(if: TestZones.arePresent)) func vectorDays_aDayThatComesAgainIsFound() throws {
        var policy = try Fixture.policy("R18-five-days-of-seven")
        policy.zone = .subject
        var story = Story(policy)
        story.zone = "America/St_Johns"
        for day in ["10-31", "11-01", "11-02", "11-03"] {
            try story.donate("use", at: instant("2010-\(day)T12:00:00-02:30"))
        }
        let status = try story.status("use", at: instant("2010-11-07T00:00:30-02:30"))
        #expect(!status.wouldAsk)
        #expect(status.nextEligibleAt == instant("2010-11-06T23:01:00-03:30"))
        #expect(try story.status("use", at: instant("2010-11-06T23:59:59-03:30")).wouldAsk)
        let after = try story.status("use", at: instant("2010-11-07T00:00:00-03:30"))
        #expect(!after.wouldAsk && after.nextEligibleAt == nil)
    }

    // MARK: 365 days

    @Test(arguments: [
        ("2023-03-01", "2024-02-29"), ("2024-02-29", "2025-02-28"), ("2024-03-01", "2025-03-01"),
    ])
    func vector365_daysAreCountedAndNoYears(from: String, to: String) throws {
        var story = try Story.of("vector-365-days", ["max: 3": "max: 1"])
        try story.prompt(at: instant(from))
        let held = try story.donate("use", at: instant(to))
        #expect(held.failing == ["apple"])
        #expect(held.nextEligibleAt == instant(to) + .milliseconds(1))
        #expect(try story.donate("use", at: instant(to) + .milliseconds(1)).asks)
    }

    @Test func vector365_theBoundaryStillCounts() throws {
        var story = try Story.of("vector-365-days")
        for day in ["2024-03-01", "2024-08-01", "2025-02-01"] {
            try story.prompt(at: instant(day))
        }
        let clear = instant("2025-03-01T12:00:00.001Z")
        for now in [instant("2025-02-28"), instant("2025-03-01")] {
            let held = try story.donate("use", at: now)
            #expect(held.failing == ["apple"])
            let verdict = try #require(held.verdicts.first { $0.rule == "apple" })
            #expect(verdict.have == .count(3) && verdict.need == .below(.count(3)))
            #expect(verdict.clearsAt == clear)
            #expect(held.nextEligibleAt == clear)
        }
        #expect(try story.donate("use", at: clear).asks)
    }

    /// Years that begin with the install would let six through in a few weeks.
    @Test func vector365_noYearBeginsAnew() throws {
        var story = try Story.of("vector-365-days")
        story.installedAt = instant("2024-01-01")
        for day in ["2024-12-10", "2024-12-20", "2024-12-30"] {
            try story.prompt(at: instant(day))
        }
        for day in ["2025-01-01", "2025-01-10", "2025-06-01", "2025-12-09"] {
            let held = try story.donate("use", at: instant(day))
            #expect(held.failing == ["apple"], "\(day)")
            #expect(held.nextEligibleAt == instant("2025-12-10T12:00:00.001Z"))
        }
    }

    // MARK: Versions

    struct Versions: Sendable, CustomTestStringConvertible {
        var prompted: [String]
        var now: String
        var grain = "full"
        var asks: Bool
        var testDescription: String { "\(prompted) then \(now), \(grain)" }
    }

    @Test(arguments: [
        // The same version, however it is spelt; the build is none of its parts.
        Versions(prompted: ["2.0"], now: "2.0.0", asks: false),
        Versions(prompted: ["2.0.0"], now: "2", asks: false),
        Versions(prompted: ["1.0+77"], now: "1.0+78", asks: false),
        Versions(prompted: ["01.2"], now: "1.2", asks: false),
        // Others.
        Versions(prompted: ["1.9"], now: "1.10", asks: true),
        Versions(prompted: ["1.1"], now: "1.10", asks: true),
        Versions(prompted: ["2.0-beta"], now: "2.0", asks: true),
        Versions(prompted: ["4.6"], now: "4.6.1", asks: true),
        // A set of versions, not the last one: back and forth defeats it not.
        Versions(prompted: ["1.0", "1.1"], now: "1.0", asks: false),
        Versions(prompted: ["1.1", "1.0"], now: "1.1", asks: false),
        Versions(prompted: ["2.0", "1.0", "1.5"], now: "2.0.0", asks: false),
        // A coarser grain.
        Versions(prompted: ["4.6"], now: "4.6.1", grain: "minor", asks: false),
        Versions(prompted: ["4.6.1-beta"], now: "4.6", grain: "minor", asks: false),
        Versions(prompted: ["4.6"], now: "4.7", grain: "minor", asks: true),
        Versions(prompted: ["4.1"], now: "4.10", grain: "minor", asks: true),
        Versions(prompted: ["4.6"], now: "4.7", grain: "major", asks: false),
        Versions(prompted: ["4.6"], now: "5.0", grain: "major", asks: true),
        Versions(prompted: ["1.0"], now: "10.0", grain: "major", asks: true),
    ])
    func vectorVersions_oncePerVersion(_ vector: Versions) throws {
        var story = try Story.of("R11-once-per-version", ["full": vector.grain])
        var now = instant("2026-01-01")
        for version in vector.prompted {
            try story.prompt(at: now, version: version)
            now = now + .days(30)
        }
        let decision = try story.donate("use", at: now, version: vector.now)
        #expect(decision.asks == vector.asks)
        #expect(decision.failing == (vector.asks ? [] : ["version"]))
        #expect(vector.asks || decision.missing == ["version"])
    }

    /// An unreadable version is its own reason to hold, and never reads as 1.0.0.
    @Test(arguments: [
        "", " ", "unknown", "v1.0", "1.0 (77)", "1..0", "1.0.", "１.０", "1,0",
        "99999999999999999999",
    ])
    func vectorVersions_whatIsNoVersionIsItsOwnState(version: String) throws {
        for prompted in ["1.0.0", nil] {
            var story = try Story.of("R11-once-per-version")
            if let prompted { try story.prompt(at: instant("2026-01-01"), version: prompted) }
            let held = try story.donate("use", at: instant("2026-02-01"), version: version)
            #expect(held.failing == ["readableVersion", "version"])
            let verdicts = held.verdicts.filter { $0.result != .pass }
            #expect(verdicts.map(\.cause) == [.unreadableVersion, .unreadableVersion])
            #expect(verdicts.map(\.result) == [.fail, .unknown])
            #expect(held.nextEligibleAt == nil)
            #expect(held.missing == ["readableVersion", "version"])
            // It was no attempt: the next version that can be read is asked.
            #expect(try story.donate("use", at: instant("2026-02-01"), version: "1.1").asks)
        }
    }

    /// A build in which nothing is shown burns no version.
    @Test(arguments: [ReviewDistribution.testFlight, .development])
    func vectorVersions_aBuildThatShowsNothingBurnsNoVersion(_ distribution: ReviewDistribution)
        throws
    {
        var story = try Story.of("R11-once-per-version")
        let held = try story.donate(
            "use", at: instant("2026-01-01"), version: "2.0", distribution: distribution)
        #expect(held.failing == ["distribution"])
        #expect(try story.donate("use", at: instant("2026-01-01"), version: "2.0").asks)
    }
}
