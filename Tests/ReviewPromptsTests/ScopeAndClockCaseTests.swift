import JSON
import Policies
import ReviewPrompts
import Testing
import Time

/// The cases about whose prompts count, whose clock decides, and what a prompt leaves behind.
extension CaseTests {
    @Test func caseR19_aReinstallCountsAnewAndKeepsThePromptLedger() throws {
        var story = try Story.of("R19-reinstall")
        story.installedAt = instant("2026-01-01")
        for day in 4...7 { try story.donate("use", at: instant("2026-01-0\(day)")) }
        try story.prompt(at: instant("2026-01-08"))
        for day in 1...4 { try story.donate("use", at: instant("2026-02-0\(day)")) }
        story.subjects["anna"]?.resetCounts()
        let first = try story.donate("use", at: instant("2026-03-01"))
        #expect(first.failing == ["cap", "use"])
        #expect(first.verdicts.last?.have == .count(1))
        #expect(first.verdicts.last?.need == .atLeast(.count(5)))
        #expect(first.subject.ledger.grants.count == 1)
        // Nor does a device of another id help: the account's ledger is looked at as well.
        let other = try story.donate("use", at: instant("2026-03-02"), device: "new phone")
        #expect(other.failing == ["cap", "use"])
    }

    @Test(arguments: [
        (ReviewScope.subject, [false, true]), (.device, [true, false]), (.both, [false, false]),
    ])
    func caseR20_theScopeSaysWhosePromptsCount(scope: ReviewScope, asks: [Bool]) throws {
        var story = try Story.of("R20-once-per-user", ["scope: subject": "scope: \(scope)"])
        try story.prompt(at: instant("2022-08-01"), device: "phone")
        for (who, asks) in zip([("anna", "tablet"), ("bert", "phone")], asks) {
            let status = try story.status(
                "use", at: instant("2022-08-02"), subject: who.0, device: who.1)
            #expect(status.wouldAsk == asks, "\(who)")
            #expect(status.failing == (asks ? [] : ["once"]), "\(who)")
            #expect(status.nextEligibleAt == (asks ? instant("2022-08-02") : nil))
        }
    }

    @Test func caseR21_laterHoldsAtOnce() throws {
        var story = try Story.of("R21-later-at-once")
        let ten = instant("2026-01-01T10:00:00Z")
        try story.donate("use", at: ten)
        try story.report(.notRequested(reason: "userPostponed"), at: ten)
        for gap in [Duration.zero, .milliseconds(1), .minutes(1)] {
            let held = try story.donate("use", at: ten + gap)
            #expect(held.failing == ["later"])
            #expect(held.nextEligibleAt == ten + .days(1))
        }
    }

    @Test func caseR23_daysAreCountedInAllNotLeftOverFromMonths() throws {
        var story = try Story.of("R23-fourteen-days")
        try story.prompt(at: instant("2022-09-27"))
        let status = try story.status("use", at: instant("2022-10-28"))
        #expect(status.wouldAsk)
        #expect(status.verdicts.first { $0.rule == "interval" }?.have == .days(31))
    }

    @Test func caseR25_R27_theServersClockDecides() throws {
        var story = try Story.of("R25-one-use")
        let now = instant("2026-02-01")
        let late = try story.donate("use", at: now, occurredAt: now - .days(31))
        #expect(!late.asks && late.isStale && late.isCounted)
        #expect(late.failing == ["fresh"])
        #expect(late.subject.counters["use"]?.recent == [now - .days(31)])
        let before = story.subjects
        for ahead in [Duration.hours(3), .minutes(5) + .milliseconds(1), .days(36_500)] {
            let error = ReviewPromptError.clockSkew(
                field: "occurredAt", given: now + ahead, now: now)
            #expect(throws: error) {
                try story.donate("use", at: now, occurredAt: now + ahead)
            }
        }
        #expect(story.subjects == before)
        let ahead = try story.donate("use", at: now, occurredAt: now + .minutes(5))
        #expect(ahead.asks && ahead.isClockAhead)
    }

    @Test(.enabled(if: TestZones.arePresent))
    func caseR26_aWeekOfCalendarDaysAcrossTheChangeOfTheClocks() throws {
        var story = try Story.of("vector-calendar-week")
        story.zone = "Europe/London"
        try story.prompt(at: instant("2025-03-29T12:00:00Z"))
        let held = try story.donate("use", at: instant("2025-04-04T22:59:59.999Z"))
        #expect(held.failing == ["week"])
        #expect(held.nextEligibleAt == instant("2025-04-04T23:00:00Z"))
        #expect(try story.donate("use", at: instant("2025-04-05T11:00:00Z")).asks)
    }

    @Test func caseR28_requestedIsOneAttemptAndNothingMoreIsKnown() throws {
        var story = try Story.of("R28-one-attempt")
        try story.prompt(at: instant("2026-01-01"))
        let grant = try #require(story.subjects["anna"]?.ledger.grants.first)
        #expect(grant.state(at: instant("2026-01-02")) == .requested)
        #expect(grant.isCounting(at: instant("2026-01-02")))
        #expect(try story.donate("use", at: instant("2026-01-02")).failing == ["cap"])
        // No state says that anything was shown or rated.
        #expect(
            Set(ReviewGrant.State.allCases.map(\.rawValue)).isDisjoint(with: ["shown", "rated"]))
    }

    @Test func caseR29_whatIsNotFromTheAppStoreNeverAsksWithAProductionKey() throws {
        var production = try Story.of("R25-one-use")
        for distribution in [ReviewDistribution.testFlight, .development] {
            let decision = try production.donate(
                "use", at: instant("2026-01-01"), distribution: distribution)
            #expect(decision.failing == ["distribution"])
            #expect(decision.nextEligibleAt == nil)
            #expect(decision.missing == ["distribution"])
        }
        #expect(production.grants.isEmpty)
        #expect(try production.donate("use", at: instant("2026-01-01")).asks)
        var sandbox = try Story.of("R25-one-use")
        sandbox.environment = .sandbox
        #expect(
            try sandbox.donate("use", at: instant("2026-01-01"), distribution: .development).asks)
    }

    @Test func caseR31_aBadEventSuppresses() throws {
        var story = try Story.of("R31-crash")
        let now = instant("2026-01-01")
        let crash = try story.donate("crash", at: now)
        #expect(!crash.asks && !crash.isCounted)
        #expect(crash.verdicts.last?.cause == .onlySuppresses)
        let soon = try story.donate("use", at: now + .hours(1))
        #expect(soon.failing == ["calm"])
        #expect(soon.nextEligibleAt == now + .days(1))
        // One that is heard of late counts from when it happened; an older one changes nothing.
        try story.donate("crash", at: now + .hours(2), occurredAt: now + .minutes(30))
        try story.donate("crash", at: now + .hours(2), occurredAt: now - .days(3))
        let end = now + .minutes(30) + .days(1)
        #expect(try story.donate("use", at: now + .hours(3)).nextEligibleAt == end)
        #expect(try !story.donate("use", at: end - .milliseconds(1)).asks)
        #expect(try story.donate("use", at: end).asks)
    }

    @Test func caseR32_tenMoreAfterAResetAndACooldown() throws {
        var story = try Story.of("R32-ten-more")
        let start = instant("2026-01-01")
        for hour in 0..<10 { try story.donate("use", at: start + .hours(Int64(hour))) }
        try story.report(.notRequested(reason: "userPostponed"), at: start + .hours(9))
        story.subjects["anna"]?.resetCounts()
        for hour in 10..<15 {
            let held = try story.donate("use", at: start + .hours(Int64(hour)))
            #expect(held.failing == ["later", "use"])
        }
        for day in 8..<12 {
            let held = try story.donate("use", at: start + .days(Int64(day)))
            #expect(held.failing == ["use"])
        }
        #expect(try story.donate("use", at: start + .days(13)).asks)
    }
}
