import Engine
import Glibc
import Ledger
import Server
import Storage

/// Signs checkpoints of the ledger and exports them, on a thread of its own: by count, by time, on
/// demand, and at the end. A commit waits for none of it; this thread looks how far they are.
final class CheckpointWriter: CheckpointSource {
    /// When a checkpoint is due.
    struct Schedule {
        /// After that many new entries …
        var entries: UInt64 = 10_000
        /// … or that long after the one before, if there is anything new.
        var milliseconds: Int64 = 60_000
    }

    /// Why no checkpoint was made.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private struct State: Sendable {
        var latest: SignedCheckpoint?
        var failure: String?
        /// Attempts that were asked for, and attempts that were made.
        var wanted = 0
        var served = 0
        var isStopping = false
    }

    /// What the thread works with.
    private struct Work: Sendable {
        var keys: CheckpointKeys
        var folder: CheckpointFolder
        var signer: NoteSigner
        var ledger: any LedgerReader
        var size: @Sendable () -> UInt64
        var log: Log
    }

    private let state: Guarded<State>
    private let thread: Thread
    let verifier: NoteVerifier
    /// How often the thread looks how far the commits are.
    private static let tick: Int64 = 500
    /// How long it waits after an attempt that failed.
    private static let pause: Int64 = 10_000

    /// Starts the thread, and waits for the first checkpoint if there is none yet.
    init(
        keys: CheckpointKeys, folder: CheckpointFolder, signer: NoteSigner,
        latest: SignedCheckpoint?, schedule: Schedule, ledger: any LedgerReader,
        size: @escaping @Sendable () -> UInt64, log: Log
    ) throws {
        try folder.make()
        verifier = signer.verifier
        let state = Guarded(State(latest: latest))
        self.state = state
        let work = Work(
            keys: keys, folder: folder, signer: signer, ledger: ledger, size: size, log: log)
        thread = Thread(name: "checkpoints") { Self.run(state, work, schedule) }
        // A failure was logged, and is tried again.
        if latest == nil || latest?.note.isSigned(by: verifier) != true { _ = try? make() }
    }

    var latest: SignedCheckpoint? { state.withLock { $0.latest } }
    var failure: String? { state.withLock { $0.failure } }

    func make() throws -> SignedCheckpoint {
        let ticket = state.signal { state in
            state.wanted += 1
            return state.wanted
        }
        let result = state.wait { state -> Result<SignedCheckpoint, Failure>? in
            guard state.served >= ticket || state.isStopping else { return nil }
            if let failure = state.failure { return .failure(Failure(description: failure)) }
            guard let latest = state.latest else {
                return .failure(Failure(description: "there is nothing to make one of"))
            }
            return .success(latest)
        }
        guard let result else { throw Failure(description: "no checkpoint was made") }
        return try result.get()
    }

    /// Makes one of everything that is stored, and ends the thread. Nothing may be stored any more.
    func stop() {
        _ = try? make()
        state.signal { $0.isStopping = true }
        thread.join()
    }

    // MARK: The thread

    private static func run(_ state: Guarded<State>, _ work: Work, _ schedule: Schedule) {
        var last = clock()
        var notBefore = last
        while true {
            let asked = state.wait(milliseconds: min(tick, schedule.milliseconds)) {
                state -> Int? in
                state.wanted > state.served ? state.wanted : state.isStopping ? -1 : nil
            }
            if asked == -1 { return }
            let latest = state.withLock { $0.latest }
            let now = clock()
            if asked == nil {
                let size = work.size()
                let new = size - min(latest?.checkpoint.size ?? 0, size)
                let isDue = new >= schedule.entries || now - last >= schedule.milliseconds
                guard new > 0, isDue, now >= notBefore else { continue }
            }
            let result = attempt(work, after: latest)
            last = now
            notBefore = now
            if case .failure = result { notBefore = now + pause }
            finish(result, of: asked, state, work.log)
        }
    }

    private static func finish(
        _ result: Result<SignedCheckpoint, Failure>, of asked: Int?, _ state: Guarded<State>,
        _ log: Log
    ) {
        let earlier = state.signal { state in
            defer {
                if let asked { state.served = asked }
                switch result {
                case .success(let checkpoint):
                    state.latest = checkpoint
                    state.failure = nil
                case .failure(let failure): state.failure = failure.description
                }
            }
            return state.failure
        }
        // Told once for each outage.
        if case .failure(let failure) = result, failure.description != earlier {
            log.error("no checkpoint was made", [("detail", .word(failure.description))])
        }
    }

    private static func attempt(_ work: Work, after latest: SignedCheckpoint?)
        -> Result<SignedCheckpoint, Failure>
    {
        do {
            return .success(try checkpoint(work, after: latest))
        } catch {
            return .failure(error as? Failure ?? Failure(description: "\(error)"))
        }
    }

    private static func checkpoint(_ work: Work, after latest: SignedCheckpoint?) throws
        -> SignedCheckpoint
    {
        let size = work.size()
        guard size > 0 else { throw Failure(description: "there is nothing to make one of") }
        if let latest, latest.checkpoint.size == size,
            latest.note.isSigned(by: work.signer.verifier)
        {
            return latest
        }
        let root = try work.ledger.root(of: size)
        // Whoever changed the database under the server's feet gets no signature for it.
        if let old = latest?.checkpoint {
            let proof = try work.ledger.consistency(from: old.size, to: size)
            guard case .consistency(_, old.root, _, root, _) = proof else {
                throw Failure(
                    description: "the ledger is another than that of the latest checkpoint, "
                        + "of \(old.size) entries: it was changed while the server ran")
            }
        }
        let checkpoint = Checkpoint(origin: work.signer.verifier.name, size: size, root: root)
        guard let signed = SignedCheckpoint(checkpoint, by: work.signer) else {
            throw Failure(description: "libcrypto could not sign")
        }
        try work.folder.write(signed.note.note)
        try work.keys.publish(work.signer.verifier)
        return signed
    }

    private static func clock() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
