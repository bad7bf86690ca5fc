import CMicroHTTPD
import Synchronization

/// One request and its answer, from the request line to the last byte sent.
///
/// It belongs to the thread of the pool that owns the connection. What another thread may touch
/// is `answer`, which hands over through `phase`.
///
/// Unchecked: `makeResponse` is written by the one thread that moves `phase` to `.answering`, before
/// it moves it to `.answered`; it is read by the connection's thread after it has seen
/// `.answered`. All else is used by the connection's thread alone, or never changes.
final class Exchange: @unchecked Sendable {
    /// Who has the request.
    enum Phase: UInt8, AtomicRepresentable {
        /// The handler is running on the connection's thread, or has not begun.
        case handling
        /// The connection is suspended until the answer comes.
        case suspended
        /// Somebody is writing the answer.
        case answering
        /// The answer is there; the connection is not suspended, or is being resumed.
        case answered
    }

    let core: ServerCore
    let connection: OpaquePointer
    let socket: Connection
    let target: String

    private let phase = Atomic<Phase>(.handling)
    private var makeResponse: (@Sendable () -> HTTPResponse)?

    /// The headers were seen; what follows is the body.
    var hasHead = false
    /// The handler was given the request.
    var isDispatched = false
    /// Counted among the requests under way.
    var isEntered = false
    /// What the handler said the request is for, and when it was called.
    var tag: Int?
    var began: Int64 = 0
    /// Why the request is refused once its body has been thrown away.
    var refusal: HTTPResponse?
    var method = HTTPMethod.get
    var path = ""
    var query: [QueryItem] = []
    var head = RequestHead()
    var body: [UInt8] = []
    var bodyLimit = 0
    var discarded = 0

    init(core: ServerCore, connection: OpaquePointer, socket: Connection, target: String) {
        self.core = core
        self.connection = connection
        self.socket = socket
        self.target = target
    }

    var isAnswered: Bool {
        let phase = phase.load(ordering: .acquiring)
        return phase == .answering || phase == .answered
    }

    /// The answer, if it is there, made now. For the connection's thread, once.
    func takeResponse() -> HTTPResponse? {
        guard phase.load(ordering: .acquiring) == .answered else { return nil }
        return makeResponse.take()?()
    }

    /// Answers. The connection's thread makes the response, not the caller's.
    @discardableResult
    func answer(_ makeResponse: @escaping @Sendable () -> HTTPResponse) -> Bool {
        var expected = phase.load(ordering: .acquiring)
        while expected == .handling || expected == .suspended {
            let (won, seen) = phase.compareExchange(
                expected: expected, desired: .answering, ordering: .acquiringAndReleasing)
            guard won else {
                expected = seen
                continue
            }
            self.makeResponse = makeResponse
            phase.store(.answered, ordering: .releasing)
            // Suspended before we took over: the connection's thread waits for us to wake it. If
            // it was still handling, that thread sees the answer when it tries to suspend.
            if expected == .suspended { MHD_resume_connection(connection) }
            return true
        }
        return false
    }

    /// Suspends the connection unless the answer is there already. For the connection's thread,
    /// after the handler has returned.
    func suspendUnlessAnswered() -> Bool {
        if phase.load(ordering: .acquiring) == .answered { return false }
        // Suspend first: once the phase says so, any thread may resume.
        MHD_suspend_connection(connection)
        let (suspended, _) = phase.compareExchange(
            expected: .handling, desired: .suspended, ordering: .acquiringAndReleasing)
        if !suspended {
            // The answer came in between and its thread did not wake us. It may still be storing
            // the response (`.answering`); the access callback waits for that on its next call.
            MHD_resume_connection(connection)
        }
        return true
    }
}
