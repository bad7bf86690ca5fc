import Policies
import ReviewPrompts
import Testing
import Time

@Suite struct GrantTests {
    let start = instant("2026-01-01")

    func story(
        _ silence: ReviewLease.Silence = .count, _ afterGrant: AfterGrant = .reset,
        atLeast: Int = 1,
        _ limits: [ReviewLimit] = [.cap(1, .days(365), .both)]
    ) -> Story {
        var story = Story(.uses(atLeast, limits, afterGrant: afterGrant))
        story.policy.lease = ReviewLease(length: .minutes(10), silence: silence)
        return story
    }

    func state(_ story: Story, at now: Instant) -> ReviewGrant.State? {
        story.subjects["anna"]?.ledger.grants.last?.state(at: now)
    }

    @Test func `the last instant of a lease is still open`() throws {
        var story = story(.release)
        try story.donate("use", at: start)
        let end = start + .minutes(10)
        #expect(state(story, at: end) == .open)
        #expect(state(story, at: end + .milliseconds(1)) == .silent)
        let during = try story.donate("use", at: end)
        #expect(during.failing == ["reservation", "cap"])
        #expect(during.nextEligibleAt == end + .milliseconds(1))
        #expect(try story.donate("use", at: end + .milliseconds(1)).asks)
    }

    @Test func `silence counts where the policy says so`() throws {
        var story = story(.count)
        try story.donate("use", at: start)
        let later = try story.donate("use", at: start + .days(1))
        #expect(later.failing == ["cap"])
        #expect(later.nextEligibleAt == start + .days(365) + .milliseconds(1))
    }

    @Test func `a returned grant is released and the count can try again`() throws {
        var story = story(.count, .reset, atLeast: 3)
        for minute in 0..<3 { try story.donate("use", at: start + .minutes(Int64(minute))) }
        #expect(story.grants.count == 1)
        let result = try story.report(
            .notRequested(reason: "noActiveScene"), at: start + .minutes(3))
        #expect(result.grant.report == .returned && !result.grant.isLate)
        #expect(state(story, at: start + .minutes(4)) == .notRequested)
        #expect(try story.donate("use", at: start + .minutes(4)).asks)
    }

    @Test func `reset takes effect when the grant becomes counting`() throws {
        // By a report.
        var reported = story(.count, .reset, atLeast: 2, [])
        try reported.donate("use", at: start)
        #expect(try reported.donate("use", at: start).asks)
        #expect(reported.subjects["anna"]?.counters["use"]?.total == 2)
        try reported.report(.requested, at: start + .seconds(5))
        #expect(reported.subjects["anna"]?.counters["use"] == nil)
        // By silence.
        var silent = story(.count, .reset, atLeast: 2, [])
        try silent.donate("use", at: start)
        #expect(try silent.donate("use", at: start).asks)
        #expect(try silent.donate("use", at: start + .hours(1)).failing == ["use"])
        #expect(try silent.donate("use", at: start + .hours(2)).asks)
        // Not by silence that releases.
        var released = story(.release, .reset, atLeast: 2, [])
        try released.donate("use", at: start)
        #expect(try released.donate("use", at: start).asks)
        #expect(try released.donate("use", at: start + .hours(1)).asks)
    }

    @Test func `while a grant is open its end is foreseen`() throws {
        var story = story(.count, .reset, atLeast: 2, [])
        try story.donate("use", at: start)
        try story.donate("use", at: start)
        // Silence will count and reset, so one donation will not be enough.
        let status = try story.status("use", at: start + .minutes(1))
        #expect(status.nextEligibleAt == nil && status.missing == ["use"])
        var released = self.story(.release, .reset, atLeast: 2, [])
        try released.donate("use", at: start)
        try released.donate("use", at: start)
        #expect(
            try released.status("use", at: start + .minutes(1)).nextEligibleAt
                == start + .minutes(10) + .milliseconds(1))
    }

    @Test func `require more`() throws {
        var story = story(.count, .requireMore(2), atLeast: 3, [])
        for minute in 0..<3 { try story.donate("use", at: start + .minutes(Int64(minute))) }
        try story.report(.requested, at: start + .minutes(3))
        #expect(try story.donate("use", at: start + .minutes(4)).failing == ["requireMore"])
        #expect(try story.donate("use", at: start + .minutes(5)).asks)
    }

    @Test func `none leaves the counts alone`() throws {
        var story = story(.count, .none, atLeast: 2, [])
        try story.donate("use", at: start)
        try story.prompt(at: start)
        try story.prompt(at: start + .minutes(1))
    }

    @Test func `a late request always counts and is flagged`() throws {
        for silence in [ReviewLease.Silence.release, .count] {
            var story = story(silence, .reset, atLeast: 1)
            try story.donate("use", at: start)
            let result = try story.report(.requested, at: start + .days(2))
            #expect(result.grant.isLate && result.grant.report == .requested)
            #expect(try story.donate("use", at: start + .days(3)).failing == ["cap"])
        }
        // Even after it was given back.
        var story = story(.count)
        try story.donate("use", at: start)
        try story.report(.notRequested(reason: nil), at: start)
        let result = try story.report(.requested, at: start + .minutes(1))
        #expect(result.grant.isLate)
        #expect(try story.donate("use", at: start + .days(3)).failing == ["cap"])
    }

    @Test func `a late request resets the counts once`() throws {
        var story = story(.count, .reset, atLeast: 2, [])
        try story.donate("use", at: start)
        try story.donate("use", at: start)
        try story.donate("use", at: start + .hours(1))  // silent by now: the count began anew
        try story.report(.requested, at: start + .hours(2))
        #expect(story.subjects["anna"]?.counters["use"]?.total == 1)
        var released = self.story(.release, .reset, atLeast: 2, [])
        try released.donate("use", at: start)
        try released.donate("use", at: start)
        try released.report(.requested, at: start + .hours(2))
        #expect(released.subjects["anna"]?.counters["use"] == nil)
    }

    @Test func `a late return gives nothing back`() throws {
        var story = story(.count)
        try story.donate("use", at: start)
        let result = try story.report(.notRequested(reason: "noActiveScene"), at: start + .hours(1))
        #expect(result.grant.isLate && result.grant.report == .none)
        #expect(state(story, at: start + .hours(1)) == .silent)
        #expect(try story.donate("use", at: start + .hours(2)).failing == ["cap"])
        #expect(
            try story.report(.notRequested(reason: "noActiveScene"), at: start + .hours(2))
                .isReplayed)
        // It still says when the person postponed.
        #expect(
            story.subjects["anna"]?.outcomes["notRequested/noActiveScene"]?.at == start + .hours(1))
    }

    @Test func `the same report is a replay, another is refused`() throws {
        var story = story()
        try story.donate("use", at: start)
        try story.report(.requested, at: start + .seconds(1))
        let before = story.subjects["anna"]
        #expect(try story.report(.requested, at: start + .days(1)).isReplayed)
        #expect(story.subjects["anna"] == before)
        #expect(throws: ReviewPromptError.alreadyReported(.requested)) {
            try story.report(.notRequested(reason: nil), at: start + .days(1))
        }
        var second = self.story()
        try second.donate("use", at: start)
        try second.report(.notRequested(reason: "a"), at: start)
        #expect(try second.report(.notRequested(reason: "a"), at: start).isReplayed)
        #expect(throws: ReviewPromptError.alreadyReported(.returned)) {
            try second.report(.notRequested(reason: "b"), at: start)
        }
        #expect(throws: ReviewPromptError.outcomeReasonTooLong(bytes: 65)) {
            try second.report(.notRequested(reason: String(repeating: "x", count: 65)), at: start)
        }
    }

    @Test func `while throttled donations are dropped or kept`() throws {
        for (whileThrottled, count) in [(WhileThrottled.drop, 0), (.keep, 2)] {
            var story = Story(
                .uses(
                    1, [.interval(.elapsed(.days(7)))], whileThrottled: whileThrottled,
                    afterGrant: .reset))
            try story.prompt(at: start)
            for day in 1...2 { try story.donate("use", at: start + .days(Int64(day))) }
            #expect((story.subjects["anna"]?.counters["use"]?.total ?? 0) == count)
        }
    }

    @Test func `another version starts the counts anew`() throws {
        var story = story(.count, .reset, atLeast: 3, [])
        story.policy.resetOnVersion = .counts
        try story.donate("use", at: start, version: "1.0")
        try story.donate("use", at: start, version: "1.0.0")
        #expect(try story.donate("use", at: start, version: "1.1").verdicts.last?.have == .count(1))
        #expect(try story.donate("use", at: start, version: "?").verdicts.last?.have == .count(2))
        #expect(try story.donate("use", at: start, version: "1.1").asks)
    }

    /// Donations of two people on two devices, reports and the end of the lease in every order:
    /// nobody is asked while a prompt counts, and counts are the same in the end.
    @Test(arguments: ReviewLease.Silence.allCases)
    func `caps hold in whatever order things arrive`(silence: ReviewLease.Silence) throws {
        let actions = ["anna phone", "anna tablet", "bert phone", "requested", "returned", "wait"]
        var asks = 0
        for order in permutations(actions) {
            var story = story(silence, .none)
            var now = start
            for action in order {
                switch action {
                case "wait": now = now + .minutes(11)
                case "requested":
                    if let first = story.grants.first {
                        try story.report(.requested, of: first, at: now)
                    }
                case "returned":
                    if let first = story.grants.first {
                        // Refused once it was requested.
                        _ = try? story.report(.notRequested(reason: nil), of: first, at: now)
                    }
                default:
                    let (person, device) = (
                        String(action.prefix(4)), String(action.dropFirst(5))
                    )
                    let before =
                        (story.subjects[person]?.ledger.countingTotal(at: now) ?? 0)
                        + (story.devices[device]?.ledger.countingTotal(at: now) ?? 0)
                    let decision = try story.donate(
                        "use", at: now, subject: person, device: device)
                    asks += decision.asks ? 1 : 0
                    #expect(decision.asks == (before == 0), "\(order) at \(action)")
                }
            }
            #expect(
                story.subjects.values.compactMap { $0.counters["use"]?.total }.reduce(0, +) == 3)
        }
        #expect(asks > 720)
    }

    private func permutations(_ items: [String]) -> [[String]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index in
            var rest = items
            let item = rest.remove(at: index)
            return permutations(rest).map { [item] + $0 }
        }
    }

    @Test func `asking why not changes nothing`() throws {
        var story = story(.count, .reset, atLeast: 2)
        try story.donate("use", at: start)
        let before = story.subjects
        #expect(try story.status("use", at: start + .hours(1)).wouldAsk)
        #expect(try story.status("use", at: start + .hours(1), version: "2.0").wouldAsk)
        #expect(story.subjects == before)
        #expect(try story.donate("use", at: start + .hours(1)).asks)
    }
}
