import JSON
import Policies
import ReviewPrompts
import Testing
import Time

/// Conditions and sums whose result changes with time or with what has happened.
@Suite struct ConditionTests {
    @Test func aConditionThatReadsTheClockIsForeseen() throws {
        var story = try Story.of("condition-reads-now")
        let held = try story.donate("use", at: instant("2026-03-01T13:00:00Z"))
        #expect(held.failing == ["use"] && held.verdicts.last?.cause == .conditionNotMet)
        let morning = instant("2026-03-02T09:00:00Z")
        #expect(held.nextEligibleAt == morning)
        #expect(held.verdicts.last?.clearsAt == morning)
        #expect(try !story.status("use", at: morning - .milliseconds(1)).wouldAsk)
        try story.prompt(at: morning)
        // 720 hours later it is nine o'clock again, to the millisecond.
        let later = try story.donate("use", at: morning + .days(1))
        #expect(later.nextEligibleAt == morning + .days(30))
        #expect(try !story.status("use", at: morning + .days(30) - .milliseconds(1)).wouldAsk)
        #expect(try story.donate("use", at: morning + .days(30)).asks)
    }

    @Test func aConditionThatReadsCountsIsAskedOfTheCountsThatWillBe() throws {
        var story = try Story.of("condition-reads-counts")
        story.installedAt = instant("2026-01-01")
        let first = try story.donate("use", at: instant("2026-01-01"))
        #expect(first.nextEligibleAt == instant("2026-01-03"))
        try story.donate("use", at: instant("2026-01-01T13:00:00Z"))
        // This one counts, and is the last that does.
        let third = try story.donate("use", at: instant("2026-01-01T14:00:00Z"))
        #expect(third.isCounted && third.failing == ["settled"])
        #expect(third.nextEligibleAt == nil)
        #expect(third.missing == ["use"])
        #expect(try !story.donate("use", at: instant("2026-02-01")).asks)
    }

    @Test func donationsAreWorthTheirPoints() throws {
        var story = try Story.of("weighted-sum")
        let start = instant("2026-01-01")
        let first = try story.donate("export", at: start)
        #expect(first.verdicts.last?.have == .count(3))
        #expect(first.verdicts.last?.need == .atLeast(.count(5)))
        #expect(first.verdicts.last?.parts.map(\.reason) == ["1 × transcript + 3 × export"])
        // Another export would do, another transcript would not.
        #expect(first.nextEligibleAt == start)
        #expect(try story.status("transcript", at: start).nextEligibleAt == nil)
        try story.donate("transcript", at: start + .days(1))
        // Within ten days: the export leaves the window first.
        let end = start + .days(10)
        #expect(try story.status("transcript", at: end - .milliseconds(1)).wouldAsk)
        #expect(try !story.status("transcript", at: end).wouldAsk)
        #expect(try story.donate("transcript", at: start + .days(2)).asks)
    }

    /// What a lease that ends gives back clears a limit as well.
    @Test func aRuleClearsWhereALeaseEndsInReleasedSilence() throws {
        var story = try Story.of("R28-one-attempt")
        story.policy.lease = ReviewLease(length: .minutes(10), silence: .release)
        let start = instant("2026-01-01")
        try story.donate("use", at: start)
        let held = try story.donate("use", at: start + .minutes(1))
        let end = start + .minutes(10) + .milliseconds(1)
        #expect(held.failing == ["reservation", "cap"])
        #expect(held.verdicts.filter { $0.result != .pass }.map(\.clearsAt) == [end, end])
        #expect(held.nextEligibleAt == end)
    }

    /// What clears a rule is asked of the counts with the donation in them, as `nextEligibleAt` is.
    @Test func whatClearsAgreesWithWhatIsNext() throws {
        var story = try Story.of("R18-five-days-of-seven")
        for day in 14...16 { try story.donate("use", at: instant("2026-02-\(day)")) }
        let held = try story.donate("use", at: instant("2026-02-17"))
        #expect(held.nextEligibleAt == instant("2026-02-18T00:00:00Z"))
        #expect(held.verdicts.last?.clearsAt == held.nextEligibleAt)
    }

    /// Days counted in another zone may lie ahead of today.
    @Test(.enabled(if: TestZones.arePresent)) func daysOfAnotherZoneEnterWhenTheyBegin() throws {
        var policy = try Fixture.policy(
            "R18-five-days-of-seven", ["5, within: 7d": "2, within: 2d"])
        policy.zone = .subject
        var story = Story(policy)
        story.zone = "Pacific/Kiritimati"
        let now = instant("2026-01-01T10:30:00Z")  // the 2nd there, the 31st in Pago Pago
        try story.donate("use", at: now)
        story.zone = "Pacific/Pago_Pago"
        let held = try story.status("use", at: now)
        #expect(!held.wouldAsk)
        let next = try #require(held.nextEligibleAt)
        #expect(try story.status("use", at: next).wouldAsk)
        #expect(try !story.status("use", at: next - .milliseconds(1)).wouldAsk)
        // On the 3rd, the first day on which the 2nd is the day before.
        #expect(next == instant("2026-01-03T00:00:00-11:00"))
    }
}
