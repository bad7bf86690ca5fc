import CSQLite
import Glibc

/// An error that SQLite reports.
public struct SQLiteError: Error, Sendable, CustomStringConvertible {
    /// The extended result code, as sqlite3.h lists them.
    public var code: Int32
    /// SQLite's own words.
    public var message: String
    /// What was being done.
    public var doing: String

    /// For logs; never holds data of a row.
    public var description: String { "\(doing): \(message) (SQLite code \(code))" }
}

/// One connection to a database file. Used by one thread at a time.
struct Connection: ~Copyable {
    private let handle: OpaquePointer

    /// Opens a file; with `readOnly` it must exist. With `isImmutable` nobody writes it meanwhile:
    /// it is read without the files beside it that readers share.
    init(path: String, readOnly: Bool, isImmutable: Bool = false) throws(SQLiteError) {
        // Made by us, so that only the owner may read it; SQLite gives its log the same mode.
        // A file that is there must not be opened: closing it again would take away the locks that
        // this process has on it, and another program would delete the log under the server.
        if !readOnly {
            let made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if made >= 0 { close(made) }
        }
        var opened: OpaquePointer?
        let flags =
            readOnly
            ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        // Every connection is confined to one thread, so SQLite's own locks are left out.
        let status = sqlite3_open_v2(
            isImmutable ? Self.immutable(path) : path, &opened,
            flags | SQLITE_OPEN_NOMUTEX | (isImmutable ? SQLITE_OPEN_URI : 0), nil)
        guard status == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw SQLiteError(code: status, message: message, doing: "opening \(path)")
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 5_000)
    }

    deinit { sqlite3_close_v2(handle) }

    /// A path as SQLite's URI, in which `%`, `?` and `#` mean something.
    private static func immutable(_ path: String) -> String {
        let name = path.map { character in
            switch character {
            case "%": "%25"
            case "?": "%3f"
            case "#": "%23"
            default: String(character)
            }
        }
        // Behind an empty authority, so that a path may begin with several slashes.
        return "file:" + (path.hasPrefix("/") ? "//" : "") + name.joined() + "?immutable=1"
    }

    /// Runs statements that give no rows.
    func run(_ sql: String) throws(SQLiteError) {
        let status = sqlite3_exec(handle, sql, nil, nil, nil)
        if status != SQLITE_OK { throw error(status, doing: sql) }
    }

    /// Has SQLite put the count of pages in the write-ahead log there after each commit.
    /// The memory must outlive the connection.
    func countWALPages(into pages: UnsafeMutablePointer<Int32>) {
        sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                context?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, pages)
    }

    /// Prepares a statement to be used many times.
    func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v3(
            handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement else { throw error(status, doing: sql) }
        return Statement(handle: statement, connection: handle, sql: sql)
    }

    /// Moves what it can of the write-ahead log into the database file, without waiting for anybody;
    /// gives how many of its pages are moved now.
    @discardableResult
    func moveLog() throws(SQLiteError) -> Int32 {
        var moved: Int32 = 0
        let status = sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, &moved)
        if status != SQLITE_OK, status & 0xFF != SQLITE_BUSY {
            throw error(status, doing: "checkpointing the log")
        }
        return max(moved, 0)
    }

    /// Has the system write the database file's changed pages to the disk.
    ///
    /// SQLite does so only once all of the log is moved: by then 64 MiB may have gathered, and every
    /// commit waits until the disk has taken them.
    func syncDatabase() throws(SQLiteError) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let status = sqlite3_file_control(handle, nil, SQLITE_FCNTL_FILE_POINTER, &file)
        guard status == SQLITE_OK, let file, let sync = file.pointee.pMethods?.pointee.xSync else {
            throw error(status, doing: "finding the database file")
        }
        let synced = sync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY)
        guard synced == SQLITE_OK else { throw error(synced, doing: "syncing the database file") }
    }

    /// Moves all of the log and empties its file; false if somebody reads or writes in it.
    func truncateLog() throws(SQLiteError) -> Bool {
        let status = sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if status == SQLITE_OK { return true }
        if status & 0xFF == SQLITE_BUSY { return false }
        throw error(status, doing: "emptying the log")
    }

    private func error(_ status: Int32, doing: String) -> SQLiteError {
        SQLiteError(code: status, message: String(cString: sqlite3_errmsg(handle)), doing: doing)
    }
}

/// A prepared statement. Values are bound, never written into the text.
struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    private let sql: String

    // SQLite is to copy what is bound: the buffers do not outlive the call.
    private static let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    fileprivate init(handle: OpaquePointer, connection: OpaquePointer, sql: String) {
        self.handle = handle
        self.connection = connection
        self.sql = sql
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }

    func bind(_ index: Int32, _ value: String) {
        var value = value
        value.withUTF8 { text in
            // An empty text has no address, which would bind NULL.
            let start = text.baseAddress ?? UnsafePointer(bitPattern: 1)
            _ = start?.withMemoryRebound(to: CChar.self, capacity: text.count) {
                sqlite3_bind_text(handle, index, $0, Int32(text.count), Self.copy)
            }
        }
    }

    func bind(_ index: Int32, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bind(index, $0) }
    }

    func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
        bind(index, bytes, Self.copy)
    }

    /// The same without a copy: the bytes must stay as they are until the statement has run.
    func bind(_ index: Int32, uncopied bytes: UnsafeRawBufferPointer) { bind(index, bytes, nil) }

    private func bind(
        _ index: Int32, _ bytes: UnsafeRawBufferPointer, _ copy: sqlite3_destructor_type?
    ) {
        if bytes.count == 0 {
            sqlite3_bind_zeroblob(handle, index, 0)
        } else {
            sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), copy)
        }
    }

    /// Goes to the next row; false when there is none. Then the statement is ready to be
    /// bound anew.
    func step() throws(SQLiteError) -> Bool {
        let status = sqlite3_step(handle)
        if status == SQLITE_ROW { return true }
        sqlite3_reset(handle)
        if status == SQLITE_DONE { return false }
        throw SQLiteError(
            code: status, message: String(cString: sqlite3_errmsg(connection)), doing: sql)
    }

    /// Runs a statement that gives no rows.
    func run() throws(SQLiteError) { while try step() {} }

    /// Leaves the rows that were not read.
    func reset() { sqlite3_reset(handle) }

    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func text(_ column: Int32) -> String {
        sqlite3_column_text(handle, column).map { String(cString: $0) } ?? ""
    }

    /// The bytes of a column, valid until the next step.
    func withBytes<R>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let count = Int(sqlite3_column_bytes(handle, column))
        return try body(
            UnsafeRawBufferPointer(start: sqlite3_column_blob(handle, column), count: count))
    }

    func bytes(_ column: Int32) -> [UInt8] {
        let count = Int(sqlite3_column_bytes(handle, column))
        guard count > 0, let start = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
