import CSQLite
import Engine
import Ledger
import Time

/// A row of the index: a key and the entry it leads to.
struct IndexedKey: Comparable {
    var key: Int64
    var sequence: Int64

    static func < (left: IndexedKey, right: IndexedKey) -> Bool {
        (left.key, left.sequence) < (right.key, right.sequence)
    }
}

/// Reads entries on one connection.
final class Rows {
    private static let columns = "sequence, at, envelope, nodes, salt, payload"

    private let byPlace: Statement
    private let byKey: Statement
    private let fromPlace: Statement
    private let keysFromPlace: Statement

    init(_ connection: borrowing Connection) throws {
        byPlace = try connection.prepare("SELECT \(Self.columns) FROM entries WHERE sequence = ?1")
        byKey = try connection.prepare(
            "SELECT sequence FROM entry_keys WHERE key = ?1 ORDER BY sequence")
        fromPlace = try connection.prepare(
            "SELECT \(Self.columns) FROM entries WHERE sequence >= ?1 ORDER BY sequence")
        keysFromPlace = try connection.prepare(
            "SELECT sequence, keys FROM entries WHERE sequence > ?1 ORDER BY sequence")
    }

    func entry(_ sequence: Int64) throws -> LedgerEntry? {
        byPlace.bind(1, sequence)
        defer { byPlace.reset() }
        return try byPlace.step() ? Self.entry(byPlace) : nil
    }

    /// The entries that the stored index has under a key.
    func sequences(of key: EntityKey) throws -> [Int64] {
        byKey.bind(1, key.value)
        defer { byKey.reset() }
        var found: [Int64] = []
        while try byKey.step() { found.append(byKey.int(0)) }
        return found
    }

    func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws {
        fromPlace.bind(1, sequence)
        defer { fromPlace.reset() }
        while try fromPlace.step() {
            guard try body(Self.entry(fromPlace)) else { return }
        }
    }

    /// The keys of all entries after one, for building the index.
    func keys(after sequence: Int64, _ body: (Int64, [EntityKey]) throws -> Void) throws {
        keysFromPlace.bind(1, sequence)
        defer { keysFromPlace.reset() }
        while try keysFromPlace.step() {
            try body(keysFromPlace.int(0), Self.decode(keysFromPlace.bytes(1)))
        }
    }

    private static func entry(_ row: borrowing Statement) throws -> LedgerEntry {
        let sequence = row.int(0)
        let bytes = row.bytes(2)
        guard let envelope = Envelope(bytes: bytes) else {
            throw CorruptEntry(sequence: sequence, detail: "its envelope is not as written")
        }
        let nodes = row.bytes(3)
        return LedgerEntry(
            envelope: envelope, envelopeBytes: bytes, salt: row.bytes(4), payload: row.bytes(5),
            nodes: stride(from: 0, to: nodes.count - 31, by: 32).compactMap {
                Digest(bytes: nodes[$0..<$0 + 32])
            })
    }

    static func encode(_ keys: [EntityKey]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(keys.count * 8)
        for key in keys {
            withUnsafeBytes(of: key.value.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    static func encode(_ nodes: [Digest]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(nodes.count * 32)
        for node in nodes { node.withBytes { bytes.append(contentsOf: $0) } }
        return bytes
    }

    static func decode(_ bytes: [UInt8]) -> [EntityKey] {
        stride(from: 0, to: bytes.count - 7, by: 8).map { start in
            EntityKey(value: bytes[start..<start + 8].reduce(0) { $0 << 8 | Int64($1) })
        }
    }
}
