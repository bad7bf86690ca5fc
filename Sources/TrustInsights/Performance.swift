import Policies

/// How well outcomes agree with what turned out to be true.
///
/// Positive is `confirmedFraud`, negative `confirmedLegitimate`. Suspected and unlabelled
/// evaluations are in neither count, whatever a report makes of them elsewhere: they are what
/// `coverage` speaks of. So a share of few labels never reads like one of many.
public struct Performance: Sendable, Equatable {
    /// Evaluations of one outcome, by their current label.
    public struct Row: Sendable, Equatable {
        /// Confirmed as fraud.
        public var fraud: Int64 = 0
        /// Suspected to be fraud.
        public var suspected: Int64 = 0
        /// Confirmed as legitimate.
        public var legitimate: Int64 = 0
        /// Without a label that counts.
        public var unlabelled: Int64 = 0

        /// No evaluations.
        public init() {}

        /// All evaluations of the outcome.
        public var total: Int64 { fraud + suspected + legitimate + unlabelled }

        mutating func add(_ label: LabelValue?) {
            switch label {
            case .confirmedFraud: fraud += 1
            case .suspectedFraud: suspected += 1
            case .confirmedLegitimate: legitimate += 1
            case .retracted, nil: unlabelled += 1
            }
        }
    }

    /// What a threshold of outcomes would have found.
    public struct Figures: Sendable, Equatable {
        /// Fraud that the outcomes named.
        public var truePositives: Int64 = 0
        /// Legitimate actions that they named.
        public var falsePositives: Int64 = 0
        /// Fraud that they did not name.
        public var falseNegatives: Int64 = 0
        /// Legitimate actions that they did not name.
        public var trueNegatives: Int64 = 0
        /// Evaluations that they named, labelled or not.
        public var named: Int64 = 0

        /// The part of the named and labelled that is fraud; `nil` without any.
        public var precision: Double? { Self.share(truePositives, truePositives + falsePositives) }
        /// The part of the labelled fraud that was named; `nil` without any.
        public var recall: Double? { Self.share(truePositives, truePositives + falseNegatives) }
        /// The part of the named that is labelled, so that precision speaks of it; `nil`
        /// without any.
        public var coverage: Double? { Self.share(truePositives + falsePositives, named) }

        private static func share(_ part: Int64, _ whole: Int64) -> Double? {
            whole > 0 ? Double(part) / Double(whole) : nil
        }
    }

    /// By outcome.
    public private(set) var rows: [Outcome: Row] = [:]

    /// Nothing counted yet.
    public init() {}

    /// Counts an evaluation with its current label.
    public mutating func add(_ outcome: Outcome, _ label: LabelValue?) {
        rows[outcome, default: Row()].add(label)
    }

    /// The figures where these outcomes count as naming fraud.
    public func figures(naming outcomes: Set<Outcome>) -> Figures {
        var figures = Figures()
        for (outcome, row) in rows {
            if outcomes.contains(outcome) {
                figures.truePositives += row.fraud
                figures.falsePositives += row.legitimate
                figures.named += row.total
            } else {
                figures.falseNegatives += row.fraud
                figures.trueNegatives += row.legitimate
            }
        }
        return figures
    }
}
