/// One HTTP request, read whole.
public struct HTTPRequest: Sendable {
    /// What is asked for.
    public var method: HTTPMethod
    /// The path as sent, without the query; still percent-encoded, since an encoded slash does
    /// not part two segments.
    public var path: String
    /// The query's items, decoded, in the order sent. Names may repeat.
    public var query: [QueryItem]
    /// The value of `Authorization`, if there was exactly one.
    public var authorization: String?
    /// The value of `Content-Type`, if there was one.
    public var contentType: String?
    /// The body; empty if there was none.
    public var body: [UInt8]

    /// A request made by hand, as tests do.
    public init(
        method: HTTPMethod, path: String, query: [QueryItem] = [], authorization: String? = nil,
        contentType: String? = nil, body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.authorization = authorization
        self.contentType = contentType
        self.body = body
    }
}

/// One `name=value` of a query. A name without `=` has an empty value.
public struct QueryItem: Sendable, Equatable {
    /// The name, decoded.
    public var name: String
    /// The value, decoded.
    public var value: String

    /// An item from decoded parts.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The methods that routes are made of; anything else is `other` and no route has it.
public enum HTTPMethod: Sendable, Hashable {
    /// Reads.
    case get
    /// Reads, and wants the headers only.
    case head
    /// Does what the path names.
    case post
    /// Sets what the path names.
    case put
    /// Removes what the path names.
    case delete
    /// Any other method, by its name.
    case other(String)

    /// The method of that name; names are case-sensitive (RFC 9110, section 9.1).
    public init(_ name: String) {
        switch name {
        case "GET": self = .get
        case "HEAD": self = .head
        case "POST": self = .post
        case "PUT": self = .put
        case "DELETE": self = .delete
        default: self = .other(name)
        }
    }

    /// The name as it stands in a request line.
    public var name: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .other(let name): name
        }
    }
}
