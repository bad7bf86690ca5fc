import Ledger

/// Where entries live. Small on purpose: nothing of a database shows through it.
///
/// One thread writes: it appends entries, then commits them together. Reading sees what was
/// appended, committed or not, on the writing thread, and what is committed on any other.
public protocol Store: Sendable {
    /// The end of the ledger as it is stored.
    func tail() throws -> LedgerTail

    /// Appends an entry, to be found by those keys. Not durable before ``commit()``.
    func append(_ entry: LedgerEntry, keys: [EntityKey]) throws

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

    /// The entries under a key, in ledger order, for the writing thread.
    func entries(under key: EntityKey) throws -> [LedgerEntry]

    /// Hands every entry from that number on to `body`, in ledger order, until it says stop.
    func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws
}
