import Policies
import ReviewPrompts
import Testing
import Time

@Suite struct MergeTests {
    let start = instant("2026-01-01")

    func merge(_ story: inout Story, at now: Instant) throws {
        let result = try ReviewPrompts.merge(
            install: story.subjects["install"] ?? ReviewSubjectState(), installID: "install",
            into: story.subjects["anna"] ?? ReviewSubjectState(), accountID: "anna", now: now)
        story.subjects["install"] = result.install
        story.subjects["anna"] = result.account
        for grant in result.superseded { story.devices[grant.device]?.supersede(grant.id) }
    }

    @Test(arguments: [ReviewLease.Silence.count, .release])
    func `a grant that became silent is not open on its device either`(
        _ silence: ReviewLease.Silence
    ) throws {
        var policy = ReviewPromptPolicy.uses(1, afterGrant: .none)
        policy.lease = ReviewLease(length: .hours(1), silence: silence)
        var story = Story(policy)
        try story.donate("use", at: start, subject: "anna", device: "phone")
        try story.donate("use", at: start + .seconds(1), subject: "install", device: "tablet")
        try merge(&story, at: start + .seconds(2))
        let now = start + .seconds(3)
        #expect(story.devices["tablet"]?.ledger.open(at: now) == [])
        #expect(
            story.devices["tablet"]?.ledger.countingTotal(at: now) == (silence == .count ? 1 : 0))
        let other = try story.donate("use", at: now, subject: "bert", device: "tablet")
        #expect(!other.failing.contains("reservation"))
    }

    /// A merge does not look like a change of version, and days are counted where the person is now.
    @Test func `the version and the zone named last stay`() throws {
        var policy = ReviewPromptPolicy.uses(9)
        policy.resetOnVersion = .counts
        policy.zone = .subject
        var story = Story(policy)
        story.zone = "Asia/Tokyo"
        try story.donate("use", at: start, version: "1.0", subject: "anna", device: "phone")
        story.zone = "America/Los_Angeles"
        for day in 30...31 {
            try story.donate(
                "use", at: start + .days(Int64(day)), version: "2.0", subject: "install",
                device: "tablet")
        }
        try merge(&story, at: start + .days(32))
        #expect(story.subjects["anna"]?.lastVersion == "2.0")
        #expect(story.subjects["anna"]?.zone == "America/Los_Angeles")
        story.zone = nil
        try story.donate(
            "use", at: start + .days(33), version: "2.0", subject: "anna", device: "tablet")
        #expect(story.subjects["anna"]?.counters["use"]?.total == 4)
    }

    @Test func `every counting grant stays and counts add up`() throws {
        var story = Story(.uses(1, [.cap(2, .days(365), .subject)]))
        try story.prompt(at: start, subject: "install", device: "tablet")
        try story.prompt(at: start + .days(1))
        try story.donate("use", at: start + .days(2), subject: "install", device: "tablet")
        try story.report(
            .notRequested(reason: nil), at: start + .days(2))
        try merge(&story, at: start + .days(3))
        #expect(story.subjects["anna"]?.counters["use"]?.total == 3)
        let decision = try story.donate("use", at: start + .days(4))
        #expect(decision.failing == ["cap"])
        #expect(decision.nextEligibleAt == start + .days(365) + .milliseconds(1))
        #expect(throws: ReviewPromptError.aliased(to: "anna")) {
            try story.donate("use", at: start + .days(4), subject: "install")
        }
    }

    @Test func `of two open grants the newer becomes silent`() throws {
        for first in ["install", "anna"] {
            var story = Story(.uses(1, afterGrant: .none))
            let second = first == "anna" ? "install" : "anna"
            try story.donate("use", at: start, subject: first, device: first)
            try story.donate("use", at: start + .seconds(1), subject: second, device: second)
            try #require(story.grants.count == 2)
            try merge(&story, at: start + .seconds(2))
            let ledger = try #require(story.subjects["anna"]?.ledger)
            #expect(ledger.grants.map { $0.state(at: start + .seconds(2)) } == [.open, .silent])
            #expect(ledger.open(at: start + .seconds(2)).map(\.id) == [story.grants[0].id])
            // It still counts, and a request that comes after all is taken.
            #expect(ledger.countingTotal(at: start + .seconds(2)) == 2)
            let report = try story.report(
                .requested, of: story.grants[1], at: start + .seconds(3), subject: "anna")
            #expect(report.grant.isLate && report.grant.report == .requested)
            #expect(
                try !story.report(
                    .notRequested(reason: nil), of: story.grants[0], at: start + .seconds(3),
                    subject: "anna"
                ).grant.isLate)
        }
    }

    @Test func `the later mark and the older facts stay`() throws {
        var story = Story(.uses(1, [.later(.days(10))]))
        for (subject, second) in [("install", 1), ("anna", 2)] {
            let now = start + .seconds(Int64(second))
            try story.donate("use", at: now, subject: subject, device: subject)
            try story.report(.notRequested(reason: "userPostponed"), at: now)
        }
        try merge(&story, at: start + .minutes(1))
        #expect(
            try story.status("use", at: start + .days(1)).nextEligibleAt
                == start + .days(10) + .seconds(2))
    }

    @Test func `again is a replay, elsewhere or into itself is refused`() throws {
        var story = Story(.uses(5))
        try story.donate("use", at: start, subject: "install")
        try merge(&story, at: start)
        let before = story.subjects
        try merge(&story, at: start + .days(1))
        #expect(story.subjects == before)
        let alias = try #require(before["install"])
        #expect(throws: ReviewPromptError.aliased(to: "anna")) {
            try ReviewPrompts.merge(
                install: alias, installID: "install", into: ReviewSubjectState(),
                accountID: "bert", now: start)
        }
        #expect(throws: ReviewPromptError.aliased(to: "anna")) {
            try ReviewPrompts.merge(
                install: ReviewSubjectState(), installID: "x", into: alias, accountID: "install",
                now: start)
        }
        #expect(throws: ReviewPromptError.mergedIntoItself) {
            try ReviewPrompts.merge(
                install: ReviewSubjectState(), installID: "x", into: ReviewSubjectState(),
                accountID: "x", now: start)
        }
    }
}
