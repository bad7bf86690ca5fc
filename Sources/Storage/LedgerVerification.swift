import CSQLite
import Engine
import Glibc
import Ledger
import Time

/// The first thing that is wrong with a ledger.
public struct LedgerFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number of the entry; 0 where it is about none.
    public var sequence: Int64
    /// What is wrong.
    public var what: String
    /// What should stand there.
    public var expected: String?
    /// What stands there.
    public var found: String?

    /// A fault.
    public init(
        sequence: Int64, what: String, expected: String? = nil, found: String? = nil
    ) {
        self.sequence = sequence
        self.what = what
        self.expected = expected
        self.found = found
    }

    /// In up to three lines.
    public var description: String {
        (sequence > 0 ? "entry \(sequence): \(what)" : what)
            + (expected.map { "\n  expected  \($0)" } ?? "")
            + (found.map { "\n  found     \($0)" } ?? "")
    }
}

/// What reading a stretch of the ledger came to. Stretches can be read by several threads, and are
/// put together in order by ``LedgerVerification``.
public struct VerifiedStretch: Sendable {
    /// The first thing wrong in it.
    public var fault: LedgerFault?
    /// Bytes that were hashed or compared.
    public var bytes = 0
    /// Entries whose payload was erased.
    public var erased = 0
    var firstAt: Int64?
    var lastAt = Int64.min
    /// The tree of its leaves alone.
    var frontier = MerkleFrontier()
    /// The same at the sizes that were asked for, counted in the whole ledger.
    var marks: [(size: UInt64, frontier: MerkleFrontier)] = []
    /// Stored hashes of subtrees that begin before the stretch: those of its last entry.
    var upper: [Digest] = []
}

/// Recomputes a ledger from its envelopes, salts and payloads, stretch by stretch.
public struct LedgerVerification: Sendable {
    /// Entries of a stretch: a power of two, so that a whole one is one subtree.
    public static let stretch: UInt64 = 1 << level
    private static let level: UInt64 = 13

    /// How many entries have been put together.
    public private(set) var size: UInt64 = 0
    /// Roots at the sizes that were asked for, and reached.
    public private(set) var roots: [UInt64: Digest] = [0: MerkleTree.emptyRoot]
    /// The tree whose leaves are whole stretches.
    private var stretches = MerkleFrontier()
    private var last = VerifiedStretch()
    private var at = Int64.min

    /// Nothing yet.
    public init() {}

    /// The root of what has been put together.
    public var root: Digest { Self.root(stretches, size == 0 ? nil : last.frontier) }

    /// The entries of stretch `index`, from 0, of a ledger of so many.
    public static func range(_ index: Int, of size: UInt64) -> ClosedRange<UInt64> {
        let start = UInt64(index) * stretch
        return start + 1...min(start + stretch, size)
    }

    /// Puts the next stretch behind those before it; throws the first fault.
    public mutating func add(_ stretch: VerifiedStretch) throws(LedgerFault) {
        settle()
        if let first = stretch.firstAt, first < at {
            throw LedgerFault(
                sequence: Int64(clamping: size + 1),
                what: "its time lies before that of the entry before",
                expected: "\(Instant(milliseconds: at)) or later",
                found: "\(Instant(milliseconds: first))")
        }
        if let fault = stretch.fault { throw fault }
        for mark in stretch.marks { roots[mark.size] = Self.root(stretches, mark.frontier) }
        last = stretch
        size += stretch.frontier.count
        at = stretch.lastAt
        guard stretch.frontier.count == Self.stretch else { return }
        var above = stretches
        let completed = above.append(stretch.frontier.root).dropFirst()
        if let fault = Self.fault(Array(completed), stretch.upper, from: Int(Self.level) + 1) {
            throw LedgerFault(
                sequence: Int64(clamping: size), what: fault.what, expected: fault.expected,
                found: fault.found)
        }
    }

    /// The latest stretch becomes a leaf once another comes.
    private mutating func settle() {
        if last.frontier.count == Self.stretch { stretches.append(last.frontier.root) }
        last = VerifiedStretch()
    }

    private static func root(_ stretches: MerkleFrontier, _ rest: MerkleFrontier?) -> Digest {
        guard let rest, rest.count > 0 else { return stretches.root }
        return stretches.subtrees.reversed().reduce(rest.root) { MerkleTree.node($1, $0) }
    }

    /// The first difference of computed and stored hashes.
    static func fault(_ computed: [Digest], _ stored: [Digest], from level: Int = 0)
        -> LedgerFault?
    {
        if computed == stored { return nil }
        for (index, pair) in zip(computed, stored).enumerated() where pair.0 != pair.1 {
            let what =
                level + index == 0
                ? "its leaf hash is not that of its envelope"
                : "the hash over \(UInt64(1) << UInt64(level + index)) entries is not theirs"
            return LedgerFault(
                sequence: 0, what: what, expected: pair.0.hex, found: pair.1.hex)
        }
        return LedgerFault(
            sequence: 0, what: "it has not the hashes that it completes",
            expected: "\(level + computed.count)", found: "\(level + stored.count)")
    }
}

extension LedgerFile {
    /// Reads a stretch and recomputes it, up to the first fault. `marks` are sizes at which the root
    /// is wanted, `erasures` what is known of erased entries.
    public func verify(
        _ range: ClosedRange<UInt64>, marks: [UInt64] = [],
        erasures: NamedErasures = NamedErasures()
    ) throws -> VerifiedStretch {
        let statement = try prepare(
            """
            SELECT sequence, at, kind, app, environment, envelope, nodes, salt, payload
            FROM entries WHERE sequence BETWEEN ?1 AND ?2 ORDER BY sequence
            """)
        statement.bind(1, Int64(clamping: range.lowerBound))
        statement.bind(2, Int64(clamping: range.upperBound))
        defer { statement.reset() }
        let wanted = Set(marks.filter(range.contains))
        var erasures = erasures
        var stretch = VerifiedStretch()
        var expected = Int64(clamping: range.lowerBound)
        do {
            while try statement.step() {
                if try stretch.add(statement, expected: expected) {
                    // A server that runs may have erased it after the erasures were read.
                    if !erasures.names(expected) { erasures = try namedErasures() }
                    guard erasures.names(expected) else {
                        throw LedgerFault(
                            sequence: expected,
                            what: "its payload and its salt are gone, and no erasure names it")
                    }
                }
                if wanted.contains(UInt64(expected)) {
                    stretch.marks.append((UInt64(expected), stretch.frontier))
                }
                expected += 1
            }
            if expected <= Int64(clamping: range.upperBound) {
                throw LedgerFault(sequence: expected, what: "it is missing")
            }
        } catch let fault as LedgerFault {
            stretch.fault = fault
        } catch let error as SQLiteError where error.isDamage {
            stretch.fault = LedgerFault(
                sequence: expected, what: "it cannot be read: \(error.message)")
        }
        return stretch
    }

    /// Whether there are entries outside of 1 to `size`.
    public func strayEntry() throws -> Int64? {
        let least = try prepare("SELECT min(sequence) FROM entries")
        defer { least.reset() }
        guard try least.step(), !least.isNull(0), least.int(0) < 1 else { return nil }
        return least.int(0)
    }
}

extension SQLiteError {
    /// Whether a table or column of ours is not there.
    public var isMissingTable: Bool { code & 0xFF == SQLITE_ERROR }

    /// Whether the file is not what SQLite wrote, or its tables are not ours, rather than that it
    /// cannot be opened or read just now.
    public var isDamage: Bool {
        [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_FORMAT].contains(code & 0xFF)
    }
}

extension VerifiedStretch {
    /// Takes an entry; says whether it was erased.
    fileprivate mutating func add(_ row: borrowing Statement, expected: Int64) throws -> Bool {
        let sequence = row.int(0)
        guard sequence == expected else {
            throw LedgerFault(sequence: expected, what: "it is missing")
        }
        let at = row.int(1)
        if firstAt == nil {
            firstAt = at
        } else if at < lastAt {
            throw LedgerFault(
                sequence: sequence, what: "its time lies before that of the entry before",
                expected: "\(Instant(milliseconds: lastAt)) or later",
                found: "\(Instant(milliseconds: at))")
        }
        lastAt = at
        let nodes = try row.withBytes(5) { envelope in
            try check(envelope, row)
            return frontier.append(MerkleTree.leaf(envelope))
        }
        try check(nodes, row)
        return row.isNull(8)
    }

    /// The envelope is what the columns, the salt and the payload make it.
    private mutating func check(
        _ envelope: UnsafeRawBufferPointer, _ row: borrowing Statement
    ) throws {
        let isErased = row.isNull(8)
        guard isErased == row.isNull(7) else {
            throw LedgerFault(
                sequence: row.int(0),
                what: isErased ? "its payload is gone, but not its salt" : "its salt is gone")
        }
        let digest: Digest? =
            isErased
            ? nil
            : row.withBytes(7) { salt in
                row.withBytes(8) { payload in
                    bytes += salt.count + payload.count
                    return SHA256.hash(salt, payload)
                }
            }
        bytes += envelope.count
        if isErased { erased += 1 }
        if let digest, Self.isPlain(envelope, row, digest) { return }
        try Self.diagnose(Array(envelope), row, digest)
    }

    /// Whether the envelope is, byte for byte, what would be written today: nearly always, and
    /// cheaper to see than to read it.
    private static func isPlain(
        _ envelope: UnsafeRawBufferPointer, _ row: borrowing Statement, _ digest: Digest
    ) -> Bool {
        let start = #"{"actor":""#.utf8.count
        guard envelope.count > start,
            let end = envelope[start...].firstIndex(of: UInt8(ascii: "\"")),
            envelope[start..<end].allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != 0x5C })
        else { return false }
        let expected = Envelope(
            sequence: row.int(0), at: Instant(milliseconds: row.int(1)), kind: row.text(2),
            app: row.text(3), environment: row.text(4),
            actor: String(decoding: envelope[start..<end], as: UTF8.self), payload: digest)
        return expected.bytes.withUnsafeBytes { expected in
            guard expected.count == envelope.count, let left = expected.baseAddress,
                let right = envelope.baseAddress
            else { return false }
            return memcmp(left, right, envelope.count) == 0
        }
    }

    /// Says what is wrong with an envelope; nothing if it is merely unusual.
    private static func diagnose(
        _ bytes: [UInt8], _ row: borrowing Statement, _ digest: Digest?
    ) throws {
        let sequence = row.int(0)
        guard let envelope = Envelope(bytes: bytes) else {
            throw LedgerFault(
                sequence: sequence, what: "its envelope cannot be read",
                found: String(decoding: bytes.prefix(400), as: UTF8.self))
        }
        let members: [(String, String, String)] = [
            ("sequence", "\(sequence)", "\(envelope.sequence)"),
            ("at", "\(Instant(milliseconds: row.int(1)))", "\(envelope.at)"),
            ("kind", row.text(2), envelope.kind), ("app", row.text(3), envelope.app),
            ("environment", row.text(4), envelope.environment),
        ]
        for (name, column, member) in members where column != member {
            throw LedgerFault(
                sequence: sequence, what: "`\(name)` of its row is not that of its envelope",
                expected: member, found: column)
        }
        guard envelope.bytes == bytes else {
            throw LedgerFault(
                sequence: sequence, what: "its envelope is not in canonical form",
                expected: String(decoding: envelope.bytes, as: UTF8.self),
                found: String(decoding: bytes.prefix(400), as: UTF8.self))
        }
        if let digest, digest != envelope.payload {
            throw LedgerFault(
                sequence: sequence, what: "the digest is not that of salt and payload",
                expected: envelope.payload.hex, found: digest.hex)
        }
    }

    private mutating func check(_ computed: [Digest], _ row: borrowing Statement) throws {
        let sequence = UInt64(clamping: row.int(0))
        let stored: [Digest] = try row.withBytes(6) { nodes in
            bytes += nodes.count
            guard nodes.count.isMultiple(of: 32) else {
                throw LedgerFault(
                    sequence: row.int(0), what: "the hashes beside it are not whole",
                    expected: "a multiple of 32 bytes", found: "\(nodes.count) bytes")
            }
            return stride(from: 0, to: nodes.count, by: 32).compactMap {
                Digest(bytes: nodes[$0..<$0 + 32])
            }
        }
        let isLast = sequence % LedgerVerification.stretch == 0
        // Subtrees that begin before the stretch are compared when it is put in its place.
        if isLast, stored.count > computed.count { upper = Array(stored[computed.count...]) }
        let own = isLast ? Array(stored.prefix(computed.count)) : stored
        if var fault = LedgerVerification.fault(computed, own) {
            fault.sequence = Int64(clamping: sequence)
            throw fault
        }
    }
}
