import Glibc
import Synchronization

/// What the threads of a running server share.
final class ServerCore: Sendable {
    typealias Handler = @Sendable (HTTPRequest, Responder) -> Void

    let limits: ServerLimits
    let bodyLimit: @Sendable (_ method: HTTPMethod, _ path: String) -> Int
    let handler: Handler
    let observer: (@Sendable (HTTPServer.Observation) -> Void)?
    let connections = Connections()
    /// Answers close their connections; set when the server begins to drain.
    let isDraining = Atomic<Bool>(false)
    private let gate = Atomic<Int>(0)

    init(_ configuration: HTTPServer.Configuration, handler: @escaping Handler) {
        limits = configuration.limits
        bodyLimit = configuration.bodyLimit
        observer = configuration.observer
        self.handler = handler
    }

    // The gate counts the requests under way. Once it is shut nobody enters, so that no
    // connection can be suspended while libmicrohttpd stops, which it answers with an abort.
    private static let shut = Int.min

    /// Counts one more request under way; false once the gate is shut.
    func enter() -> Bool {
        if gate.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue > 0 { return true }
        gate.wrappingSubtract(1, ordering: .acquiringAndReleasing)
        return false
    }

    func leave() { gate.wrappingSubtract(1, ordering: .acquiringAndReleasing) }

    func shutGate() { _ = gate.bitwiseOr(Self.shut, ordering: .acquiringAndReleasing) }

    /// Requests given to the handler whose answer has not been sent.
    var underWay: Int { gate.load(ordering: .acquiring) & Int.max }
}

/// Milliseconds of a clock that only goes on.
func monotonicMilliseconds() -> Int64 { monotonicNanoseconds() / 1_000_000 }

/// Nanoseconds of the same clock.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
