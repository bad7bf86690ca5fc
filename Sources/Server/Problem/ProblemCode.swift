/// Every code that an answer of the API can carry, with its status.
///
/// Codes are for programs and never change their meaning; titles and details are for people and
/// may. A distinct cause has a distinct code.
public enum ProblemCode: String, CaseIterable, Sendable {
    // The request as HTTP
    /// A request that can be read in more than one way, or in none.
    case malformedRequest
    /// The request target is too long.
    case targetTooLong
    /// Too many headers, or too large ones.
    case headersTooLarge
    /// The body is larger than this call allows.
    case bodyTooLarge
    /// The body is not JSON; the detail says where and why.
    case malformedJSON
    /// `Content-Type` is not JSON.
    case unsupportedMediaType
    /// The path exists but not with this method; `Allow` names those it has.
    case methodNotAllowed

    // Who asks
    /// No key, or none that is known.
    case unauthenticated
    /// The key lacks the scope that this call needs.
    case insufficientScope
    /// The key belongs to an app; this call is the operator's, or the reverse.
    case operatorOnly
    /// Forcing an outcome, or moving the clock, with a production key.
    case sandboxOnly
    /// The id belongs to the other environment.
    case environmentMismatch

    // The shape of the body or the query
    /// A required member is absent.
    case missingField
    /// A member or query item that this call does not have.
    case unknownField
    /// A value of the wrong type, or out of range.
    case invalidValue
    /// A time of the caller is more than 5 minutes in the future, or runs backwards.
    case clockSkew

    // The thing addressed
    /// There is nothing under this id or path.
    case notFound
    /// It was there and its time is over.
    case expired
    /// Its subject was erased.
    case erased
    /// Another consumption report is in effect.
    case alreadyReported
    /// This requestID stands for another action.
    case requestIDReused
    /// The evaluation owes no report.
    case reportNotOwed
    /// This labelID stands for another label.
    case labelIDReused
    /// Labels are accepted until `labelDeadline` only.
    case labelWindowClosed
    /// The evaluation has as many labels as it may.
    case tooManyLabels
    /// This idempotency key stands for another donation.
    case idempotencyKeyReused
    /// The grant was given to another subject.
    case subjectMismatch
    /// There is one of that name already.
    case alreadyExists
    /// The policy files have faults; nothing was loaded.
    case policyInvalid
    /// Two policies cannot act at once on one category, or a version has other content.
    case policyConflict
    /// Guards refuse to let the policy act; `guards` names them, with their figures.
    case policyGuarded

    // The evaluation as a whole
    /// No policy acts on the category, or an attribute is not declared; `reason` says which.
    case contextInvalid
    /// The subject has denied authorization.
    case denied
    /// Insights are not available for the subject.
    case notAvailable
    /// The device result cannot be used.
    case localError
    /// The device result is older than 120 seconds.
    case deviceResultExpired
    /// The device result was made for another requestID.
    case payloadSecurityError

    // How much is asked for
    /// A rate or quota is used up; scope, limit, used and reset are members.
    case rateLimitExceeded
    /// Too many consumption reports are overdue. Waiting does not help; reporting does.
    case reportDebt
    /// Reports have been overdue for too long. Reporting lifts it at once.
    case accessSuspended
    /// Too many requests wait already.
    case queueFull

    // Ourselves
    /// The server is being stopped.
    case shuttingDown
    /// The server is not ready yet, or not any more; `/readyz` says why.
    case notReady
    /// Something that this call needs cannot be reached just now.
    case unavailable
    /// A fault of ours; nothing was recorded.
    case serverError

    /// The HTTP status.
    public var status: Int {
        switch self {
        case .malformedRequest, .malformedJSON: 400
        case .unauthenticated: 401
        case .insufficientScope, .operatorOnly, .sandboxOnly, .denied, .notAvailable,
            .accessSuspended:
            403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .environmentMismatch, .alreadyReported, .reportNotOwed, .subjectMismatch,
            .alreadyExists, .policyConflict, .policyGuarded:
            409
        case .expired, .erased, .labelWindowClosed: 410
        case .bodyTooLarge: 413
        case .targetTooLong: 414
        case .unsupportedMediaType: 415
        case .missingField, .unknownField, .invalidValue, .clockSkew, .requestIDReused,
            .labelIDReused, .idempotencyKeyReused, .policyInvalid, .contextInvalid, .localError,
            .tooManyLabels,
            .deviceResultExpired, .payloadSecurityError:
            422
        case .rateLimitExceeded, .reportDebt: 429
        case .headersTooLarge: 431
        case .queueFull, .shuttingDown, .notReady, .unavailable, .serverError: 503
        }
    }

    /// Whether the same request, sent again later, can succeed without anybody doing something
    /// about it first.
    public var isRetryable: Bool {
        switch self {
        case .rateLimitExceeded, .queueFull, .shuttingDown, .notReady, .unavailable,
            .serverError, .deviceResultExpired:
            true
        default: false
        }
    }

    /// A title for people; the same for every problem of this code (RFC 9457, section 3.1.3).
    public var title: String {
        switch self {
        case .malformedRequest: "The request cannot be read"
        case .targetTooLong: "The request target is too long"
        case .headersTooLarge: "The headers are too large"
        case .bodyTooLarge: "The body is too large"
        case .malformedJSON: "The body is not valid JSON"
        case .unsupportedMediaType: "The body must be JSON"
        case .methodNotAllowed: "This path does not have this method"
        case .unauthenticated: "A valid key is needed"
        case .insufficientScope: "The key lacks a scope"
        case .operatorOnly: "The key is of the wrong kind for this call"
        case .sandboxOnly: "Only possible in sandbox"
        case .environmentMismatch: "The id belongs to the other environment"
        case .missingField: "A field is missing"
        case .unknownField: "A field is not known here"
        case .invalidValue: "A value is not allowed"
        case .clockSkew: "A time is out of step"
        case .notFound: "Not found"
        case .expired: "Its time is over"
        case .erased: "Erased"
        case .alreadyReported: "Already reported"
        case .requestIDReused: "The requestID stands for another action"
        case .reportNotOwed: "No report is owed"
        case .labelIDReused: "The labelID stands for another label"
        case .labelWindowClosed: "Too late for a label"
        case .tooManyLabels: "The evaluation has too many labels"
        case .idempotencyKeyReused: "The idempotency key stands for another donation"
        case .subjectMismatch: "The grant is another subject's"
        case .alreadyExists: "It exists already"
        case .policyInvalid: "The policies have faults"
        case .policyConflict: "The policies are in conflict"
        case .policyGuarded: "The policy may not act yet"
        case .contextInvalid: "The context is not valid"
        case .denied: "The subject is not authorized"
        case .notAvailable: "Insights are not available for the subject"
        case .localError: "The device result cannot be used"
        case .deviceResultExpired: "The device result is too old"
        case .payloadSecurityError: "The device result belongs to another request"
        case .rateLimitExceeded: "Too many requests"
        case .reportDebt: "Too many consumption reports are overdue"
        case .accessSuspended: "Suspended for overdue consumption reports"
        case .queueFull: "Too many requests wait"
        case .shuttingDown: "The server is stopping"
        case .notReady: "The server is not ready"
        case .unavailable: "Something needed cannot be reached"
        case .serverError: "Internal error"
        }
    }
}
