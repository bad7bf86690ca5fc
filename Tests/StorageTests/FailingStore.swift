import Engine
import Ledger
import Storage
import Synchronization
import Time

/// The real store, of which some calls throw: what a full disk or a broken file looks like from
/// the engine.
final class FailingStore: Store {
    struct Failure: Error, Equatable {
        let call: Int
    }

    /// Which calls are counted, and so may fail.
    enum Kind: CaseIterable {
        case append, commit, read
    }

    /// Which calls fail, by their number from 1.
    struct Plan: Sendable {
        var kinds: Set<Kind>
        var failing: Range<Int>
    }

    private struct State {
        var plan: Plan?
        var calls = 0
        var failures = 0
        var scans: [Int64] = []
        var aroundCommit: (@Sendable (_ isDone: Bool) -> Void)?
    }

    private let store: SQLiteStore
    private let state = Mutex(State())

    init(_ store: SQLiteStore) { self.store = store }

    /// Counts from here on.
    func begin(_ plan: Plan) {
        state.withLock { $0 = State(plan: plan, aroundCommit: $0.aroundCommit) }
    }

    /// Has somebody look before and after each commit.
    func watch(_ aroundCommit: (@Sendable (_ isDone: Bool) -> Void)?) {
        state.withLock { $0.aroundCommit = aroundCommit }
    }

    /// How many calls were counted, and how many of them failed.
    var counts: (calls: Int, failures: Int) { state.withLock { ($0.calls, $0.failures) } }

    /// Where scans of the ledger began.
    var scans: [Int64] { state.withLock { $0.scans } }

    private func count(_ kind: Kind) throws {
        try state.withLock { state in
            guard let plan = state.plan, plan.kinds.contains(kind) else { return }
            state.calls += 1
            guard plan.failing.contains(state.calls) else { return }
            state.failures += 1
            throw Failure(call: state.calls)
        }
    }

    func tail() throws -> LedgerTail {
        try count(.read)
        return try store.tail()
    }

    /// Every second failing append has written its row before it fails.
    func append(_ entry: LedgerEntry, keys: [EntityKey]) throws {
        let isLate = counts.calls % 2 == 0
        if isLate { try store.append(entry, keys: keys) }
        try count(.append)
        if !isLate { try store.append(entry, keys: keys) }
    }

    /// A failed commit has taken everything back.
    func commit() throws {
        do {
            try count(.commit)
        } catch {
            store.rollback()
            throw error
        }
        let around = state.withLock { $0.aroundCommit }
        around?(false)
        try store.commit()
        around?(true)
    }

    func erase(_ sequence: Int64, removing keys: Set<EntityKey>) throws {
        try count(.append)
        try store.erase(sequence, removing: keys)
    }

    func clearErased() -> Bool { store.clearErased() }

    func sequences(under key: EntityKey) throws -> [Int64] {
        try count(.read)
        return try store.sequences(under: key)
    }

    func scanErasures(after sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws {
        try count(.read)
        try store.scanErasures(after: sequence, body)
    }

    func probe() throws {
        try count(.commit)
        try store.probe()
    }

    func rollback() { store.rollback() }

    func entry(_ sequence: Int64) throws -> LedgerEntry? {
        try count(.read)
        return try store.entry(sequence)
    }

    func entries(under key: EntityKey, after sequence: Int64) throws -> [LedgerEntry] {
        try count(.read)
        return try store.entries(under: key, after: sequence)
    }

    func payloads(under key: EntityKey, after sequence: Int64) throws -> [StoredPayload] {
        try count(.read)
        return try store.payloads(under: key, after: sequence)
    }

    func firstSequence(notBefore instant: Instant) throws -> Int64 {
        try count(.read)
        return try store.firstSequence(notBefore: instant)
    }

    func scanService(through sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws {
        try count(.read)
        try store.scanService(through: sequence, body)
    }

    func keep(_ snapshot: LedgerSnapshot) { store.keep(snapshot) }

    func snapshot() throws -> (through: Int64, bytes: [UInt8])? {
        try count(.read)
        return try store.snapshot()
    }

    func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws {
        try count(.read)
        state.withLock { $0.scans.append(sequence) }
        try store.scan(from: sequence, body)
    }
}
