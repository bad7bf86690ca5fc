import Engine
import Glibc
import Ledger

/// The index from keys to entries: what is recent in memory, the rest in sorted files.
///
/// Keys are spread evenly, so that in one table each new row would change a page of its own. Here a
/// generation of entries is sorted and written as a ``KeyRun`` by a thread of the index, and eight
/// neighbouring runs of a size become one, so that a row is written a few times in all and always
/// at the end of a file. A commit waits for none of it.
///
/// All of it can be deleted: what the files do not cover is read from the entries at start.
final class KeyIndex: Sendable {
    /// Entries that a generation holds, unless a test wants fewer.
    static let generation = 8_192
    /// The filters of runs of more rows than that many entries stay in their files: of a million.
    static let heldGenerations = 128
    /// Neighbouring runs of like size that become one.
    static let fanOut = 8
    /// Generations that may wait for a disk that takes no files, before the store takes no entries.
    static let mostWaiting = 64
    /// Rows that are merged before a look at whether a generation waits.
    private static let mergedAtOnce = 65_536

    private struct State {
        /// Keys of entries that are in no generation yet, and the last of them that is durable.
        var recent = RecentKeys()
        var committed: Int64 = 0
        /// Full generations, the oldest first, each with the leaf hash of its last entry.
        var waiting: [(keys: RecentKeys, leaf: Digest)] = []
        /// What is in files, the oldest first.
        var runs: [KeyRun] = []
        /// Rows that are to vanish from the files.
        var forgotten: Set<IndexedKey> = []
        /// The leaf hash of the entry added last.
        var leaf = MerkleTree.emptyRoot
        var failure: StorageError?
        var isStopping = false
    }

    private let state = Guarded(State())
    private let files: KeyRunFiles
    private let generation: Int
    private let thread: Guarded<Thread?> = Guarded(nil)

    /// The index of a ledger, whose entries after the last one in a file are read: of all, if files
    /// may hold what was erased.
    init(
        folder: String, rows: Rows, isDoubted: Bool = false,
        generation: Int = KeyIndex.generation
    ) throws {
        self.generation = generation
        files = try KeyRunFiles(
            folder: folder, mostHeldRows: generation * Self.heldGenerations)
        if isDoubted { try files.removeAll() }
        let runs = try files.load(rows)
        state.withLock { $0.runs = runs }
        try rows.keys(after: runs.last?.last ?? 0) { sequence, keys, leaf in
            add(keys, sequence: sequence, leaf: leaf)
            commit()
            while try writeOldest() {}
        }
        while try mergeOnce() {}
        let worker = Thread(name: "index") { [weak self] in self?.run() }
        thread.withLock { $0 = worker }
    }

    /// The entries under a key after `start`, in ledger order.
    func sequences(of key: EntityKey, after start: Int64 = 0) throws(StorageError) -> [Int64] {
        // What is in memory is found from the end on.
        let (runs, latest) = state.withLock { state in
            var latest: [Int64] = []
            state.recent.find(key.value, after: start, into: &latest)
            for generation in state.waiting.reversed() {
                generation.keys.find(key.value, after: start, into: &latest)
            }
            return (state.runs, latest)
        }
        var found: [Int64] = []
        for run in runs { try run.find(key.value, after: start, into: &found) }
        if !latest.isEmpty { found.append(contentsOf: latest.reversed()) }
        return found
    }

    /// Adds an entry's keys. Throws if the disk has taken no files for so long that memory would
    /// have to hold too much.
    func add(_ keys: [EntityKey], of entry: LedgerEntry) throws(StorageError) {
        try state.withLock { state throws(StorageError) in
            if state.waiting.count >= Self.mostWaiting, let failure = state.failure {
                throw failure
            }
        }
        add(
            keys, sequence: entry.envelope.sequence, leaf: entry.nodes.first ?? MerkleTree.emptyRoot
        )
    }

    private func add(_ keys: [EntityKey], sequence: Int64, leaf: Digest) {
        state.withLock { state in
            state.recent.add(keys, sequence: sequence)
            state.leaf = leaf
        }
    }

    /// What was added is durable.
    func commit() {
        let isFull = state.withLock { state in
            state.committed = state.recent.last
            guard state.recent.entries >= generation else { return false }
            state.waiting.append((state.recent, state.leaf))
            state.recent = RecentKeys()
            return true
        }
        if isFull { state.signal { _ in } }
    }

    /// Takes back what was added since the last commit.
    func rollback() { state.withLock { $0.recent.remove(after: $0.committed) } }

    /// Takes rows out: out of memory at once, out of files as soon as the thread comes to it.
    func forget(_ rows: [IndexedKey]) {
        guard !rows.isEmpty else { return }
        let forgotten = Set(rows)
        state.signal { state in
            state.recent.remove(forgotten)
            for place in state.waiting.indices { state.waiting[place].keys.remove(forgotten) }
            state.forgotten.formUnion(forgotten)
        }
    }

    /// Whether no file holds a row any more that was to be forgotten, now or after a moment.
    func hasForgotten(waiting milliseconds: Int64 = 0) -> Bool {
        state.wait(milliseconds: milliseconds) { $0.forgotten.isEmpty ? true : nil } ?? false
    }

    /// Ends the thread. What is in memory only is read from the entries again at the next start.
    func stop() {
        state.signal { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    // MARK: The thread

    private func run() {
        while true {
            let isStopping = state.wait { state -> Bool? in
                if state.isStopping { return true }
                return state.waiting.isEmpty && state.forgotten.isEmpty ? nil : false
            }
            if isStopping ?? true {
                try? removeForgotten()
                return
            }
            do {
                while try writeOldest() {}
                try removeForgotten()
                while try mergeOnce() {}
                state.withLock { $0.failure = nil }
            } catch {
                state.withLock { $0.failure = error }
                // A full disk is not asked again at once.
                _ = state.wait(milliseconds: 1_000) { $0.isStopping ? true : nil }
            }
        }
    }

    /// Writes the oldest generation that waits; false if none does.
    private func writeOldest() throws(StorageError) -> Bool {
        guard let (keys, leaf) = state.withLock({ $0.waiting.first }) else { return false }
        let rows = keys.sorted
        var writer = try KeyRunWriter(
            path: files.path(first: keys.first, last: keys.last), first: keys.first,
            last: keys.last, leaf: leaf, rows: rows.count,
            mostHeldRows: files.mostHeldRows)
        for row in rows { try writer.append(row) }
        let run = try writer.finish()
        state.withLock { state in
            state.runs.append(run)
            state.waiting.removeFirst()
        }
        return true
    }

    /// Writes runs anew without the rows that are to be forgotten.
    private func removeForgotten() throws(StorageError) {
        let (forgotten, runs) = state.withLock { ($0.forgotten, $0.runs) }
        guard !forgotten.isEmpty else { return }
        for (place, run) in runs.enumerated() where try run.contains(anyOf: forgotten) {
            var merge = try KeyMerge([run], into: run.path, without: forgotten)
            while try merge.step(rows: Self.mergedAtOnce) {}
            let rest = try merge.finish()
            // Only this thread changes the runs.
            state.withLock { $0.runs[place] = rest }
        }
        state.signal { $0.forgotten.subtract(forgotten) }
    }

    /// Makes one run of neighbours of a size; false if there are none.
    private func mergeOnce() throws(StorageError) -> Bool {
        let runs = state.withLock { $0.runs }
        guard let range = Self.mergeable(runs.map(\.entries), generation) else { return false }
        let old = Array(runs[range])
        var merge = try KeyMerge(
            old, into: files.path(first: old[0].first, last: old[old.count - 1].last))
        while try merge.step(rows: Self.mergedAtOnce) {
            if state.withLock({ $0.isStopping }) { return false }
            while try writeOldest() {}
        }
        let merged = try merge.finish()
        // Newer runs may have come behind them meanwhile; nothing changed before.
        state.withLock { $0.runs.replaceSubrange(range, with: [merged]) }
        for run in old { files.remove(run) }
        return true
    }

    /// Neighbours that are as large as each other, if they are enough. The oldest of them, so that
    /// larger ones go on standing before smaller ones.
    static func mergeable(_ sizes: [Int], _ generation: Int) -> Range<Int>? {
        func level(_ entries: Int) -> Int {
            var (level, size) = (0, generation * fanOut)
            while size <= entries {
                level += 1
                size *= fanOut
            }
            return level
        }
        var end = sizes.count
        while end > 0 {
            var start = end - 1
            while start > 0, level(sizes[start - 1]) == level(sizes[end - 1]) { start -= 1 }
            if end - start >= fanOut { return start..<start + fanOut }
            end = start
        }
        return nil
    }
}
