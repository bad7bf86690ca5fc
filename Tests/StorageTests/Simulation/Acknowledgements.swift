import Engine
import JSON
import Ledger
import TrustInsights

/// What a batch was answered, against the entries that it left: what is acknowledged as new is stored,
/// each once and as it was answered, and nothing else is.
enum Acknowledgements {
    static func check(_ replies: [Reply], _ submissions: [Submission], _ entries: [LedgerEntry])
        throws
    {
        var left = entries
        for (reply, submission) in zip(replies, submissions) {
            for claim in claims(of: reply) {
                let place = left.firstIndex { entry in
                    entry.envelope.kind == claim.kind.rawValue && entry.tenant == submission.tenant
                        && entry.envelope.actor == submission.actor
                        && claim.payload.map { $0 == entry.payload } ?? true
                }
                guard let place else {
                    throw Simulation.Broken(
                        description: "acknowledged and not stored: \(reply.content)")
                }
                left.remove(at: place)
            }
        }
        // Operators' commands are not answered entry by entry.
        let stray = left.first {
            RecordKind(rawValue: $0.envelope.kind)?.isOfService != true
        }
        if let stray {
            throw Simulation.Broken(
                description: "stored and not acknowledged: entry \(stray.envelope.sequence), "
                    + String(decoding: stray.payload, as: UTF8.self))
        }
        let refused = replies.allSatisfy { $0.refusal?.code == .serverError }
        try Simulation.Broken.unless(!refused || entries.isEmpty, "refused, and stored")
    }

    private struct Claim {
        var kind: RecordKind
        var payload: [UInt8]?

        init(_ kind: RecordKind) { self.kind = kind }

        init<R: Record>(_ record: R) {
            kind = R.kind
            var writer = JSONWriter()
            record.write(to: &writer)
            payload = writer.bytes
        }
    }

    /// What a reply says was stored.
    private static func claims(of reply: Reply) -> [Claim] {
        switch reply.content {
        case .authorization: [Claim(.authorization)]
        case .evaluation(let judged, isReplay: false, _): [Claim(judged.record)]
        case .consumption(let record, isReplay: false): [Claim(record)]
        case .label(let record, let status): status == .replayed ? [] : [Claim(record)]
        case .labels(let labels):
            labels.filter { $0.status != .replayed }.map { Claim($0.0) }
        case .sandboxClock: [Claim(.sandboxClock)]
        case .review(.donated(let record, _, isReplay: false)): [Claim(record)]
        case .review(.outcome(_, _, isReplay: false)): [Claim(.grantOutcome)]
        case .review(.merged(isReplay: false)): [Claim(.merge)]
        case .review(.reset): [Claim(.reset)]
        case .administered(.deactivated(let record)): [Claim(record)]
        case .administered(.rolledBack(let record)): [Claim(record)]
        // Simulated lives erase nobody; erasures are part of the random stories.
        case .evaluation, .consumption, .review, .shown, .debt, .administered, .refused, .refusedAt,
            .erased:
            []
        }
    }
}
