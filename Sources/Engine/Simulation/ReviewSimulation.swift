import Policies
import ReviewPrompts
import Time

/// What a review policy does over a stream of donations, from a history without any.
///
/// It decides by ``ReviewPrompts/decide``, each event at its own time, and reports at once what the
/// event says that the app would. A policy with `preset: treaty` decides by ``Treaty``, as on a
/// device.
public final class ReviewSimulation {
    /// What came of one event.
    public struct Step: Sendable {
        /// The kinds of results.
        public enum Result: Sendable, Hashable {
            /// The app asked, or said nothing after it was allowed to.
            case prompted(isSilent: Bool)
            /// The app was allowed to and gave it back.
            case returned(reason: String?)
            /// It was not to ask.
            case held
            /// The event is nothing the policy can judge.
            case refused(ReviewPromptError)
        }

        /// What came of it.
        public var result: Result
        /// Whether it was added to the counts.
        public var isCounted = false
        /// The rules that do not pass, each with what it has and needs.
        public var failing: [Failing] = []
        /// Limits of the platform that the prompt breaks.
        public var violations: [PromptViolation] = []
    }

    /// A rule that does not let a prompt through.
    public struct Failing: Sendable, Hashable {
        /// The rule's name.
        public var rule: String
        /// Why, in a word.
        public var cause: String
        /// For counts: what is, and what is needed.
        public var have: ReviewAmount?
        /// See ``have``.
        public var need: ReviewNeed?
    }

    private enum Rules {
        case server(ReviewPromptPolicy)
        case device(Treaty)
    }

    /// The policy.
    public let policy: ReviewPromptPolicy
    /// Whether it decides as on a device, by ``Treaty``.
    public var decidesOnDevice: Bool { if case .device = rules { true } else { false } }
    /// What was counted so far.
    public private(set) var report: SimulationReport

    private let rules: Rules
    private let zones: ZoneDatabase
    private var subjects: [Key: ReviewSubjectState] = [:]
    private var devices: [Key: ReviewDeviceState] = [:]
    private var installs: [Key: Treaty.Install] = [:]
    private var tally: PromptTally
    private var last = Instant.min
    private var grants = 0

    /// Environments never share a state.
    struct Key: Hashable {
        var environment: ReviewEnvironment
        var id: String
    }

    /// A simulation without a history.
    public init(_ policy: ReviewPromptPolicy, zones: ZoneDatabase) {
        self.policy = policy
        self.zones = zones
        rules = Treaty(policy).map(Rules.device) ?? .server(policy)
        report = SimulationReport(policy: policy.reference, digest: policy.digest)
        tally = PromptTally()
    }

    /// Takes the next event.
    @discardableResult
    public func take(_ event: ReviewEvent) throws(SimulationError) -> Step {
        guard event.receivedAt >= last else { throw .outOfOrder(event.receivedAt, after: last) }
        last = event.receivedAt
        let subject = Key(environment: event.environment, id: event.donation.subject)
        let device = Key(environment: event.environment, id: event.donation.device)
        try tally.see(subject: subject, device: device)
        var step: Step
        do throws(ReviewPromptError) {
            switch rules {
            case .server(let policy): step = try decide(event, policy, subject, device)
            case .device(let treaty): step = try decide(event, treaty, device)
            }
        } catch {
            step = Step(result: .refused(error))
        }
        if case .prompted = step.result {
            step.violations = tally.prompt(event, subject: subject, device: device)
        }
        report.add(step, event)
        return step
    }

    /// What was counted, with how many people were asked how often.
    public func finish() -> SimulationReport {
        tally.count(into: &report)
        return report
    }

    // MARK: Deciding

    private func decide(
        _ event: ReviewEvent, _ policy: ReviewPromptPolicy, _ subject: Key, _ device: Key
    ) throws(ReviewPromptError) -> Step {
        grants += 1
        let decision = try ReviewPrompts.decide(
            event.donation, device: devices[device] ?? ReviewDeviceState(),
            subject: subjects[subject] ?? ReviewSubjectState(), policy: policy, zones: zones,
            environment: event.environment, now: event.receivedAt, grantID: String(grants),
            foresees: false)
        subjects[subject] = decision.subject
        devices[device] = decision.device
        guard case .ask(let grant) = decision.answer else {
            return Step(
                result: .held, isCounted: decision.isCounted,
                failing: decision.verdicts.filter { $0.result != .pass }.map(Failing.init))
        }
        let outcome: ReviewOutcome
        let result: Step.Result
        switch (event.hasActiveScene, event.report) {
        case (false, _):
            outcome = .notRequested(reason: Self.noActiveScene)
            result = .returned(reason: Self.noActiveScene)
        case (true, .requested): (outcome, result) = (.requested, .prompted(isSilent: false))
        case (true, .notRequested(let reason)):
            (outcome, result) = (.notRequested(reason: reason), .returned(reason: reason))
        case (true, .silent):
            return Step(result: .prompted(isSilent: true), isCounted: decision.isCounted)
        }
        let reported = try ReviewPrompts.recordOutcome(
            outcome, of: grant, device: decision.device, subject: decision.subject, policy: policy,
            now: event.receivedAt)
        subjects[subject] = reported.subject
        devices[device] = reported.device
        return Step(result: result, isCounted: decision.isCounted)
    }

    private static let noActiveScene = "noActiveScene"

    private func decide(
        _ event: ReviewEvent, _ treaty: Treaty, _ device: Key
    ) throws(ReviewPromptError) -> Step {
        let before = installs[device] ?? Treaty.Install()
        let decision = try treaty.decide(
            event.donation, install: before, hasActiveScene: event.hasActiveScene, zones: zones)
        installs[device] = decision.install
        let isCounted = decision.hold == nil || decision.hold == .countDiffers
        guard let hold = decision.hold else {
            return Step(result: .prompted(isSilent: event.report == .silent), isCounted: isCounted)
        }
        if hold == .noActiveScene {
            return Step(result: .returned(reason: Self.noActiveScene), isCounted: isCounted)
        }
        var failing = Failing(rule: rule(of: hold, event), cause: hold.rawValue)
        if hold == .countDiffers {
            failing.have = .count(decision.have)
            failing.need = .equal(.count(decision.need))
        }
        return Step(result: .held, isCounted: isCounted, failing: [failing])
    }

    /// What the policy calls the rule that holds.
    private func rule(of hold: Treaty.Hold, _ event: ReviewEvent) -> String {
        let limit = policy.limits.first { limit in
            switch (hold, limit.kind) {
            case (.tooSoon, .interval), (.alreadyPrompted, .perVersion): true
            default: false
            }
        }
        return limit?.name ?? event.donation.reason
    }
}

extension ReviewSimulation.Failing {
    init(_ verdict: RuleVerdict) {
        rule = verdict.rule
        cause = verdict.cause?.rawValue ?? verdict.result.rawValue
        have = verdict.have
        need = verdict.need
    }
}
