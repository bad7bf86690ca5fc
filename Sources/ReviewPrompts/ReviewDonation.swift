import JSON
import Policies
import Time

/// The environment of the key that was used.
public enum ReviewEnvironment: String, Sendable, Hashable, CaseIterable {
    case production
    case sandbox
}

/// An event that counts towards a review prompt. Ids are pseudonyms already.
public struct ReviewDonation: Sendable, Equatable {
    /// A reason of the policy, or an event that a suppression names.
    public var reason: String
    /// The subject's pseudonym, aliases resolved.
    public var subject: String
    /// The device's pseudonym.
    public var device: String
    /// The app's version, as the caller wrote it; empty if there was none.
    public var version: String
    /// Where the app came from.
    public var distribution: ReviewDistribution
    /// The subject's zone; nil means the one last named.
    public var zone: String?
    /// When it happened, by the caller's clock.
    public var occurredAt: Instant
    /// When the app was installed on the device; nil means as last reported.
    public var installedAt: Instant?
    /// What `when:` may read.
    public var attributes: JSONObject

    /// A donation.
    public init(
        reason: String, subject: String, device: String, version: String,
        distribution: ReviewDistribution = .appStore, zone: String? = nil, occurredAt: Instant,
        installedAt: Instant? = nil, attributes: JSONObject = JSONObject()
    ) {
        self.reason = reason
        self.subject = subject
        self.device = device
        self.version = version
        self.distribution = distribution
        self.zone = zone
        self.occurredAt = occurredAt
        self.installedAt = installedAt
        self.attributes = attributes
    }
}

/// Why a command is refused. Nothing has changed then.
public enum ReviewPromptError: Error, Sendable, Hashable {
    /// No reason or event of the policy has that name.
    case unknownReason(given: String, allowed: [String])
    /// The caller's clock is more than ``ReviewPromptLimits/clockTolerance`` ahead.
    case clockSkew(field: String, given: Instant, now: Instant)
    /// Days are to be counted in the subject's zone, and none was ever named.
    case missingZone
    /// There is no such zone.
    case unknownZone(String)
    /// The version is longer than ``AppVersion/maxLength`` bytes.
    case versionTooLong(bytes: Int)
    /// The reason of a returned grant is longer than ``ReviewPromptLimits/outcomeReason`` bytes.
    case outcomeReasonTooLong(bytes: Int)
    /// The subject was merged into an account; the account is to be asked.
    case aliased(to: String)
    /// The grant was reported differently before.
    case alreadyReported(ReviewGrant.Report)
    /// A subject cannot be merged into itself.
    case mergedIntoItself
    /// The account has taken in as many installs as it may.
    case tooManyInstalls
}

extension ReviewPromptError: CustomStringConvertible {
    /// What is wrong and what is allowed, in one line.
    public var description: String {
        switch self {
        case .unknownReason(let given, let allowed):
            "no reason or event `\(given)`; the policy knows \(allowed.joined(separator: ", "))"
        case .clockSkew(let field, let given, let now):
            "`\(field)` is \(given), more than "
                + "\(ReviewPromptLimits.clockTolerance.policyText) after \(now)"
        case .missingZone:
            "days are counted in the subject's zone, and none was ever named"
        case .unknownZone(let name):
            "no time zone `\(name)`"
        case .versionTooLong(let bytes):
            "a version of \(bytes) bytes; at most \(AppVersion.maxLength) are allowed"
        case .outcomeReasonTooLong(let bytes):
            "a reason of \(bytes) bytes; at most \(ReviewPromptLimits.outcomeReason) are allowed"
        case .aliased:
            "the subject was merged into an account"
        case .alreadyReported(let report):
            "the grant was reported as \(report.outcome) before"
        case .mergedIntoItself:
            "a subject cannot be merged into itself"
        case .tooManyInstalls:
            "the account has taken in \(ReviewPromptLimits.absorbedInstalls) installs, as many as it may"
        }
    }
}
