import Engine
import JSON

extension Problem {
    /// The problem document of what the engine refused.
    public init(_ refusal: Refusal) {
        // Every cause of the engine is in the table; a test walks through all of them.
        self.init(
            ProblemCode(rawValue: refusal.code.rawValue) ?? .serverError,
            detail: refusal.detail.isEmpty ? nil : refusal.detail, field: refusal.field,
            value: refusal.value, allowed: refusal.allowed.isEmpty ? nil : refusal.allowed)
        retryable = refusal.isRetryable || code.isRetryable
        if let reason = refusal.reason { members.append(("reason", .string(reason))) }
        members += refusal.members.members.filter { $0.key != "retryAfter" }
        retryAfterSeconds = refusal.members["retryAfter"]?.intValue.map { Int($0) }
        if code == .queueFull || code == .unavailable { retryAfterSeconds = 1 }
    }
}
