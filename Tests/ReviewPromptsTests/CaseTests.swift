import JSON
import Policies
import ReviewPrompts
import Testing
import Time

/// One test per case of the page of reported faults in similar systems.
@Suite struct CaseTests {
    @Test(arguments: [25, 24, 30, 50, 90, 365] as [Int64])
    func `R1 later holds for its whole cooldown`(days: Int64) throws {
        var story = Story(.uses(1, [.later(.days(days))]))
        let start = instant("2018-01-01")
        try story.donate("use", at: start)
        try story.report(.notRequested(reason: "userPostponed"), at: start)
        let next = try story.donate("use", at: start + .days(1))
        #expect(next.failing == ["later"])
        #expect(next.nextEligibleAt == start + .days(days))
        #expect(try !story.status("use", at: start + .days(days) - .milliseconds(1)).wouldAsk)
        #expect(try story.donate("use", at: start + .days(days)).asks)
    }

    @Test func `R2 all of two counts`() throws {
        let requirement = ReviewRequirement.all([
            .count(reason: "use", atLeast: 10, within: nil),
            .count(reason: "event", atLeast: 10, within: nil),
        ])
        var policy = ReviewPromptPolicy.uses(10)
        policy.reasons = ["use", "event"].map { ReviewReason(name: $0, requirement: requirement) }
        var story = Story(policy)
        let start = instant("2026-01-01")
        for second in 0..<100 {
            #expect(try !story.donate("use", at: start + .seconds(Int64(second))).asks)
        }
        let status = try story.status("use", at: start + .days(1))
        let verdict = try #require(status.verdicts.last)
        #expect(verdict.result == .fail)
        #expect(verdict.parts.map(\.have) == [101, 0])
        #expect(verdict.parts.map(\.isMet) == [true, false])
        #expect(status.nextEligibleAt == nil)
        #expect(status.missing == ["use"])
        for second in 0..<9 {
            #expect(try !story.donate("event", at: start + .days(2) + .seconds(Int64(second))).asks)
        }
        #expect(try story.donate("event", at: start + .days(3)).asks)
    }

    @Test func `R3 a count that jumps over the number still asks, and the fifth is the fifth`()
        throws
    {
        var story = Story(.uses(5))
        let start = instant("2026-01-01")
        for hour in 1...4 {
            #expect(try !story.donate("use", at: start + .hours(Int64(hour))).asks)
        }
        // Three that are too old to ask take the count from 4 to 7.
        for _ in 0..<3 {
            let decision = try story.donate(
                "use", at: start + .days(1), occurredAt: start + .hours(10))
            #expect(!decision.asks && decision.isCounted)
        }
        #expect(try story.donate("use", at: start + .days(2)).asks)

        var second = Story(.uses(5))
        let asks = try (1...6).map {
            try second.donate("use", at: start + .hours(Int64($0))).asks
        }
        // The counts stay after the grant, and its lease of ten minutes is over by the sixth.
        #expect(asks == [false, false, false, false, true, true])
    }

    @Test func `R5 what never happened holds nothing back`() throws {
        var story = Story(.uses(1, [.settled(.days(2)), .later(.days(10))]))
        story.installedAt = instant("2026-01-01")
        #expect(try story.donate("use", at: instant("2026-01-02")).failing == ["settled"])
        #expect(try story.donate("use", at: instant("2026-01-04")).asks)
    }

    @Test func `R6 a reminder is counted from when it was asked for`() throws {
        var story = Story(.uses(1, [.settled(.days(2)), .later(.days(2))]))
        story.installedAt = instant("2020-01-01")
        let july = instant("2020-07-01")
        #expect(try story.donate("use", at: july).asks)
        try story.report(.notRequested(reason: "userPostponed"), at: july)
        let again = try story.donate("use", at: july)
        #expect(again.failing == ["later"])
        #expect(again.nextEligibleAt == instant("2020-07-03"))
    }

    @Test func `R8 a reminder of one day and one launch`() throws {
        var story = Story(.uses(1, [.settled(.zero), .later(.days(1))], whileThrottled: .drop))
        story.installedAt = instant("2026-01-01")
        #expect(try story.donate("use", at: instant("2026-01-01")).asks)
        try story.report(.notRequested(reason: "userPostponed"), at: instant("2026-01-01"))
        #expect(try story.donate("use", at: instant("2026-01-02")).asks)
    }

    @Test func `R9 R10 two donations give one grant`() throws {
        for gap in [Duration.zero, .milliseconds(500), .minutes(10)] {
            var story = Story(.uses(2, whileThrottled: .drop))
            let start = instant("2026-01-01")
            try story.donate("use", at: start)
            #expect(try story.donate("use", at: start).asks)
            let second = try story.donate("use", at: start + gap, device: "tablet")
            #expect(second.failing == ["reservation"])
            #expect(!second.isCounted)
            // Another subject on the same device has to wait as well.
            try story.donate("use", at: start, subject: "bert", device: "desk")
            #expect(
                try story.donate("use", at: start + gap, subject: "bert").failing
                    == ["reservation"])
            #expect(story.grants.count == 1)
        }
    }

    @Test func `R11 a request counts whatever was tapped`() throws {
        var story = Story(.uses(1, [.version()]))
        try story.prompt(at: instant("2026-01-30"))
        for day in [31, 60, 900] {
            let now = instant("2026-01-01") + .days(Int64(day))
            let decision = try story.donate("use", at: now)
            #expect(decision.failing == ["version"])
            #expect(decision.nextEligibleAt == nil)
            #expect(decision.missing == ["version"])
        }
        #expect(try story.donate("use", at: instant("2026-02-01"), version: "1.1").asks)
    }

    @Test(arguments: [(1, [true]), (2, [false, true])])
    func `R12 at least`(atLeast: Int, expected: [Bool]) throws {
        var story = Story(.uses(atLeast))
        for (index, asks) in expected.enumerated() {
            let now = instant("2026-01-01") + .days(Int64(index))
            #expect(try story.donate("use", at: now).asks == asks)
        }
    }

    @Test func `R14 a hotfix on the same day`() throws {
        let morning = instant("2026-01-01T09:00:00Z")
        for limit in [ReviewLimit.interval(.calendarDays(7)), .version(.minor)] {
            var story = Story(.uses(1, [limit]))
            try story.prompt(at: morning, version: "4.6")
            let decision = try story.donate("use", at: morning + .hours(5), version: "4.6.1")
            #expect(decision.failing == [limit.name])
            #expect(
                try story.donate("use", at: morning + .days(7), version: "4.7").asks)
        }
    }

    @Test func `R15 a refusal lasts as long as the policy says`() throws {
        func story(_ end: ReviewSuppression.End) throws -> Story {
            let limit = ReviewLimit(
                name: "declined",
                kind: .suppression(
                    ReviewSuppression(after: .notRequested(reason: "userDeclined"), until: end)))
            var story = Story(.uses(1, [limit]))
            try story.donate("use", at: instant("2026-01-01"), version: "1.0")
            try story.report(.notRequested(reason: "userDeclined"), at: instant("2026-01-01"))
            return story
        }
        var untilMajor = try story(.nextVersion(.major))
        let minor = try untilMajor.donate("use", at: instant("2026-02-01"), version: "1.1")
        #expect(minor.failing == ["declined"])
        let beta = try untilMajor.donate("use", at: instant("2026-02-01"), version: "?")
        #expect(beta.verdicts.first { $0.rule == "declined" }?.result == .unknown)
        #expect(try untilMajor.donate("use", at: instant("2026-03-01"), version: "2.0").asks)
        var final = try story(.never)
        let never = try final.donate("use", at: instant("2030-03-01"), version: "9.0")
        #expect(never.failing == ["declined"])
        #expect(never.nextEligibleAt == nil)
    }

    @Test func `R18 distinct days within the last seven`() throws {
        var policy = ReviewPromptPolicy.uses(1)
        policy.reasons = [
            ReviewReason(
                name: "use",
                requirement: .distinctDays(reason: "use", atLeast: 5, withinDays: 7))
        ]
        func story(_ days: [Int]) throws -> (ReviewDecision, Story) {
            var story = Story(policy)
            var last: ReviewDecision?
            for day in days {
                for hour in ["08", "20"] {
                    last = try story.donate("use", at: instant("2026-02-\(day)T\(hour):00:00Z"))
                }
            }
            return (try #require(last), story)
        }
        let (four, _) = try story([14, 15, 16, 17])
        #expect(!four.asks)
        #expect(four.nextEligibleAt == instant("2026-02-18T00:00:00Z"))
        var (_, allowed) = try story([14, 15, 16, 17])
        #expect(try allowed.donate("use", at: instant("2026-02-18T08:00:00Z")).asks)
        let (denied, _) = try story([14, 15, 16, 17, 21])
        #expect(!denied.asks)
        #expect(denied.verdicts.last?.have == .count(4))
        // From the 22nd on the 15th is out too, so time alone never does it.
        #expect(denied.nextEligibleAt == nil)
    }

    @Test func `R19 a reinstall counts anew and keeps the prompt ledger`() throws {
        var story = Story(.uses(5, [.settled(.days(3)), .cap(1, .days(365))], afterGrant: .reset))
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
    }

    @Test func `R20 the scope says whose prompts count`() throws {
        for (scope, asks) in [(ReviewScope.subject, false), (.device, true), (.both, false)] {
            var story = Story(.uses(1, [.cap(1, nil, scope)]))
            try story.prompt(at: instant("2022-08-01"), device: "phone")
            let tablet = try story.donate("use", at: instant("2022-08-02"), device: "tablet")
            #expect(tablet.asks == asks)
        }
    }

    @Test func `R21 later holds at once`() throws {
        var story = Story(.uses(1, [.later(.days(1))]))
        let ten = instant("2026-01-01T10:00:00Z")
        try story.donate("use", at: ten)
        try story.report(.notRequested(reason: "userPostponed"), at: ten)
        #expect(try story.donate("use", at: ten + .minutes(1)).failing == ["later"])
    }

    @Test func `R23 days are counted in all, not left over from months`() throws {
        var story = Story(.uses(1, [.interval(.calendarDays(14))]))
        try story.prompt(at: instant("2022-09-27"))
        let status = try story.status("use", at: instant("2022-10-28"))
        #expect(status.wouldAsk)
        #expect(status.verdicts.first { $0.rule == "interval" }?.have == .days(31))
    }

    @Test func `R25 R27 the server's clock decides`() throws {
        var story = Story(.uses(1))
        let now = instant("2026-02-01")
        let late = try story.donate("use", at: now, occurredAt: now - .days(31))
        #expect(!late.asks && late.isStale && late.isCounted)
        #expect(late.failing == ["fresh"])
        #expect(late.subject.counters["use"]?.recent == [now - .days(31)])
        #expect(throws: ReviewPromptError.self) {
            try story.donate("use", at: now, occurredAt: now + .hours(3))
        }
        #expect(throws: ReviewPromptError.self) {
            try story.donate("use", at: now, occurredAt: now + .minutes(5) + .milliseconds(1))
        }
        let ahead = try story.donate("use", at: now, occurredAt: now + .minutes(5))
        #expect(ahead.asks && ahead.isClockAhead)
    }

    @Test(.enabled(if: TestZones.arePresent))
    func `R26 a week of calendar days across the change of the clocks`() throws {
        var story = Story(.uses(1, [.interval(.calendarDays(7))]))
        story.zone = "Europe/London"
        try story.prompt(at: instant("2025-03-29T12:00:00Z"))
        let held = try story.donate("use", at: instant("2025-04-04T22:59:59.999Z"))
        #expect(held.failing == ["interval"])
        #expect(held.nextEligibleAt == instant("2025-04-04T23:00:00Z"))
        #expect(try story.donate("use", at: instant("2025-04-05T11:00:00Z")).asks)
    }

    @Test func `R28 requested is one attempt and nothing more is known`() throws {
        var story = Story(.uses(1, [.cap(1, .days(365))]))
        try story.prompt(at: instant("2026-01-01"))
        let grant = try #require(story.subjects["anna"]?.ledger.grants.first)
        #expect(grant.state(at: instant("2026-01-02")) == .requested)
        #expect(grant.isCounting(at: instant("2026-01-02")))
        // No state says that anything was shown or rated.
        #expect(
            Set(ReviewGrant.State.allCases.map(\.rawValue)).isDisjoint(with: ["shown", "rated"]))
    }

    @Test func `R29 what is not from the App Store never asks with a production key`() throws {
        var production = Story(.uses(1))
        for distribution in [ReviewDistribution.testFlight, .development] {
            let decision = try production.donate(
                "use", at: instant("2026-01-01"), distribution: distribution)
            #expect(decision.failing == ["distribution"])
        }
        #expect(production.grants.isEmpty)
        #expect(try production.donate("use", at: instant("2026-01-01")).asks)
        var sandbox = Story(.uses(1))
        sandbox.environment = .sandbox
        #expect(
            try sandbox.donate("use", at: instant("2026-01-01"), distribution: .development).asks)
    }

    @Test func `R31 a bad event suppresses`() throws {
        let calm = ReviewLimit(
            name: "calm",
            kind: .suppression(ReviewSuppression(after: .event("crash"), until: .elapsed(.days(1))))
        )
        var story = Story(.uses(1, [calm]))
        let now = instant("2026-01-01")
        let crash = try story.donate("crash", at: now)
        #expect(!crash.asks && !crash.isCounted)
        #expect(crash.verdicts.last?.cause == .onlySuppresses)
        let soon = try story.donate("use", at: now + .hours(1))
        #expect(soon.failing == ["calm"])
        #expect(soon.nextEligibleAt == now + .days(1))
        #expect(try story.donate("use", at: now + .days(1)).asks)
    }

    @Test func `R32 ten more after a reset and a cooldown`() throws {
        var story = Story(.uses(10, [.later(.days(7))]))
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
