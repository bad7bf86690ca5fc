import CSQLite
import Engine
import Ledger

/// The tables, and how an older file becomes one of today.
enum Schema {
    /// Marks the file as ours, so that another program's database is never touched ("Disc").
    static let applicationID: Int64 = 0x4469_7363

    /// Whether a row is about the service or its apps (`RecordKind.isOfService`): word for word the same
    /// in the index and in the query that it serves. SQLite asks it of each row that is written, and
    /// would make a table of what stands in `IN (…)` each time.
    static let isOfService = """
        (kind = 'activation' OR kind = 'app' OR kind = 'configuration' OR kind = 'deactivation' \
        OR kind = 'key' OR kind = 'keyRevocation' OR kind = 'policies' OR kind = 'rollback')
        """

    /// One step for each version; a file of version n needs the steps from n on.
    private static let migrations = [
        """
        -- The truth: one row for each command, appended, never changed but by erasure.
        CREATE TABLE entries (
            sequence INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,          -- milliseconds since the epoch
            kind TEXT NOT NULL,
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            envelope BLOB NOT NULL,       -- the leaf: exact bytes
            nodes BLOB NOT NULL,          -- hashes of the subtrees that the entry completes
            keys BLOB NOT NULL,           -- what it is found by: 8 bytes each, big endian
            salt BLOB,
            payload BLOB
        ) STRICT;
        -- Derived: can be dropped and built again from entries.keys.
        CREATE TABLE entry_keys (
            key INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            PRIMARY KEY (key, sequence)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE facts (
            name TEXT PRIMARY KEY,
            value ANY NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO facts VALUES ('indexedThrough', 0);
        """,
        """
        -- The index from keys to entries is in files of its own.
        DROP TABLE entry_keys;
        DELETE FROM facts WHERE name = 'indexedThrough';
        -- What is about the service and its apps is little, and read whole at every start.
        CREATE INDEX service_entries ON entries (sequence) WHERE \(isOfService);
        """,
        """
        -- Erasures are looked for at every start.
        CREATE INDEX erasures ON entries (sequence) WHERE kind = 'erasure';
        """,
        """
        -- Its condition was of a form that is slow to ask of each row that is written.
        DROP INDEX service_entries;
        CREATE INDEX service_entries ON entries (sequence) WHERE \(isOfService);
        """,
    ]

    /// The version of a file that has all steps.
    static var version: Int64 { Int64(migrations.count) }

    /// Makes sure that the open file is ours and of today's version.
    static func prepare(_ connection: borrowing Connection, path: String) throws {
        let found = try check(connection, path: path, isNewAllowed: true)
        for step in Int(found)..<migrations.count {
            try connection.run("BEGIN IMMEDIATE")
            try connection.run(migrations[step])
            if step == 1 { try rekey(connection) }
            try connection.run("PRAGMA application_id = \(applicationID)")
            try connection.run("PRAGMA user_version = \(step + 1)")
            try connection.run("COMMIT")
        }
    }

    /// From version 1 to 2: authorizations, and what was reported of evaluations, are found by keys of
    /// their own, so that who judges an action need not read all there is about a person.
    private static func rekey(_ connection: borrowing Connection) throws {
        let rows = try Rows(connection)
        let kinds = [RecordKind.authorization, .consumption, .label]
        let read = try connection.prepare(
            "SELECT sequence FROM entries WHERE kind IN (?1, ?2, ?3) AND payload IS NOT NULL")
        for (index, kind) in kinds.enumerated() { read.bind(Int32(index + 1), kind.rawValue) }
        let write = try connection.prepare("UPDATE entries SET keys = ?2 WHERE sequence = ?1")
        while try read.step() {
            guard let entry = try rows.entry(read.int(0)), let tenant = entry.tenant else {
                continue
            }
            let keys =
                switch RecordKind(rawValue: entry.envelope.kind) {
                case .authorization: try entry.record(AuthorizationRecord.self).keys(of: tenant)
                case .consumption: try entry.record(ConsumptionRecord.self).keys(of: tenant)
                default: try entry.record(LabelRecord.self).keys(of: tenant)
                }
            write.bind(1, entry.envelope.sequence)
            write.bind(2, Rows.encode(keys))
            try write.run()
        }
    }

    /// Makes sure that the open file is ours and no newer than this program; gives its version.
    @discardableResult
    static func check(
        _ connection: borrowing Connection, path: String, isNewAllowed: Bool = false
    ) throws -> Int64 {
        let id = try connection.single("PRAGMA application_id")
        let found = try connection.single("PRAGMA user_version")
        let isEmpty = try connection.single("SELECT count(*) FROM sqlite_schema") == 0
        guard id == applicationID || isNewAllowed && isEmpty && id == 0 else {
            throw StorageError.notOurs(path: path)
        }
        guard found <= version else {
            throw StorageError.newer(path: path, found: found, known: version)
        }
        return found
    }
}

extension Connection {
    /// The numbers of the entries about the service and its apps, up to one.
    func serviceEntries(through sequence: Int64) throws -> [Int64] {
        let statement = try prepare(
            """
            SELECT sequence FROM entries WHERE \(Schema.isOfService) AND sequence <= ?1
            ORDER BY sequence
            """)
        statement.bind(1, sequence)
        var numbers: [Int64] = []
        while try statement.step() { numbers.append(statement.int(0)) }
        return numbers
    }

    /// The numbers of the erasures after an entry.
    func erasures(after sequence: Int64) throws -> [Int64] {
        let statement = try prepare(
            """
            SELECT sequence FROM entries WHERE kind = 'erasure' AND sequence > ?1
            ORDER BY sequence
            """)
        statement.bind(1, sequence)
        var numbers: [Int64] = []
        while try statement.step() { numbers.append(statement.int(0)) }
        return numbers
    }

    /// The one integer that a query gives.
    func single(_ sql: String) throws(SQLiteError) -> Int64 {
        let statement = try prepare(sql)
        let value = try statement.step() ? statement.int(0) : 0
        statement.reset()
        return value
    }
}

/// Why a data folder cannot be used.
public enum StorageError: Error, Sendable, CustomStringConvertible {
    /// The file is a database of another program, or none at all.
    case notOurs(path: String)
    /// The file was written by a newer version of this program.
    case newer(path: String, found: Int64, known: Int64)
    /// Another process has the folder.
    case locked(path: String)
    /// A file or folder could not be made, read or written.
    case file(path: String, doing: String, error: String)
    /// The key file does not belong to this database.
    case wrongKey(path: String)

    /// What is wrong and what can be done.
    public var description: String {
        switch self {
        case .notOurs(let path):
            "\(path) is not a database of discern; name another folder with --data"
        case .newer(let path, let found, let known):
            "\(path) has version \(found), and this program knows versions up to \(known): "
                + "use a newer discern"
        case .locked(let path):
            "\(path) is in use by another process (is a server running?)"
        case .file(let path, let doing, let error):
            "\(doing) \(path): \(error)"
        case .wrongKey(let path):
            "\(path) is not the key this database was written with; restore the right file"
        }
    }
}
