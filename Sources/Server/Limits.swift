/// Every limit of the server, in one place. Beyond one there is a clear answer or back-pressure,
/// never silent loss.
public struct ServerLimits: Sendable {
    /// The largest body of an ordinary request, in bytes; a larger one is answered 413.
    public var bodyBytes = 1 << 20
    /// The largest body of a batch, in bytes.
    public var batchBodyBytes = 8 << 20
    /// How much of a body that is too large is read and thrown away so that the client, still
    /// sending, gets to read the answer. Beyond this the connection is closed after the answer.
    public var discardedBytes = 16 << 20
    /// Memory for the request line and all headers of one request, in bytes. Beyond it the
    /// request is answered 414 or 431. libmicrohttpd clears it all before every request, so more
    /// costs time.
    public var headerBytes = 16 << 10
    /// The longest request target (path and query), in bytes; a longer one is answered 414.
    public var targetBytes = 8 << 10
    /// The most headers of one request; more are answered 431.
    public var headerCount = 64
    /// The most query items of one request; more are answered 400.
    public var queryItems = 32
    /// Open connections; more wait in the listen backlog.
    public var connections = 4096
    /// Connections that wait to be accepted.
    public var backlog = 1024

    /// From the opening of a connection, or the end of the last answer, to the end of the next
    /// request line. Milliseconds.
    public var idleMilliseconds: Int64 = 30_000
    /// From the end of the request line to the end of the headers. Milliseconds.
    public var headerMilliseconds: Int64 = 10_000
    /// From the end of the headers to the end of the body. Milliseconds.
    public var bodyMilliseconds: Int64 = 30_000
    /// From the start of the answer until the kernel has taken all of it. Milliseconds.
    public var answerMilliseconds: Int64 = 30_000
    /// How often deadlines are looked at; a connection outlives one by at most this. Milliseconds.
    public var deadlineTickMilliseconds: Int64 = 200

    /// The limits as shipped.
    public init() {}
}
