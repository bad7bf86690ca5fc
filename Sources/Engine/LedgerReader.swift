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
    /// Only what this condition is true of.
    public var filter: AuditFilter?
    /// What the filter's `now` is; the same for all pages.
    public var now = Instant.epoch
    /// Only about this person or device, with the key that finds it.
    public var about: (pseudonym: Pseudonym, keys: [EntityKey])?
    /// The newest first.
    public var newestFirst = false
    /// How many at most.
    public var limit = 100
    /// Where the page before ended: the number of the last entry that was looked at.
    public var cursor: Int64?
    /// After what work a page ends though it is not full; `nil` for never.
    public var budget: AuditBudget?

    /// All entries, the oldest first.
    public init() {}
}

/// How much work one page may be. At least one entry is looked at, so pages always go on.
public struct AuditBudget: Sendable {
    /// Entries looked at, as a rough limit: a little more may be.
    public var entries: Int
    /// The time it may take.
    public var time: Duration

    /// A budget.
    public init(entries: Int, time: Duration) {
        self.entries = entries
        self.time = time
    }

    /// What a call of the API may take: 10 ms, so that no query holds a reader, and with it the
    /// log, for long.
    public static let call = AuditBudget(entries: 100_000, time: .milliseconds(10))
}

/// Some of the entries that a query wants.
public struct EntryPage: Sendable {
    /// The entries, in the order asked for.
    public var entries: [LedgerEntry] = []
    /// What to ask for as cursor to go on; `nil` when all was looked at.
    public var next: Int64?
    /// Whether the page ended because of its budget.
    public var isPartial = false
    /// How many entries were looked at, those included that a store ruled out by itself.
    public var examined: Int64 = 0
    /// How many the filter is an error for.
    public var undecided: Int64 = 0
    /// The number of the last entry of the ledger when the page was made: oldest first, what comes
    /// later is found with this as cursor once `next` is `nil`.
    public var size: Int64 = 0

    /// An empty page.
    public init() {}
}
