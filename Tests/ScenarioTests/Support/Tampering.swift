import CSQLite
import Foundation
import Ledger
import Testing
import Time

/// Changing a database behind the back of the service.
final class Tampering {
    private var handle: OpaquePointer?

    init(_ data: String) throws {
        try #require(sqlite3_open(data + "/discern.db", &handle) == SQLITE_OK)
        sqlite3_busy_timeout(handle, 10_000)
    }

    deinit { sqlite3_close_v2(handle) }

    func run(_ sql: String) throws {
        let status = sqlite3_exec(handle, sql, nil, nil, nil)
        try #require(status == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    func number(_ sql: String) throws -> Int64 {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        try #require(sqlite3_step(statement) == SQLITE_ROW)
        return sqlite3_column_int64(statement, 0)
    }

    /// Rewrites the ledger from an entry on, with all hashes, as if its payload had been another; gives
    /// the root that it then has.
    func rewrite(from first: Int64, payload: String) throws -> (size: UInt64, root: Digest) {
        try run("BEGIN")
        let read = try statement(
            "SELECT envelope, salt, payload FROM entries WHERE sequence = ?1")
        let write = try statement(
            "UPDATE entries SET envelope = ?2, nodes = ?3, payload = ?4 WHERE sequence = ?1")
        defer { for statement in [read, write] { sqlite3_finalize(statement) } }
        var tail = LedgerTail()
        let size = try number("SELECT max(sequence) FROM entries")
        for sequence in 1...size {
            sqlite3_bind_int64(read, 1, sequence)
            try #require(sqlite3_step(read) == SQLITE_ROW)
            let columns = (0..<3 as Range<Int32>).map { column in
                let count = Int(sqlite3_column_bytes(read, column))
                return sqlite3_column_blob(read, column).map {
                    Array(UnsafeRawBufferPointer(start: $0, count: count))
                } ?? []
            }
            sqlite3_reset(read)
            let envelope = try #require(Envelope(bytes: columns[0]))
            let entry = tail.append(
                kind: envelope.kind, app: envelope.app, environment: envelope.environment,
                actor: envelope.actor, at: envelope.at, salt: columns[1],
                payload: sequence == first ? Array(payload.utf8) : columns[2])
            guard sequence >= first else { continue }
            let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            sqlite3_bind_int64(write, 1, sequence)
            let nodes = entry.nodes.flatMap { $0.withBytes { Array($0) } }
            for (index, bytes) in [entry.envelopeBytes, nodes, entry.payload].enumerated() {
                sqlite3_bind_blob(write, Int32(index) + 2, bytes, Int32(bytes.count), copy)
            }
            try #require(sqlite3_step(write) == SQLITE_DONE)
            sqlite3_reset(write)
        }
        try run("COMMIT")
        return (UInt64(size), tail.frontier.root)
    }

    private func statement(_ sql: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        return try #require(statement)
    }
}
