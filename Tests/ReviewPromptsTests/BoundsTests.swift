import JSON
import Policies
import ReviewPrompts
import Testing
import Time

/// Every limit of the state, on both sides.
@Suite struct BoundsTests {
    let start = instant("2026-01-01")

    func open(_ silence: ReviewLease.Silence = .count) -> Story {
        var story = Story(.uses(1))
        story.policy.lease = ReviewLease(length: .zero, silence: silence)
        return story
    }

    @Test func `grants beyond the limit become counts per version`() throws {
        var story = open()
        for number in 0...ReviewPromptLimits.grants {
            try story.prompt(at: start + .minutes(Int64(number)), version: "1.\(number)")
            let ledger = try #require(story.subjects["anna"]?.ledger)
            #expect(ledger.grants.count == min(number + 1, ReviewPromptLimits.grants))
            #expect(ledger.countingTotal(at: start + .hours(2)) == number + 1)
        }
        let older = try #require(story.subjects["anna"]?.ledger.older)
        #expect(older.map(\.version) == ["1"])
        story.policy.limits = [.version()]
        #expect(
            try story.donate("use", at: start + .days(1), version: "1.0").failing == ["version"])
        #expect(try story.donate("use", at: start + .days(1), version: "0.9").asks)
    }

    @Test func `old grants become counts, the last one stays`() throws {
        var story = open()
        try story.prompt(at: start, version: "1.0")
        let age = ReviewPromptLimits.grantAge
        try story.prompt(at: start + age, version: "1.1")
        #expect(story.subjects["anna"]?.ledger.grants.count == 2)
        try story.prompt(at: start + age + .milliseconds(1), version: "1.2")
        #expect(story.subjects["anna"]?.ledger.grants.map(\.version) == ["1.1", "1.2"])
        #expect(story.devices["phone"]?.ledger.older.map(\.version) == ["1"])
        // A late report about one that is only a count changes no count.
        let total = story.subjects["anna"]?.ledger.countingTotal(at: start + age + .days(1))
        try story.report(.requested, of: story.grants[0], at: start + age + .days(1))
        #expect(
            story.subjects["anna"]?.ledger.countingTotal(at: start + age + .days(1)) == total)
    }

    @Test func `returned grants are forgotten, a late request brings one back`() throws {
        var story = open(.release)
        for number in 0...ReviewPromptLimits.returnedGrants {
            let now = start + .minutes(Int64(number))
            try #require(try story.donate("use", at: now).asks)
            try story.report(.notRequested(reason: nil), at: now)
        }
        let first = try #require(story.grants.first)
        let ledger = try #require(story.subjects["anna"]?.ledger)
        #expect(ledger.grants.count == ReviewPromptLimits.returnedGrants)
        #expect(ledger[first.id] == nil)
        try story.report(.requested, of: first, at: start + .hours(1))
        #expect(story.subjects["anna"]?.ledger[first.id]?.report == .requested)
        #expect(story.subjects["anna"]?.ledger.countingTotal(at: start + .hours(2)) == 1)
    }

    @Test func `no version is forgotten, rather nothing more is asked`() throws {
        var story = open()
        // Each is more than the age of grants after the one before it.
        let step = ReviewPromptLimits.grantAge + .days(1)
        var now = instant("0100-01-01")
        for number in 0...ReviewPromptLimits.versions {
            try story.prompt(at: now, version: "1.\(number)")
            now = now + step
        }
        let last = try story.donate("use", at: now, version: "2.0")
        #expect(last.failing == ["remembered"])
        #expect(last.missing == ["remembered"])
    }

    @Test func `recent donations and days are the newest`() throws {
        var story = Story(.uses(1000))
        let many = ReviewPromptLimits.days + 1
        for day in 0..<many {
            try story.donate("use", at: start + .days(Int64(day)))
        }
        let counter = try #require(story.subjects["anna"]?.counters["use"])
        #expect(counter.total == many)
        #expect(counter.days.count == ReviewPromptLimits.days)
        #expect(counter.recent.count == ReviewPromptLimits.recentDonations)
        #expect(counter.recent.last == start + .days(Int64(many - 1)))
        let size = canonical(try #require(story.subjects["anna"]).json).count
        #expect(size < 8192, "\(size)")
    }

    @Test func `marks are the newest`() throws {
        var story = open(.release)
        for number in 0...ReviewPromptLimits.marks {
            let now = start + .minutes(Int64(number))
            try story.donate("use", at: now)
            try story.report(.notRequested(reason: "reason-\(number)"), at: now)
        }
        let outcomes = try #require(story.subjects["anna"]?.outcomes)
        #expect(outcomes.count == ReviewPromptLimits.marks)
        #expect(outcomes["notRequested/reason-0"] == nil)
        #expect(outcomes["notRequested/reason-\(ReviewPromptLimits.marks)"] != nil)
    }

    @Test func `counters of forgotten policies go first`() throws {
        var story = Story(.uses(1000))
        for number in 0...ReviewPromptLimits.counters {
            let name = "reason\(number)"
            story.policy.reasons = [
                ReviewReason(
                    name: name, requirement: .count(reason: name, atLeast: 1000, within: nil))
            ]
            try story.donate(name, at: start)
            #expect(
                story.subjects["anna"]?.counters.count
                    == (number < ReviewPromptLimits.counters ? number + 1 : 1))
        }
    }

    @Test func `times at the ends of the time line`() throws {
        for now in [Instant.min, .max] {
            var story = Story(.uses(1, [.interval(.calendarDays(7)), .cap(1, .days(365))]))
            try story.prompt(at: now)
            let decision = try story.donate("use", at: now, version: "2.0")
            #expect(!decision.asks)
            if now == .max { #expect(decision.nextEligibleAt == nil) }
        }
    }

    @Test func `a subject's pseudonym can be taken out of a device's ledger`() throws {
        var story = Story(.uses(1, [.cap(1, .days(365))]))
        try story.prompt(at: start, subject: "bert")
        story.devices["phone"]?.erase(grants: ["g1"])
        story.subjects["bert"] = nil
        let state = try #require(story.devices["phone"])
        #expect(!String(decoding: canonical(state.json), as: UTF8.self).contains("bert"))
        let held = try story.donate("use", at: start + .days(1))
        #expect(held.failing == ["cap"])
        #expect(held.nextEligibleAt == start + .days(365) + .milliseconds(1))
    }

    @Test func `an erased subject's prompts count for 365 days on the device and no longer`() throws
    {
        let limits: [[ReviewLimit]] = [
            [.version()], [.cap(1, nil)], [.interval(.elapsed(.days(390)))],
            [.interval(.calendarDays(390))], [.cap(1, .days(400))],
        ]
        for limits in limits {
            var story = Story(.uses(1, limits))
            try story.prompt(at: start, subject: "bert")
            story.devices["phone"]?.erase(grants: ["g1"])
            let end = start + .days(365)
            let held = try story.donate("use", at: start + .days(1))
            #expect(held.nextEligibleAt == end + .milliseconds(1), "\(limits)")
            #expect(try !story.donate("use", at: end).asks)
            #expect(try story.donate("use", at: end + .milliseconds(1)).asks, "\(limits)")
            #expect(story.devices["phone"]?.ledger.grants.count == 1)
        }
    }

    @Test func `a reset draws the consequence of an ended lease first`() throws {
        var story = Story(.uses(1, afterGrant: .requireMore(2)))
        try story.donate("use", at: start)
        let later = start + .hours(1)
        story.subjects["anna"] = try ReviewPrompts.reset(
            try #require(story.subjects["anna"]), now: later)
        // The silent grant counted before the reset, so no more than one donation is needed.
        #expect(try story.donate("use", at: later).asks)
        var alias = ReviewSubjectState()
        alias = try ReviewPrompts.merge(
            install: alias, installID: "a", into: alias, accountID: "b", now: start
        ).install
        #expect(throws: ReviewPromptError.aliased(to: "b")) {
            try ReviewPrompts.reset(alias, now: start)
        }
    }
}

@Suite struct StateJSONTests {
    @Test func `an empty state is an empty object`() throws {
        #expect(canonical(ReviewSubjectState().json) == Array("{}".utf8))
        #expect(try ReviewSubjectState(json: [:]) == ReviewSubjectState())
        #expect(try ReviewDeviceState(json: [:]) == ReviewDeviceState())
    }

    @Test func `donations survive`() throws {
        let donation = ReviewDonation(
            reason: "use", subject: "s", device: "d", version: "1.0", distribution: .testFlight,
            zone: "Europe/London", occurredAt: instant("2026-01-01"),
            installedAt: instant("2025-01-01"), attributes: ["minutes": 9, "title": "x"])
        #expect(try ReviewDonation(json: donation.json) == donation)
    }

    @Test func `the golden text of a state`() throws {
        var story = Story(.uses(1))
        try story.donate("use", at: instant("2026-01-01"))
        let state = try #require(story.subjects["anna"])
        #expect(
            String(decoding: canonical(state.json), as: UTF8.self) == """
                {"counters":{"use":{"days":[20454],"recent":[1767268800000],"total":1}},\
                "lastDonationAt":1767268800000,"lastVersion":"1.0",\
                "ledger":{"grants":[{"afterGrant":"none","device":"phone","grantedAt":1767268800000,\
                "id":"g1","leaseEndsAt":1767269400000,"reason":"use","silence":"count",\
                "subject":"anna","version":"1.0"}]},\
                "openGrantID":"g1","zone":"UTC"}
                """)
    }

    @Test(arguments: [
        ("[]", "subject"), (#"{"x":1}"#, "subject/x"), (#"{"zone":1}"#, "subject/zone"),
        (#"{"ledger":[]}"#, "ledger"), (#"{"counters":{"use":{}}}"#, "counter/total"),
        (#"{"counters":{"use":{"total":-1}}}"#, "counter/total"),
        (#"{"counters":{"use":{"total":9223372036854775807}}}"#, "counter/total"),
        (#"{"counters":{"use":{"total":1,"recent":[1.5]}}}"#, "counter/recent"),
        (#"{"events":{"x":{"version":"1"}}}"#, "mark/at"),
        (#"{"ledger":{"grants":[{}]}}"#, "grant/afterGrant"),
        (#"{"ledger":{"grants":[{"afterGrant":"none"}]}}"#, "grant/id"),
        (#"{"ledger":{"older":{"1.0":"2"}}}"#, "ledger/older/1.0"),
        (#"{"hasCountedGrant":1}"#, "subject/hasCountedGrant"),
    ])
    func `a spoilt state says where`(text: String, place: String) throws {
        let json = try JSONReader.parse(Array(text.utf8))
        let error = #expect(throws: ReviewStateError.self) { try ReviewSubjectState(json: json) }
        #expect(error?.place == place)
    }

    @Test func `verdicts as an answer shows them`() throws {
        var story = Story(.uses(1, [.interval(.elapsed(.days(7)))]))
        try story.prompt(at: instant("2026-01-01"))
        let decision = try story.donate("use", at: instant("2026-01-02"))
        let verdict = try #require(decision.verdicts.first { $0.rule == "interval" })
        #expect(
            verdict.json == [
                "rule": "interval", "result": "fail", "cause": "tooSoon", "have": "PT24H",
                "need": ["atLeast": "PT168H"], "clearsAt": "2026-01-08T12:00:00.000Z",
            ])
    }
}
