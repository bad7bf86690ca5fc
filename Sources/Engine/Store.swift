import Ledger
import Time

/// Where entries live. Small on purpose: nothing of a database shows through it.
///
/// One thread writes: it appends entries, then commits them together. Reading sees what was
/// appended, committed or not, on the writing thread, and what is committed on any other.
public protocol Store: Sendable {
    /// The end of the ledger as it is stored.
    func tail() throws -> LedgerTail

    /// Appends an entry, to be found by those keys. Not durable before ``commit()``.
    func append(_ entry: LedgerEntry, keys: [EntityKey]) throws

    /// Takes payload and salt of an entry away, and those of its keys that are among `keys`: with what
    /// is appended since the last commit, or not at all. The envelope and the tree stay.
    func erase(_ sequence: Int64, removing keys: Set<EntityKey>) throws

    /// Clears what was erased out of everything beside the entries that may still hold it: logs,
    /// indexes. To be called after ``commit()``. False if that is not done yet, since somebody is
    /// reading; then it is tried again until it is.
    func clearErased() -> Bool

    /// Makes everything appended durable; on return it is on disk. If this fails, all of it
    /// is taken back.
    func commit() throws

    /// Whether something can be made durable now: asked after a commit has failed, before
    /// commands are decided that would fail again. Throws why not.
    func probe() throws

    /// Takes back everything appended since the last commit.
    func rollback()

    /// The entry of that number, for the writing thread.
    func entry(_ sequence: Int64) throws -> LedgerEntry?

    /// The entries under a key after a number, in ledger order, for the writing thread.
    func entries(under key: EntityKey, after sequence: Int64) throws -> [LedgerEntry]

    /// The same entries as far as folding them needs: judging somebody who is not in memory reads
    /// several, and neither their hashes nor the texts of their envelopes.
    func payloads(under key: EntityKey, after sequence: Int64) throws -> [StoredPayload]

    /// The numbers of the entries under a key, in ledger order, for the writing thread.
    func sequences(under key: EntityKey) throws -> [Int64]

    /// The number of the first entry that is not before an instant, by the engine's clock; that of
    /// the next entry if there is none.
    func firstSequence(notBefore instant: Instant) throws -> Int64

    /// Hands every entry from that number on to `body`, in ledger order, until it says stop.
    func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws

    /// Hands every entry of a kind about the service or its apps (``RecordKind/isOfService``) to
    /// `body`, in ledger order, up to a number.
    func scanService(through sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws

    /// Hands every erasure after a number to `body`, in ledger order.
    func scanErasures(after sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws

    /// Keeps what was derived from the entries up to the last committed one, so that a start need
    /// not read them all. `bytes` is called on another thread. Keeping may fail without harm.
    func keep(_ snapshot: LedgerSnapshot)

    /// What was kept last; `nil` if it is not of this ledger, or nothing was.
    func snapshot() throws -> (through: Int64, bytes: [UInt8])?
}

extension Store {
    /// The entries under a key, in ledger order, for the writing thread.
    public func entries(under key: EntityKey) throws -> [LedgerEntry] {
        try entries(under: key, after: 0)
    }

    /// The same entries as far as folding them needs, for stores that have no shorter way.
    public func payloads(under key: EntityKey, after sequence: Int64) throws -> [StoredPayload] {
        try entries(under: key, after: sequence).map { StoredPayload($0) }
    }
}

/// An entry without its place in the tree.
public struct StoredPayload: Sendable {
    /// The number of the entry.
    public var sequence: Int64
    /// What kind of entry it is.
    public var kind: RecordKind?
    /// Whose it is; empty for the service as a whole.
    public var app: String
    /// `sandbox`, `production`, or empty.
    public var environment: String
    /// What was asked and answered; empty where that was erased.
    public var payload: [UInt8]

    /// An entry of these parts.
    public init(
        sequence: Int64, kind: RecordKind?, app: String, environment: String, payload: [UInt8]
    ) {
        self.sequence = sequence
        self.kind = kind
        self.app = app
        self.environment = environment
        self.payload = payload
    }

    /// The parts of an entry.
    public init(_ entry: LedgerEntry) {
        self.init(
            sequence: entry.envelope.sequence, kind: RecordKind(rawValue: entry.envelope.kind),
            app: entry.envelope.app, environment: entry.envelope.environment,
            payload: entry.payload)
    }

    /// Whether it is an app's in an environment.
    func isOf(_ tenant: Tenant) -> Bool {
        app == tenant.app && environment == tenant.environment.rawValue
    }

    /// The payload, read as a record.
    func record<R: Record>(_ type: R.Type) throws -> R {
        guard !payload.isEmpty else { throw Refusal(.erased, "this entry was erased") }
        return try R(payload: RecordReader(bytes: payload, sequence: sequence))
    }
}

/// Something derived from the first entries of a ledger.
public struct LedgerSnapshot: Sendable {
    /// The tree of the entries that it was derived from.
    public var frontier: MerkleFrontier
    /// What was derived.
    public var bytes: @Sendable () -> [UInt8]

    /// A snapshot.
    public init(frontier: MerkleFrontier, bytes: @escaping @Sendable () -> [UInt8]) {
        self.frontier = frontier
        self.bytes = bytes
    }
}
