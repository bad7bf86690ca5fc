import Engine

/// Moves pages from the write-ahead log into the database file, on a connection and a thread of
/// its own, so that no commit waits for it.
///
/// The log can start over only when all of it is moved and nobody reads in it, which never happens
/// by itself while the writer goes on. So when it is long, and the thread has moved all but a few
/// pages, the writer moves those few between two batches; its next write then begins a new log.
final class Checkpointer: Sendable {
    /// Counts of pages of the log, by the size of a page.
    private struct Limits {
        /// Pages that are worth moving (4 MiB).
        let worthwhile: Int32
        /// Pages from which on the log should start over (64 MiB).
        let restart: Int32
        /// Pages that the writer may move at once (2 MiB): some milliseconds.
        let few: Int32
        /// Pages from which on it moves all there are (512 MiB): the disk does not keep up, and callers
        /// have to feel that.
        let most: Int32

        init(pageSize: Int64) {
            func pages(_ mebibytes: Int64) -> Int32 { Int32((mebibytes << 20) / pageSize) }
            (worthwhile, restart, few, most) = (pages(4), pages(64), pages(2), pages(512))
        }
    }

    private struct State {
        /// Pages of the log after the latest commit, and how many of them are moved.
        var pages: Int32 = 0
        var moved: Int32 = 0
        /// Pages when the thread looked last: without more of them it has no reason to look again.
        var seen: Int32 = 0
        /// Pages at the writer's latest attempt to let the log start over.
        var tried: Int32 = 0
        /// Whether the log is to be emptied, since something was erased.
        var isTruncating = false
        var isStopping = false

        /// A long log is followed closely, so that the writer finds little left to move.
        func isDue(_ limits: Limits) -> Bool {
            pages - seen >= (pages >= limits.restart ? limits.few / 2 : limits.worthwhile)
        }
    }

    private let state = Guarded(State())
    private let limits: Limits
    private let thread: Thread

    /// For a database of pages of that size, in bytes.
    init(path: String, pageSize: Int64) {
        let state = state
        let limits = Limits(pageSize: pageSize)
        self.limits = limits
        thread = Thread(name: "checkpoint") {
            guard let connection = try? Connection(path: path, readOnly: false) else { return }
            // A connection that has not read yet does not know of the log, and would move nothing.
            _ = try? connection.single("SELECT count(*) FROM sqlite_schema")
            // Emptying the log keeps the writer waiting while it waits for readers.
            try? connection.run("PRAGMA busy_timeout = 20")
            while true {
                let isStopping = state.wait { state -> Bool? in
                    if state.isStopping { return true }
                    guard state.isDue(limits) || state.isTruncating else { return nil }
                    state.seen = state.pages
                    return false
                }
                if isStopping ?? true { return }
                if state.withLock({ $0.isTruncating }) {
                    Self.truncate(connection, state)
                    continue
                }
                // A failure is no loss: the log keeps what was not moved.
                let moved = (try? connection.moveLog()) ?? 0
                try? connection.syncDatabase()
                state.withLock { state in
                    // The log may have begun anew meanwhile.
                    if state.pages >= moved { state.moved = max(state.moved, moved) }
                }
            }
        }
    }

    /// Tries once to empty the log; if somebody reads in it, not again at once.
    private static func truncate(_ connection: borrowing Connection, _ state: Guarded<State>) {
        if (try? connection.truncateLog()) ?? false {
            state.signal { $0.isTruncating = false }
        } else {
            _ = state.wait(milliseconds: 100) { $0.isStopping ? true : nil }
        }
    }

    /// Has the log emptied, and waits a moment for that. Without an answer in that time it is done
    /// later.
    func truncate(waiting milliseconds: Int64) {
        state.signal { $0.isTruncating = true }
        _ = state.wait(milliseconds: milliseconds) { $0.isTruncating ? nil : true }
    }

    /// Whether the log was emptied as often as that was asked for.
    var isTruncated: Bool { state.withLock { !$0.isTruncating } }

    /// A commit left so many pages in the log.
    func committed(walPages: Int32) {
        let isDue = state.withLock { state in
            if walPages < state.pages {
                (state.moved, state.seen, state.tried) = (0, 0, 0)
            }
            state.pages = walPages
            return state.isDue(limits)
        }
        if isDue { state.signal { _ in } }
    }

    /// Whether the writer should move what is left of the log now.
    func shouldFinish(walPages: Int32) -> Bool {
        guard walPages >= limits.restart else { return false }
        return state.withLock { state in
            let isNear = walPages - state.moved <= limits.few
            guard isNear || walPages >= limits.most else { return false }
            // Somebody may be reading in the log, so that it did not begin anew last time.
            guard walPages - state.tried >= limits.worthwhile else { return false }
            state.tried = walPages
            return true
        }
    }

    /// Ends the thread.
    func stop() {
        state.signal { $0.isStopping = true }
        thread.join()
    }
}
