import Glibc
import Ledger

/// A folder of checkpoints, outside of the database and, best, on another disk.
///
/// | file | what |
/// | --- | --- |
/// | `latest` | the newest note, replaced as a whole |
/// | `history` | every note ever made, appended; an empty line after each |
public struct CheckpointFolder: Sendable {
    /// The folder.
    public let path: String
    /// The file with the newest note.
    public var latestPath: String { path + "/latest" }
    /// The file with all notes.
    public var historyPath: String { path + "/history" }

    /// The folder at a path, which need not be there.
    public init(path: String) { self.path = path }

    /// Makes the folder, if need be, with mode 0700.
    public func make() throws(StorageError) {
        guard mkdir(path, 0o700) != 0 else { return }
        guard errno == EEXIST else {
            throw .file(path: path, doing: "making", error: DataFolder.reason)
        }
    }

    /// The newest note as it stands; `nil` where there is none.
    public func latest() throws(StorageError) -> String? {
        guard access(latestPath, F_OK) == 0 else {
            // A folder that may not be looked into is not an empty one.
            guard errno == ENOENT else {
                throw .file(path: latestPath, doing: "reading", error: DataFolder.reason)
            }
            return nil
        }
        return try File.read(latestPath)
    }

    /// Writes a note: appended to the history first, then as the latest. On return both are on disk.
    public func write(_ note: String) throws(StorageError) {
        try append(note)
        try File.write(note, to: latestPath)
        try File.syncFolder(path)
    }

    /// Puts the files aside under another name, to begin anew beside them.
    public func setAside(as suffix: String) throws(StorageError) {
        for file in [latestPath, historyPath] where access(file, F_OK) == 0 {
            guard rename(file, file + suffix) == 0 else {
                throw .file(path: file, doing: "renaming", error: DataFolder.reason)
            }
        }
        try File.syncFolder(path)
    }

    private func append(_ note: String) throws(StorageError) {
        let descriptor = open(historyPath, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .file(path: historyPath, doing: "opening", error: DataFolder.reason)
        }
        defer { close(descriptor) }
        // A note that a power cut tore must not run into this one.
        var end: [UInt8] = [0, 0]
        let length = lseek(descriptor, 0, SEEK_END)
        let isWhole =
            length == 0
            || length >= 2 && pread(descriptor, &end, 2, length - 2) == 2
                && end == [0x0A, 0x0A]
        let bytes = Array(((isWhole ? "" : "\n\n") + note + "\n").utf8)
        guard bytes.withUnsafeBytes({ File.writeAll(descriptor, $0) }), fsync(descriptor) == 0
        else { throw .file(path: historyPath, doing: "writing", error: DataFolder.reason) }
    }

    /// The notes in the text of a history, or of a single note, in order, and how many pieces are
    /// none: what is left of a note that was torn.
    public static func notes(in text: String) -> (notes: [SignedCheckpoint], torn: Int) {
        var notes: [SignedCheckpoint] = []
        var torn = 0
        var body: String?
        for block in blocks(of: text) {
            if block.hasPrefix("\u{2014} ") {
                // No kind of signature that notes know is shorter.
                if let body, let note = SignedCheckpoint(body + "\n" + block),
                    note.note.signatures.allSatisfy({ $0.bytes.count >= Ed25519.signatureLength })
                {
                    notes.append(note)
                } else {
                    torn += 1
                }
                body = nil
            } else {
                if body != nil { torn += 1 }
                body = block
            }
        }
        if body != nil { torn += 1 }
        return (notes, torn)
    }

    /// What stands between empty lines, each line with its break.
    private static func blocks(of text: String) -> [String] {
        var blocks: [String] = []
        var block = ""
        for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if line.isEmpty {
                if !block.isEmpty { blocks.append(block) }
                block = ""
            } else {
                block += String(Substring(line)) + "\n"
            }
        }
        return blocks + (block.isEmpty ? [] : [block])
    }
}

/// The key that checkpoints are signed with, and the public keys that they are believed under, as
/// files of a data folder.
public struct CheckpointKeys: Sendable {
    /// The file of the signing key.
    public let keyPath: String
    /// The file of the public keys, one a line; the newest first. It is made with the first
    /// checkpoint, so where it stands there was one.
    public let publicPath: String
    private let folder: String

    /// The files of a data folder.
    public init(folder: String) {
        self.folder = folder
        keyPath = folder + "/checkpoint.key"
        publicPath = folder + "/checkpoint.pub"
    }

    /// Whether a checkpoint was ever made.
    public var areKnown: Bool { access(publicPath, F_OK) == 0 }

    /// The public keys that checkpoints are believed under.
    public func verifiers() throws(StorageError) -> [NoteVerifier] {
        guard areKnown else { return try signer().map { [$0.verifier] } ?? [] }
        return try Self.verifiers(in: File.read(publicPath), path: publicPath)
    }

    /// The public keys of a text, one a line.
    public static func verifiers(in text: String, path: String) throws(StorageError)
        -> [NoteVerifier]
    {
        var found: [NoteVerifier] = []
        for line in text.split(whereSeparator: \.isWhitespace) {
            guard let verifier = NoteVerifier(String(line)) else {
                throw .file(
                    path: path, doing: "reading",
                    error: "`\(line)` is no key of the form name+id+base64")
            }
            found.append(verifier)
        }
        return found
    }

    /// The signing key; `nil` where there is none yet.
    public func signer() throws(StorageError) -> NoteSigner? {
        guard access(keyPath, F_OK) == 0 else { return nil }
        guard let signer = NoteSigner(try File.read(keyPath).trimmingNewline) else {
            throw .file(
                path: keyPath, doing: "reading",
                error: "it should hold PRIVATE+KEY+name+id+base64; restore it from a backup")
        }
        return signer
    }

    /// Makes a signing key under a name, which cannot have white space or `+`.
    public func makeSigner(name: String) throws(StorageError) -> NoteSigner {
        guard let (signer, text) = NoteSigner.make(name: name) else {
            throw .file(
                path: keyPath, doing: "making",
                error: "`\(name)` cannot be the origin of a ledger: neither white space nor +")
        }
        try File.write(text + "\n", to: keyPath)
        // On disk before anything is signed with it.
        try File.syncFolder(folder)
        return signer
    }

    /// Puts a public key before those that are known, unless it is the first of them.
    public func publish(_ verifier: NoteVerifier) throws(StorageError) {
        let known = areKnown ? try verifiers() : []
        guard known.first != verifier else { return }
        let all = [verifier] + known.filter { $0 != verifier }
        try File.write(all.map { "\($0)\n" }.joined(), to: publicPath)
        try File.syncFolder(folder)
    }
}
