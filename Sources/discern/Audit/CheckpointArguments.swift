import Engine
import Glibc
import Ledger
import Storage

/// What commands about checkpoints and proofs are told: keys, notes, where they lie.
enum CheckpointArguments {
    static let folder = Option.value(
        "checkpoints", nil, "DIR", "the folder of checkpoints (checkpoints in the data folder)")
    static let note = Option.value(
        "checkpoint", nil, "FILE",
        "a signed checkpoint, or a history of them, in place of the folder's latest; repeatable")
    static let key = Option.value(
        "vkey", nil, "VKEY",
        "the public key to believe, or a file of them (checkpoint.pub in the data folder); repeatable"
    )

    static func folder(_ arguments: Arguments) -> CheckpointFolder {
        CheckpointFolder(
            path: arguments["checkpoints"] ?? DataAccess.folder(arguments) + "/checkpoints")
    }

    /// The keys of the command line, else those of the data folder; none where it has none.
    static func keys(_ arguments: Arguments) throws -> [NoteVerifier] {
        guard arguments["vkey"] != nil else {
            return try CheckpointKeys(folder: DataAccess.folder(arguments)).verifiers()
        }
        return try arguments.all("vkey").flatMap { text in
            if let key = NoteVerifier(text) { return [key] }
            guard access(text, R_OK) == 0 else {
                throw UsageError(
                    "--vkey `\(text)` is neither a key of the form name+id+base64 nor a file")
            }
            return try CheckpointKeys.verifiers(in: File.read(text), path: text)
        }
    }

    /// A note with the file that it stands in.
    struct Note {
        var signed: SignedCheckpoint
        var file: String

        var text: String { "checkpoint of \(signed.checkpoint.size) entries in \(file)" }
    }

    /// The notes of the files on the command line; `nil` where none are named.
    static func named(_ arguments: Arguments) throws -> [Note]? {
        guard arguments["checkpoint"] != nil else { return nil }
        return try arguments.all("checkpoint").flatMap { path in
            let text = String(decoding: try read(path), as: UTF8.self)
            let (notes, torn) = CheckpointFolder.notes(in: text)
            if torn > 0 { Terminal.say("\(path): \(torn) pieces that are no whole checkpoint") }
            guard !notes.isEmpty else {
                throw LedgerFault(sequence: 0, what: "\(path) holds no checkpoint")
            }
            return notes.map { Note(signed: $0, file: path) }
        }
    }

    /// The notes of the command line, else the latest of the folder. Each is signed by one of the keys.
    static func trusted(_ arguments: Arguments) throws -> [Note] {
        let keys = try keys(arguments)
        let notes = try named(arguments) ?? latest(arguments).map { [$0] } ?? []
        guard notes.isEmpty || !keys.isEmpty else {
            throw UsageError("no key is known to believe a checkpoint by: name it with --vkey")
        }
        for note in notes where !note.signed.isSigned(by: keys) {
            throw unsigned(note, keys)
        }
        return notes
    }

    /// The note of a size in the folder's history, if it was exported and one of the keys signed it.
    static func exported(_ arguments: Arguments, size: UInt64) throws -> Note? {
        let path = folder(arguments).historyPath
        guard let bytes = Files.read(path) else { return nil }
        let keys = try keys(arguments)
        return CheckpointFolder.notes(in: String(decoding: bytes, as: UTF8.self)).notes
            .first { $0.checkpoint.size == size && $0.isSigned(by: keys) }
            .map { Note(signed: $0, file: path) }
    }

    static func unsigned(_ note: Note, _ keys: [NoteVerifier]) -> LedgerFault {
        LedgerFault(
            sequence: 0, what: "the \(note.text) is signed by none of the known keys",
            expected: keys.map(\.description).joined(separator: "\n            "),
            found: note.signed.note.signatures.map { "\($0.name)+\(Hex.encode($0.keyID))" }
                .joined(separator: ", "))
    }

    private static func latest(_ arguments: Arguments) throws -> Note? {
        let folder = folder(arguments)
        guard let text = try folder.latest() else {
            let keys = CheckpointKeys(folder: DataAccess.folder(arguments))
            guard !keys.areKnown else {
                throw LedgerFault(
                    sequence: 0,
                    what:
                        "there were checkpoints (\(keys.publicPath) says so), and \(folder.latestPath) "
                        + "is missing; if they lie elsewhere, name the folder with --checkpoints")
            }
            return nil
        }
        guard let signed = SignedCheckpoint(text) else {
            throw LedgerFault(sequence: 0, what: "\(folder.latestPath) holds no checkpoint")
        }
        return Note(signed: signed, file: folder.latestPath)
    }

    /// The bytes of a file, or of standard input for `-`.
    static func read(_ path: String) throws -> [UInt8] {
        guard let bytes = Files.read(path == "-" ? "/dev/stdin" : path) else {
            throw StorageError.file(
                path: path, doing: "reading", error: String(cString: strerror(errno)))
        }
        return bytes
    }

    /// Runs a command and says what is wrong with the ledger, if that is what ends it.
    static func telling(_ name: String, _ body: () throws -> Int32) throws -> Int32 {
        do {
            return try body()
        } catch let fault as LedgerFault {
            Terminal.say("discern \(name): \(fault)")
            return ExitStatus.auditBroken
        } catch let corrupt as CorruptEntry {
            Terminal.say("discern \(name): \(corrupt)")
            return ExitStatus.auditBroken
        } catch StorageError.notOurs(let path) {
            Terminal.say("discern \(name): \(StorageError.notOurs(path: path))")
            return ExitStatus.auditBroken
        } catch let error as SQLiteError where error.isDamage {
            Terminal.say("discern \(name): the database is damaged: \(error)")
            return ExitStatus.auditBroken
        }
    }
}
