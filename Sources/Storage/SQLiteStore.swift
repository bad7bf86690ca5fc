import CSQLite
import Engine
import Ledger
import Synchronization
import Time

/// The ledger in one SQLite file: WAL, `synchronous=FULL`, one writer, a pool of readers.
///
/// An entry is one appended row, so a commit writes to the end of one table. The index from
/// keys to entries is written by a thread of its own (``KeyIndex``), off that path.
public final class SQLiteStore: Store {
    /// Held until the store is closed: the folder's lock goes with it, and without the lock
    /// there could be a second writer.
    private let folder: Mutex<DataFolder?>
    private let writer: Writer
    private let index: KeyIndex
    private let checkpointer: Checkpointer
    private let snapshots: SnapshotFile
    /// Reads for any thread.
    public let reader: SQLiteReader

    /// Opens the database of a data folder, and makes it if there is none.
    public convenience init(folder: DataFolder) throws {
        try self.init(folder: folder, generation: KeyIndex.generation)
    }

    /// The same with an index that is written after that many entries already.
    package init(folder: DataFolder, generation: Int) throws {
        self.folder = Mutex(folder)
        let path = folder.databasePath
        do {
            writer = try Writer(path: path)
        } catch let error as SQLiteError where error.code & 0xFF == SQLITE_NOTADB {
            throw StorageError.notOurs(path: path)
        } catch let error as SQLiteError {
            // SQLite's own words name no file.
            throw StorageError.file(path: path, doing: "opening", error: "\(error)")
        }
        try writer.check(key: folder.pseudonymKey, path: folder.keyPath)
        index = try KeyIndex(
            folder: folder.indexPath, rows: writer.rows, isDoubted: writer.isErasing,
            generation: generation)
        reader = SQLiteReader(path: path, index: index)
        checkpointer = Checkpointer(path: path, pageSize: try writer.pageSize())
        snapshots = SnapshotFile(path: folder.snapshotPath, key: folder.pseudonymKey)
        // The end came between an erasure and the emptying of the log.
        if writer.isErasing { _ = clearErased() }
    }

    public func tail() throws -> LedgerTail {
        LedgerTail(
            frontier: try MerkleFrontier(count: UInt64(writer.lastSequence()), entry: entry))
    }

    public func append(_ entry: LedgerEntry, keys: [EntityKey]) throws {
        try index.add(keys, of: entry)
        try writer.insert(entry, keys: keys)
    }

    public func commit() throws {
        let pages: Int32
        do {
            pages = try writer.commit()
        } catch {
            rollback()
            throw error
        }
        // From here on the entries are durable: what fails below must not deny that.
        index.commit()
        checkpointer.committed(walPages: pages)
        index.forget(writer.takeErased())
        if checkpointer.shouldFinish(walPages: pages) { try? writer.moveLog() }
    }

    public func erase(_ sequence: Int64, removing keys: Set<EntityKey>) throws {
        try writer.erase(sequence, removing: keys)
    }

    /// How long an erasure waits for the log and the index.
    private static let clearingMilliseconds: Int64 = 500

    public func clearErased() -> Bool {
        guard writer.isErasing else { return true }
        checkpointer.truncate(waiting: Self.clearingMilliseconds)
        guard index.hasForgotten(waiting: Self.clearingMilliseconds), checkpointer.isTruncated
        else { return false }
        try? writer.endErasing()
        return true
    }

    public func probe() throws { try writer.probe() }

    public func rollback() {
        writer.rollback()
        index.rollback()
    }

    public func entry(_ sequence: Int64) throws -> LedgerEntry? {
        try writer.rows.entry(sequence)
    }

    public func entries(under key: EntityKey, after sequence: Int64) throws -> [LedgerEntry] {
        try index.sequences(of: key, after: sequence).compactMap(writer.rows.entry)
    }

    public func payloads(under key: EntityKey, after sequence: Int64) throws -> [StoredPayload] {
        try index.sequences(of: key, after: sequence).compactMap(writer.rows.payload)
    }

    public func sequences(under key: EntityKey) throws -> [Int64] {
        try index.sequences(of: key)
    }

    public func firstSequence(notBefore instant: Instant) throws -> Int64 {
        try writer.rows.place(notBefore: instant, among: 1...writer.lastSequence() + 1)
    }

    public func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws {
        try writer.rows.scan(from: sequence, body)
    }

    public func scanService(through sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws {
        for number in try writer.serviceEntries(through: sequence) {
            if let entry = try entry(number) { try body(entry) }
        }
    }

    public func scanErasures(after sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws {
        for number in try writer.erasures(after: sequence) {
            if let entry = try entry(number) { try body(entry) }
        }
    }

    public func keep(_ snapshot: LedgerSnapshot) { snapshots.keep(snapshot) }

    public func snapshot() throws -> (through: Int64, bytes: [UInt8])? {
        try snapshots.read()?.fitting(last: writer.lastSequence(), entry: entry)
    }

    /// Closes the file in good order: the log is moved into the database.
    public func close() {
        snapshots.stop()
        index.stop()
        checkpointer.stop()
        if writer.truncateLog(), writer.isErasing, index.hasForgotten() {
            try? writer.endErasing()
            _ = writer.truncateLog()
        }
        folder.withLock { $0 = nil }
    }
}

extension MerkleFrontier {
    /// The tree of the first entries, from the hashes that stand beside some of them.
    init(count: UInt64, entry: (Int64) throws -> LedgerEntry?) throws {
        let subtrees = try Self.places(count: count).map { place in
            guard let nodes = try entry(Int64(place.leaf))?.nodes, place.level < nodes.count else {
                throw CorruptEntry(
                    sequence: Int64(place.leaf), detail: "the entry or a hash beside it is missing")
            }
            return nodes[place.level]
        }
        guard let frontier = Self(count: count, subtrees: subtrees) else {
            throw CorruptEntry(detail: "the tree's hashes do not fit its size")
        }
        self = frontier
    }
}
