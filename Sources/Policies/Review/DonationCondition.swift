import CEL
import JSON
import Time

/// What a `when:` expression may read.
public struct DonationFacts: Sendable {
    /// `donation.reason`.
    public var reason: String
    /// `donation.attributes`: what the caller added.
    public var attributes: JSONObject
    /// `version`: the app's version as the caller wrote it.
    public var version: String
    /// `counts`: the count of each reason before this donation, in the policy's order.
    public var counts: [(reason: String, count: Int)]
    /// `history.prompts`: counting grants of the subject, ever.
    public var prompts: Int
    /// `history.lastPromptAt`: the last of them; nil if there is none.
    public var lastPromptAt: Instant?
    /// `now`: the engine's time.
    public var now: Instant

    /// The facts about one donation.
    public init(
        reason: String, attributes: JSONObject, version: String,
        counts: [(reason: String, count: Int)], prompts: Int, lastPromptAt: Instant?, now: Instant
    ) {
        self.reason = reason
        self.attributes = attributes
        self.version = version
        self.counts = counts
        self.prompts = prompts
        self.lastPromptAt = lastPromptAt
        self.now = now
    }
}

/// A compiled `when:` expression.
///
/// It is kept as a function from facts to a result, so that the domain depends on neither the
/// expression language nor its layout of values.
public struct DonationCondition: Sendable {
    /// What evaluating gave.
    public enum Outcome: Sendable, Hashable {
        /// The donation counts.
        case holds
        /// It does not.
        case doesNotHold
        /// It cannot be said: a missing attribute or an error. Then it does not count.
        case unknown(reason: String)
    }

    /// The text of the expression.
    public let source: String
    /// The names under `donation.attributes` that it reads; nil where that cannot be told from
    /// the text, as in `donation.attributes[name]`.
    public let attributes: Set<String>?
    /// Whether it reads `now`, so that time alone can change what it gives.
    public let readsNow: Bool
    /// What it was compiled to; nil where it came from no file. Tools look at it, rules do not.
    package let expression: Expression?
    private let evaluation: @Sendable (DonationFacts) -> Outcome
    private let tracing: @Sendable (DonationFacts, Program) -> EvaluationResult?
    private var observer: (@Sendable (DonationFacts) -> Void)?

    /// A condition with its text, what it reads, and a pure function that evaluates it.
    public init(
        source: String, attributes: Set<String>? = nil, readsNow: Bool = false,
        evaluate: @escaping @Sendable (DonationFacts) -> Outcome
    ) {
        self.init(
            source: source, attributes: attributes, readsNow: readsNow, expression: nil,
            trace: { _, _ in nil }, evaluate: evaluate)
    }

    package init(
        source: String, attributes: Set<String>?, readsNow: Bool, expression: Expression?,
        trace: @escaping @Sendable (DonationFacts, Program) -> EvaluationResult?,
        evaluate: @escaping @Sendable (DonationFacts) -> Outcome
    ) {
        self.source = source
        self.attributes = attributes
        self.readsNow = readsNow
        self.expression = expression
        tracing = trace
        evaluation = evaluate
    }

    /// The same condition, of which somebody is told whenever it is evaluated for a donation.
    package func observed(by observer: @escaping @Sendable (DonationFacts) -> Void)
        -> DonationCondition
    {
        var condition = self
        condition.observer = { [earlier = self.observer] facts in
            earlier?(facts)
            observer(facts)
        }
        return condition
    }

    /// What a traced form of the expression gives for facts; nil without an expression.
    package func trace(_ facts: DonationFacts, by program: Program) -> EvaluationResult? {
        tracing(facts, program)
    }

    /// Whether a donation counts.
    public func evaluate(_ facts: DonationFacts) -> Outcome {
        observer?(facts)
        return evaluation(facts)
    }

    /// Whether a donation that nobody has made would count. No observer is told.
    public func imagine(_ facts: DonationFacts) -> Outcome { evaluation(facts) }
}
