import JSON
import Policies
import ReviewPrompts
import Testing
import Time

@Suite struct LimitTests {
    @Test func `one more than the cap has to wait for more than one to leave`() throws {
        var story = Story(.uses(1, [.cap(5, .days(30))]))
        let start = instant("2026-01-01")
        for day in 0..<5 { try story.prompt(at: start + .days(Int64(day))) }
        story.policy.limits = [.cap(2, .days(30))]
        let decision = try story.donate("use", at: start + .days(5))
        let clear = start + .days(33) + .milliseconds(1)
        #expect(decision.nextEligibleAt == clear)
        #expect(decision.verdicts.first { $0.rule == "cap" }?.clearsAt == clear)
    }

    @Test(arguments: ["", "unknown", "1.0 (77)"])
    func `an unreadable version is a reason of its own`(version: String) throws {
        var story = Story(.uses(1, [.version()]))
        try story.prompt(at: instant("2026-01-01"), version: "1.0.0")
        let decision = try story.donate("use", at: instant("2026-02-01"), version: version)
        #expect(decision.failing == ["readableVersion", "version"])
        #expect(decision.verdicts.first { $0.rule == "version" }?.result == .unknown)
        #expect(decision.nextEligibleAt == nil)
        story.policy.limits = []
        #expect(
            try story.donate("use", at: instant("2026-02-01"), version: version).failing
                == ["readableVersion"])
    }

    @Test func `a version that is too long is refused`() throws {
        var story = Story(.uses(1))
        #expect(throws: ReviewPromptError.versionTooLong(bytes: 65)) {
            try story.donate(
                "use", at: instant("2026-01-01"), version: String(repeating: "1", count: 65))
        }
    }

    @Test func `an interval of elapsed time is enough at its full length`() throws {
        var story = Story(.uses(1, [.interval(.elapsed(.days(7)))]))
        let start = instant("2026-01-01")
        try story.prompt(at: start)
        let held = try story.donate("use", at: start + .days(7) - .milliseconds(1))
        #expect(held.failing == ["interval"])
        #expect(held.nextEligibleAt == start + .days(7))
        #expect(try story.donate("use", at: start + .days(7)).asks)
    }

    @Test func `a clock that went back holds, whatever the distance`() throws {
        for interval in [ReviewInterval.elapsed(.days(7)), .calendarDays(7), .calendarDays(0)] {
            var story = Story(.uses(1, [.interval(interval)]))
            try story.prompt(at: instant("2026-01-10"))
            let status = try story.status("use", at: instant("2026-01-01"))
            let verdict = try #require(status.verdicts.first { $0.rule == "interval" })
            #expect(verdict.result == .fail)
            #expect(verdict.cause == .clockSkew)
            let sameDay = try story.status("use", at: instant("2026-01-10T01:00:00Z"))
            #expect(!sameDay.wouldAsk)
            // The fault of the preset: the distance without its sign.
            story.policy.faults.takesAbsoluteDistance = true
            #expect(try story.status("use", at: instant("2026-01-01")).wouldAsk)
        }
    }

    @Test func `without an install date nothing is known`() throws {
        var story = Story(.uses(1, [.settled(.days(2))]))
        let decision = try story.donate("use", at: instant("2026-01-01"))
        let verdict = try #require(decision.verdicts.first { $0.rule == "settled" })
        #expect(verdict.result == .unknown && verdict.cause == .installUnknown)
        #expect(!decision.asks && decision.nextEligibleAt == nil)
        // It is remembered once it was reported.
        story.installedAt = instant("2026-01-01")
        try story.donate("use", at: instant("2026-01-01"))
        story.installedAt = nil
        #expect(
            try story.status("use", at: instant("2026-01-02")).nextEligibleAt
                == instant("2026-01-03"))
        story.installedAt = instant("2026-01-09")
        #expect(throws: ReviewPromptError.self) {
            try story.donate("use", at: instant("2026-01-02"))
        }
    }

    @Test func `counts within a window`() throws {
        var policy = ReviewPromptPolicy.uses(3)
        policy.reasons = [
            ReviewReason(
                name: "use",
                requirement: .count(reason: "use", atLeast: 3, within: .hours(1)))
        ]
        var story = Story(policy)
        let start = instant("2026-01-01")
        try story.donate("use", at: start)
        try story.donate("use", at: start + .minutes(1))
        // The first leaves the window exactly an hour later.
        #expect(try !story.status("use", at: start + .hours(1)).wouldAsk)
        #expect(try story.status("use", at: start + .hours(1) - .milliseconds(1)).wouldAsk)
    }

    @Test func `not and any`() throws {
        var policy = ReviewPromptPolicy.uses(1)
        policy.reasons = [
            ReviewReason(
                name: "use",
                requirement: .all([
                    .any([
                        .count(reason: "use", atLeast: 5, within: nil),
                        .count(reason: "other", atLeast: 1, within: nil),
                    ]),
                    .not(.count(reason: "other", atLeast: 1, within: .hours(1))),
                ])),
            ReviewReason(
                name: "other", requirement: .count(reason: "other", atLeast: 100, within: nil)),
        ]
        var story = Story(policy)
        let start = instant("2026-01-01")
        #expect(try story.donate("use", at: start).nextEligibleAt == nil)
        try story.donate("other", at: start + .minutes(5))
        let held = try story.donate("use", at: start + .minutes(6))
        #expect(held.verdicts.last?.parts.map(\.isMet) == [false, true, true])
        #expect(held.nextEligibleAt == start + .minutes(65))
        #expect(try story.donate("use", at: start + .minutes(65)).asks)
    }

    @Test func `the condition says what counts`() throws {
        var story = Story(.transcripts)
        story.installedAt = instant("2025-01-01")
        let now = instant("2026-01-01")
        let short = try story.donate("exportedVideo", at: now, attributes: ["minutes": 4])
        #expect(short.failing == ["exportedVideo"])
        #expect(short.verdicts.last?.cause == .conditionNotMet)
        #expect(!short.isCounted && short.nextEligibleAt == nil)
        let missing = try story.donate("exportedVideo", at: now)
        #expect(missing.verdicts.last?.result == .unknown)
        #expect(missing.verdicts.last?.cause == .conditionUnknown)
        #expect(!missing.isCounted)
        #expect(try story.donate("exportedVideo", at: now, attributes: ["minutes": 5]).asks)
    }

    @Test func `names that no policy knows are refused with those it knows`() {
        var story = Story(.transcripts)
        #expect(
            throws: ReviewPromptError.unknownReason(
                given: "finishedTranskript",
                allowed: [
                    "finishedTranscript", "exportedVideo", "activeDay", "anyTwo",
                    "transcriptionFailed",
                ])
        ) {
            try story.donate("finishedTranskript", at: instant("2026-01-01"))
        }
    }

    @Test func `zones`() throws {
        var story = Story(.uses(1))
        story.zone = nil
        #expect(throws: ReviewPromptError.missingZone) {
            try story.donate("use", at: instant("2026-01-01"))
        }
        story.zone = "Mars/Olympus"
        #expect(throws: ReviewPromptError.unknownZone("Mars/Olympus")) {
            try story.donate("use", at: instant("2026-01-01"))
        }
        story.zone = "+05:30"
        try story.donate("use", at: instant("2026-01-01"))
        story.zone = nil
        #expect(try story.donate("use", at: instant("2026-01-02")).asks)
        var named = Story(.uses(1, zone: .named("Mars/Olympus")))
        #expect(throws: ReviewPromptError.unknownZone("Mars/Olympus")) {
            try named.donate("use", at: instant("2026-01-01"))
        }
    }

    @Test func `the kill switch holds and goes on counting`() throws {
        var story = Story(.uses(3))
        story.policy.isEnabled = false
        for day in 1...2 {
            let decision = try story.donate("use", at: instant("2026-01-0\(day)"))
            #expect(decision.failing.contains("enabled") && decision.isCounted)
            #expect(decision.missing.contains("enabled"))
        }
        story.policy.isEnabled = true
        #expect(try story.donate("use", at: instant("2026-01-03")).asks)
    }

    @Test func `a holdout is stable, salted, and of about the size asked for`() throws {
        func heldOut(_ percent: Double, _ salt: String) throws -> Set<Int> {
            var story = Story(.uses(1))
            story.policy.holdout = ReviewHoldout(percent: percent, salt: salt)
            return try Set(
                (0..<4000).filter { number in
                    let status = try story.status(
                        "use", at: instant("2026-01-01"), subject: "subject-\(number)")
                    return status.failing == ["holdout"]
                })
        }
        let spring = try heldOut(10, "spring")
        #expect((320...480).contains(spring.count))
        #expect(try heldOut(10, "spring") == spring)
        #expect(spring.isSubset(of: try heldOut(20, "spring")))
        #expect(spring.intersection(try heldOut(10, "summer")).count < 100)
        #expect(try heldOut(0, "spring").isEmpty)
        #expect(try heldOut(100, "spring").count == 4000)
    }

    @Test func `stale is more than a minute old`() throws {
        var story = Story(.uses(1))
        let now = instant("2026-01-01")
        let stale = try story.donate("use", at: now, occurredAt: now - .milliseconds(60_001))
        #expect(stale.failing == ["fresh"] && stale.isCounted && stale.nextEligibleAt == now)
        #expect(try story.donate("use", at: now, occurredAt: now - .seconds(60)).asks)
    }
}
