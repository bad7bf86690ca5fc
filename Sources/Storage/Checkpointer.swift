import Engine

/// Moves pages from the write-ahead log into the database file, on a connection and a thread
/// of its own, so that no commit waits for it.
final class Checkpointer: Sendable {
    /// Pages in the log from which on moving them is worth it (4 MiB).
    private static let worthwhilePages: Int32 = 1_000
    /// Pages from which on the log should start over once nearly all is moved (128 MiB). Each time the
    /// writer waits for the disk, so it should be seldom.
    private static let restartPages: Int32 = 32_768
    /// Pages from which on it must (512 MiB): under unbroken load it would grow for ever.
    private static let mostPages: Int32 = 131_072

    private struct State {
        var pages: Int32 = 0
        /// Whether a checkpoint has just ended, so that little is left to move.
        var isFresh = false
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
                try? connection.checkpoint(.passive)
                state.withLock { $0.isFresh = true }
            }
        }
    }

    /// A commit left so many pages in the log.
    func committed(walPages: Int32) {
        guard walPages >= Self.worthwhilePages else { return }
        state.signal { $0.pages = walPages }
    }

    /// Whether the writer should let the log start over: the log is long, and what is left to
    /// move is little, so that the writer hardly waits; or it is far too long.
    func mayRestart(walPages: Int32) -> Bool {
        guard walPages >= Self.restartPages else { return false }
        return state.withLock { state in
            defer { state.isFresh = false }
            return state.isFresh || walPages >= Self.mostPages
        }
    }

    /// Ends the thread.
    func stop() {
        state.signal { $0.isStopping = true }
        thread.join()
    }
}
