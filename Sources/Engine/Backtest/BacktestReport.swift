import Policies
import Time
import TrustInsights

/// What turned out to be true of an evaluation, as far as labels say.
public enum BacktestLabel: String, Sendable, CaseIterable {
    /// Confirmed as fraud.
    case fraud
    /// Suspected to be fraud.
    case suspected
    /// Confirmed as legitimate.
    case legitimate
    /// Without a label that counts.
    case unlabelled
    /// Not old enough to have a label that counts; in no rate.
    case tooYoung

    init(_ label: LabelValue?) {
        switch label {
        case .confirmedFraud: self = .fraud
        case .suspectedFraud: self = .suspected
        case .confirmedLegitimate: self = .legitimate
        case .retracted, nil: self = .unlabelled
        }
    }
}

/// What a backtest found.
///
/// Evaluations whose recorded decision raised friction are counted apart: what was stopped has no
/// true outcome, so no rate is made of them.
public struct BacktestReport: Sendable {
    /// Evaluations of one label, by what was decided then and what the candidate decides.
    public struct Row: Sendable, Equatable {
        /// Nothing yet.
        public init() {}

        /// Let through then, and now.
        public var letThrough: Int64 = 0
        /// Let through then; the candidate raises friction.
        public var newlyHeld: Int64 = 0
        /// Friction was raised then; the candidate does not.
        public var newlyLetThrough: Int64 = 0
        /// Friction was raised then, and is now.
        public var held: Int64 = 0

        /// Those let through then: what labels can speak of.
        public var letThroughThen: Int64 { letThrough + newlyHeld }
        /// Those held then.
        public var heldThen: Int64 { held + newlyLetThrough }
        /// All of them.
        public var total: Int64 { letThroughThen + heldThen }

        /// The part of those let through then that the candidate would hold.
        public var newlyHeldRate: Proportion { Proportion(newlyHeld, of: letThroughThen) }

        mutating func add(_ outcome: BacktestOutcome) {
            switch (outcome.wasRaised, outcome.isRaised) {
            case (false, false): letThrough += 1
            case (false, true): newlyHeld += 1
            case (true, false): newlyLetThrough += 1
            case (true, true): held += 1
            }
        }
    }

    /// One rule of the candidate over all evaluations judged.
    public struct Rule: Sendable, Equatable {
        /// The rule's id.
        public var id: String
        /// Whether it acts.
        public var mode: RuleMode
        /// How often it matched.
        public var matched: Int64 = 0
        /// How often it would have matched, but an earlier rule had decided. A rule without a
        /// condition always would, where the blocks around it do.
        public var wouldMatch: Int64 = 0
        /// How often its condition failed.
        public var failed: Int64 = 0
    }

    /// An evaluation to look at.
    public struct Example: Sendable, Equatable {
        /// Its id.
        public var evaluation: Identifier
        /// When it was received.
        public var at: Instant
    }

    /// Which examples: of a label, newly held or newly let through.
    public struct ExampleKind: Hashable, Sendable {
        /// What turned out to be true.
        public var label: BacktestLabel
        /// Newly held; else newly let through.
        public var isHeld: Bool

        /// Examples of a label and a change.
        public init(label: BacktestLabel, isHeld: Bool) {
            self.label = label
            self.isHeld = isHeld
        }
    }

    /// The candidate, as `name@version`.
    public let policy: String
    /// Evaluations of the policy's categories at any time.
    public var recorded: Int64 = 0
    /// When the first and the last of those were received.
    public var firstRecorded: Instant?
    /// See ``firstRecorded``.
    public var lastRecorded: Instant?
    /// Evaluations of the policy's categories in the period.
    public var evaluations: Int64 = 0
    /// When the first and the last of them were received.
    public var first: Instant?
    /// See ``first``.
    public var last: Instant?
    /// Under which policies they were recorded, with how many each.
    public var recordedPolicies: [String: Int64] = [:]
    /// Why evaluations were not judged, with how many each: records that lack an input.
    public var unjudged: [String: Int64] = [:]
    /// How many were scored anew, since another model was recorded or none.
    public var rescored: Int64 = 0
    /// Inputs of the model that were missing when scored anew, with how often each.
    public var missingInputs: [String: Int64] = [:]
    /// How many have another outcome than was recorded.
    public var otherOutcome: Int64 = 0
    /// How many have another output: friction, steps, hold or whom to notify.
    public var otherOutput: Int64 = 0
    /// By label.
    public var rows: [BacktestLabel: Row] = [:]
    /// By rule, in policy order.
    public var rules: [Rule]
    /// A few evaluations of each kind, in the order of the ledger.
    public var examples: [ExampleKind: [Example]] = [:]
    /// The conditions of the rules, by index; nil for a rule without one.
    let conditions: [Expression?]

    private var peopleHeldThen = Set<Pseudonym>()
    private var peopleHeldNow = Set<Pseudonym>()

    init(policy: TrustPolicy) {
        self.policy = policy.reference
        rules = policy.rules.map { Rule(id: $0.id, mode: $0.mode) }
        conditions = Self.conditions(of: policy.rule, count: policy.rules.count)
    }

    private static func conditions(of block: RuleBlock, count: Int) -> [Expression?] {
        var conditions = [Expression?](repeating: nil, count: count)
        var pending = [block]
        while let next = pending.popLast() {
            for match in next.matches {
                conditions[match.index] = match.condition
                if case .block(let inner) = match.action { pending.append(inner) }
            }
        }
        return conditions
    }

    mutating func add(_ outcome: BacktestOutcome, _ label: BacktestLabel, examples limit: Int) {
        rows[label, default: Row()].add(outcome)
        if !outcome.isSame { otherOutput += 1 }
        if outcome.wasRaised { peopleHeldThen.insert(outcome.subject) }
        if outcome.isRaised { peopleHeldNow.insert(outcome.subject) }
        guard outcome.wasRaised != outcome.isRaised else { return }
        let kind = ExampleKind(label: label, isHeld: outcome.isRaised)
        if examples[kind, default: []].count < limit {
            examples[kind, default: []].append(
                Example(evaluation: outcome.evaluation, at: outcome.at))
        }
    }

    // MARK: Figures

    /// How many were judged.
    public var judged: Int64 { rows.values.reduce(0) { $0 + $1.total } }

    /// The row of a label.
    public func row(_ label: BacktestLabel) -> Row { rows[label] ?? Row() }

    /// All rows of labels that count, together.
    public var total: Row { rows.total }

    /// People who were interrupted at least once, then.
    public var peopleInterruptedThen: Int { peopleHeldThen.count }
    /// People whom the candidate would interrupt at least once.
    public var peopleInterruptedNow: Int { peopleHeldNow.count }

    /// Fraud that the candidate would hold and that was let through, less fraud it would let
    /// through and that was held.
    public var moreFraudHeld: Int64 { row(.fraud).newlyHeld - row(.fraud).newlyLetThrough }

    /// The friction cost: how many people more are interrupted for each fraud more that is held;
    /// nil where no more fraud is held.
    public var peoplePerFraud: Double? {
        guard moreFraudHeld > 0 else { return nil }
        return Double(peopleInterruptedNow - peopleInterruptedThen) / Double(moreFraudHeld)
    }
}

extension [BacktestLabel: BacktestReport.Row] {
    /// All rows together.
    public var total: BacktestReport.Row {
        values.reduce(into: BacktestReport.Row()) { sum, row in
            sum.letThrough += row.letThrough
            sum.newlyHeld += row.newlyHeld
            sum.newlyLetThrough += row.newlyLetThrough
            sum.held += row.held
        }
    }
}

/// A part of a whole, with how sure its rate is.
public struct Proportion: Sendable, Equatable {
    /// How many of them.
    public var count: Int64
    /// Of how many.
    public var of: Int64

    /// So many of so many.
    public init(_ count: Int64, of whole: Int64) {
        self.count = count
        of = whole
    }

    /// The rate, 0…1; nil where there is nothing to have a rate of.
    public var rate: Double? { of > 0 ? Double(count) / Double(of) : nil }

    /// The 95 % confidence interval of the rate by Wilson's score method (E. B. Wilson, 1927),
    /// which holds for small numbers and for rates near 0 and 1.
    public var interval: ClosedRange<Double>? {
        guard of > 0 else { return nil }
        let z = 1.959963984540054
        let n = Double(of)
        let p = Double(count) / n
        let middle = p + z * z / (2 * n)
        let reach = z * (p * (1 - p) / n + z * z / (4 * n * n)).squareRoot()
        let whole = 1 + z * z / n
        return max(0, (middle - reach) / whole)...min(1, (middle + reach) / whole)
    }
}
