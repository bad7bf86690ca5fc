import CSQLite
import Engine
import Ledger
import Time

/// The one connection that writes. Only the engine's thread uses it.
final class Writer: @unchecked Sendable {
    // Unchecked: confined to the engine's thread, which SQLiteStore's contract demands.
    // A class, so that store, index and rows can share the connection.
    private let connection: Connection
    let rows: Rows
    private let insertEntry: Statement
    private let eraseEntry: Statement
    private let readKeys: Statement
    private let begin: Statement
    private let commitStatement: Statement
    private let rollbackStatement: Statement
    private var isInTransaction = false
    /// Rows of the index that lead to entries erased since the latest commit.
    private var erased: [IndexedKey] = []
    private var hasErased = false
    /// Whether the log or the index may still hold what was erased. Stands in the database, too, so
    /// that it is known after a crash.
    private(set) var isErasing: Bool
    /// Pages in the write-ahead log after the latest commit, as SQLite's hook reports them.
    private let pages: UnsafeMutablePointer<Int32>

    init(path: String) throws {
        connection = try Connection(path: path, readOnly: false)
        // Of a new file. An entry of some 2 KB leaves half of a page of the usual 4 KB empty.
        try connection.run("PRAGMA page_size = 8192")
        try connection.run("PRAGMA journal_mode = WAL")
        try connection.run("PRAGMA synchronous = FULL")
        // Checkpoints have a connection and a thread of their own.
        try connection.run("PRAGMA wal_autocheckpoint = 0")
        try connection.run("PRAGMA cache_size = -65536")
        // What is erased is overwritten, and no freed page keeps it.
        try connection.run("PRAGMA secure_delete = ON")
        try Schema.prepare(connection, path: path)
        rows = try Rows(connection)
        insertEntry = try connection.prepare(
            """
            INSERT INTO entries
                (sequence, at, kind, app, environment, envelope, nodes, keys, salt, payload)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """)
        readKeys = try connection.prepare("SELECT keys FROM entries WHERE sequence = ?1")
        eraseEntry = try connection.prepare(
            "UPDATE entries SET salt = NULL, payload = NULL, keys = ?2 WHERE sequence = ?1")
        isErasing =
            try connection.single("SELECT count(*) FROM facts WHERE name = 'erasing'") > 0
        begin = try connection.prepare("BEGIN IMMEDIATE")
        commitStatement = try connection.prepare("COMMIT")
        rollbackStatement = try connection.prepare("ROLLBACK")
        pages = .allocate(capacity: 1)
        pages.initialize(to: 0)
        connection.countWALPages(into: pages)
    }

    deinit { pages.deallocate() }

    /// Checks that the key file is the one the database was made with; a new database
    /// remembers it by a digest.
    func check(key: [UInt8], path: String) throws {
        let proof = KeyedHash(key: key).hash(Array("discern database".utf8)).hex
        let read = try connection.prepare("SELECT value FROM facts WHERE name = 'keyProof'")
        let known = try read.step() ? read.text(0) : nil
        read.reset()
        if let known {
            if known != proof { throw StorageError.wrongKey(path: path) }
        } else {
            let write = try connection.prepare("INSERT INTO facts VALUES ('keyProof', ?1)")
            write.bind(1, proof)
            try write.run()
        }
    }

    /// The size of a page, in bytes.
    func pageSize() throws -> Int64 { try connection.single("PRAGMA page_size") }

    func lastSequence() throws -> Int64 {
        try connection.single("SELECT coalesce(max(sequence), 0) FROM entries")
    }

    /// The numbers of the entries about the service and its apps.
    func serviceEntries(through sequence: Int64) throws -> [Int64] {
        try connection.serviceEntries(through: sequence)
    }

    func insert(_ entry: LedgerEntry, keys: [EntityKey]) throws {
        try beginIfNeeded()
        let envelope = entry.envelope
        insertEntry.bind(1, envelope.sequence)
        insertEntry.bind(2, envelope.at.milliseconds)
        insertEntry.bind(3, envelope.kind)
        insertEntry.bind(4, envelope.app)
        insertEntry.bind(5, envelope.environment)
        insertEntry.bind(6, entry.envelopeBytes)
        insertEntry.bind(7, Rows.encode(entry.nodes))
        insertEntry.bind(8, Rows.encode(keys))
        insertEntry.bind(9, entry.salt)
        try entry.payload.withUnsafeBytes { payload in
            insertEntry.bind(10, uncopied: payload)
            try insertEntry.run()
        }
    }

    /// Takes payload, salt and some keys of an entry away.
    func erase(_ sequence: Int64, removing keys: Set<EntityKey>) throws {
        try beginIfNeeded()
        readKeys.bind(1, sequence)
        let known = try readKeys.step() ? Rows.decode(readKeys.bytes(0)) : []
        readKeys.reset()
        eraseEntry.bind(1, sequence)
        eraseEntry.bind(2, Rows.encode(known.filter { !keys.contains($0) }))
        try eraseEntry.run()
        if !hasErased { try connection.run("INSERT OR IGNORE INTO facts VALUES ('erasing', 1)") }
        erased += known.filter(keys.contains).map {
            IndexedKey(key: $0.value, sequence: sequence)
        }
        hasErased = true
    }

    /// The rows of the index that the latest commit has made void; to be asked for once.
    func takeErased() -> [IndexedKey] {
        if hasErased { isErasing = true }
        defer { (erased, hasErased) = ([], false) }
        return erased
    }

    /// Neither the log nor the index holds what was erased any more.
    func endErasing() throws {
        try connection.run("DELETE FROM facts WHERE name = 'erasing'")
        isErasing = false
    }

    /// Commits; on return the log is on disk. Returns how many pages it has.
    func commit() throws -> Int32 {
        guard isInTransaction else { return pages.pointee }
        try commitStatement.run()
        isInTransaction = false
        return pages.pointee
    }

    /// Writes something of no meaning, as large as the pages of a few entries.
    func probe() throws {
        do {
            try beginIfNeeded()
            try connection.run(
                "INSERT OR REPLACE INTO facts VALUES ('probe', randomblob(16384))")
            _ = try commit()
        } catch {
            rollback()
            throw error
        }
    }

    func rollback() {
        guard isInTransaction else { return }
        isInTransaction = false
        (erased, hasErased) = ([], false)
        // SQLite may have rolled back by itself (a full disk); then this does nothing.
        try? rollbackStatement.run()
    }

    /// Moves the rest of the log, so that it can start from its beginning again. Waits for nobody
    /// who reads in it.
    func moveLog() throws { try connection.moveLog() }

    /// Empties the log's file; false if somebody reads in it.
    func truncateLog() -> Bool { (try? connection.truncateLog()) ?? false }

    /// The numbers of the erasures after an entry.
    func erasures(after sequence: Int64) throws -> [Int64] {
        try connection.erasures(after: sequence)
    }

    private func beginIfNeeded() throws {
        guard !isInTransaction else { return }
        try begin.run()
        isInTransaction = true
    }
}
