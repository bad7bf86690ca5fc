import CEL
import JSON
import Ledger
import Policies
import Time
import TrustInsights

/// What became of one test of a policy.
public struct PolicyTestResult: Sendable {
    /// The file of the test.
    public var path: String
    /// The line in that file, from 1; 0 if it is not known.
    public var line: Int
    /// The policy.
    public var policy: String
    /// The section's name.
    public var section: String
    /// The test's name.
    public var name: String
    /// What was expected and what came; empty for a test that passed.
    public var failures: [String]
    /// What became of every rule, for a failed test of a trust or review-prompt policy (of the
    /// latter at the step that failed first).
    public var rules: JSONValue?
    /// How the rules came to their verdicts, for a failed test of a trust or plain policy.
    public var trace: PolicyTrace?

    /// A result of these parts.
    public init(
        path: String, line: Int, policy: String, section: String, name: String,
        failures: [String], rules: JSONValue? = nil
    ) {
        self.path = path
        self.line = line
        self.policy = policy
        self.section = section
        self.name = name
        self.failures = failures
        self.rules = rules
    }
}

/// Judges events that were written down instead of sent: for tests and `eval`. It is the same
/// code that judges in earnest, from the values on.
public struct Trial: Sendable {
    private let acting: ActingPolicy
    private static let tenant = Tenant(app: "trial", environment: .sandbox)

    /// Trials of a policy, with the models of its set.
    public init(_ policy: TrustPolicy, in set: PolicySet) {
        acting = ActingPolicy(policy, in: set)
    }

    /// The policy.
    public var policy: TrustPolicy { acting.policy }

    /// What fills the windows when the event of a test is judged.
    public func windows(of test: PolicyTests.Test, _ record: EvaluationRecord) throws(Refusal)
        -> [WindowContent]
    {
        let events = try events(test.history)
        return WindowContent.all(
            of: acting.policy, record, earlier: events.map { (event: $0, evaluation: nil) })
    }

    private func events(_ history: [PolicyTests.Event]) throws(Refusal) -> [VelocityEvent] {
        var events: [VelocityEvent] = []
        for event in history.sorted(by: { $0.at < $1.at }) {
            events.append(
                VelocityEvent(
                    at: event.at, category: event.category,
                    attributes: try self.history(event.attributes)))
        }
        return events
    }

    /// Judges the event of a test.
    public func judge(_ test: PolicyTests.Test) throws(Refusal) -> EvaluationRecord {
        let input = test.input
        let attributes = try attributes(input.attributes)
        let events = try events(test.history)
        let authorization = AuthorizationStatus(rawValue: input.authorization) ?? .authorized
        let device = input.deviceValue.map { DeviceResult(value: $0) }
        let nobody = Pseudonymizer(key: []).subject("", of: Self.tenant)
        let command = EvaluateCommand(
            tenant: Self.tenant, requestID: test.name, subject: nobody, action: nobody,
            category: input.category, attributes: .success(attributes),
            policyDigest: acting.reference.digest, device: device)
        let context = EvaluationContext(
            tenant: Self.tenant, now: test.now,
            evaluationID: Identifier(at: test.now, sequence: 1, ordinal: 0, chance: 0),
            configuration: Configuration(), configurationDigest: "", acting: acting,
            subject: SubjectState())
        var judging = Judging(
            command: command, attributes: attributes, acting: acting, context: context,
            events: VelocityEvents(events),
            authorization: (authorization, input.authorizationEndsAt))
        judging.standIn = input.insight.map { insight in
            InsightResult(
                outcome: insight.outcome, score: insight.score,
                modelVersion: acting.actingModelVersion,
                degraded: insight.isDegraded ? "stated by the test" : nil)
        }
        var activation = Activation(acting.policy.environment)
        return judging.record(&activation)
    }

    /// Every rule's verdict with what it read.
    public func rules(of record: EvaluationRecord) -> JSONValue {
        var writer = JSONWriter()
        record.writeRules(to: &writer, policy: acting.policy)
        return (try? JSONReader.parse(writer.bytes)) ?? .null
    }

    /// How every rule came to its verdict.
    public func trace(of record: EvaluationRecord) -> PolicyTrace {
        PolicyTrace(record, acting.policy)
    }

    private func attributes(_ given: [PolicyTests.Attribute]) throws(Refusal)
        -> [RecordedAttribute]
    {
        try acting.readAttributes(
            JSONObject(given.map { ($0.name, $0.value) }), at: "/attributes",
            pseudonymizer: Pseudonymizer(key: []), tenant: Self.tenant)
    }

    /// An earlier event may have been of another policy, with other attributes: those that this
    /// one declares are read as it declares them, the rest by what they look like.
    private func history(_ given: [PolicyTests.Attribute]) throws(Refusal) -> [RecordedAttribute] {
        var recorded: [RecordedAttribute] = []
        for attribute in given {
            guard let declaration = acting.policy.attribute(named: attribute.name) else {
                if let value = RecordedValue(attribute.value) {
                    recorded.append(RecordedAttribute(name: attribute.name, value: value))
                }
                continue
            }
            switch declaration.check(attribute.value) {
            case .failure(let refusal):
                throw Refusal(.contextInvalid, "history: \(refusal.message)")
            case .success(let value):
                let maker = Pseudonymizer(key: [])
                let digest = maker.value(value.text, of: attribute.name, tenant: Self.tenant)
                recorded.append(
                    RecordedAttribute(
                        name: attribute.name,
                        value: declaration.isStored ? .value(value) : .digest(digest.text)))
            }
        }
        return recorded
    }
}

extension PolicyTests.Expectation {
    /// What a record does not fulfil.
    func failures(of record: EvaluationRecord, policy: TrustPolicy) -> [String] {
        var failures: [String] = []
        func compare<T: Equatable>(_ what: String, _ expected: T?, _ actual: T) {
            guard let expected, expected != actual else { return }
            failures.append("\(what): expected \(Self.show(expected)), got \(Self.show(actual))")
        }
        let output = record.decision.output
        compare("outcome", outcome, record.acting.outcome ?? .unknown)
        compare("degraded", isDegraded, record.acting.degraded != nil)
        compare("friction", friction, output.friction)
        compare("steps", steps?.steps, output.steps.steps)
        switch holdFor {
        case .lasting(let hold)?: compare("holdFor", hold, output.holdFor ?? .zero)
        case PolicyTests.Expectation.Hold.none?:
            compare("holdFor", Duration.zero, output.holdFor ?? .zero)
        case nil: break
        }
        compare("notify", notify?.sorted(), output.notify.sorted())
        let byName = { (names: Set<String>) -> [String] in
            zip(policy.rules, record.verdicts).filter { names.contains($1.name) }.map(\.0.id)
                .sorted()
        }
        compare("matched", matched?.sorted(), byName(["matched"]))
        compare("notMatched", notMatched?.sorted(), byName(["notMatched"]))
        compare("notEvaluated", notEvaluated?.sorted(), byName(["notEvaluated"]))
        compare("errored", errored?.sorted(), byName(["error"]))
        for explanation in explanations ?? [] {
            let given = record.decision.reasons.first { $0.rule == explanation.rule }?.explanation
            compare("explanation of \(explanation.rule)", explanation.text, given ?? "none")
        }
        return failures
    }

    private static func show(_ value: Any) -> String {
        switch value {
        case let outcome as Outcome: outcome.rawValue
        case let friction as Friction: friction.name
        case let steps as [Step]: "[" + steps.map(\.name).joined(separator: ", ") + "]"
        case let names as [String]: "[" + names.joined(separator: ", ") + "]"
        case let duration as Duration: duration == .zero ? "none" : duration.policyText
        default: "\(value)"
        }
    }
}
