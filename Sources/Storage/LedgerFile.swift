import CSQLite
import Engine
import Glibc
import Ledger
import Time

/// The ledger of a data folder, for a process that reads and changes nothing: no lock is taken, no
/// table is brought up to date, the write-ahead log is left as it is. A server may run meanwhile.
public final class LedgerFile: LedgerNodes {
    private let reading: Reading
    private var rows: Rows { reading.rows }
    private let index: KeyRunFiles

    /// Opens the database of a data folder.
    public init(folder: String) throws {
        let path = folder + "/discern.db"
        guard Self.exists(in: folder) else {
            throw StorageError.file(
                path: folder, doing: "opening", error: "there is no database of discern")
        }
        do {
            reading = try Self.open(path)
        } catch let error as SQLiteError where error.code & 0xFF == SQLITE_NOTADB {
            throw StorageError.notOurs(path: path)
        }
        index = KeyRunFiles(reading: folder + "/index")
        // The whole ledger is read once, in order: pages are looked at where they are, not copied.
        try reading.connection.run("PRAGMA mmap_size = \(1 << 40)")
    }

    /// SQLite makes files beside a database to read it. Where that is not allowed, the database is
    /// read without them if it holds all there is: no log stands beside it.
    private static func open(_ path: String) throws -> Reading {
        do {
            return try Reading(path: path) { try Schema.check($0, path: path) }
        } catch let error as SQLiteError
            where [SQLITE_READONLY, SQLITE_CANTOPEN].contains(error.code & 0xFF)
        {
            guard access(path, R_OK) == 0 else { throw error }
            var log = stat()
            guard stat(path + "-wal", &log) != 0 || log.st_size == 0 else {
                throw StorageError.file(
                    path: path, doing: "reading",
                    error: "its newest entries are in \(path)-wal, which nobody can read here "
                        + "without the right to write into the folder: read it as its owner, stop "
                        + "the server first, or copy it with SQLite's .backup")
            }
            return try Reading(path: path, isImmutable: true) {
                try Schema.check($0, path: path)
            }
        }
    }

    /// Whether a folder has a database.
    public static func exists(in folder: String) -> Bool {
        access(folder + "/discern.db", F_OK) == 0
    }

    /// The apps and environments that have entries of a kind, with how many each.
    public func tenants(of kind: RecordKind) throws -> [(tenant: Tenant, entries: Int64)] {
        let statement = try reading.connection.prepare(
            """
            SELECT app, environment, count(*) FROM entries WHERE kind = ?1
            GROUP BY app, environment ORDER BY app, environment
            """)
        statement.bind(1, kind.rawValue)
        var found: [(tenant: Tenant, entries: Int64)] = []
        while try statement.step() {
            guard let environment = DataEnvironment(rawValue: statement.text(1)) else { continue }
            found.append(
                (Tenant(app: statement.text(0), environment: environment), statement.int(2)))
        }
        return found
    }

    /// Hands the payloads of an app's donations to `body`, in ledger order. Erased ones are left
    /// out; gives how many.
    @discardableResult
    public func donations(
        of tenant: Tenant, _ body: (_ sequence: Int64, UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        try payloads(of: tenant, .donation, .donation) { sequence, _, payload in
            try body(sequence, payload)
        }
    }

    /// Hands the payloads of an app's evaluations and labels to `body`, in ledger order. Erased
    /// ones are left out; gives how many evaluations.
    @discardableResult
    public func evaluationsAndLabels(
        of tenant: Tenant,
        _ body: (_ sequence: Int64, _ isLabel: Bool, UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int { try payloads(of: tenant, .evaluation, .label, body) }

    private func payloads(
        of tenant: Tenant, _ first: RecordKind, _ second: RecordKind,
        _ body: (_ sequence: Int64, _ isSecond: Bool, UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        let statement = try reading.connection.prepare(
            """
            SELECT sequence, kind = ?4, payload FROM entries
            WHERE kind IN (?3, ?4) AND app = ?1 AND environment = ?2 ORDER BY sequence
            """)
        statement.bind(1, tenant.app)
        statement.bind(2, tenant.environment.rawValue)
        statement.bind(3, first.rawValue)
        statement.bind(4, second.rawValue)
        defer { statement.reset() }
        var erased = 0
        while try statement.step() {
            let isSecond = statement.int(1) == 1
            try statement.withBytes(2) { payload in
                guard payload.count > 0 else {
                    if !isSecond || first == second { erased += 1 }
                    return
                }
                try body(statement.int(0), isSecond, payload)
            }
        }
        return erased
    }

    /// The entry of that number.
    public func entry(_ sequence: Int64) throws -> LedgerEntry? { try rows.entry(sequence) }

    /// The number of the last entry; 0 if there is none.
    func lastSequence() throws -> Int64 {
        try reading.connection.single("SELECT coalesce(max(sequence), 0) FROM entries")
    }

    /// Hands every entry from that number on to `body`, in ledger order, until it says stop.
    func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws {
        try rows.scan(from: sequence, body)
    }

    /// The number of the first entry that is not before an instant.
    func firstSequence(notBefore instant: Instant) throws -> Int64 {
        try rows.place(notBefore: instant, among: 1...lastSequence() + 1)
    }

    /// The numbers of the entries about the service and its apps, up to one.
    func serviceEntries(through sequence: Int64) throws -> [Int64] {
        try reading.connection.serviceEntries(through: sequence)
    }

    /// Whether the log or the index may still hold what was erased.
    func isErasing() throws -> Bool {
        try reading.connection.single("SELECT count(*) FROM facts WHERE name = 'erasing'") > 0
    }

    /// The numbers of the erasures after an entry.
    func erasures(after sequence: Int64) throws -> [Int64] {
        try reading.connection.erasures(after: sequence)
    }

    /// The entries under a key, in ledger order.
    public func entries(under key: EntityKey) throws -> [LedgerEntry] {
        try entries(under: key, after: 0)
    }

    /// The entries under a key after a number, in ledger order.
    func entries(under key: EntityKey, after start: Int64) throws -> [LedgerEntry] {
        try sequences(of: key, after: start).compactMap(rows.entry)
    }

    func sequences(of key: EntityKey, after start: Int64 = 0) throws -> [Int64] {
        var found: [Int64] = []
        let runs = try index.cover(rows)
        for run in runs { try run.find(key.value, after: start, into: &found) }
        // What no file covers yet stands in a server's memory, and in the rows themselves.
        try rows.keys(after: max(start, runs.last?.last ?? 0)) { sequence, keys, _ in
            if keys.contains(key) { found.append(sequence) }
        }
        return found
    }

    /// A page of the entries that a query wants.
    public func page(_ query: EntryQuery) throws -> EntryPage {
        try reading.page(query) { try self.sequences(of: $0) }
    }

    /// Where a query looks: the first and the last number, the last there is, and whether by the
    /// index of entries about the service.
    public func range(of query: EntryQuery) throws -> (
        first: Int64, last: Int64, size: Int64, usesServiceIndex: Bool
    ) {
        let plan = AuditPlan(query)
        let range = try reading.range(plan, query)
        return (range.first, range.last, range.size, try reading.usesServiceIndex(plan))
    }

    /// How many entries there are: the number of the last.
    public func size() throws -> UInt64 { UInt64(clamping: try lastSequence()) }

    /// Prepares a statement on the file.
    func prepare(_ sql: String) throws -> Statement { try reading.connection.prepare(sql) }

    /// The entries of a kind up to a number, in ledger order.
    public func entries(of kind: RecordKind, through last: Int64) throws -> [LedgerEntry] {
        let statement = try reading.connection.prepare(
            "SELECT sequence FROM entries WHERE kind = ?1 AND sequence <= ?2 ORDER BY sequence")
        statement.bind(1, kind.rawValue)
        statement.bind(2, last)
        defer { statement.reset() }
        var found: [LedgerEntry] = []
        while try statement.step() {
            if let entry = try rows.entry(statement.int(0)) { found.append(entry) }
        }
        return found
    }
}
