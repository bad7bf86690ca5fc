/// A checked model file: what scores an event.
public struct ModelFile: Sendable {
    /// What a model is made of.
    public enum Definition: Sendable {
        /// Points or a logistic sum of a few inputs.
        case scorecard(ScorecardDefinition)
    }

    /// The model's name.
    public let name: String
    /// The model's version, from 1.
    public let version: Int
    /// What the model is, in prose; empty where the file says nothing.
    public let description: String
    /// Where the model comes from, in file order: who made it, from what data, when, for what.
    public let provenance: [ProvenanceEntry]
    /// What it is made of.
    public let definition: Definition
    /// The file.
    public let source: PolicySource

    /// One statement about where a model comes from.
    public struct ProvenanceEntry: Sendable, Hashable {
        /// What is stated, such as `data`.
        public let name: String
        /// The statement.
        public let text: String
    }

    package init(
        name: String, version: Int, description: String, provenance: [ProvenanceEntry],
        definition: Definition, source: PolicySource
    ) {
        self.name = name
        self.version = version
        self.description = description
        self.provenance = provenance
        self.definition = definition
        self.source = source
    }

    /// `name@version`.
    public var reference: String { "\(name)@\(version)" }

    /// The names of the inputs without which it gives no score, in file order.
    var requiredInputs: [String] {
        switch definition {
        case .scorecard(let card): card.inputs.filter(\.isRequired).map(\.name)
        }
    }

    /// The names of what it reads, such as `device.value`, in file order.
    public var inputs: [String] {
        switch definition {
        case .scorecard(let card): card.inputs.map(\.name)
        }
    }
}

/// A scorecard as its file states it. What it computes is written at `Scorecard` in `Scoring`.
public struct ScorecardDefinition: Sendable, Hashable {
    /// How readings become a score.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// The weighted mean of the readings, each in 0…1.
        case points
        /// The logistic function of the bias and the weighted sum.
        case logistic
    }

    /// How the value of an input becomes a number.
    public enum Reading: Sendable, Hashable {
        /// The value itself; true is 1 and false is 0.
        case direct
        /// The points of the band that the number falls into, bands ascending.
        case bands([Band])
        /// The points of the text; `true` and `false` for truth values.
        case values([ValuePoints])
    }

    /// Numbers from a limit up to the next band's.
    public struct Band: Sendable, Hashable {
        /// The least number of the band; minus infinity for the first.
        public let from: Double
        /// What the band is worth.
        public let points: Double

        package init(from: Double, points: Double) {
            self.from = from
            self.points = points
        }
    }

    /// What one text is worth.
    public struct ValuePoints: Sendable, Hashable {
        /// The text.
        public let value: String
        /// What it is worth.
        public let points: Double

        package init(value: String, points: Double) {
            self.value = value
            self.points = points
        }
    }

    /// One input.
    public struct Input: Sendable, Hashable {
        /// The name as in expressions: `device.value`, `attributes.amount`, `velocity.spent24h`.
        public let name: String
        /// What it weighs; above zero for points, any finite number for logistic.
        public let weight: Double
        /// Without a required input there is no score.
        public let isRequired: Bool
        /// How its value becomes a number.
        public let reading: Reading

        package init(name: String, weight: Double, isRequired: Bool, reading: Reading) {
            self.name = name
            self.weight = weight
            self.isRequired = isRequired
            self.reading = reading
        }
    }

    /// How readings become a score.
    public let method: Method
    /// What a logistic sum starts from; 0 for points.
    public let bias: Double
    /// The inputs, in file order; never empty.
    public let inputs: [Input]

    package init(method: Method, bias: Double, inputs: [Input]) {
        self.method = method
        self.bias = bias
        self.inputs = inputs
    }
}
