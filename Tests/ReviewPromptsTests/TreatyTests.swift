import Policies
import ReviewPrompts
import Testing
import Time

/// The preset that reproduces an article's rules, its faults included.
@Suite struct TreatyTests {
    static let policy = ReviewPromptPolicy(
        name: "treaty", version: 1, zone: .subject,
        limits: [.interval(.calendarDays(7)), .version()],
        reasons: [
            ReviewReason(
                name: "fed", requirement: .count(reason: "fed", atLeast: 3, within: nil)),
            ReviewReason(
                name: "walked", requirement: .count(reason: "walked", atLeast: 1, within: nil)),
        ],
        whileThrottled: .drop, afterGrant: .none, faults: .treaty)

    @Test func `a count that passed its number never asks again`() throws {
        var story = Story(Self.policy)
        let start = instant("2026-01-01")
        for day in 0..<2 { try story.donate("fed", at: start + .days(Int64(day))) }
        try story.donate("fed", at: start + .days(2), occurredAt: start)  // too old to ask
        for day in 3..<9 {
            #expect(try !story.donate("fed", at: start + .days(Int64(day))).asks)
        }
        #expect(story.subjects["anna"]?.counters["fed"]?.total == 9)
    }

    @Test func `without a scene the count stays where it was`() throws {
        var story = Story(Self.policy)
        let start = instant("2026-01-01")
        for day in 0..<3 { try story.donate("fed", at: start + .days(Int64(day))) }
        try story.report(.notRequested(reason: "noActiveScene"), at: start + .days(2))
        #expect(try story.donate("fed", at: start + .days(3)).asks)
    }

    @Test func `the last version only, as text, and unreadable is 1 point 0`() throws {
        var story = Story(Self.policy)
        try story.prompt("walked", at: instant("2026-01-01"), version: "")
        story.subjects["anna"]?.resetCounts()
        #expect(
            try story.donate("walked", at: instant("2026-02-01"), version: "1.0.0").failing
                == ["version"])
        // As text these are two versions.
        try story.prompt("walked", at: instant("2026-02-01"), version: "1.0")
        story.subjects["anna"]?.resetCounts()
        // Back to the one before: only the last is remembered.
        #expect(
            try story.donate("walked", at: instant("2026-03-01"), version: "1.0.0").asks)
    }

    @Test func `dropped while throttled`() throws {
        var story = Story(Self.policy)
        try story.prompt("walked", at: instant("2026-01-01"), version: "1")
        for day in 2...7 {
            let decision = try story.donate("fed", at: instant("2026-01-0\(day)"), version: "2")
            #expect(!decision.isCounted)
        }
        for day in 8...9 {
            #expect(
                try !story.donate("fed", at: instant("2026-01-0\(day)"), version: "2").asks)
        }
        #expect(try story.donate("fed", at: instant("2026-01-10"), version: "2").asks)
    }
}
