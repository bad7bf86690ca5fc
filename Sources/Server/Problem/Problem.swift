import JSON

/// Problem details (RFC 9457): the one shape of every error that the API answers.
public struct Problem: Error, Sendable, Equatable {
    /// What went wrong, for programs.
    public var code: ProblemCode
    /// What went wrong this time, for people. Never a raw id, never a secret.
    public var detail: String?
    /// Where: a JSON pointer (RFC 6901) into the body, or the name of a query item.
    public var field: String?
    /// The value given there, if it is safe to repeat.
    public var value: JSONValue?
    /// The values, or a description of the values, allowed there.
    public var allowed: [JSONValue]?
    /// Overrides whether a retry can help.
    public var retryable: Bool?
    /// Seconds after which a retry makes sense; becomes `Retry-After`.
    public var retryAfterSeconds: Int?
    /// Further members, in order: `reason`, `scope`, `limit`, `used`, `reset`, `decision` …
    public var members: [(key: String, value: JSONValue)] = []
    /// Further headers of the answer.
    public var headers: [HTTPResponse.Header] = []

    /// A problem with its code and what else is known.
    public init(
        _ code: ProblemCode, detail: String? = nil, field: String? = nil, value: JSONValue? = nil,
        allowed: [JSONValue]? = nil
    ) {
        self.code = code
        self.detail = detail
        self.field = field
        self.value = value
        self.allowed = allowed
    }

    /// Equal if it renders the same.
    public static func == (left: Problem, right: Problem) -> Bool {
        left.response == right.response
    }

    /// The answer.
    public var response: HTTPResponse {
        var writer = JSONWriter(capacity: 256)
        write(to: &writer)
        var response = HTTPResponse(
            status: code.status, contentType: HTTPResponse.problem, headers: headers,
            body: writer.bytes)
        if let retryAfterSeconds {
            response.headers.append(HTTPResponse.Header("Retry-After", String(retryAfterSeconds)))
        }
        return response
    }

    /// Writes the problem as an object, as it also stands in the items of a batch.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        // A URN, not a URL: it names the type and promises no page.
        writer.key("type")
        writer.string("urn:discern:problem:" + code.rawValue)
        writer.key("title")
        writer.string(code.title)
        writer.key("status")
        writer.int(code.status)
        writer.key("code")
        writer.string(code.rawValue)
        if let detail {
            writer.key("detail")
            writer.string(detail)
        }
        if let field {
            writer.key("field")
            writer.string(field)
        }
        if let value {
            writer.key("value")
            writer.value(value)
        }
        if let allowed {
            writer.key("allowed")
            writer.value(.array(allowed))
        }
        writer.key("retryable")
        writer.bool(retryable ?? code.isRetryable)
        for member in members {
            writer.key(member.key)
            writer.value(member.value)
        }
        writer.endObject()
    }
}

extension Problem {
    /// The problem of a request target that cannot be read.
    init(fault: RequestTarget.Fault) {
        switch fault {
        case .notAPath:
            self.init(.malformedRequest, detail: "The request target must begin with a slash.")
        case .malformedPercent(let place):
            self.init(
                .malformedRequest,
                detail: "Percent-encoding or UTF-8 of '\(place)' is malformed.", field: place)
        case .tooManyItems(let limit):
            self.init(.malformedRequest, detail: "More than \(limit) query items.")
        }
    }
}
