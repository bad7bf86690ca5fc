import Policies
import Time
import TrustInsights

/// What acted, against what shadow rules and policies in shadow would have done, on recorded
/// evaluations. Nothing is judged again: both decisions are in the entries.
public final class ShadowComparison {
    /// Whose decisions are compared with those that acted.
    public struct Source: Hashable, Sendable {
        /// The policy.
        public var policy: VersionReference
        /// Whether the whole policy ran in shadow; else it acted and its shadow rules would have.
        public var isWhole: Bool
    }

    fileprivate struct Comparison {
        var report: ShadowReport
        var outcomes: [BacktestOutcome] = []
    }

    private let options: Backtest.Options
    private let policy: String?
    private var comparisons: [Source: Comparison] = [:]
    private var reviews: [VersionReference: ReviewShadowReport] = [:]
    private var labels: [Identifier: [Label]] = [:]
    private var latest: Instant?

    /// A comparison; of one policy if it is named, by its name or `name@version`.
    public init(of policy: String? = nil, _ options: Backtest.Options) {
        self.policy = policy
        self.options = options
    }

    /// Takes one recorded evaluation, read with its shadows, in the order of the ledger.
    public func take(_ record: RecordedEvaluation) {
        latest = latest.map { max($0, record.receivedAt) } ?? record.receivedAt
        guard isInPeriod(record.receivedAt) else { return }
        if let output = record.shadowOutput {
            compare(record, with: output, Source(policy: record.policy, isWhole: false))
        }
        if let shadow = record.shadowPolicy {
            compare(record, with: shadow.output, Source(policy: shadow.policy, isWhole: true))
        }
    }

    /// Takes one recorded donation.
    public func take(_ donation: RecordedDonation) {
        guard isInPeriod(donation.receivedAt), isMeant(donation.shadow) else { return }
        reviews[donation.shadow, default: ReviewShadowReport(policy: donation.shadow)]
            .add(donation, examples: options.examples)
    }

    private func isInPeriod(_ instant: Instant) -> Bool {
        options.since.map { instant >= $0 } ?? true && options.until.map { instant <= $0 } ?? true
    }

    private func isMeant(_ reference: VersionReference) -> Bool {
        policy == nil || policy == reference.name || policy == reference.text
    }

    /// Takes one recorded label.
    public func take(_ record: LabelRecord, sequence: Int64) {
        latest = latest.map { max($0, record.receivedAt) } ?? record.receivedAt
        labels[record.evaluationID, default: []].append(record.label(sequence: sequence))
    }

    private func compare(
        _ record: RecordedEvaluation, with output: DecisionOutput, _ source: Source
    ) {
        guard isMeant(source.policy) else { return }
        comparisons[source, default: Comparison(report: ShadowReport(source: source))].add(
            record, output)
    }

    /// What was found of review policies, by name and version.
    public func finishReviews() -> [ReviewShadowReport] {
        reviews.values.sorted {
            ($0.policy.name, $0.policy.version) < ($1.policy.name, $1.policy.version)
        }
    }

    /// What was found, by source: whole policies first, by name and version. Labels count as they
    /// stand after the last entry that was taken.
    public func finish() -> [ShadowReport] {
        let newest = options.mature.flatMap { span in latest.map { $0 - span } }
        return comparisons.values.map { comparison in
            var report = comparison.report
            for outcome in comparison.outcomes {
                let label = labels[outcome.evaluation]?.current?.label
                let isYoung = newest.map { outcome.at > $0 } ?? false
                report.add(
                    outcome, isYoung ? .tooYoung : BacktestLabel(label), examples: options.examples)
            }
            return report
        }.sorted { left, right in
            if left.source.isWhole != right.source.isWhole { return left.source.isWhole }
            return (left.source.policy.name, left.source.policy.version)
                < (right.source.policy.name, right.source.policy.version)
        }
    }
}

extension ShadowComparison.Comparison {
    fileprivate mutating func add(_ record: RecordedEvaluation, _ output: DecisionOutput) {
        report.evaluations += 1
        report.first = report.first ?? record.receivedAt
        report.last = record.receivedAt
        report.actingPolicies[record.policy.text, default: 0] += 1
        report.table[
            ShadowReport.Pair(acting: record.output.friction, shadow: output.friction), default: 0
        ] += 1
        if output != record.output { report.otherOutput += 1 }
        outcomes.append(
            BacktestOutcome(
                evaluation: record.evaluationID, subject: record.subject, at: record.receivedAt,
                wasRaised: record.output.friction == .increased,
                isRaised: output.friction == .increased, isSame: output == record.output))
    }
}

/// What acted against one shadow.
public struct ShadowReport: Sendable {
    /// Friction as it was, and as the shadow would have had it.
    public struct Pair: Hashable, Sendable {
        /// What acted.
        public var acting: Friction
        /// What the shadow said.
        public var shadow: Friction

        /// One of each.
        public init(acting: Friction, shadow: Friction) {
            self.acting = acting
            self.shadow = shadow
        }
    }

    /// The shadow.
    public let source: ShadowComparison.Source
    /// How many evaluations have both decisions.
    public var evaluations: Int64 = 0
    /// When the first and the last of them were received.
    public var first: Instant?
    /// See ``first``.
    public var last: Instant?
    /// Which policies acted, with how many each.
    public var actingPolicies: [String: Int64] = [:]
    /// How many of each pair.
    public var table: [Pair: Int64] = [:]
    /// How many differ in friction, steps, hold or whom to notify.
    public var otherOutput: Int64 = 0
    /// By label; `then` is what acted, `newly` what the shadow would have done.
    public var rows: [BacktestLabel: BacktestReport.Row] = [:]
    /// A few evaluations of each kind, in the order of the ledger.
    public var examples: [BacktestReport.ExampleKind: [BacktestReport.Example]] = [:]

    init(source: ShadowComparison.Source) { self.source = source }

    mutating func add(_ outcome: BacktestOutcome, _ label: BacktestLabel, examples limit: Int) {
        rows[label, default: BacktestReport.Row()].add(outcome)
        guard outcome.wasRaised != outcome.isRaised else { return }
        let kind = BacktestReport.ExampleKind(label: label, isHeld: outcome.isRaised)
        if examples[kind, default: []].count < limit {
            examples[kind, default: []].append(
                BacktestReport.Example(evaluation: outcome.evaluation, at: outcome.at))
        }
    }
}
