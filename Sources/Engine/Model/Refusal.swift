import JSON

/// Why a command was not carried out. Nothing was stored.
///
/// One shape for all causes; the server makes a problem document of it (RFC 9457).
public struct Refusal: Error, Sendable, Equatable {
    /// The causes. Each has one status, in the server's table.
    public enum Code: String, Sendable, CaseIterable {
        // The evaluation as a whole
        case contextInvalid, denied, notAvailable, localError, deviceResultExpired
        case payloadSecurityError, rateLimitExceeded, serverError, reportDebt, accessSuspended
        case requestIDReused, sandboxOnly
        // Fields
        case missingField, invalidValue, unknownField, clockSkew
        // Things addressed
        case notFound, expired, erased, environmentMismatch
        // Reports and labels
        case alreadyReported, reportNotOwed, labelIDReused, labelWindowClosed, tooManyLabels
        // Review prompts
        case idempotencyKeyReused, subjectMismatch
        // Administration
        case alreadyExists, policyInvalid, policyConflict, policyGuarded
        // The service
        case queueFull, unavailable
    }

    /// The cause.
    public var code: Code
    /// A finer cause: `noPolicy`, `unknownAttribute`.
    public var reason: String?
    /// What is wrong, in words.
    public var detail: String
    /// The field at fault, as a JSON pointer (RFC 6901) into the request.
    public var field: String?
    /// The value that was given there.
    public var value: JSONValue?
    /// What is allowed there.
    public var allowed: [JSONValue]
    /// Whether the same request may succeed later.
    public var isRetryable: Bool
    /// Further members of the problem document.
    public var members: JSONObject

    /// A refusal of these parts.
    public init(
        _ code: Code, _ detail: String, reason: String? = nil, field: String? = nil,
        value: JSONValue? = nil, allowed: [JSONValue] = [], isRetryable: Bool = false,
        members: JSONObject = [:]
    ) {
        self.code = code
        self.detail = detail
        self.reason = reason
        self.field = field
        self.value = value
        self.allowed = allowed
        self.isRetryable = isRetryable
        self.members = members
    }
}
