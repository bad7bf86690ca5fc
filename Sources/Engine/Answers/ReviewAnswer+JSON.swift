import JSON
import Policies
import ReviewPrompts
import Time

extension DonationRecord {
    /// The answer to a donation, with the grant's state as of now.
    public func answer(grantState: ReviewGrant.State?, isReplay: Bool) -> JSONValue {
        var object: JSONObject = [
            "decision": grant == nil ? "hold" : "ask", "replayed": .bool(isReplay),
            "counted": .bool(isCounted), "stale": .bool(isStale),
        ]
        if let grant, let grantState {
            object["grant"] = grant.answer(state: grantState)
        }
        object["verdicts"] = verdicts
        if grant == nil {
            object["nextEligibleAt"] = nextEligibleAt.map { .string($0.rfc3339) } ?? .null
            object["missing"] = .array(missing.map { .string($0) })
        }
        object["policy"] = policy.json
        object["shadowPolicy"] = shadowPolicy?.answer
        object["receivedAt"] = .string(receivedAt.rfc3339)
        return .object(object)
    }
}

extension ReviewGrant {
    /// The grant as an answer shows it. Whether a prompt was shown or rated nobody can know.
    public func answer(state: State) -> JSONValue {
        var object: JSONObject = [
            "grantID": .string(id), "state": .string(state.rawValue),
            "grantedAt": .string(grantedAt.rfc3339), "leaseEndsAt": .string(leaseEndsAt.rfc3339),
            "shown": "unknown", "rated": "unknown",
        ]
        if isLate { object["late"] = true }
        return .object(object)
    }
}

extension ReviewStatus {
    /// Why not, and when.
    public var answer: JSONValue {
        [
            "wouldAsk": .bool(wouldAsk), "verdicts": .array(verdicts.map(\.json)),
            "nextEligibleAt": nextEligibleAt.map { .string($0.rfc3339) } ?? .null,
            "missing": .array(missing.map { .string($0) }),
            "counts": .object(
                JSONObject(counts.map { (key: $0.reason, value: .int(Int64($0.count))) })),
            "prompts": .int(Int64(prompts)),
            "lastPromptAt": lastPromptAt.map { .string($0.rfc3339) } ?? .null,
            "policy": .string(policy),
        ]
    }
}

extension VersionReference {
    /// Name, version, digest.
    public var json: JSONValue {
        ["name": .string(name), "version": .int(version), "digest": .string(digest)]
    }
}
