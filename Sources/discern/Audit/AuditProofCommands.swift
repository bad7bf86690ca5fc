import Engine
import JSON
import Ledger
import Storage
import Time

/// `discern audit proof`, `consistency` and `verify-proof`: proofs as documents, and checking them
/// without the ledger.
enum AuditProofCommands {
    static var inclusion: Command {
        Command(
            name: "audit proof", summary: "Prove that an entry is in the ledger.",
            positional: "SEQUENCE",
            options: [
                .value(
                    "size", nil, "SIZE",
                    "against the root of so many entries (those of the latest checkpoint)"),
                DataAccess.option, CheckpointArguments.folder, CheckpointArguments.note,
                CheckpointArguments.key,
            ], discussion: discussion,
            run: { arguments in
                try CheckpointArguments.telling("audit proof") {
                    let sequence = try number(arguments.positional, at: 0, "SEQUENCE")
                    guard arguments.positional.count == 1 else {
                        throw UsageError("name one entry by its number")
                    }
                    return try prove(arguments, size: try size(arguments)) { ledger, size in
                        guard sequence <= size else {
                            throw UsageError(
                                "entry \(sequence) is not among the first \(size) entries; "
                                    + "`discern audit checkpoint` makes a checkpoint of all")
                        }
                        return try ledger.inclusion(of: sequence, size: size)
                    }
                }
            })
    }

    static var consistency: Command {
        Command(
            name: "audit consistency",
            summary: "Prove that the ledger only grew between two sizes.",
            positional: "FROM [TO]",
            options: [
                DataAccess.option, CheckpointArguments.folder, CheckpointArguments.note,
                CheckpointArguments.key,
            ],
            discussion: "TO is the size of the latest checkpoint, if it is left out.\n"
                + discussion,
            run: { arguments in
                try CheckpointArguments.telling("audit consistency") {
                    let from = try number(arguments.positional, at: 0, "FROM")
                    guard arguments.positional.count < 3 else {
                        throw UsageError("name one or two sizes")
                    }
                    let to =
                        try arguments.positional.count == 2
                        ? number(arguments.positional, at: 1, "TO") : nil
                    return try prove(arguments, size: to) { ledger, to in
                        guard from <= to else {
                            throw UsageError("\(from) entries are no beginning of \(to)")
                        }
                        return try ledger.consistency(from: from, to: to)
                    }
                }
            })
    }

    private static let discussion = """
        Prints one JSON object with the hashes, and with the checkpoints of its sizes as far as they
        are known, from --checkpoint and the folder of checkpoints. `discern audit verify-proof` checks it without the ledger.
        """

    static var verify: Command {
        Command(
            name: "audit verify-proof", summary: "Check a proof without the ledger.",
            positional: "FILE",
            options: [
                CheckpointArguments.key,
                .value(
                    "checkpoint", nil, "FILE",
                    "signed checkpoints that vouch for the proof's roots, besides those in it; repeatable"
                ), DataAccess.option,
            ],
            discussion: """
                FILE is what `audit proof` or `audit consistency` printed; - is standard input. Each
                root of the proof must stand in a checkpoint that is signed by --vkey.
                Exit status: 0 it holds, 6 it does not, 1 nobody vouches for one of its roots.
                """,
            run: { arguments in
                try CheckpointArguments.telling("audit verify-proof") { try check(arguments) }
            })
    }

    // MARK: Making

    private static func number(_ words: [String], at index: Int, _ name: String) throws -> UInt64 {
        guard index < words.count else { throw UsageError("\(name) is missing") }
        guard let number = UInt64(words[index]), (1...UInt64(Int64.max)).contains(number) else {
            throw UsageError("\(name) is a number from 1, not `\(words[index])`")
        }
        return number
    }

    private static func size(_ arguments: Arguments) throws -> UInt64? {
        try arguments.number("size", in: 1...Int.max).map(UInt64.init)
    }

    private static func prove(
        _ arguments: Arguments, size: UInt64?,
        _ make: (LedgerFile, UInt64) throws -> ProofDocument
    ) throws -> Int32 {
        let notes = try CheckpointArguments.trusted(arguments)
        try DataAccess.requireDatabase(arguments)
        let ledger = try LedgerFile(folder: DataAccess.folder(arguments))
        let most = try ledger.size()
        let latest = notes.map(\.signed.checkpoint.size).max()
        let wanted = size ?? latest ?? most
        guard wanted <= most else {
            guard size == nil else {
                throw UsageError("the ledger has \(most) entries, not \(wanted)")
            }
            throw LedgerFault(
                sequence: Int64(clamping: most + 1), what: "missing, and all after it",
                expected: "\(wanted) entries", found: "\(most) entries")
        }
        let proof = try make(ledger, wanted)
        var vouching: [SignedCheckpoint] = []
        for (size, root) in proof.roots {
            guard
                let note = try notes.first(where: { $0.signed.checkpoint.size == size })
                    ?? CheckpointArguments.exported(arguments, size: size)
            else {
                Terminal.say("no checkpoint of \(size) entries is known: give one with the proof")
                continue
            }
            guard note.signed.checkpoint.root == root else {
                throw LedgerFault(
                    sequence: 0, what: "the ledger is another than that of the \(note.text)",
                    expected: note.signed.checkpoint.root.hex, found: root.hex)
            }
            if !vouching.contains(note.signed) { vouching.append(note.signed) }
        }
        Terminal.print(proof.bytes(with: vouching) + [0x0A])
        return ExitStatus.fine
    }

    // MARK: Checking

    private static func check(_ arguments: Arguments) throws -> Int32 {
        guard arguments.positional.count == 1, let path = arguments.positional.first else {
            throw UsageError("name the file of one proof")
        }
        let keys = try CheckpointArguments.keys(arguments)
        guard !keys.isEmpty else { throw UsageError("name the key to believe with --vkey") }
        guard let (proof, embedded) = ProofDocument.read(try CheckpointArguments.read(path)) else {
            throw LedgerFault(sequence: 0, what: "\(path) is no proof")
        }
        guard proof.holds else {
            throw LedgerFault(
                sequence: 0, what: "the proof does not hold: its hashes do not add up")
        }
        let notes =
            embedded.map { CheckpointArguments.Note(signed: $0, file: path) }
            + (try CheckpointArguments.named(arguments) ?? [])
        for note in notes where !note.signed.isSigned(by: keys) {
            throw CheckpointArguments.unsigned(note, keys)
        }
        for (size, root) in proof.roots {
            let same = notes.filter { $0.signed.checkpoint.size == size }
            if let other = same.first(where: { $0.signed.checkpoint.root != root }) {
                throw LedgerFault(
                    sequence: 0, what: "the proof is about another ledger than the \(other.text)",
                    expected: other.signed.checkpoint.root.hex, found: root.hex)
            }
            guard !same.isEmpty else {
                Terminal.say(
                    "discern audit verify-proof: the hashes add up, and nobody vouches for the root "
                        + "of \(size) entries; give its checkpoint with --checkpoint")
                return ExitStatus.failure
            }
        }
        Terminal.print(text(proof) + ", as signed by \(notes[0].signed.checkpoint.origin)")
        return ExitStatus.fine
    }

    private static func text(_ proof: ProofDocument) -> String {
        switch proof {
        case .inclusion(let sequence, let bytes, let size, _, _):
            let envelope = Envelope(bytes: bytes)
            return
                "entry \(sequence) (\(envelope?.kind ?? "?"), \(envelope.map { "\($0.at)" } ?? "?"), "
                + "payload \(envelope?.payload.hex ?? "?")) is one of the first \(size)"
        case .consistency(let from, _, let to, _, _):
            return "the first \(from) entries are the beginning of the first \(to)"
        }
    }
}
