import JSON
import Time

/// The parsed test file of a review-prompt policy: steps in time.
public struct ReviewPromptTests: Sendable {
    /// `policy:`: the name of the policy under test.
    public var policy: String
    /// `section:`, in file order.
    public var sections: [Section]

    /// A test file.
    public init(policy: String, sections: [Section]) {
        self.policy = policy
        self.sections = sections
    }

    /// Tests under one heading.
    public struct Section: Sendable {
        /// `name:`.
        public var name: String
        /// `tests:`, in file order.
        public var tests: [Test]

        /// A section.
        public init(name: String, tests: [Test]) {
            self.name = name
            self.tests = tests
        }
    }

    /// One story of one subject.
    public struct Test: Sendable {
        /// `name:`.
        public var name: String
        /// `subject.zone`: the subject's zone; nil means UTC.
        public var zone: String?
        /// `subject.installedAt`: when the app was installed, on every device.
        public var installedAt: Instant?
        /// `steps:`, in file order.
        public var steps: [Step]

        /// A test.
        public init(name: String, zone: String? = nil, installedAt: Instant? = nil, steps: [Step]) {
            self.name = name
            self.zone = zone
            self.installedAt = installedAt
            self.steps = steps
        }
    }

    /// Something that happens at a time, and what is expected of it.
    public struct Step: Sendable {
        /// `at:`: when; relative times (`+1m`) count from the step before.
        public var at: Moment
        /// What happens.
        public var action: Action
        /// What must come of it.
        public var expectation: Expectation
        /// The line in the file, from 1; 0 without a file.
        public var line: Int

        /// A step.
        public init(
            at: Moment, action: Action, expectation: Expectation = Expectation(), line: Int = 0
        ) {
            self.at = at
            self.action = action
            self.expectation = expectation
            self.line = line
        }
    }

    /// When a step happens.
    public enum Moment: Sendable, Hashable {
        /// `2026-03-01T12:00:00Z`.
        case absolute(Instant)
        /// `+1m`, from the step before. The first step must be absolute.
        case relative(Duration)
    }

    /// What a step does.
    public enum Action: Sendable {
        /// `donate: finishedTranscript`.
        case donate(Donation)
        /// `outcome: requested` or `notRequested` with a `reason:`; about the last grant.
        case outcome(requested: Bool, reason: String?)
        /// `status: finishedTranscript`: asks why not, changes nothing.
        case status(Donation)
        /// `reset: counts`.
        case reset
        /// Only time passes.
        case pass
    }

    /// What a donating step says.
    public struct Donation: Sendable {
        /// The reason or event.
        public var reason: String
        /// `version:`.
        public var version: String
        /// `device:`: a name of the test's own; `device` if left out.
        public var device: String
        /// `distribution:`: `appStore` if left out.
        public var distribution: ReviewDistribution
        /// `attributes:`.
        public var attributes: JSONObject
        /// `occurredAt:`; the time of the step if left out.
        public var occurredAt: Instant?

        /// A donation.
        public init(
            reason: String, version: String, device: String = "device",
            distribution: ReviewDistribution = .appStore, attributes: JSONObject = JSONObject(),
            occurredAt: Instant? = nil
        ) {
            self.reason = reason
            self.version = version
            self.device = device
            self.distribution = distribution
            self.attributes = attributes
            self.occurredAt = occurredAt
        }
    }

    /// What must come of a step. What is nil is not looked at.
    public struct Expectation: Sendable {
        /// What `nextEligibleAt:` may say.
        public enum NextEligible: Sendable, Hashable {
            /// That instant.
            case at(Instant)
            /// `null`: never by time alone.
            case never
        }

        /// `expect: ask` (true) or `hold` (false).
        public var asks: Bool?
        /// `failing:`: exactly the rules that do not pass, in any order.
        public var failing: [String]?
        /// `nextEligibleAt:`.
        public var nextEligibleAt: NextEligible?

        /// Expectations.
        public init(
            asks: Bool? = nil, failing: [String]? = nil, nextEligibleAt: NextEligible? = nil
        ) {
            self.asks = asks
            self.failing = failing
            self.nextEligibleAt = nextEligibleAt
        }

        /// Whether anything is expected at all.
        public var isEmpty: Bool { asks == nil && failing == nil && nextEligibleAt == nil }
    }
}
