import JSON
import Policies
import Time

/// What a comparison needs of a recorded donation that a policy in shadow saw as well.
public struct RecordedDonation: Sendable {
    /// The number of its entry.
    public var sequence: Int64
    var receivedAt: Instant
    var asked: Bool
    var policy: VersionReference
    var shadow: VersionReference
    /// `nil` where the shadow could not judge.
    var wouldAsk: Bool?

    /// Reads the payload of an entry of kind ``RecordKind/donation``; `nil` if nothing ran in
    /// shadow beside it.
    public init?(_ payload: JSONCursor, sequence: Int64) throws(CorruptEntry) {
        guard let result = payload["result"], let shadow = result["shadowPolicy"] else {
            return nil
        }
        guard let receivedAt = result["receivedAt"]?.string.flatMap({ Instant(rfc3339: $0) }),
            let policy = result["policy"]?.reference(like: nil),
            let judge = shadow["policy"]?.reference(like: nil)
        else {
            throw CorruptEntry(sequence: sequence, detail: "it is not as written")
        }
        self.sequence = sequence
        self.receivedAt = receivedAt
        self.policy = policy
        self.shadow = judge
        asked = result["grant"] != nil
        wouldAsk = shadow["refused"] == nil ? shadow["ask"]?.bool ?? false : nil
    }
}

/// What review policies answered, against what one in shadow would have.
public struct ReviewShadowReport: Sendable {
    /// A donation to look at.
    public struct Example: Sendable, Equatable {
        /// The number of its entry.
        public var sequence: Int64
        /// When it was received.
        public var at: Instant
        /// Whether the shadow would have asked where nothing was asked; else the reverse.
        public var isAsked: Bool
    }

    /// The policy in shadow.
    public let policy: VersionReference
    /// How many donations it saw.
    public var donations: Int64 = 0
    /// When the first and the last of them were received.
    public var first: Instant?
    /// See ``first``.
    public var last: Instant?
    /// Which policies acted, with how many each.
    public var actingPolicies: [String: Int64] = [:]
    /// Both ask.
    public var asked: Int64 = 0
    /// Held, where the shadow would have asked.
    public var newlyAsked: Int64 = 0
    /// Asked, where the shadow would have held.
    public var newlyHeld: Int64 = 0
    /// Both hold.
    public var held: Int64 = 0
    /// How many the shadow could not judge; they are in no other count.
    public var refused: Int64 = 0
    /// A few of those that differ, in the order of the ledger.
    public var examples: [Example] = []

    /// The part of those held that the shadow would have asked.
    public var newlyAskedRate: Proportion { Proportion(newlyAsked, of: held + newlyAsked) }

    init(policy: VersionReference) { self.policy = policy }

    mutating func add(_ donation: RecordedDonation, examples limit: Int) {
        donations += 1
        first = first ?? donation.receivedAt
        last = donation.receivedAt
        actingPolicies[donation.policy.text, default: 0] += 1
        guard let wouldAsk = donation.wouldAsk else {
            refused += 1
            return
        }
        switch (donation.asked, wouldAsk) {
        case (true, true): asked += 1
        case (true, false): newlyHeld += 1
        case (false, true): newlyAsked += 1
        case (false, false): held += 1
        }
        guard donation.asked != wouldAsk,
            examples.count(where: { $0.isAsked == wouldAsk }) < limit
        else { return }
        examples.append(
            Example(sequence: donation.sequence, at: donation.receivedAt, isAsked: wouldAsk))
    }
}
