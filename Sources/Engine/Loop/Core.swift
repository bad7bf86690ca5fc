import JSON
import Ledger
import Policies
import Time
import TrustInsights

/// The ordered stream: takes commands one by one, asks the pure `decide` functions, appends
/// what they answer, and commits a batch at once.
///
/// It belongs to one thread. Everything that is neither state nor time comes in with the
/// commands, so the same stream gives the same entries, byte for byte.
final class Core {
    let store: any Store
    private(set) var tail: LedgerTail
    /// What payloads are written in, one after the other: taking memory of that size each time would
    /// have the allocator tidy up each time.
    private var writer = JSONWriter(capacity: 4_096)
    var registry = Registry()
    var catalog = Catalog()
    var subjects = StateCache<EntityKey, SubjectState>(limit: EngineLimits.cachedSubjects)
    var evaluations = StateCache<Int64, ReportableEvaluation>(limit: EngineLimits.cachedEvaluations)
    var reviews = StateCache<EntityKey, ReviewEntity>(limit: EngineLimits.cachedSubjects)
    /// Trust policies that act, by the digest of their file.
    var actingPolicies: [String: ActingPolicy] = [:]
    /// The engine's clock: the larger of the wall clock and what it was, so it never goes back.
    var now: Instant
    /// Whether the directory that threads of the server see is out of date.
    private(set) var directoryChanged = true
    let zones: ZoneDatabase
    let activations = ActivationPool()
    /// How far back the windows of any candidate reach.
    var horizon = Duration.zero
    /// The entry from which on windows see events, with the horizon it was found for, and until when
    /// it need not be looked for again.
    var knownWindowStart: (sequence: Int64, horizon: Duration, until: Instant)?
    /// What of erased entries counts on, while the registry is folded.
    var erased: [Int64: ErasedEntry] = [:]
    /// Whether a command of the batch erased somebody.
    var hasErased = false
    /// The last entry that the registry was kept with.
    private var keptThrough: Int64 = 0
    private var hasAppended = false
    /// Set while what is in memory is not what is stored: after a failure that could not be
    /// folded away either.
    private var isStale = false

    init(store: any Store, zones: ZoneDatabase) throws {
        self.store = store
        self.zones = zones
        tail = try store.tail()
        now = .min
        try rebuild()
    }

    /// Folds the registry from the ledger: from its start, or from where it was kept last.
    private func rebuild() throws {
        registry = Registry()
        catalog = Catalog()
        horizon = .zero
        subjects.removeAll()
        evaluations.removeAll()
        reviews.removeAll()
        knownWindowStart = nil
        keptThrough = try foldSnapshot()
        erased = try loadErased(after: keptThrough)
        defer { erased = [:] }
        var expected = keptThrough + 1
        try store.scan(from: expected) { entry in
            guard entry.envelope.sequence == expected else {
                throw CorruptEntry(sequence: expected, detail: "it is missing")
            }
            expected += 1
            try fold(entry)
            return true
        }
        try compileRecorded()
        directoryChanged = true
    }

    // MARK: A batch

    /// Performs a batch and makes it durable. If that fails, every command of it is refused.
    func perform(_ batch: [Submission], wallClock: Instant) -> [Reply] {
        now = max(now, wallClock)
        hasAppended = false
        hasErased = false
        var replies: [Reply] = []
        replies.reserveCapacity(batch.count)
        do {
            if isStale { try reload() }
            // In an outage nothing is tried that would fail: what only reads is answered, and
            // the states need not be taken anew for each batch.
            if failure != nil { isReadOnly = !canStore() }
            for submission in batch { replies.append(try perform(submission)) }
            if hasAppended {
                try store.commit()
                failure = nil
                if nextSequence - keptThrough > EngineLimits.snapshotInterval { keepSnapshot() }
            }
            if hasErased { tellOfLog(&replies) }
            return replies
        } catch {
            return recover(from: error, count: batch.count)
        }
    }

    /// Whether erased bytes are gone from the log, too, is known only after the commit.
    private func tellOfLog(_ replies: inout [Reply]) {
        let isCleared = store.clearErased()
        for index in replies.indices {
            guard case .erased(var answer) = replies[index].content else { continue }
            answer.isLogCleared = isCleared
            replies[index].content = .erased(answer)
        }
    }

    /// Nothing of the batch was stored, so nothing of it may be remembered either.
    private func recover(from error: any Error, count: Int) -> [Reply] {
        store.rollback()
        var detail = "nothing of this request was stored; try again"
        do {
            try reload()
        } catch let second {
            detail = "the database cannot be read: \(second)"
        }
        failure = "\(error)"
        let refusal = Refusal(.serverError, detail, isRetryable: true)
        return (0..<count).map { _ in Reply(content: .refused(refusal), now: now) }
    }

    /// Takes the state anew from what is stored. Until that succeeds, nothing is decided.
    private func reload() throws {
        isStale = true
        tail = try store.tail()
        try rebuild()
        isStale = false
    }

    /// What the latest failed commit failed for, until one succeeds again.
    var failure: String?
    /// Whether appending is refused, since the store cannot keep anything now.
    private var isReadOnly = false

    private func canStore() -> Bool {
        do {
            try store.probe()
            failure = nil
            return true
        } catch {
            failure = "\(error)"
            return false
        }
    }

    private func perform(_ submission: Submission) throws -> Reply {
        let content: Reply.Content
        let sequence = nextSequence
        do {
            content = try self.content(of: submission)
        } catch let corrupt as CorruptEntry where nextSequence == sequence {
            // An entry that cannot be read is no reason to refuse what others asked.
            content = .refused(Refusal(.serverError, corrupt.description))
        } catch let refusal as Refusal {
            content = .refused(refusal)
        } catch let recorded as RecordedRefusal {
            content = .refused(recorded.refusal)
        }
        guard let tenant = submission.tenant else { return Reply(content: content, now: now) }
        let state = registry.state(of: tenant, at: now)
        return Reply(content: content, now: state.now(at: now), debt: state.debt.count)
    }

    private func content(of submission: Submission) throws -> Reply.Content {
        // What is about the service as a whole needs no app; all else does.
        if case .administer(let command) = submission.command {
            return .administered(try administer(command, submission))
        }
        guard let tenant = submission.tenant else {
            throw Refusal(
                .environmentMismatch, "an operator's key belongs to no app: use an app's key")
        }
        switch submission.command {
        case .authorize(let command): return try authorize(command, tenant, submission)
        case .evaluate(let command): return try evaluate(command, tenant, submission)
        case .reportConsumption(let command): return try report(command, tenant, submission)
        case .label(let command): return try label(command, tenant, submission)
        case .labelAll(let commands): return try labelAll(commands, tenant, submission)
        case .erase(let command): return try erase(command, tenant, submission)
        case .review(let command): return .review(try review(command, tenant, submission))
        case .advanceSandboxClock(let advance):
            return try advanceClock(advance, tenant, submission)
        case .show(let address): return .shown(try shownEvaluation(address, tenant: tenant))
        case .listDebt(let after, let limit):
            return .debt(try debt(of: tenant, after: after, limit: limit))
        // Answered above; named here so that a new command cannot be forgotten.
        case .administer: return .administered(.done)
        }
    }

    /// Has the store keep what would cost a start the most. To be called between batches.
    func keepSnapshot() {
        guard !isStale, tail.frontier.count > 0 else { return }
        keptThrough = nextSequence - 1
        let tenants = registry.tenantSnapshots
        store.keep(LedgerSnapshot(frontier: tail.frontier) { TenantSnapshot.encode(tenants) })
    }

    // MARK: What the performing functions use

    /// The app's clock.
    func clock(of tenant: Tenant) -> Instant { registry.state(of: tenant, at: now).now(at: now) }

    /// The number of the next entry.
    var nextSequence: Int64 { tail.nextSequence }

    /// The id that the next entry gets.
    func nextIdentifier(_ submission: Submission) -> Identifier {
        Identifier(at: now, sequence: nextSequence, ordinal: 0, chance: submission.chance)
    }

    /// Appends a record. The caller then applies it to the states it changes.
    func append<R: Record>(_ record: R, keys: [EntityKey], _ submission: Submission) throws {
        if isReadOnly {
            throw Refusal(
                .serverError, "nothing can be stored now; try again", isRetryable: true)
        }
        writer.removeAll()
        record.write(to: &writer)
        let entry = tail.append(
            kind: R.kind.rawValue, app: submission.tenant?.app ?? "",
            environment: submission.tenant?.environment.rawValue ?? "", actor: submission.actor,
            at: now, salt: submission.salt, payload: writer.bytes)
        hasAppended = true
        try store.append(entry, keys: keys)
    }

    /// The registry changed in what the directory shows.
    func changeDirectory() { directoryChanged = true }

    /// The directory, if it changed since it was last taken.
    func takeDirectory() -> Directory? {
        guard directoryChanged, !isStale else { return nil }
        directoryChanged = false
        return Directory(registry: registry, catalog: catalog)
    }
}
