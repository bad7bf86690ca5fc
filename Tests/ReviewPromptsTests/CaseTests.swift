import JSON
import Policies
import ReviewPrompts
import Testing
import Time

/// Faults that similar systems were reported to have, with what is right; each by its number, with
/// the policy of that name in `Fixtures/review`.
@Suite struct CaseTests {
    static let spans: [Int64] = [24, 25, 30, 49, 50, 90, 365, 400]

    @Test(arguments: spans) func caseR1_laterHoldsForItsWholeTime(days: Int64) throws {
        var story = try Story.of("R1-later", ["25d": "\(days)d"])
        let start = instant("2018-01-01")
        try story.donate("use", at: start)
        try story.report(.notRequested(reason: "userPostponed"), at: start)
        let next = try story.donate("use", at: start + .days(1))
        #expect(next.failing == ["later"])
        #expect(next.nextEligibleAt == start + .days(days))
        #expect(try !story.status("use", at: start + .days(days) - .milliseconds(1)).wouldAsk)
        #expect(try story.donate("use", at: start + .days(days)).asks)
    }

    /// The same for every limit that has a length: none comes round as a short or a negative one.
    @Test(arguments: spans) func caseR1_everyLimitHoldsForItsWholeTime(days: Int64) throws {
        let whole = try Fixture.policy("R1-spans", ["25d": "\(days)d"])
        let start = instant("2018-01-01T00:00:00Z")
        for limit in whole.limits {
            var story = Story(whole)
            story.policy.limits = [limit]
            story.installedAt = start - (limit.name == "settled" ? .zero : .days(800))
            // Every one of them is started by what happens at the start.
            if limit.name == "calm" { try story.donate("crash", at: start) }
            if limit.name != "settled" { try story.donate("use", at: start) }
            if limit.name == "later" {
                try story.report(.notRequested(reason: "userPostponed"), at: start)
            } else if limit.name != "settled", limit.name != "calm" {
                try story.report(.requested, at: start)
            }
            let late: Duration = limit.name == "cap" ? .milliseconds(1) : .zero
            let end = start + .days(days) + late
            for moment in [start + .milliseconds(1), start + .days(1), end - .milliseconds(1)] {
                let held = try story.status("use", at: moment)
                #expect(held.failing == [limit.name], "\(limit.name) at \(moment)")
                #expect(held.nextEligibleAt == end, "\(limit.name) at \(moment)")
                let verdict = try #require(held.verdicts.first { $0.rule == limit.name })
                #expect(verdict.clearsAt == end, "\(limit.name)")
            }
            #expect(try story.donate("use", at: end).asks, "\(limit.name)")
        }
    }

    @Test func caseR2_oneCountDoesNotStandInForTheOther() throws {
        var story = try Story.of("R2-both-counts")
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

    @Test func caseR3_aCountThatJumpsOverTheNumberAsksAndTheFifthIsTheFifth() throws {
        var story = try Story.of("R3-fifth-use")
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

        var second = try Story.of("R3-fifth-use")
        let asks = try (1...6).map {
            try second.donate("use", at: start + .hours(Int64($0))).asks
        }
        // The counts stay after the grant, and its lease of ten minutes is over by the sixth.
        #expect(asks == [false, false, false, false, true, true])
    }

    @Test func caseR5_whatNeverHappenedHoldsNothingBack() throws {
        var story = try Story.of("R5-never-postponed")
        story.installedAt = instant("2026-01-01")
        #expect(try story.donate("use", at: instant("2026-01-02")).failing == ["settled"])
        #expect(try story.donate("use", at: instant("2026-01-04")).asks)
        // Once it did happen, it does.
        try story.report(.notRequested(reason: "userPostponed"), at: instant("2026-01-04"))
        let held = try story.donate("use", at: instant("2026-01-05"))
        #expect(held.failing == ["later"])
        #expect(held.nextEligibleAt == instant("2026-01-14"))
    }

    @Test func caseR6_aReminderIsCountedFromWhenItWasAskedFor() throws {
        var story = try Story.of("R6-later-counts-from-then")
        story.installedAt = instant("2020-01-01")
        let july = instant("2020-07-01")
        #expect(try story.donate("use", at: july).asks)
        try story.report(.notRequested(reason: "userPostponed"), at: july)
        let again = try story.donate("use", at: july)
        #expect(again.failing == ["later"])
        #expect(again.nextEligibleAt == instant("2020-07-03"))
    }

    @Test func caseR8_aReminderOfOneDayAndOneLaunch() throws {
        var story = try Story.of("R8-one-day-one-launch")
        story.installedAt = instant("2026-01-01")
        #expect(try story.donate("use", at: instant("2026-01-01")).asks)
        try story.report(.notRequested(reason: "userPostponed"), at: instant("2026-01-01"))
        #expect(try story.donate("use", at: instant("2026-01-02")).asks)
    }

    @Test func caseR9_R10_twoDonationsGiveOneGrant() throws {
        for gap in [Duration.zero, .milliseconds(500), .milliseconds(1_200), .minutes(10)] {
            var story = try Story.of("R9-one-grant")
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

    @Test func caseR11_aRequestCountsWhateverWasTapped() throws {
        var story = try Story.of("R11-once-per-version")
        try story.prompt(at: instant("2026-01-30"))
        for day in [31, 60, 900] {
            let now = instant("2026-01-01") + .days(Int64(day))
            let decision = try story.donate("use", at: now)
            #expect(decision.failing == ["version"])
            #expect(decision.nextEligibleAt == nil)
            #expect(decision.missing == ["version"])
        }
        #expect(try story.donate("use", at: instant("2026-02-01"), version: "1.1").asks)
        // So does a grant of which nothing was ever heard.
        var silent = try Story.of("R11-once-per-version")
        try silent.donate("use", at: instant("2026-01-30"))
        #expect(try silent.donate("use", at: instant("2026-01-31")).failing == ["version"])
    }

    @Test(arguments: [(1, [true]), (2, [false, true]), (3, [false, false, true])])
    func caseR12_moreThanOneUse(atLeast: Int, expected: [Bool]) throws {
        var story = try Story.of("R12-at-least", ["atLeast: 2": "atLeast: \(atLeast)"])
        for (index, asks) in expected.enumerated() {
            let now = instant("2026-01-01") + .days(Int64(index))
            #expect(try story.donate("use", at: now).asks == asks)
        }
    }

    @Test func caseR14_aHotfixOnTheSameDay() throws {
        let morning = instant("2026-01-01T09:00:00Z")
        for limit in try Fixture.policy("R14-hotfix").limits {
            var story = try Story.of("R14-hotfix")
            story.policy.limits = [limit]
            try story.prompt(at: morning, version: "4.6")
            let decision = try story.donate("use", at: morning + .hours(5), version: "4.6.1")
            #expect(decision.failing == [limit.name])
            #expect(
                try story.donate("use", at: morning + .days(7), version: "4.7").asks)
        }
    }

    @Test func caseR15_aRefusalLastsAsLongAsThePolicySays() throws {
        func story(_ fixture: String) throws -> Story {
            var story = try Story.of(fixture)
            try story.donate("use", at: instant("2026-01-01"), version: "1.0")
            try story.report(.notRequested(reason: "userDeclined"), at: instant("2026-01-01"))
            return story
        }
        var untilMajor = try story("R15-declined-until-major")
        let minor = try untilMajor.donate("use", at: instant("2026-02-01"), version: "1.1")
        #expect(minor.failing == ["declined"])
        let beta = try untilMajor.donate("use", at: instant("2026-02-01"), version: "?")
        #expect(beta.verdicts.first { $0.rule == "declined" }?.result == .unknown)
        #expect(try untilMajor.donate("use", at: instant("2026-03-01"), version: "2.0").asks)
        var final = try story("R15-declined-for-good")
        let never = try final.donate("use", at: instant("2030-03-01"), version: "9.0")
        #expect(never.failing == ["declined"])
        #expect(never.nextEligibleAt == nil)
        #expect(never.missing == ["declined"])
    }

    /// However many other reasons come after it.
    @Test(arguments: [false, true]) func caseR15_aRefusalIsNotForgotten(merging: Bool) throws {
        var story = try Story.of("R15-declined-for-good")
        let start = instant("2026-01-01")
        func giveBack(_ reason: String, _ subject: String, after minutes: Int) throws {
            let grant = ReviewGrant(
                id: "x\(subject)\(minutes)", subject: subject, device: "phone", reason: "use",
                version: "1.0", grantedAt: start, leaseEndsAt: start + .minutes(10),
                silence: .release, afterGrant: .none)
            try story.report(
                .notRequested(reason: reason), of: grant, at: start + .minutes(Int64(minutes)),
                subject: subject)
        }
        try giveBack("userDeclined", "anna", after: 0)
        for number in 1...2 * ReviewPromptLimits.marks {
            try giveBack("noScene\(number)", merging ? "install" : "anna", after: number)
        }
        if merging {
            let merged = try ReviewPrompts.merge(
                install: try #require(story.subjects["install"]), installID: "install",
                into: try #require(story.subjects["anna"]), accountID: "anna",
                policy: story.policy, now: start + .days(1))
            story.subjects["anna"] = merged.account
        }
        #expect(try story.donate("use", at: start + .days(2)).failing == ["declined"])
        #expect(story.subjects["anna"]?.outcomes.count == ReviewPromptLimits.marks)
    }

    @Test func caseR18_distinctDaysWithinTheLastSeven() throws {
        func story(_ days: [Int]) throws -> (ReviewDecision, Story) {
            var story = try Story.of("R18-five-days-of-seven")
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
        #expect(denied.missing == ["use"])
    }
}
