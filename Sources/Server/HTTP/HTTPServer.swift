import CMicroHTTPD
import Engine
import Glibc
import Synchronization

/// The HTTP transport: libmicrohttpd with epoll, a pool of threads, and deadlines of our own.
///
/// `handler` runs on a thread of the pool and must not wait: it answers at once, or hands the
/// responder on. Bodies are read whole before it is called.
public final class HTTPServer: Sendable {
    /// What a server is started with.
    public struct Configuration: Sendable {
        /// What to listen on; port 0 takes a free one.
        public var address: SocketAddress
        /// Threads that read requests and write answers, 2…64.
        public var threads = 2
        /// Sizes, counts and deadlines.
        public var limits = ServerLimits()
        /// The largest body, in bytes, of a request with that method and path.
        public var bodyLimit: @Sendable (_ method: HTTPMethod, _ path: String) -> Int
        /// Is told of every answer, on a thread of the pool; it must not wait.
        public var observer: (@Sendable (Observation) -> Void)?

        /// A configuration with two threads, the shipped limits and one body limit for all.
        public init(address: SocketAddress, limits: ServerLimits = ServerLimits()) {
            self.address = address
            self.limits = limits
            bodyLimit = { _, _ in limits.bodyBytes }
        }
    }

    /// An answer that is being sent.
    public struct Observation: Sendable, Equatable {
        /// The index of the route; nil if the request fits none or was refused before.
        public var tag: Int?
        /// The status of the answer.
        public var status: Int
        /// From the whole request read to the answer; 0 if it was never read whole.
        public var nanoseconds: Int64

        /// An observation from its parts.
        public init(tag: Int?, status: Int, nanoseconds: Int64) {
            self.tag = tag
            self.status = status
            self.nanoseconds = nanoseconds
        }
    }

    /// Why a server does not start.
    public enum StartError: Error, Equatable, CustomStringConvertible {
        /// A call of the system failed: what was done, and `errno`.
        case system(String, Int32)
        /// libmicrohttpd refused its options.
        case daemon

        /// One line for the operator.
        public var description: String {
            switch self {
            case .system(let call, let code): "\(call): \(String(cString: strerror(code)))"
            case .daemon: "the HTTP server did not start"
            }
        }
    }

    /// What the server listens on, with the port it was given.
    public let address: SocketAddress
    private let core: ServerCore
    private let running: Mutex<Running?>
    private let isStopped: Guarded<Bool>

    private struct Running: Sendable {
        let daemon: Daemon
        let watch: Thread
    }

    /// Throws why an address cannot be listened on, if it cannot just now.
    public static func checkAddress(_ address: SocketAddress) throws(StartError) {
        _ = try ListeningSocket(address, backlog: 1)
    }

    /// Binds and starts. Requests are accepted from here on.
    public init(
        _ configuration: Configuration,
        handler: @escaping @Sendable (HTTPRequest, Responder) -> Void
    ) throws(StartError) {
        let socket = try ListeningSocket(
            configuration.address, backlog: configuration.limits.backlog)
        address = socket.address
        let core = ServerCore(configuration, handler: handler)
        self.core = core
        Self.allowDescriptors(configuration.limits.connections + 256)
        let daemon = try Daemon(
            core: core, listening: socket, threads: min(max(configuration.threads, 2), 64))
        let tick = configuration.limits.deadlineTickMilliseconds
        let isStopped = Guarded(false)
        self.isStopped = isStopped
        let watch = Thread(name: "deadlines") {
            while isStopped.wait(milliseconds: tick, for: { $0 ? true : nil }) == nil {
                core.connections.shutDownOverdue(at: monotonicMilliseconds())
            }
        }
        running = Mutex(Running(daemon: daemon, watch: watch))
    }

    deinit { stop(drainMilliseconds: 0) }

    /// Stops: no new connections; what has been accepted is answered, as long as that takes no
    /// longer than `drainMilliseconds`, and answers close their connections; what is left then is
    /// answered 503 `shuttingDown`. Returns when all threads have ended; again: does nothing.
    public func stop(drainMilliseconds: Int64) {
        guard let running = running.withLock({ $0.take() }) else { return }
        core.isDraining.store(true, ordering: .relaxed)
        waitUntilIdle(until: monotonicMilliseconds() + drainMilliseconds)
        core.shutGate()
        core.connections.answerAll(Problem(.shuttingDown).response)
        // Answered is not sent. The answers' own deadline ends this for clients that do not read.
        waitUntilIdle(until: monotonicMilliseconds() + core.limits.answerMilliseconds)
        running.daemon.stop()
        isStopped.signal { $0 = true }
        running.watch.join()
    }

    /// Raises the process's limit of open files as far as the system lets us: the usual 1024 is
    /// less than the connections we mean to hold.
    private static func allowDescriptors(_ count: Int) {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(kind, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(count))
        setrlimit(kind, &limit)
    }

    private func waitUntilIdle(until deadline: Int64) {
        while core.underWay > 0, monotonicMilliseconds() < deadline { usleep(2_000) }
    }

    /// Open connections.
    public var connectionCount: Int { core.connections.count }
    /// Requests that were given to the handler and whose answer has not been sent.
    public var requestsUnderWay: Int { core.underWay }
    /// Connections cut because a deadline passed, by what was waited for.
    public var overdueConnections: [(wait: String, count: Int)] {
        [Connection.Wait.idle, .headers, .body, .answer].map {
            ("\($0)", core.connections.overdue($0))
        }
    }
}
