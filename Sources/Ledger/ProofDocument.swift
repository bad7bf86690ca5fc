import JSON

/// A checkpoint with the note that vouches for it.
public struct SignedCheckpoint: Sendable, Equatable {
    /// What the note says.
    public let checkpoint: Checkpoint
    /// The note.
    public let note: SignedNote

    /// Signs a checkpoint; `nil` if libcrypto has no memory.
    public init?(_ checkpoint: Checkpoint, by signer: NoteSigner) {
        guard let note = SignedNote(checkpoint.text, by: signer) else { return nil }
        self.checkpoint = checkpoint
        self.note = note
    }

    /// Reads a note; `nil` where it is none, or says nothing of a ledger. Whether it is signed by
    /// somebody who is trusted is for ``isSigned(by:)`` to say.
    public init?(_ text: String) {
        guard let note = SignedNote(text), let checkpoint = Checkpoint(text: note.text) else {
            return nil
        }
        self.checkpoint = checkpoint
        self.note = note
    }

    /// Whether one of these keys signed it, under the name of the ledger.
    public func isSigned(by verifiers: [NoteVerifier]) -> Bool {
        verifiers.contains { $0.name == checkpoint.origin && note.isSigned(by: $0) }
    }
}

/// A proof about a ledger as a document that can be checked without it.
public enum ProofDocument: Sendable, Equatable {
    /// That an entry with that envelope is number `sequence` of the first `size` entries.
    case inclusion(
        sequence: UInt64, envelope: [UInt8], size: UInt64, root: Digest, proof: [Digest])
    /// That the first `to` entries begin with the first `from` entries.
    case consistency(from: UInt64, fromRoot: Digest, to: UInt64, toRoot: Digest, proof: [Digest])

    /// The roots that the proof is about. Whoever checks it needs somebody to vouch for them.
    public var roots: [(size: UInt64, root: Digest)] {
        switch self {
        case .inclusion(_, _, let size, let root, _): [(size, root)]
        case .consistency(let from, let fromRoot, let to, let toRoot, _):
            [(from, fromRoot), (to, toRoot)]
        }
    }

    /// Whether the hashes add up.
    public var holds: Bool {
        switch self {
        case .inclusion(let sequence, let envelope, let size, let root, let proof):
            MerkleProof.isIncluded(
                MerkleTree.leaf(envelope), at: sequence, size: size, root: root, proof: proof)
                && Envelope(bytes: envelope)?.sequence == Int64(exactly: sequence)
        case .consistency(let from, let fromRoot, let to, let toRoot, let proof):
            MerkleProof.isConsistent(
                from: from, root: fromRoot, to: to, root: toRoot, proof: proof)
        }
    }

    /// The document, with checkpoints that vouch for its roots.
    public func bytes(with checkpoints: [SignedCheckpoint]) -> [UInt8] {
        var writer = JSONWriter(capacity: 1_024 + 80 * 64)
        writer.beginObject()
        writer.key("checkpoints")
        writer.beginArray()
        for checkpoint in checkpoints { writer.string(checkpoint.note.note) }
        writer.endArray()
        switch self {
        case .inclusion(let sequence, let envelope, let size, let root, let proof):
            writer.key("envelope")
            writer.raw(envelope)
            Self.write("kind", "inclusion", to: &writer)
            Self.write("leafHash", MerkleTree.leaf(envelope).hex, to: &writer)
            Self.write(proof, to: &writer)
            Self.write("root", root.hex, to: &writer)
            Self.write("sequence", sequence, to: &writer)
            Self.write("size", size, to: &writer)
        case .consistency(let from, let fromRoot, let to, let toRoot, let proof):
            Self.write("from", from, to: &writer)
            Self.write("fromRoot", fromRoot.hex, to: &writer)
            Self.write("kind", "consistency", to: &writer)
            Self.write(proof, to: &writer)
            Self.write("to", to, to: &writer)
            Self.write("toRoot", toRoot.hex, to: &writer)
        }
        writer.endObject()
        return writer.bytes
    }

    private static func write(_ name: StaticString, _ text: String, to writer: inout JSONWriter) {
        writer.key(name)
        writer.string(text)
    }

    private static func write(_ name: StaticString, _ number: UInt64, to writer: inout JSONWriter) {
        writer.key(name)
        writer.int(Int64(clamping: number))
    }

    private static func write(_ proof: [Digest], to writer: inout JSONWriter) {
        writer.key("proof")
        writer.beginArray()
        for digest in proof { writer.string(digest.hex) }
        writer.endArray()
    }

    /// Reads a document: the proof and the notes in it; `nil` where it is none.
    public static func read(_ bytes: [UInt8]) -> (proof: ProofDocument, notes: [SignedCheckpoint])?
    {
        guard let json = try? JSONReader.parse(bytes),
            let proof = json["proof"]?.arrayValue.flatMap(Self.digests),
            let texts = json["checkpoints"]?.arrayValue
        else { return nil }
        let notes = texts.compactMap { $0.stringValue.flatMap { SignedCheckpoint($0) } }
        guard notes.count == texts.count else { return nil }
        func number(_ name: String) -> UInt64? {
            json[name]?.intValue.flatMap(UInt64.init(exactly:))
        }
        func digest(_ name: String) -> Digest? {
            json[name]?.stringValue.flatMap(Digest.init(hex:))
        }
        switch json["kind"]?.stringValue {
        case "inclusion":
            // An envelope holds no doubles, so its canonical bytes are those that were hashed.
            guard let sequence = number("sequence"), let size = number("size"),
                let root = digest("root"), let envelope = json["envelope"]?.canonicalBytes,
                digest("leafHash") == MerkleTree.leaf(envelope)
            else { return nil }
            return (
                .inclusion(
                    sequence: sequence, envelope: envelope, size: size, root: root, proof: proof),
                notes
            )
        case "consistency":
            guard let from = number("from"), let to = number("to"),
                let fromRoot = digest("fromRoot"), let toRoot = digest("toRoot")
            else { return nil }
            return (
                .consistency(
                    from: from, fromRoot: fromRoot, to: to, toRoot: toRoot, proof: proof), notes
            )
        default: return nil
        }
    }

    private static func digests(_ values: [JSONValue]) -> [Digest]? {
        let digests = values.compactMap { $0.stringValue.flatMap(Digest.init(hex:)) }
        return digests.count == values.count ? digests : nil
    }
}
