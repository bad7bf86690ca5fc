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

    private func blob(_ column: String, of sequence: Int64) throws -> [UInt8] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        let sql = "SELECT \(column) FROM entries WHERE sequence = \(sequence)"
        try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        try #require(sqlite3_step(statement) == SQLITE_ROW)
        let count = Int(sqlite3_column_bytes(statement, 0))
        return sqlite3_column_blob(statement, 0).map {
            Array(UnsafeRawBufferPointer(start: $0, count: count))
        } ?? []
    }

    /// Rewrites the ledger from an entry on, with all hashes, as if its payload had been another; gives
    /// the root that it then has.
    func rewrite(from first: Int64, payload: String) throws -> (size: UInt64, root: Digest) {
        try run("BEGIN")
        var tail = LedgerTail()
        let size = try number("SELECT max(sequence) FROM entries")
        for sequence in 1...size {
            let envelope = try #require(
                Envelope(bytes: try blob("envelope", of: sequence)))
            let entry = tail.append(
                kind: envelope.kind, app: envelope.app, environment: envelope.environment,
                actor: envelope.actor, at: envelope.at, salt: try blob("salt", of: sequence),
                payload: sequence == first
                    ? Array(payload.utf8) : try blob("payload", of: sequence))
            guard sequence >= first else { continue }
            let nodes = entry.nodes.map(\.hex).joined()
            try run(
                """
                UPDATE entries SET envelope = x'\(Hex.encode(entry.envelopeBytes))',
                    nodes = x'\(nodes)', payload = x'\(Hex.encode(entry.payload))'
                WHERE sequence = \(sequence)
                """)
        }
        try run("COMMIT")
        return (UInt64(size), tail.frontier.root)
    }
}
