import JSON
import Policies
import Time
import TrustInsights

/// What later evaluations of a person need to know of one.
struct EvaluationEvent {
    var subject: Pseudonym
    var requestID: String
    /// Whether the person's authorization refused it: then the same request may come again.
    var isRefused: Bool
    var velocity: VelocityEvent

    init(_ record: EvaluationRecord) {
        subject = record.subject
        requestID = record.requestID
        isRefused = record.isRefused
        velocity = VelocityEvent(
            at: record.receivedAt, category: record.category, attributes: record.attributes)
    }

    /// Reads it out of an entry, and only the parts that matter: many are read for one person.
    init(_ entry: StoredPayload) throws {
        guard !entry.payload.isEmpty else { throw Refusal(.erased, "this entry was erased") }
        let sequence = entry.sequence
        let limits = JSONLimits(bytes: 64 << 20, depth: 100)
        do {
            self = try entry.payload.withUnsafeBytes { bytes in
                try JSONReader.withCursor(bytes, limits: limits) { payload in
                    try EvaluationEvent(payload, sequence: sequence)
                }
            }
        } catch let error as JSONError {
            throw CorruptEntry(
                sequence: sequence, detail: "its payload is no JSON: \(error.message)")
        }
    }

    private init(_ payload: JSONCursor, sequence: Int64) throws(CorruptEntry) {
        func corrupt(_ name: String) -> CorruptEntry {
            CorruptEntry(sequence: sequence, detail: "`\(name)` is missing or not as written")
        }
        guard let command = payload["command"], let result = payload["result"] else {
            throw corrupt("command")
        }
        guard let subject = command["subject"]?.pseudonym else { throw corrupt("subject") }
        guard let requestID = command["requestID"]?.string else { throw corrupt("requestID") }
        guard let category = command["category"]?.choice(Policies.Category.self) else {
            throw corrupt("category")
        }
        guard let receivedAt = result["receivedAt"]?.instant else { throw corrupt("receivedAt") }
        guard let status = result["authorization"]?.choice(AuthorizationStatus.self) else {
            throw corrupt("authorization")
        }
        guard let attributes = command["attributes"]?.recordedAttributes else {
            throw corrupt("attributes")
        }
        self.subject = subject
        self.requestID = requestID
        isRefused = status != .authorized
        velocity = VelocityEvent(at: receivedAt, category: category, attributes: attributes)
    }
}
