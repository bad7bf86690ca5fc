import Glibc
import Synchronization

/// One open connection: its socket, and the instant until which what it is doing may take.
final class Connection: Sendable {
    /// What a deadline is set for.
    enum Wait: UInt8, AtomicRepresentable, CaseIterable {
        /// The next request line.
        case idle
        /// The rest of the headers.
        case headers
        /// The rest of the body.
        case body
        /// Our own answer; no deadline, since what is accepted is answered.
        case handling
        /// The client to take the answer.
        case answer
    }

    let socket: Int32
    private let deadline: Atomic<Int64>
    private let wait = Atomic<Wait>(.idle)
    /// The request under way, for the draining server to answer.
    let exchange = Mutex<Exchange?>(nil)

    init(socket: Int32, deadline: Int64) {
        self.socket = socket
        self.deadline = Atomic(deadline)
    }

    func wait(for what: Wait, until instant: Int64) {
        wait.store(what, ordering: .relaxed)
        deadline.store(instant, ordering: .relaxed)
    }

    /// What it has waited for too long, if it has. Relaxed: a moment's delay changes nothing.
    func overdue(at now: Int64) -> Wait? {
        deadline.load(ordering: .relaxed) < now ? wait.load(ordering: .relaxed) : nil
    }
}

/// The open connections. Touched when one opens, closes, or a deadline is looked at; never for a
/// request.
final class Connections: Sendable {
    private let open = Mutex<[ObjectIdentifier: Connection]>([:])
    private let overdueCounts = Connection.Wait.allCases.map { _ in Counter() }

    var count: Int { open.withLock { $0.count } }

    func insert(_ connection: Connection) {
        open.withLock { $0[ObjectIdentifier(connection)] = connection }
    }

    func remove(_ connection: Connection) {
        _ = open.withLock { $0.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    /// Shuts down the sockets whose deadline has passed.
    ///
    /// libmicrohttpd tells us of a connection's end before it closes the socket, and `remove`
    /// takes the same lock: the descriptor here is never another connection's.
    func shutDownOverdue(at now: Int64) {
        open.withLock { open in
            for connection in open.values {
                guard let wait = connection.overdue(at: now) else { continue }
                overdueCounts[Int(wait.rawValue)].add()
                connection.wait(for: wait, until: .max)  // once is enough
                shutdown(connection.socket, Int32(SHUT_RDWR))
            }
        }
    }

    /// How many connections were cut because they waited too long for that.
    func overdue(_ wait: Connection.Wait) -> Int { overdueCounts[Int(wait.rawValue)].value }

    /// Answers every request under way that has no answer yet.
    func answerAll(_ response: HTTPResponse) {
        // Outside the lock: an answer may wake a thread that wants it.
        let connections = open.withLock { Array($0.values) }
        for connection in connections {
            connection.exchange.withLock { $0 }?.answer { response }
        }
    }
}
