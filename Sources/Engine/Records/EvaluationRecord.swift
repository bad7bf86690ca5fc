import JSON
import Policies
import Time
import TrustInsights

/// What a device sent: the single value that leaves it.
public struct DeviceResult: Sendable, Equatable {
    /// How much the device finds that the person is being coached, 0…1.
    public var value: Double
    /// When the device made it. In sandbox it may be left out: it is of now.
    public var generatedAt: Instant?
    /// The request that the device made it for.
    public var requestID: String?

    /// A result of these parts.
    public init(value: Double, generatedAt: Instant? = nil, requestID: String? = nil) {
        self.value = value
        self.generatedAt = generatedAt
        self.requestID = requestID
    }
}

/// One insight that is asked for.
public struct InsightRequest: Sendable, Equatable {
    /// What it is about.
    public var kind: InsightKind
    /// The version of the insight's shape.
    public var schema: Int64
    /// The model version, or `current`: the one that the acting policy names.
    public var modelVersion: String

    /// An insight of a kind, a schema and a model version.
    public init(
        kind: InsightKind = .isLikelyBeingCoached, schema: Int64 = 1,
        modelVersion: String = "current"
    ) {
        self.kind = kind
        self.schema = schema
        self.modelVersion = modelVersion
    }
}

/// Why one insight inside a successful evaluation has no outcome.
public enum InsightError: String, Sendable, CaseIterable {
    case rateLimitError, insightVersionUnavailable, insightVersionIncompatible
    case insightEvaluationFailed, insightUnavailable
}

/// What an insight says: an outcome, or the error it has instead.
public struct InsightResult: Sendable, Equatable {
    /// The outcome; `nil` if there is an error.
    public var outcome: Outcome?
    /// The score, 0…1; `nil` if the model gave none.
    public var score: Double?
    /// The model version that judged, or that was asked for.
    public var modelVersion: String
    /// Why the model gave no result. The outcome is then `unknown`.
    public var degraded: String?
    /// The error, for versions beside the acting one and for forced ones.
    public var error: InsightError?
    /// What each input added to the score.
    public var contributions: [Contribution] = []
    /// The model's inputs that the policy has but the caller left out. Missing is not zero.
    public var missing: [String] = []

    /// What one input added.
    public struct Contribution: Sendable, Equatable {
        /// The input's name.
        public var input: String
        /// Its part of the model's sum.
        public var value: Double

        /// An input's part.
        public init(input: String, value: Double) {
            self.input = input
            self.value = value
        }
    }

    /// A result of a model version.
    public init(
        outcome: Outcome?, score: Double? = nil, modelVersion: String, degraded: String? = nil,
        error: InsightError? = nil, contributions: [Contribution] = [], missing: [String] = []
    ) {
        self.outcome = outcome
        self.score = score
        self.modelVersion = modelVersion
        self.degraded = degraded
        self.error = error
        self.contributions = contributions
        self.missing = missing
    }
}

/// What a sandbox key may force instead of an honest evaluation.
public enum ForcedResult: Sendable, Equatable {
    /// The acting insight has this outcome.
    case outcome(Outcome)
    /// The evaluation as a whole is refused so.
    case evaluationError(Refusal.Code)
    /// The insight has this error.
    case insightError(InsightError)
}

/// A policy or model as a record names it: the digest says which content it was.
public struct VersionReference: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its version.
    public var version: Int64
    /// SHA-256 of its file, in hexadecimal.
    public var digest: String

    /// A reference of these parts.
    public init(name: String, version: Int64, digest: String) {
        self.name = name
        self.version = version
        self.digest = digest
    }
}

/// What a policy in shadow made of an action. It never acts.
public struct ShadowJudgement: Sendable, Equatable {
    /// The policy.
    public var policy: VersionReference
    /// The outcome by its own model and thresholds.
    public var outcome: Outcome
    /// The score of its model.
    public var score: Double?
    /// One verdict for each of its rules, in policy order.
    public var verdicts: [Verdict]
    /// What it would have decided.
    public var decision: Decision
}

/// An action that was judged.
public struct EvaluationRecord: Record, Equatable {
    public static var kind: RecordKind { .evaluation }

    // What was asked
    /// The caller's id of the request.
    public var requestID: String
    /// Who is about to act.
    public var subject: Pseudonym
    /// Stands for the whole action, to tell a retry from another request under its id.
    public var action: Pseudonym
    /// The kind of action.
    public var category: Category
    /// The facts the caller added, in the byte order of their names.
    public var attributes: [RecordedAttribute]
    /// The insights asked for; empty stands for the current one.
    public var insights: [InsightRequest]
    /// What the device sent. Absent where the authorization refused the insight.
    public var device: DeviceResult?
    /// What a sandbox key forced.
    public var force: ForcedResult?

    // What became of it
    /// Its id.
    public var evaluationID: Identifier
    /// When it was received, by the app's clock, which in sandbox may be ahead.
    public var receivedAt: Instant
    /// When it was completed.
    public var completedAt: Instant
    /// The authorization at that moment.
    public var authorization: AuthorizationStatus
    /// When the authorization ends, if its end is pending.
    public var authorizationEndsAt: Instant?
    /// What the acting policy's model says.
    public var acting: InsightResult
    /// What is answered for each insight asked for, in their order.
    public var results: [InsightResult]
    /// The newest version of the acting model.
    public var newestModelVersion: String
    /// What each velocity window of the policy held, in policy order.
    public var velocity: [VelocityValue]
    /// One verdict for each rule, in policy order.
    public var verdicts: [Verdict]
    /// What the app should do.
    public var decision: Decision
    /// What would have been decided had the shadow rules acted.
    public var shadowDecision: Decision?
    /// What a whole policy in shadow made of it.
    public var shadowPolicy: ShadowJudgement?
    /// Whether a matched rule read the insight.
    public var insightWasRead: Bool
    /// The policy that acted.
    public var policy: VersionReference
    /// The model that acted.
    public var model: VersionReference?
    /// The digest of the configuration and of the zone data.
    public var configuration: String
    /// The last instant at which the report is in time; `nil` where none is owed.
    public var reportDueAt: Instant?
    /// The last instant at which labels are taken.
    public var labelDeadline: Instant

    /// Whether the authorization refused the insight: recorded and counted, but the caller
    /// was told `denied` or `notAvailable`.
    public var isRefused: Bool { authorization != .authorized }
}
