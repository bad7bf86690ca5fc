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
    private let begin: Statement
    private let commitStatement: Statement
    private let rollbackStatement: Statement
    private var isInTransaction = false
    /// Pages in the write-ahead log after the latest commit, as SQLite's hook reports them.
    private let pages: UnsafeMutablePointer<Int32>

    init(path: String) throws {
        connection = try Connection(path: path, readOnly: false)
        try connection.run("PRAGMA journal_mode = WAL")
        try connection.run("PRAGMA synchronous = FULL")
        // Checkpoints have a connection and a thread of their own.
        try connection.run("PRAGMA wal_autocheckpoint = 0")
        try connection.run("PRAGMA cache_size = -65536")
        try Schema.prepare(connection, path: path)
        rows = try Rows(connection)
        insertEntry = try connection.prepare(
            """
            INSERT INTO entries
                (sequence, at, kind, app, environment, envelope, nodes, keys, salt, payload)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """)
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
        insertEntry.bind(10, entry.payload)
        try insertEntry.run()
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
        // SQLite may have rolled back by itself (a full disk); then this does nothing.
        try? rollbackStatement.run()
    }

    /// Moves the rest of the log, so that it can start from its beginning again. Waits for nobody
    /// who reads in it.
    func moveLog() throws { try connection.checkpoint(.passive) }

    func close() { _ = try? connection.checkpoint(.truncate) }

    private func beginIfNeeded() throws {
        guard !isInTransaction else { return }
        try begin.run()
        isInTransaction = true
    }
}
