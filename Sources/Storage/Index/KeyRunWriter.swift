import Glibc
import Ledger

/// Writes a run, row by row: beside its place first and on disk, then in its place, so that no half
/// of one is ever found there.
struct KeyRunWriter: ~Copyable {
    /// Runs of more rows have no filter, which is made in memory; a look into such a run costs one
    /// block.
    static let mostFilteredRows = 1 << 24

    private let path: String
    private let mostHeldRows: Int
    private let descriptor: Int32
    private var head: KeyRun.Head
    private var buffer: [IndexedKey] = []
    private var fences: [Int64] = []
    private var filter: KeyFilter?

    /// Blocks that are written at once.
    private static let bufferRows = 64 * KeyRun.blockRows

    private var unfinishedPath: String { path + ".new" }

    /// A run of the entries `first` through `last`, with at most so many rows.
    init(
        path: String, first: Int64, last: Int64, leaf: Digest, rows: Int, mostHeldRows: Int
    ) throws(StorageError) {
        self.path = path
        self.mostHeldRows = mostHeldRows
        head = KeyRun.Head(first: first, last: last, rows: 0, filterWords: 0, leaf: leaf)
        filter = rows > Self.mostFilteredRows ? nil : KeyFilter(keys: rows)
        let unfinished = path + ".new"
        descriptor = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .file(path: unfinished, doing: "writing", error: DataFolder.reason)
        }
        buffer.reserveCapacity(Self.bufferRows)
        // The head follows when all is known.
        try write([UInt8](repeating: 0, count: KeyRun.blockBytes))
    }

    deinit { close(descriptor) }

    /// Adds a row, which comes after all before it.
    mutating func append(_ row: IndexedKey) throws(StorageError) {
        if Int(head.rows) % KeyRun.blockRows == 0 { fences.append(row.key) }
        head.rows += 1
        filter?.add(row.key)
        buffer.append(row)
        if buffer.count == Self.bufferRows { try flush() }
    }

    /// Ends the file and puts it in its place.
    consuming func finish() throws(StorageError) -> KeyRun {
        // The last block is made whole.
        let rest = Int(head.rows) % KeyRun.blockRows
        if rest > 0 {
            buffer += repeatElement(IndexedKey(key: 0, sequence: 0), count: KeyRun.blockRows - rest)
        }
        try flush()
        try write(fences)
        if let filter {
            head.filterWords = Int64(filter.words.count)
            try write(filter.words)
        }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw failed() }
        try write([head])
        guard fsync(descriptor) == 0, rename(unfinishedPath, path) == 0 else { throw failed() }
        return try KeyRun(path: path, mostHeldRows: mostHeldRows)
    }

    private mutating func flush() throws(StorageError) {
        try write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    private func write<T: BitwiseCopyable>(_ values: [T]) throws(StorageError) {
        let isWritten = values.withUnsafeBytes { File.writeAll(descriptor, $0) }
        if !isWritten { throw failed() }
    }

    private func failed() -> StorageError {
        let reason = DataFolder.reason
        unlink(unfinishedPath)
        return .file(path: path, doing: "writing", error: reason)
    }
}

/// Merges neighbouring runs into one, a part at a time.
struct KeyMerge: ~Copyable {
    private struct Cursor {
        let run: KeyRun
        var block = 0
        var rows: [IndexedKey] = []
        var place = 0

        init(_ run: KeyRun) throws(StorageError) {
            self.run = run
            try load()
        }

        var row: IndexedKey? { place < rows.count ? rows[place] : nil }

        mutating func advance() throws(StorageError) {
            place += 1
            if place == rows.count {
                block += 1
                try load()
            }
        }

        private mutating func load() throws(StorageError) {
            place = 0
            rows.removeAll(keepingCapacity: true)
            guard block < run.head.blocks else { return }
            var loaded: [IndexedKey] = []
            try run.withRows(of: block) { loaded = Array($0) }
            rows = loaded
        }
    }

    private var cursors: [Cursor]
    private let left: Set<IndexedKey>
    private var writer: KeyRunWriter

    /// A merge of runs, the oldest first, into the file at `path`, without some rows.
    init(_ runs: [KeyRun], into path: String, without left: Set<IndexedKey> = [])
        throws(StorageError)
    {
        var cursors: [Cursor] = []
        for run in runs { cursors.append(try Cursor(run)) }
        let writer = try KeyRunWriter(
            path: path, first: runs[0].first, last: runs[runs.count - 1].last,
            leaf: runs[runs.count - 1].head.leaf, rows: runs.reduce(0) { $0 + Int($1.head.rows) },
            mostHeldRows: runs[0].mostHeldRows)
        self.cursors = cursors
        self.left = left
        self.writer = writer
    }

    /// Merges that many rows; false when all are.
    mutating func step(rows: Int) throws(StorageError) -> Bool {
        for _ in 0..<rows {
            var least: (place: Int, row: IndexedKey)?
            for place in cursors.indices {
                guard let row = cursors[place].row else { continue }
                if let found = least, found.row < row { continue }
                least = (place, row)
            }
            guard let least else { return false }
            if !left.contains(least.row) { try writer.append(least.row) }
            try cursors[least.place].advance()
        }
        return true
    }

    /// The merged run, in its place.
    consuming func finish() throws(StorageError) -> KeyRun { try writer.finish() }
}
