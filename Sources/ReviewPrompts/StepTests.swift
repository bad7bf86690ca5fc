import Policies
import Time

/// What became of one test of steps in time.
public struct StepTestResult: Sendable, Hashable {
    /// An expectation that was not met, or a step that could not be taken.
    public struct Failure: Sendable, Hashable {
        /// The step, from 0; nil for the test as a whole.
        public var step: Int?
        /// The line in the file, from 1; 0 if it is not known.
        public var line: Int
        /// What was expected and what came.
        public var message: String
    }

    /// What every rule said at one step, a donation or a status.
    public struct Judged: Sendable, Hashable {
        /// The step, from 0.
        public var step: Int
        /// The reason or event that was named.
        public var reason: String
        /// One verdict for each rule.
        public var verdicts: [RuleVerdict]
    }

    /// The section's name.
    public var section: String
    /// The test's name.
    public var name: String
    /// Empty for a test that passed.
    public var failures: [Failure]
    /// What the rules said, step by step.
    public var judged: [Judged] = []
}

extension ReviewPrompts {
    /// Runs the tests of a policy, by the same functions that decide in earnest.
    ///
    /// A test that expects nothing fails, and so does one whose name stands twice in its section.
    /// - Parameter runs: says by section and test name which tests run; all if left out.
    public static func run(
        _ tests: ReviewPromptTests, policy: ReviewPromptPolicy, zones: ZoneDatabase,
        where runs: (_ section: String, _ test: String) -> Bool = { _, _ in true }
    ) -> [StepTestResult] {
        var results: [StepTestResult] = []
        for section in tests.sections {
            var names: Set<String> = []
            for test in section.tests where runs(section.name, test.name) {
                var run = StepTestRun(test: test, policy: policy, zones: zones)
                run.perform()
                if !names.insert(test.name).inserted {
                    run.fail("the name `\(test.name)` is taken by an earlier test of this section")
                }
                results.append(
                    StepTestResult(
                        section: section.name, name: test.name, failures: run.failures,
                        judged: run.judged))
            }
        }
        return results
    }
}

/// One test as it runs: a subject, its devices, and a clock that only the steps move.
private struct StepTestRun {
    /// What a step gave, as far as expectations look at it.
    struct Outcome {
        var asks: Bool
        var failing: [String]
        var nextEligibleAt: Instant?
        var missing: [String]
    }

    let test: ReviewPromptTests.Test
    let policy: ReviewPromptPolicy
    let zones: ZoneDatabase
    var subject = ReviewSubjectState()
    var devices: [String: ReviewDeviceState] = [:]
    var lastGrant: ReviewGrant?
    var now: Instant?
    var failures: [StepTestResult.Failure] = []
    var judged: [StepTestResult.Judged] = []

    init(test: ReviewPromptTests.Test, policy: ReviewPromptPolicy, zones: ZoneDatabase) {
        self.test = test
        self.policy = policy
        self.zones = zones
    }

    mutating func fail(_ message: String, step: Int? = nil) {
        let line = step.map { test.steps[$0].line } ?? 0
        failures.append(StepTestResult.Failure(step: step, line: line, message: message))
    }

    mutating func perform() {
        if test.steps.allSatisfy({ $0.expectation.isEmpty }) {
            fail("the test expects nothing")
        }
        for (index, step) in test.steps.enumerated() {
            guard let instant = instant(of: step.at, index) else { return }
            now = instant
            do {
                if let outcome = try perform(step.action, index, at: instant) {
                    check(step.expectation, outcome, index)
                } else if !step.expectation.isEmpty {
                    fail("only a donation or a status can be expected to ask or hold", step: index)
                }
            } catch {
                fail("refused: \(error)", step: index)
                return
            }
        }
    }

    private mutating func instant(of moment: ReviewPromptTests.Moment, _ index: Int) -> Instant? {
        let instant: Instant
        switch moment {
        case .absolute(let absolute):
            instant = absolute
        case .relative(let length):
            guard let now else {
                fail("the first step needs an absolute time", step: index)
                return nil
            }
            instant = now + length
        }
        if let now, instant < now {
            fail("time goes back from \(now) to \(instant)", step: index)
            return nil
        }
        return instant
    }

    private mutating func perform(
        _ action: ReviewPromptTests.Action, _ index: Int, at now: Instant
    ) throws(ReviewPromptError) -> Outcome? {
        switch action {
        case .pass:
            return nil
        case .reset:
            subject = try ReviewPrompts.reset(subject, now: now)
            return nil
        case .outcome(let requested, let reason):
            guard let grant = lastGrant else {
                fail("no grant to report an outcome of", step: index)
                return nil
            }
            let result = try ReviewPrompts.recordOutcome(
                requested ? .requested : .notRequested(reason: reason), of: grant,
                device: devices[grant.device] ?? ReviewDeviceState(), subject: subject,
                policy: policy, now: now)
            subject = result.subject
            devices[grant.device] = result.device
            return nil
        case .status(let donation):
            let status = try ReviewPrompts.status(
                reviewDonation(donation, at: now), device: device(of: donation), subject: subject,
                policy: policy, zones: zones, environment: .production, now: now)
            judged.append(
                .init(step: index, reason: donation.reason, verdicts: status.verdicts))
            return Outcome(
                asks: status.wouldAsk, failing: status.failing,
                nextEligibleAt: status.nextEligibleAt, missing: status.missing)
        case .donate(let donation):
            let decision = try ReviewPrompts.decide(
                reviewDonation(donation, at: now), device: device(of: donation), subject: subject,
                policy: policy, zones: zones, environment: .production, now: now,
                grantID: "grant-\(index)")
            subject = decision.subject
            devices[donation.device] = decision.device
            judged.append(
                .init(step: index, reason: donation.reason, verdicts: decision.verdicts))
            if case .ask(let grant) = decision.answer { lastGrant = grant }
            return Outcome(
                asks: decision.asks, failing: decision.failing,
                nextEligibleAt: decision.nextEligibleAt, missing: decision.missing)
        }
    }

    private func device(of donation: ReviewPromptTests.Donation) -> ReviewDeviceState {
        devices[donation.device] ?? ReviewDeviceState()
    }

    private func reviewDonation(
        _ donation: ReviewPromptTests.Donation, at now: Instant
    ) -> ReviewDonation {
        ReviewDonation(
            reason: donation.reason, subject: "subject", device: donation.device,
            version: donation.version,
            distribution: donation.distribution,
            zone: test.zone ?? "UTC", occurredAt: donation.occurredAt ?? now,
            installedAt: test.installedAt, attributes: donation.attributes)
    }

    private mutating func check(
        _ expectation: ReviewPromptTests.Expectation, _ outcome: Outcome, _ index: Int
    ) {
        if let asks = expectation.asks, asks != outcome.asks {
            let failing = outcome.failing.joined(separator: ", ")
            fail(
                asks
                    ? "expected ask, got hold; failing: [\(failing)]" : "expected hold, got ask",
                step: index)
        }
        if let failing = expectation.failing, failing.sorted() != outcome.failing.sorted() {
            fail(
                "expected failing: [\(failing.joined(separator: ", "))], "
                    + "got [\(outcome.failing.joined(separator: ", "))]",
                step: index)
        }
        switch expectation.nextEligibleAt {
        case nil:
            break
        case .at(let instant) where outcome.nextEligibleAt != instant:
            let got = outcome.nextEligibleAt?.rfc3339 ?? "null"
            fail("expected nextEligibleAt: \(instant), got \(got)", step: index)
        case .never where outcome.nextEligibleAt != nil:
            let got = outcome.nextEligibleAt?.rfc3339 ?? "null"
            fail("expected nextEligibleAt: null, got \(got)", step: index)
        case .at, .never:
            break
        }
    }
}
