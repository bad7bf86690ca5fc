import JSON
import Policies
import ReviewPrompts
import Testing
import Time

/// The runner of timed steps, and with it the example of the documentation.
@Suite struct StepTestsTests {
    typealias Tests = ReviewPromptTests

    static func donate(
        _ reason: String, _ version: String, device: String = "device",
        attributes: JSONObject = JSONObject()
    ) -> Tests.Action {
        .donate(
            Tests.Donation(
                reason: reason, version: version, device: device, attributes: attributes))
    }

    static let steps: [Tests.Step] = [
        .init(
            at: .absolute(instant("2026-03-01T12:00:00Z")),
            action: donate("finishedTranscript", "1.0"),
            expectation: .init(asks: false, failing: ["finishedTranscript"]), line: 9),
        .init(
            at: .relative(.minutes(1)), action: donate("finishedTranscript", "1.0"),
            expectation: .init(asks: false), line: 10),
        .init(
            at: .relative(.minutes(1)),
            action: donate("finishedTranscript", "1.0", device: "phone"),
            expectation: .init(asks: true), line: 11),
        .init(
            at: .relative(.seconds(5)), action: .outcome(requested: true, reason: nil), line: 12),
        .init(
            at: .absolute(instant("2026-03-02T12:00:00Z")),
            action: donate("exportedVideo", "1.1", attributes: ["minutes": 9]),
            expectation: .init(
                asks: false, failing: ["interval"],
                nextEligibleAt: .at(instant("2026-03-08T00:00:00Z"))),
            line: 13),
    ]

    func run(_ steps: [Tests.Step], names: [String] = ["a test"]) -> [StepTestResult] {
        let tests = names.map {
            Tests.Test(
                name: $0, zone: "Europe/London", installedAt: instant("2026-02-01T00:00:00Z"),
                steps: steps)
        }
        return ReviewPrompts.run(
            Tests(policy: "transcripts-review", sections: [.init(name: "pace", tests: tests)]),
            policy: .transcripts, zones: TestZones.database)
    }

    @Test(.enabled(if: TestZones.arePresent))
    func `the documented example passes`() {
        #expect(run(Self.steps).map(\.failures) == [[]])
    }

    @Test(.enabled(if: TestZones.arePresent))
    func `every expectation can fail, and says where`() {
        var steps = Self.steps
        steps[0].expectation.failing = ["interval", "finishedTranscript"]
        steps[1].expectation.asks = true
        steps[2].expectation.asks = false
        steps[4].expectation.nextEligibleAt = .never
        let failures = run(steps).flatMap(\.failures)
        #expect(failures.map(\.line) == [9, 10, 11, 13])
        #expect(failures.map(\.step) == [0, 1, 2, 4])
        #expect(
            failures.map(\.message) == [
                "expected failing: [interval, finishedTranscript], got [finishedTranscript]",
                "expected ask, got hold; failing: [finishedTranscript]",
                "expected hold, got ask",
                "expected nextEligibleAt: null, got 2026-03-08T00:00:00.000Z",
            ])
    }

    @Test(.enabled(if: TestZones.arePresent))
    func `faults of the test itself`() {
        func messages(_ steps: [Tests.Step], names: [String] = ["a test"]) -> [String] {
            run(steps, names: names).flatMap(\.failures).map(\.message)
        }
        let now = Tests.Moment.absolute(instant("2026-03-01T12:00:00Z"))
        #expect(messages([.init(at: now, action: .pass)]) == ["the test expects nothing"])
        #expect(messages([]) == ["the test expects nothing"])
        var first = Self.steps[0]
        first.at = .relative(.minutes(1))
        #expect(messages([first]) == ["the first step needs an absolute time"])
        #expect(
            messages([Self.steps[0], .init(at: .relative(.minutes(-1)), action: .pass)])
                == ["time goes back from 2026-03-01T12:00:00.000Z to 2026-03-01T11:59:00.000Z"])
        #expect(
            messages([Self.steps[0], Self.steps[3]]) == ["no grant to report an outcome of"])
        #expect(
            messages([
                .init(at: now, action: .reset, expectation: .init(asks: true))
            ]) == ["only a donation or a status can be expected to ask or hold"])
        #expect(
            messages([
                .init(at: now, action: Self.donate("x", "1.0"), expectation: .init(asks: true))
            ]) == [
                "refused: no reason or event `x`; the policy knows finishedTranscript, "
                    + "exportedVideo, activeDay, anyTwo, transcriptionFailed"
            ])
        #expect(
            messages(Self.steps, names: ["twice", "twice"])
                == ["the name `twice` is taken by an earlier test of this section"])
    }

    @Test(.enabled(if: TestZones.arePresent))
    func `tests are chosen by name`() {
        let tests = Tests(
            policy: "transcripts-review",
            sections: [
                .init(
                    name: "pace",
                    tests: ["one", "two"].map { .init(name: $0, steps: Self.steps) })
            ])
        let results = ReviewPrompts.run(
            tests, policy: .transcripts, zones: TestZones.database, where: { $1 == "two" })
        #expect(results.map(\.name) == ["two"])
    }
}
