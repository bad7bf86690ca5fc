import Glibc
import Policies

/// A value that a model reads.
public enum FeatureValue: Sendable, Hashable {
    case bool(Bool)
    case number(Double)
    case string(String)
}

/// What a scorecard made of an event.
public struct ScorecardResult: Sendable, Hashable {
    /// What one input added.
    public struct Contribution: Sendable, Hashable {
        /// The input's name, such as `device.value`; `bias` for what a logistic sum starts from.
        public let input: String
        /// For points the share of the score, in 0…1: shares add up to the score. For logistic
        /// the share of the sum before the logistic function.
        public let amount: Double
    }

    /// The score in 0…1; nil where nothing was left to score.
    public let score: Double?
    /// Whether an input failed, a required one was missing, or nothing was left.
    public let isDegraded: Bool
    /// What each input that was there added, in the order of the file.
    public let contributions: [Contribution]
    /// The inputs that were missing, in the order of the file. Missing is not zero.
    public let missing: [String]
    /// The inputs whose value could not be read as the scorecard says, in the order of the file.
    public let failed: [String]
}

/// A scorecard, ready to run. Pure: the same features give the same result.
///
/// Each input that is there gives a *reading* r: its value (`true` is 1, `false` 0), the points of
/// its band, or the points of its text. With weights w and the sums over the inputs that are there:
///
/// * points: score = Σ w·r ∕ Σ w, rounded to six decimals
/// * logistic: score = 1 ∕ (1 + exp(−(bias + Σ w·r)))
///
/// An input that is missing or fails is in neither sum, so it pulls the score nowhere. A missing
/// one is recorded; a failed one also makes the result degraded. Without a required input, or with
/// no input at all, there is no score.
public struct Scorecard: Sendable {
    private let definition: ScorecardDefinition

    /// A scorecard as its file states it.
    public init(_ definition: ScorecardDefinition) { self.definition = definition }

    /// The names of what it reads, in the order of the file.
    public var inputs: [String] { definition.inputs.map(\.name) }

    /// Scores an event. `feature` gives the value of an input by its place in ``inputs``, nil
    /// where it is missing.
    public func evaluate(at feature: (Int) -> FeatureValue?) -> ScorecardResult {
        var parts: [(name: String, weight: Double, product: Double)] = []
        parts.reserveCapacity(definition.inputs.count)
        var missing: [String] = []
        var failed: [String] = []
        var lacksRequired = false
        for (index, input) in definition.inputs.enumerated() {
            guard let value = feature(index) else {
                missing.append(input.name)
                lacksRequired = lacksRequired || input.isRequired
                continue
            }
            guard let reading = reading(value, input.reading), (input.weight * reading).isFinite
            else {
                failed.append(input.name)
                lacksRequired = lacksRequired || input.isRequired
                continue
            }
            parts.append((input.name, input.weight, input.weight * reading))
        }
        let score = lacksRequired || parts.isEmpty ? nil : self.score(parts)
        return ScorecardResult(
            score: score, isDegraded: score == nil || !failed.isEmpty,
            contributions: contributions(parts), missing: missing, failed: failed)
    }

    private func score(_ parts: [(name: String, weight: Double, product: Double)]) -> Double? {
        let sum = parts.reduce(0) { $0 + $1.product }
        switch definition.method {
        case .points:
            let weights = parts.reduce(0) { $0 + $1.weight }
            guard weights > 0, weights.isFinite, sum.isFinite else { return nil }
            // A mean of readings in 0…1 is in 0…1 but for rounding. Points are set by hand to two
            // digits: more than six in the score would only show the arithmetic of doubles.
            return (min(max(sum / weights, 0), 1) * 1e6).rounded() / 1e6
        case .logistic:
            let margin = definition.bias + sum
            // Infinities of opposite sign give no number, which is no score.
            return margin.isNaN ? nil : 1 / (1 + exp(-margin))
        }
    }

    private func contributions(
        _ parts: [(name: String, weight: Double, product: Double)]
    ) -> [ScorecardResult.Contribution] {
        switch definition.method {
        case .points:
            let weights = parts.reduce(0) { $0 + $1.weight }
            return parts.map { .init(input: $0.name, amount: $0.product / weights) }
        case .logistic:
            return [.init(input: "bias", amount: definition.bias)]
                + parts.map { .init(input: $0.name, amount: $0.product) }
        }
    }

    /// The number an input stands for; nil where its value is not of the kind that is wanted.
    private func reading(_ value: FeatureValue, _ reading: ScorecardDefinition.Reading) -> Double? {
        switch (reading, value) {
        case (.direct, .bool(let flag)): return flag ? 1 : 0
        case (.direct, .number(let number)):
            // A mean of points needs points.
            let isFine = definition.method == .logistic || (0...1).contains(number)
            return isFine && number.isFinite ? number : nil
        case (.bands(let bands), .number(let number)) where !number.isNaN:
            return bands.last { number >= $0.from }?.points
        case (.values(let values), .string(let text)):
            return values.first { $0.value == text }?.points
        case (.values(let values), .bool(let flag)):
            return values.first { $0.value == (flag ? "true" : "false") }?.points
        case (.direct, .string), (.bands, _), (.values, .number): return nil
        }
    }
}
