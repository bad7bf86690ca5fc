/// One HTTP answer, made whole before it is sent.
public struct HTTPResponse: Sendable, Equatable {
    /// The status code, 200…599.
    public var status: Int
    /// The media type of the body.
    public var contentType: String
    /// Further headers, in order. `Content-Length`, `Date` and `Connection` are the transport's.
    public var headers: [Header] = []
    /// The body; an answer to HEAD is sent without it but with its length.
    public var body: [UInt8]
    /// Whether the connection is to be closed after this answer.
    public var closesConnection = false

    /// A header of an answer.
    public struct Header: Sendable, Equatable {
        /// The name, of token characters.
        public var name: String
        /// The value, of printable ASCII.
        public var value: String

        /// A header from its parts.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// An answer with a JSON body, unless another type is named.
    public init(
        status: Int, contentType: String = HTTPResponse.json, headers: [Header] = [], body: [UInt8]
    ) {
        self.status = status
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }

    /// The media type of what the API answers.
    public static let json = "application/json"
    /// The media type of problem details (RFC 9457).
    public static let problem = "application/problem+json"
}
