import Engine

/// Moves pages from the write-ahead log into the database file, on a connection and a thread
/// of its own, so that no commit waits for it.
final class Checkpointer: Sendable {
    /// Pages in the log from which on moving them is worth it (4 MiB).
    private static let worthwhilePages: Int32 = 1_000
    /// Pages from which on the writer waits once for the log to start over (256 MiB): under
    /// unbroken load it would otherwise grow for ever.
    static let restartPages: Int32 = 65_536

    private struct State {
        var pages: Int32 = 0
        var isStopping = false
    }

    private let state = Guarded(State())
    private let thread: Thread

    init(path: String) {
        let state = state
        thread = Thread(name: "checkpoint") {
            guard let connection = try? Connection(path: path, readOnly: false) else { return }
            while true {
                let isStopping = state.wait { state -> Bool? in
                    if state.isStopping { return true }
                    guard state.pages >= Self.worthwhilePages else { return nil }
                    state.pages = 0
                    return false
                }
                if isStopping ?? true { return }
                // A failure is no loss: the log keeps what was not moved.
                _ = try? connection.checkpoint(truncate: false)
            }
        }
    }

    /// A commit left so many pages in the log.
    func committed(walPages: Int32) {
        guard walPages >= Self.worthwhilePages else { return }
        state.signal { $0.pages = walPages }
    }

    /// Ends the thread.
    func stop() {
        state.signal { $0.isStopping = true }
        thread.join()
    }
}
