import Engine
import Ledger
import Server
import Storage

/// What a start knows of the ledger and its checkpoints before anything is opened for writing.
struct LedgerStart {
    private let options: ServeOptions
    private let keys: CheckpointKeys
    /// The checkpoint that the ledger fits; `nil` before the first.
    private let latest: SignedCheckpoint?
    /// Entries of a ledger that had no checkpoint before.
    private let unsigned: UInt64
    /// What did not fit, and was accepted.
    private let fork: (reason: String, mismatch: LedgerMismatch)?

    /// Compares the database with its latest checkpoint. Throws ``LedgerMismatch`` if it is another,
    /// unless the operator said to go on.
    init(_ options: ServeOptions) throws {
        self.options = options
        keys = CheckpointKeys(folder: options.data)
        if let origin = options.origin, let known = try keys.signer()?.verifier.name,
            known != origin
        {
            throw UsageError(
                "--origin is `\(origin)`, and the key in \(keys.keyPath) is of `\(known)`: "
                    + "a ledger keeps its name")
        }
        do {
            latest = try LedgerGuard.check(data: options.data, folder: options.checkpoints)
        } catch let mismatch as LedgerMismatch {
            guard let reason = options.forkReason, mismatch.found != nil else { throw mismatch }
            latest = nil
            unsigned = 0
            fork = (reason, mismatch)
            return
        }
        fork = nil
        // A file that cannot be read is for the store to tell: it may be one that a full disk kept
        // from becoming a database.
        unsigned = latest == nil ? (try? LedgerGuard.size(options.data)) ?? 0 : 0
        if options.forkReason != nil {
            throw UsageError(
                "--accept-ledger-fork: there is none to accept, the ledger fits its latest "
                    + "checkpoint; leave the option away, or it would accept the next one unseen")
        }
    }

    /// Records that the ledger is gone on with, and puts the checkpoints of the other one aside.
    func goOn(_ engine: Engine, _ log: Log) throws {
        guard let (reason, mismatch) = fork, let found = mismatch.found else { return }
        try Running.administer(
            engine,
            .acceptFork(
                LedgerForkRecord(reason: reason, expected: mismatch.expected, found: found)))
        try options.checkpoints.setAside(as: ".before-entry-\(engine.committedSize)")
        log.warning(
            "a ledger that does not fit its latest checkpoint was accepted",
            [("detail", .word(mismatch.what)), ("reason", .word(reason))])
    }

    /// Starts to make checkpoints, with a new key if there is none.
    func checkpoints(
        _ engine: Engine, _ store: SQLiteStore, _ log: Log
    ) throws -> CheckpointWriter {
        if unsigned > 0 {
            log.warning(
                "the ledger had no checkpoint before",
                [("entries", .int(Int64(clamping: unsigned)))])
        }
        let signer = try signer()
        if keys.areKnown, try keys.verifiers().first != signer.verifier {
            log.warning(
                "checkpoints are signed with another key than before",
                [("key", .word("\(signer.verifier)"))])
        }
        return try CheckpointWriter(
            keys: keys, folder: options.checkpoints, signer: signer, latest: latest,
            schedule: options.schedule, ledger: store.reader, size: { engine.committedSize },
            log: log)
    }

    private func signer() throws -> NoteSigner {
        if let signer = try keys.signer() { return signer }
        // A new key for a ledger that had one keeps the name.
        let known = try keys.areKnown ? keys.verifiers().first?.name : nil
        if let origin = options.origin, let known, known != origin {
            throw UsageError("--origin is `\(origin)`, and the ledger's name is `\(known)`")
        }
        let name = options.origin ?? known ?? "discern/" + Hex.encode(Random.bytes(8))
        return try keys.makeSigner(name: name)
    }
}
