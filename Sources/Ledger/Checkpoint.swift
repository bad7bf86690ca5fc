/// What a ledger says of itself at a moment: its size and root, in the words of C2SP's
/// `tlog-checkpoint`, to be signed and kept where the ledger's owner cannot change it.
public struct Checkpoint: Sendable, Equatable {
    /// Which ledger it is: a name like a host's, such as `discern/3f9a…`.
    public var origin: String
    /// How many entries the ledger had.
    public var size: UInt64
    /// The root of its tree.
    public var root: Digest

    /// A checkpoint of these parts.
    public init(origin: String, size: UInt64, root: Digest) {
        self.origin = origin
        self.size = size
        self.root = root
    }

    /// The text that is signed: three lines.
    public var text: String {
        "\(origin)\n\(size)\n\(Base64.encode(root.withBytes { Array($0) }))\n"
    }

    /// The checkpoint of a signed text; `nil` where it is none. Lines after the third are
    /// extensions, which are allowed and mean nothing here.
    public init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 4, lines.last == "", !lines[0].isEmpty,
            let size = UInt64(lines[1]), String(size) == lines[1],
            let bytes = Base64.decode(String(lines[2])), let root = Digest(bytes: bytes)
        else { return nil }
        self.init(origin: String(lines[0]), size: size, root: root)
    }
}

/// A text with signatures below it (C2SP `signed-note`): each is a line that names a key, with the
/// first four bytes of the key's digest and the signature in base64.
public struct SignedNote: Sendable, Equatable {
    /// One signature.
    public struct Signature: Sendable, Equatable {
        /// The key's name.
        public var name: String
        /// Tells keys of one name apart.
        public var keyID: [UInt8]
        /// The bytes that prove it.
        public var bytes: [UInt8]
    }

    /// The signed text; it ends with a line break.
    public let text: String
    /// The signatures below it.
    public let signatures: [Signature]

    private static let dash = "\u{2014} "

    /// Signs a text.
    public init?(_ text: String, by signer: NoteSigner) {
        guard let bytes = signer.key.signature(of: Array(text.utf8)) else { return nil }
        self.text = text
        signatures = [
            Signature(name: signer.verifier.name, keyID: signer.verifier.keyID, bytes: bytes)
        ]
    }

    /// Reads a note; `nil` where it is none.
    public init?(_ note: String) {
        guard let border = note.range(ofLast: "\n\n"), note.utf8.last == UInt8(ascii: "\n") else {
            return nil
        }
        text = String(note[..<border.lowerBound]) + "\n"
        var signatures: [Signature] = []
        for line in note[border.upperBound...].split(separator: "\n") {
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            guard line.hasPrefix(Self.dash), parts.count == 3, !parts[1].isEmpty,
                let bytes = Base64.decode(String(parts[2])), bytes.count > 4
            else { return nil }
            signatures.append(
                Signature(
                    name: String(parts[1]), keyID: Array(bytes.prefix(4)),
                    bytes: Array(bytes.dropFirst(4))))
        }
        guard !signatures.isEmpty else { return nil }
        self.signatures = signatures
    }

    /// The note as it is written down.
    public var note: String {
        text + "\n"
            + signatures.map {
                "\(Self.dash)\($0.name) \(Base64.encode($0.keyID + $0.bytes))\n"
            }.joined()
    }

    /// Whether the owner of a key signed it.
    public func isSigned(by verifier: NoteVerifier) -> Bool {
        signatures.contains {
            $0.name == verifier.name && $0.keyID == verifier.keyID
                && verifier.key.verifies($0.bytes, of: Array(text.utf8))
        }
    }
}

/// A key that notes are checked with, under a name.
public struct NoteVerifier: Sendable, Hashable, CustomStringConvertible {
    /// The name: neither spaces nor `+`.
    public let name: String
    /// The public key.
    public let key: Ed25519.PublicKey
    /// The first four bytes of SHA-256(name ‖ line feed ‖ 0x01 ‖ key).
    public let keyID: [UInt8]

    /// The kind of key: Ed25519.
    static let kind: UInt8 = 1

    /// A key under a name; `nil` if the name cannot be one.
    public init?(name: String, key: Ed25519.PublicKey) {
        let isBad = name.unicodeScalars.contains { $0 == "+" || $0.properties.isWhitespace }
        guard !name.isEmpty, !isBad else { return nil }
        self.name = name
        self.key = key
        let digest = SHA256.hash(Array(name.utf8) + [0x0A, Self.kind] + key.bytes)
        keyID = digest.withBytes { Array($0.prefix(4)) }
    }

    /// Reads what ``description`` writes.
    public init?(_ text: String) {
        let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(String(parts[2])),
            bytes.first == Self.kind,
            let key = Ed25519.PublicKey(bytes: Array(bytes.dropFirst())),
            let verifier = NoteVerifier(name: String(parts[0]), key: key),
            Hex.encode(verifier.keyID) == parts[1]
        else { return nil }
        self = verifier
    }

    /// `name+keyID+key`, as C2SP's `signed-note` writes keys of verifiers.
    public var description: String {
        "\(name)+\(Hex.encode(keyID))+\(Base64.encode([Self.kind] + key.bytes))"
    }
}

/// A key that signs notes, under a name.
public struct NoteSigner: Sendable {
    /// What checks its signatures.
    public let verifier: NoteVerifier
    let key: Ed25519.PrivateKey

    /// A key under a name; `nil` if the name cannot be one.
    public init?(name: String, key: Ed25519.PrivateKey) {
        guard let verifier = NoteVerifier(name: name, key: key.publicKey) else { return nil }
        self.verifier = verifier
        self.key = key
    }
}

extension NoteSigner {
    private static let prefix = "PRIVATE+KEY+"

    /// A new key under a name; `nil` if the name cannot be one.
    public static func make(name: String) -> (signer: NoteSigner, text: String)? {
        let seed = Random.bytes(Ed25519.keyLength)
        guard let key = Ed25519.PrivateKey(seed: seed),
            let signer = NoteSigner(name: name, key: key)
        else { return nil }
        let verifier = signer.verifier
        return (
            signer,
            "\(prefix)\(name)+\(Hex.encode(verifier.keyID))+"
                + Base64.encode([NoteVerifier.kind] + seed)
        )
    }

    /// Reads a key in the form that tools for signed notes use:
    /// `PRIVATE+KEY+name+keyID+base64(0x01 ‖ seed)`.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count)
            .split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(String(parts[2])),
            bytes.first == NoteVerifier.kind,
            let key = Ed25519.PrivateKey(seed: Array(bytes.dropFirst())),
            let signer = NoteSigner(name: String(parts[0]), key: key),
            Hex.encode(signer.verifier.keyID) == parts[1]
        else { return nil }
        self = signer
    }
}

extension String {
    /// The last place of a part.
    fileprivate func range(ofLast part: String) -> Range<String.Index>? {
        // By bytes: a line break and what follows it may be one character.
        let wanted = Array(part.utf8)
        let bytes = Array(utf8)
        guard bytes.count >= wanted.count else { return nil }
        for start in stride(from: bytes.count - wanted.count, through: 0, by: -1)
        where bytes[start..<start + wanted.count].elementsEqual(wanted) {
            let lower = utf8.index(utf8.startIndex, offsetBy: start)
            return lower..<utf8.index(lower, offsetBy: wanted.count)
        }
        return nil
    }
}
