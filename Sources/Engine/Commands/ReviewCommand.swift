import JSON
import Policies
import ReviewPrompts
import Time

/// What the review flow can be asked to do.
public enum ReviewCommand: Sendable {
    case donate(DonateCommand)
    /// What became of a grant, named by its id; with a subject, it must be that one's.
    case reportOutcome(grantID: String, ReviewOutcome, subject: Pseudonym? = nil)
    /// Why not, and when: changes nothing.
    case status(ReviewStatusCommand)
    case reset(subject: Pseudonym)
    case merge(install: Pseudonym, account: Pseudonym)
}

/// Who donates, and from what app.
public struct ReviewStatusCommand: Sendable {
    /// The reason, or an event that the policy names.
    public var reason: String
    /// Whose it is.
    public var subject: Pseudonym
    /// On which device.
    public var device: Pseudonym
    /// The app's version.
    public var version: String
    /// Where the app came from.
    public var distribution: ReviewDistribution
    /// The person's time zone; `nil` for the one last named.
    public var zone: String?
    /// When it happened; `nil` for now.
    public var occurredAt: Instant?
    /// When the app was installed; `nil` for what was last said.
    public var installedAt: Instant?
    /// What the policy's conditions may read.
    public var attributes: JSONObject

    /// A donation as it would be made.
    public init(
        reason: String, subject: Pseudonym, device: Pseudonym, version: String,
        distribution: ReviewDistribution, zone: String?, occurredAt: Instant?,
        installedAt: Instant?, attributes: JSONObject
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

/// Donate an event.
public struct DonateCommand: Sendable {
    /// The caller's id of the donation.
    public var idempotencyKey: String
    /// Stands for the whole donation.
    public var action: Pseudonym
    /// What is donated.
    public var donation: ReviewStatusCommand

    /// A donation under an idempotency key.
    public init(idempotencyKey: String, action: Pseudonym, donation: ReviewStatusCommand) {
        self.idempotencyKey = idempotencyKey
        self.action = action
        self.donation = donation
    }
}

/// What a command of the review flow came to.
public enum ReviewAnswer: Sendable {
    /// The decision, and the grant's state as of now.
    case donated(DonationRecord, grantState: ReviewGrant.State?, isReplay: Bool)
    case outcome(ReviewGrant, state: ReviewGrant.State, isReplay: Bool)
    case status(ReviewStatus)
    case reset
    case merged(isReplay: Bool)
}
