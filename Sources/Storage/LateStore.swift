import Engine
import Ledger
import Time

/// A store for one command on a data folder without a server: it reads the database as
/// ``LedgerFile`` does, and opens it for writing when the first entry is appended. A command that
/// only reads, or is refused, so leaves every byte as it is.
public final class LateStore: Store, @unchecked Sendable {
    // Unchecked: confined to the engine's thread, as the contract of `Store` demands; it is made
    // and closed while that thread does not run.
    private let folder: DataFolder?
    private let path: String
    private var file: LedgerFile?
    private var writing: SQLiteStore?

    /// Reads the database of a folder, never to write it: no lock is taken.
    public init(reading path: String) throws {
        folder = nil
        self.path = path
        file = try LedgerFile(folder: path)
    }

    /// Reads the database of a locked folder, to write it if need be. With `creates`, one that is
    /// not there is made.
    public init(folder: DataFolder, creates: Bool) throws {
        self.folder = folder
        path = folder.path
        if creates, !LedgerFile.exists(in: path) {
            writing = try SQLiteStore(folder: folder)
        } else {
            file = try LedgerFile(folder: path)
        }
    }

    private func opened() throws -> SQLiteStore {
        if let writing { return writing }
        guard let folder else {
            throw StorageError.file(
                path: path, doing: "writing", error: "it was opened for reading alone")
        }
        // The folder is locked, so nobody has appended since it was read.
        file = nil
        let store = try SQLiteStore(folder: folder)
        writing = store
        return store
    }

    private func reading() throws -> LedgerFile {
        if let file { return file }
        let opened = try LedgerFile(folder: path)
        file = opened
        return opened
    }

    public func tail() throws -> LedgerTail {
        if let writing { return try writing.tail() }
        let file = try reading()
        return LedgerTail(
            frontier: try MerkleFrontier(count: UInt64(file.lastSequence()), entry: file.entry))
    }

    public func append(_ entry: LedgerEntry, keys: [EntityKey]) throws {
        try opened().append(entry, keys: keys)
    }

    public func erase(_ sequence: Int64, removing keys: Set<EntityKey>) throws {
        try opened().erase(sequence, removing: keys)
    }

    /// Where nothing was appended, an earlier erasure may still wait for its end.
    public func clearErased() -> Bool {
        if let writing { return writing.clearErased() }
        guard (try? reading().isErasing()) ?? false else { return true }
        return (try? opened().clearErased()) ?? false
    }

    public func commit() throws { try writing?.commit() }

    public func probe() throws { try opened().probe() }

    public func rollback() { writing?.rollback() }

    public func entry(_ sequence: Int64) throws -> LedgerEntry? {
        if let writing { return try writing.entry(sequence) }
        return try reading().entry(sequence)
    }

    public func entries(under key: EntityKey, after sequence: Int64) throws -> [LedgerEntry] {
        if let writing { return try writing.entries(under: key, after: sequence) }
        return try reading().entries(under: key, after: sequence)
    }

    public func sequences(under key: EntityKey) throws -> [Int64] {
        if let writing { return try writing.sequences(under: key) }
        return try reading().sequences(of: key)
    }

    public func firstSequence(notBefore instant: Instant) throws -> Int64 {
        if let writing { return try writing.firstSequence(notBefore: instant) }
        return try reading().firstSequence(notBefore: instant)
    }

    public func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws {
        if let writing { return try writing.scan(from: sequence, body) }
        try reading().scan(from: sequence, body)
    }

    public func scanService(through sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws {
        if let writing { return try writing.scanService(through: sequence, body) }
        let file = try reading()
        for number in try file.serviceEntries(through: sequence) {
            if let entry = try file.entry(number) { try body(entry) }
        }
    }

    public func scanErasures(after sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws {
        if let writing { return try writing.scanErasures(after: sequence, body) }
        let file = try reading()
        for number in try file.erasures(after: sequence) {
            if let entry = try file.entry(number) { try body(entry) }
        }
    }

    /// Where nothing was appended, what was kept is as good as ever.
    public func keep(_ snapshot: LedgerSnapshot) { writing?.keep(snapshot) }

    public func snapshot() throws -> (through: Int64, bytes: [UInt8])? {
        if let writing { return try writing.snapshot() }
        guard let key = try? DataFolder.readKey(path: path) else { return nil }
        let file = try reading()
        return try SnapshotFile.read(DataFolder.snapshotPath(in: path), KeyedHash(key: key))?
            .fitting(last: file.lastSequence(), entry: file.entry)
    }

    /// Closes what was opened, in good order if something was written.
    public func close() {
        writing?.close()
        writing = nil
        file = nil
    }
}
