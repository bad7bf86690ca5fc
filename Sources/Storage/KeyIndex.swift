import Engine
import Synchronization

/// The index from keys to entries: what is recent in memory, the rest in a table.
///
/// Rows go to the table in sorted generations, a slice after each commit. Neighbouring keys
/// share pages, so a generation dirties far fewer of them than its rows would one by one,
/// and a commit of entries none at all.
final class KeyIndex: Sendable {
    /// Entries that a generation holds, unless a test wants fewer.
    static let generation = 8_192
    /// Rows that one slice adds at most.
    static let slice = 2_000

    private struct State: ~Copyable {
        /// Keys of entries that no generation holds yet.
        var recent: [Int64: [Int64]] = [:]
        var recentEntries = 0
        /// Keys of the generation that is being written.
        var leaving: [Int64: [Int64]] = [:]
        /// Its rows in order, and how many of them are in the table.
        var rows: [IndexedKey] = []
        var written = 0
        /// The last entry of the generation, and the last added.
        var leavingThrough: Int64 = 0
        var lastSequence: Int64 = 0
        /// What was added since the last commit.
        var uncommitted: [(key: Int64, sequence: Int64)] = []
        var uncommittedEntries = 0
    }

    private let state = Mutex(State())
    private let generation: Int

    /// An index whose recent part is built from the entries that the table does not cover.
    init(writer: Writer, generation: Int = KeyIndex.generation) throws {
        self.generation = generation
        let through = try writer.indexedThrough()
        try writer.rows.keys(after: through) { sequence, keys in
            add(keys, sequence: sequence)
            if recentIsFull { try flushAll(writer) }
        }
        commit()
    }

    private var recentIsFull: Bool { state.withLock { $0.recentEntries >= generation } }

    /// The entries under a key, in ledger order.
    func sequences(of key: EntityKey, rows: Rows) throws -> [Int64] {
        // Memory first: a row may move to the table in between, and must not be missed.
        let inMemory = state.withLock { state in
            (state.leaving[key.value] ?? []) + (state.recent[key.value] ?? [])
        }
        let stored = try rows.sequences(of: key)
        if inMemory.isEmpty { return stored }
        guard let last = stored.last else { return inMemory }
        // A generation that is being written may be in both.
        return stored + inMemory.filter { $0 > last || !stored.contains($0) }
    }

    func add(_ keys: [EntityKey], sequence: Int64) {
        state.withLock { state in
            for key in keys {
                state.recent[key.value, default: []].append(sequence)
                state.uncommitted.append((key.value, sequence))
            }
            state.recentEntries += 1
            state.uncommittedEntries += 1
            state.lastSequence = sequence
        }
    }

    /// What was added is durable.
    func commit() {
        state.withLock { state in
            state.uncommitted.removeAll(keepingCapacity: true)
            state.uncommittedEntries = 0
        }
    }

    /// Takes back what was added since the last commit.
    func rollback() {
        state.withLock { state in
            for item in state.uncommitted {
                state.recent[item.key]?.removeAll { $0 == item.sequence }
                if state.recent[item.key]?.isEmpty == true { state.recent[item.key] = nil }
            }
            state.recentEntries -= state.uncommittedEntries
            state.lastSequence -= Int64(state.uncommittedEntries)
            state.uncommitted.removeAll()
            state.uncommittedEntries = 0
        }
    }

    /// Writes the next slice, if there is a generation to write. Called after a commit.
    ///
    /// Should that fail, the slice is tried again after the next commit.
    func writeBehind(_ writer: Writer) { try? writeSlice(writer) }

    private func writeSlice(_ writer: Writer) throws {
        let slice = state.withLock { state -> (rows: ArraySlice<IndexedKey>, through: Int64?)? in
            if state.rows.isEmpty {
                guard state.recentEntries >= generation else { return nil }
                state.leaving = state.recent
                state.recent = [:]
                state.recentEntries = 0
                state.leavingThrough = state.lastSequence
                state.rows = state.leaving.flatMap { key, sequences in
                    sequences.map { IndexedKey(key: key, sequence: $0) }
                }
                state.rows.sort()
                state.written = 0
            }
            let end = min(state.written + Self.slice, state.rows.count)
            let isLast = end == state.rows.count
            return (state.rows[state.written..<end], isLast ? state.leavingThrough : nil)
        }
        guard let slice else { return }
        do {
            try writer.insert(keys: slice.rows, indexedThrough: slice.through)
            _ = try writer.commit()
        } catch {
            writer.rollback()
            throw error
        }
        state.withLock { state in
            state.written = slice.rows.endIndex
            if slice.through != nil {
                state.leaving = [:]
                state.rows = []
            }
        }
    }

    /// Throws rather than trying again: on a full disk that would never end.
    private func flushAll(_ writer: Writer) throws {
        commit()
        repeat { try writeSlice(writer) } while state.withLock { !$0.rows.isEmpty }
    }
}
