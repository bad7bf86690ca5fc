import CEL
import Ledger
import Policies
import Scoring
import Time
import TrustInsights

/// What a candidate policy would have decided, had it acted on evaluations that were recorded.
///
/// Takes entries in the order of the ledger and judges each evaluation with what was known at
/// its time and nothing later: velocity windows hold the subject's evaluations before it, labels
/// are only looked at in the end, to sort what was found. Judging is the code that judges in
/// earnest. Nothing is written.
public final class Backtest {
    /// Whose evaluations, and which of them.
    public struct Options: Sendable {
        /// The app and environment.
        public var tenant: Tenant
        /// Evaluations from this instant on are judged; those before it only fill windows.
        public var since: Instant?
        /// Evaluations up to this instant, itself included, are judged.
        public var until: Instant?
        /// How old an evaluation must be, at the last entry, for its lack of a label to say
        /// something. Younger ones are counted and left out of all rates.
        public var mature: Duration?
        /// How many examples of each kind are kept.
        public var examples = 3

        /// All evaluations of an app in an environment.
        public init(tenant: Tenant) { self.tenant = tenant }
    }

    private let options: Options
    private let candidate: ActingPolicy
    private let horizon: Duration
    private var activation: Activation
    /// Earlier evaluations of each subject, the latest last, as far as windows reach.
    private var events: [Pseudonym: VelocityEvents] = [:]
    private var labels: [Identifier: [Label]] = [:]
    private var outcomes: [BacktestOutcome] = []
    private var report: BacktestReport
    private var latest: Instant?
    private var recordedPolicy: (reference: VersionReference, name: String)?

    /// Is told what each evaluation that was judged came to.
    public var onJudgement: ((RecordedEvaluation, Judgement) -> Void)?

    /// A run of a policy with the models of its set.
    public init(_ policy: TrustPolicy, in set: PolicySet, _ options: Options) {
        self.options = options
        candidate = ActingPolicy(policy, in: set)
        horizon = candidate.horizon
        activation = Activation(policy.environment)
        report = BacktestReport(policy: policy)
    }

    /// The instant from which on entries matter: the longest window before the period.
    public var needsEntriesSince: Instant? { options.since.map { $0 - horizon } }

    // MARK: Entries

    /// Takes one recorded evaluation.
    public func take(_ record: RecordedEvaluation) {
        note(record.receivedAt)
        guard candidate.policy.categories.contains(record.category) else {
            // Another policy's events may still fill windows that name their category.
            return remember(record)
        }
        report.recorded += 1
        report.firstRecorded = report.firstRecorded ?? record.receivedAt
        report.lastRecorded = record.receivedAt
        if isInPeriod(record.receivedAt) { judge(record) }
        remember(record)
    }

    /// Takes one recorded label.
    public func take(_ record: LabelRecord, sequence: Int64) {
        note(record.receivedAt)
        labels[record.evaluationID, default: []].append(record.label(sequence: sequence))
    }

    private func note(_ instant: Instant) { latest = latest.map { max($0, instant) } ?? instant }

    private func isInPeriod(_ instant: Instant) -> Bool {
        options.since.map { instant >= $0 } ?? true && options.until.map { instant <= $0 } ?? true
    }

    private func remember(_ record: RecordedEvaluation) {
        guard horizon > .zero else { return }
        let event = VelocityEvent(
            at: record.receivedAt, category: record.category, attributes: record.attributes)
        let start = record.receivedAt - horizon
        // What has left every window is dropped, when there is enough of it to be worth a copy.
        if let count = events[record.subject]?.count, count >= 64, count & (count - 1) == 0 {
            let gone = events[record.subject]?.times.prefix { $0 <= start }.count ?? 0
            events[record.subject]?.removeFirst(gone)
        }
        events[record.subject, default: VelocityEvents()].append(event)
    }

    // MARK: Judging

    private func judge(_ record: RecordedEvaluation) {
        report.evaluations += 1
        report.first = report.first ?? record.receivedAt
        report.last = record.receivedAt
        if record.policy != recordedPolicy?.reference {
            recordedPolicy = (record.policy, "\(record.policy.name)@\(record.policy.version)")
        }
        report.recordedPolicies[recordedPolicy?.name ?? "", default: 0] += 1
        let attributes: [RecordedAttribute]
        switch candidate.policy.readable(record.attributes) {
        case .success(let readable): attributes = readable
        case .failure(let lack):
            report.unjudged[lack.description, default: 0] += 1
            return
        }
        let policy = candidate.policy
        let earlier = events[record.subject] ?? VelocityEvents()
        let velocity = policy.velocity.map {
            $0.value(of: earlier, at: record.receivedAt, judging: attributes)
        }
        let facts = Facts(
            category: record.category, attributes: attributes, velocity: velocity,
            device: record.device, authorization: record.authorization,
            authorizationEndsAt: record.authorizationEndsAt, now: record.receivedAt)
        let insight = insight(of: record, facts)
        let judgement = facts.judge(by: policy, insight: insight, &activation)
        count(judgement)
        onJudgement?(record, judgement)
        if insight.outcome != record.insight.outcome { report.otherOutcome += 1 }
        outcomes.append(
            BacktestOutcome(
                evaluation: record.evaluationID, subject: record.subject,
                at: record.receivedAt,
                wasRaised: record.output.friction == .increased,
                isRaised: judgement.decision.output.friction == .increased,
                isSame: judgement.decision.output == record.output))
    }

    /// The recorded score where the same model gave it; else what the candidate's model says.
    private func insight(of record: RecordedEvaluation, _ facts: Facts) -> InsightResult {
        let version = candidate.actingModelVersion
        guard record.authorization == .authorized else {
            return InsightResult(outcome: .unknown, modelVersion: version)
        }
        if record.isForced { return record.insight }
        guard let model = candidate.model, let thresholds = candidate.policy.model else {
            return InsightResult(outcome: .unknown, modelVersion: version)
        }
        if record.model == model.reference {
            var insight = record.insight
            insight.modelVersion = version
            insight.outcome = insight.score.map { thresholds.outcome(score: $0) } ?? .unknown
            return insight
        }
        report.rescored += 1
        let insight = facts.score(
            by: model, sources: candidate.sources(of: model), thresholds: thresholds)
        for input in insight.missing { report.missingInputs[input, default: 0] += 1 }
        return insight
    }

    private func count(_ judgement: Judgement) {
        for (index, verdict) in judgement.verdicts.enumerated() {
            if verdict.isMatch {
                report.rules[index].matched += 1
            } else if verdict == .skipped, wouldMatch(index, judgement.verdicts) {
                report.rules[index].wouldMatch += 1
            }
            if verdict == .failed || verdict == .matchedOnFailure {
                report.rules[index].failed += 1
            }
        }
    }

    /// Whether a rule that was not reached would have matched: its condition holds, if it has one,
    /// and so do those of the blocks around it.
    private func wouldMatch(_ index: Int, _ verdicts: [Verdict]) -> Bool {
        var next: Int? = index
        while let rule = next {
            if !verdicts[rule].isMatch {
                guard verdicts[rule] == .skipped else { return false }
                if let condition = report.conditions[rule] {
                    guard case .matched = condition.program.evaluateCondition(&activation) else {
                        return false
                    }
                }
            }
            next = candidate.policy.rules[rule].parent
        }
        return true
    }

    // MARK: The report

    /// What was found. Labels count as they stand after the last entry that was taken.
    public func finish() -> BacktestReport {
        let newest = options.mature.flatMap { span in latest.map { $0 - span } }
        for outcome in outcomes {
            let label = labels[outcome.evaluation]?.current?.label
            let isYoung = newest.map { outcome.at > $0 } ?? false
            report.add(
                outcome, isYoung ? .tooYoung : BacktestLabel(label), examples: options.examples)
        }
        outcomes.removeAll()
        return report
    }
}

/// What became of one evaluation, then and now.
struct BacktestOutcome {
    var evaluation: Identifier
    var subject: Pseudonym
    var at: Instant
    /// Whether the recorded decision raised friction.
    var wasRaised: Bool
    /// Whether the candidate's does.
    var isRaised: Bool
    /// Whether both put out the same: friction, steps, hold and whom to notify.
    var isSame: Bool
}

extension TrustPolicy {
    /// Why a record cannot be judged by a policy.
    struct Lack: Error, CustomStringConvertible {
        var description: String
    }

    /// Recorded attributes as this policy reads them, or what it needs and they lack.
    fileprivate func readable(_ recorded: [RecordedAttribute])
        -> Result<[RecordedAttribute], Lack>
    {
        var result = recorded
        for declaration in attributes {
            guard let place = result.firstIndex(where: { $0.name == declaration.name }) else {
                if declaration.isOptional { continue }
                return .failure(
                    Lack(description: "attributes.\(declaration.name) was not recorded"))
            }
            guard let value = declaration.read(result[place].value) else {
                return .failure(
                    Lack(
                        description: "attributes.\(declaration.name) was recorded otherwise"
                            + " than the policy declares it"))
            }
            // What a caller would be refused for, today's request would not get past either.
            if case .value(let known) = value, let refusal = declaration.refusal(of: known) {
                return .failure(
                    Lack(
                        description: "attributes.\(declaration.name) would be refused: "
                            + refusal.allowed.joined(separator: ", ")))
            }
            result[place].value = value
        }
        return .success(result)
    }
}

extension AttributeDeclaration {
    /// A recorded value as this declaration has it; nil where it is of another kind.
    fileprivate func read(_ value: RecordedValue) -> RecordedValue? {
        guard case .value(let known) = value else { return isStored ? nil : value }
        switch (known, type) {
        case (.int(let number), .double): return .value(.double(Double(number)))
        case (.bool, .bool), (.int, .int), (.double, .double), (.string, .string),
            (.timestamp, .timestamp):
            return value
        default: return nil
        }
    }
}
