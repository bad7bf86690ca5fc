import JSON
import Time

/// The parsed test file of a trust policy.
public struct PolicyTests: Sendable {
    /// `policy:`: the name of the policy under test, or `name@version`.
    public let policy: String
    /// `section:`, in file order.
    public let sections: [Section]
    /// The path of the test file.
    public let path: String

    package init(policy: String, sections: [Section], path: String) {
        self.policy = policy
        self.sections = sections
        self.path = path
    }

    /// How many tests there are.
    public var count: Int { sections.reduce(0) { $0 + $1.tests.count } }

    /// Tests under one heading.
    public struct Section: Sendable {
        /// `name:`.
        public let name: String
        /// `tests:`, in file order.
        public let tests: [Test]

        package init(name: String, tests: [Test]) {
            self.name = name
            self.tests = tests
        }
    }

    /// One event, what came before it, and what must come of it.
    public struct Test: Sendable {
        /// `name:`.
        public let name: String
        /// `now:`; ``PolicyTests/defaultNow`` if left out.
        public let now: Instant
        /// `history:`: earlier events of the same subject, in file order.
        public let history: [Event]
        /// `input:`.
        public let input: Input
        /// `expect:`.
        public let expectation: Expectation
        /// Where the test starts in the file.
        public let position: SourcePosition

        package init(
            name: String, now: Instant, history: [Event], input: Input, expectation: Expectation,
            position: SourcePosition
        ) {
            self.name = name
            self.now = now
            self.history = history
            self.input = input
            self.expectation = expectation
            self.position = position
        }
    }

    /// The time of a test that names none. Fixed, so that tests give the same on every day.
    public static let defaultNow = Instant(milliseconds: 1_767_225_600_000)

    /// A value the caller sends, by name.
    public struct Attribute: Sendable, Equatable {
        /// The name under `attributes.`.
        public let name: String
        /// The value as the caller would send it.
        public let value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// An earlier event.
    public struct Event: Sendable {
        /// `at:`: an instant, or `-10m` before the test's `now`.
        public let at: Instant
        /// `category:`; the test's own if left out.
        public let category: Category
        /// `attributes:`, in file order.
        public let attributes: [Attribute]

        package init(at: Instant, category: Category, attributes: [Attribute]) {
            self.at = at
            self.category = category
            self.attributes = attributes
        }
    }

    /// The event that is judged.
    public struct Input: Sendable {
        /// `category:`; the policy's first if left out.
        public let category: Category
        /// `attributes:`, in file order.
        public let attributes: [Attribute]
        /// `device: {value: …}`: the device result; nil for none.
        public let deviceValue: Double?
        /// `insight:`: stands in for the model; nil runs the model.
        public let insight: StandIn?
        /// `subject: {authorization: …}`; `authorized` if left out.
        public let authorization: String
        /// `subject: {authorizationEndsAt: …}`.
        public let authorizationEndsAt: Instant?

        package init(
            category: Category, attributes: [Attribute], deviceValue: Double?, insight: StandIn?,
            authorization: String, authorizationEndsAt: Instant?
        ) {
            self.category = category
            self.attributes = attributes
            self.deviceValue = deviceValue
            self.insight = insight
            self.authorization = authorization
            self.authorizationEndsAt = authorizationEndsAt
        }
    }

    /// An insight as a test states it, in place of the model's.
    public struct StandIn: Sendable, Hashable {
        /// `outcome:`.
        public let outcome: Outcome
        /// `score:`; absent if left out.
        public let score: Double?
        /// `degraded:`; false if left out.
        public let isDegraded: Bool

        package init(outcome: Outcome, score: Double?, isDegraded: Bool) {
            self.outcome = outcome
            self.score = score
            self.isDegraded = isDegraded
        }
    }

    /// What must come of a test. What is nil is not looked at.
    public struct Expectation: Sendable, Equatable {
        /// What `holdFor:` may say.
        public enum Hold: Sendable, Hashable {
            /// That long.
            case lasting(Duration)
            /// `none`.
            case none
        }

        /// `outcome:`.
        public let outcome: Outcome?
        /// `degraded:`.
        public let isDegraded: Bool?
        /// `friction:`.
        public let friction: Friction?
        /// `steps:`: exactly these.
        public let steps: StepSet?
        /// `holdFor:`.
        public let holdFor: Hold?
        /// `notify:`: exactly these names, in any order.
        public let notify: [String]?
        /// `matched:`: exactly the rules that matched, in any order; likewise those below.
        public let matched: [String]?
        /// `notMatched:`.
        public let notMatched: [String]?
        /// `notEvaluated:`.
        public let notEvaluated: [String]?
        /// `errored:`.
        public let errored: [String]?
        /// `explanations:`: by rule, the text that must be given.
        public let explanations: [Explanation]?

        /// Looks at nothing.
        package static let nothing = Expectation(
            outcome: nil, isDegraded: nil, friction: nil, steps: nil, holdFor: nil, notify: nil,
            matched: nil, notMatched: nil, notEvaluated: nil, errored: nil, explanations: nil)
    }

    /// The text that a rule must give.
    public struct Explanation: Sendable, Hashable {
        /// The rule's id.
        public let rule: String
        /// The text.
        public let text: String
    }
}
