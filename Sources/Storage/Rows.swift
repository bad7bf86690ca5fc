import CSQLite
import Engine
import Ledger
import Time

/// Reads entries on one connection.
final class Rows {
    private static let columns = "sequence, at, envelope, nodes, salt, payload"

    private let byPlace: Statement
    private let payloadByPlace: Statement
    private let fromPlace: Statement
    private let keysFromPlace: Statement
    private let time: Statement

    init(_ connection: borrowing Connection) throws {
        byPlace = try connection.prepare("SELECT \(Self.columns) FROM entries WHERE sequence = ?1")
        payloadByPlace = try connection.prepare(
            "SELECT kind, app, environment, payload FROM entries WHERE sequence = ?1")
        fromPlace = try connection.prepare(
            "SELECT \(Self.columns) FROM entries WHERE sequence >= ?1 ORDER BY sequence")
        keysFromPlace = try connection.prepare(
            "SELECT sequence, keys, nodes FROM entries WHERE sequence > ?1 ORDER BY sequence")
        time = try connection.prepare("SELECT at FROM entries WHERE sequence = ?1")
    }

    func entry(_ sequence: Int64) throws -> LedgerEntry? {
        byPlace.bind(1, sequence)
        defer { byPlace.reset() }
        return try byPlace.step() ? Self.entry(byPlace) : nil
    }

    /// What folding needs of an entry.
    func payload(_ sequence: Int64) throws -> StoredPayload? {
        payloadByPlace.bind(1, sequence)
        defer { payloadByPlace.reset() }
        guard try payloadByPlace.step() else { return nil }
        return StoredPayload(
            sequence: sequence, kind: RecordKind(rawValue: payloadByPlace.text(0)),
            app: payloadByPlace.text(1), environment: payloadByPlace.text(2),
            payload: payloadByPlace.bytes(3))
    }

    func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws {
        fromPlace.bind(1, sequence)
        defer { fromPlace.reset() }
        while try fromPlace.step() {
            guard try body(Self.entry(fromPlace)) else { return }
        }
    }

    /// The keys and the leaf hash of all entries after one, for building the index.
    func keys(after sequence: Int64, _ body: (Int64, [EntityKey], Digest) throws -> Void) throws {
        keysFromPlace.bind(1, sequence)
        defer { keysFromPlace.reset() }
        while try keysFromPlace.step() {
            let leaf = keysFromPlace.withBytes(2) { Digest(bytes: $0.prefix(32)) }
            try body(
                keysFromPlace.int(0), Self.decode(keysFromPlace.bytes(1)),
                leaf ?? MerkleTree.emptyRoot)
        }
    }

    /// The first number whose entry is not before an instant: `at` never goes back, so halving
    /// finds it and no index on times is needed.
    func place(notBefore instant: Instant, among range: ClosedRange<Int64>) throws -> Int64 {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            time.bind(1, middle)
            let isBefore = try time.step() && time.int(0) < instant.milliseconds
            time.reset()
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low
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
