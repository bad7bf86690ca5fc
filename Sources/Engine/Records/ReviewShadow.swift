import JSON
import Policies
import ReviewPrompts
import Time

/// What a review policy in shadow made of a donation. It gives no grant and counts nothing.
///
/// It is asked what it would say if it began to act at this moment: the counters and grants that
/// it sees are those that the acting policy made.
public struct ReviewShadow: Sendable, Equatable {
    /// The policy.
    public var policy: VersionReference
    /// Whether it would have asked.
    public var wouldAsk: Bool
    /// Every rule's verdict; empty where it could not judge.
    public var verdicts: JSONValue
    /// When a donation of that reason would ask, if nothing else happens.
    public var nextEligibleAt: Instant?
    /// Why it could not judge, such as a reason that it does not know.
    public var refused: String?

    /// What a policy says of a donation that another policy decides.
    init(
        _ policy: ReviewPromptPolicy, _ reference: VersionReference, _ donation: ReviewDonation,
        device: ReviewDeviceState, subject: ReviewSubjectState, zones: ZoneDatabase,
        environment: ReviewEnvironment, now: Instant
    ) {
        self.policy = reference
        do throws(ReviewPromptError) {
            let decision = try ReviewPrompts.decide(
                donation, device: device, subject: subject, policy: policy, zones: zones,
                environment: environment, now: now, grantID: "shadow")
            wouldAsk = decision.asks
            verdicts = .array(decision.verdicts.map(\.json))
            nextEligibleAt = decision.nextEligibleAt
        } catch {
            wouldAsk = false
            verdicts = .array([])
            refused = Refusal(error).detail
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.key("ask")
        writer.bool(wouldAsk)
        writer.member("nextEligibleAt", nextEligibleAt)
        writer.object("policy", policy.write)
        writer.member("refused", refused)
        writer.key("verdicts")
        writer.canonical(verdicts)
    }

    init(payload: RecordReader) throws(CorruptEntry) {
        policy = try VersionReference(payload: payload.object("policy"))
        wouldAsk = payload.flag("ask")
        verdicts = payload.value["verdicts"] ?? .array([])
        nextEligibleAt = try payload.instantIfPresent("nextEligibleAt")
        refused = payload.stringIfPresent("refused")
    }

    /// As an answer shows it.
    var answer: JSONValue {
        var object: JSONObject = [
            "policy": policy.json, "decision": wouldAsk ? "ask" : "hold", "verdicts": verdicts,
        ]
        object["nextEligibleAt"] = nextEligibleAt.map { .string($0.rfc3339) }
        object["refused"] = refused.map { .string($0) }
        return .object(object)
    }
}

/// Which policies judged a donation, read from its entry without the rest of it.
struct DonationJudges {
    /// Digests of the acting policy, and of one in shadow that could judge.
    var digests: [String] = []

    init(payload: [UInt8], sequence: Int64) throws(CorruptEntry) {
        let read = payload.withUnsafeBytes { bytes in
            try? JSONReader.withCursor(bytes, limits: JSONLimits(bytes: 64 << 20, depth: 100)) {
                root -> [String] in
                let result = root["result"]
                let shadow = result?["shadowPolicy"]
                return [
                    result?["policy"]?["digest"]?.string,
                    shadow?["refused"] == nil ? shadow?["policy"]?["digest"]?.string : nil,
                ].compactMap(\.self)
            }
        }
        guard let read else { throw CorruptEntry(sequence: sequence, detail: "it is no JSON") }
        digests = read
    }

    init(_ record: DonationRecord) {
        digests = [record.policy.digest]
        if let shadow = record.shadowPolicy, shadow.refused == nil {
            digests.append(shadow.policy.digest)
        }
    }
}
