import Ledger
import Time

/// Reading the ledger from any thread: what is committed, and nothing else.
public protocol LedgerReader: LedgerNodes, Sendable {
    /// The entries under a key, in ledger order.
    func entries(under key: EntityKey) throws -> [LedgerEntry]
    /// Hands every entry from that number on to `body`, in ledger order, until it says stop.
    func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws
    /// A page of the entries that a query wants.
    func page(_ query: EntryQuery) throws -> EntryPage
}

/// Which entries are wanted.
public struct EntryQuery: Sendable {
    /// Only of this app; `nil` for all.
    public var app: String?
    /// Only of this environment; `nil` for both.
    public var environment: String?
    /// Only of this kind.
    public var kind: RecordKind?
    /// Only from this instant on.
    public var since: Instant?
    /// Only up to this instant, itself included.
    public var until: Instant?
    /// Only about this person or device, with the key that finds it.
    public var about: (pseudonym: Pseudonym, keys: [EntityKey])?
    /// The newest first.
    public var newestFirst = false
    /// How many at most.
    public var limit = 100
    /// Where the page before ended: the number of its last entry.
    public var cursor: Int64?

    /// All entries, the oldest first.
    public init() {}
}

/// Some of the entries that a query wants.
public struct EntryPage: Sendable {
    /// The entries, in the order asked for.
    public var entries: [LedgerEntry]
    /// What to ask for as cursor to go on; `nil` when this was all.
    public var next: Int64?

    /// A page.
    public init(entries: [LedgerEntry], next: Int64?) {
        self.entries = entries
        self.next = next
    }
}
