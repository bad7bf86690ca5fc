import JSON
import Time

/// What every entry of the ledger says in the open: the leaf of the Merkle tree.
///
/// It names no person. Who and what is in the payload, of which it holds a salted digest,
/// so that payload and salt can be erased while every proof still holds.
public struct Envelope: Sendable, Equatable {
    /// The entry's place in the ledger, from 1 without gaps.
    public var sequence: Int64
    /// When the engine took the command, by its clock, which never goes back.
    public var at: Instant
    /// What kind of entry it is: `evaluation`, `label` …
    public var kind: String
    /// The app whose data it is; empty for the service as a whole.
    public var app: String
    /// `sandbox`, `production`, or empty for the service as a whole.
    public var environment: String
    /// Who caused it: a key's id, `operator`, `system`, or `unknown`.
    public var actor: String
    /// SHA-256(salt ‖ payload).
    public var payload: Digest

    /// An envelope of these parts.
    public init(
        sequence: Int64, at: Instant, kind: String, app: String, environment: String,
        actor: String, payload: Digest
    ) {
        self.sequence = sequence
        self.at = at
        self.kind = kind
        self.app = app
        self.environment = environment
        self.actor = actor
        self.payload = payload
    }

    /// The canonical bytes that are stored and hashed.
    public var bytes: [UInt8] {
        var writer = JSONWriter(capacity: 288)
        writer.beginObject()
        writer.key("actor")
        writer.string(actor)
        writer.key("app")
        writer.string(app)
        writer.key("at")
        writer.string(room: 30) { at.writeRFC3339(to: $0) }
        writer.key("environment")
        writer.string(environment)
        writer.key("kind")
        writer.string(kind)
        writer.key("payload")
        writer.string(payload.hex)
        writer.key("sequence")
        writer.int(sequence)
        writer.key("version")
        writer.int(1)
        writer.endObject()
        return writer.bytes
    }

    /// The envelope of stored bytes; `nil` if they are no envelope of version 1.
    public init?(bytes: [UInt8]) {
        guard let json = try? JSONReader.parse(bytes), json["version"]?.intValue == 1,
            let sequence = json["sequence"]?.intValue,
            let at = json["at"]?.stringValue.flatMap({ Instant(rfc3339: $0) }),
            let kind = json["kind"]?.stringValue, let app = json["app"]?.stringValue,
            let environment = json["environment"]?.stringValue,
            let actor = json["actor"]?.stringValue,
            let payload = json["payload"]?.stringValue.flatMap({ Digest(hex: $0) })
        else { return nil }
        self.init(
            sequence: sequence, at: at, kind: kind, app: app, environment: environment,
            actor: actor, payload: payload)
    }
}

/// One entry as it is stored: envelope, salt and payload, and the tree's hashes that it
/// completes.
public struct LedgerEntry: Sendable {
    /// The open part.
    public var envelope: Envelope
    /// The exact bytes of the envelope: the leaf.
    public var envelopeBytes: [UInt8]
    /// 16 random bytes; without them nobody can guess a payload from its digest.
    public var salt: [UInt8]
    /// What was asked and answered, canonical JSON.
    public var payload: [UInt8]
    /// Hashes of the leaf and of the subtrees it completes, the smallest first.
    public var nodes: [Digest]

    /// An entry as it was stored.
    public init(
        envelope: Envelope, envelopeBytes: [UInt8], salt: [UInt8], payload: [UInt8],
        nodes: [Digest]
    ) {
        self.envelope = envelope
        self.envelopeBytes = envelopeBytes
        self.salt = salt
        self.payload = payload
        self.nodes = nodes
    }
}

/// The end of the ledger, to which entries are appended.
public struct LedgerTail: Sendable {
    /// The tree of all entries so far.
    public private(set) var frontier: MerkleFrontier

    /// The tail of a ledger whose tree is that.
    public init(frontier: MerkleFrontier = MerkleFrontier()) { self.frontier = frontier }

    /// The number that the next entry gets.
    public var nextSequence: Int64 { Int64(frontier.count) + 1 }

    /// Appends an entry.
    public mutating func append(
        kind: String, app: String, environment: String, actor: String, at: Instant,
        salt: [UInt8], payload: [UInt8]
    ) -> LedgerEntry {
        let digest = salt.withUnsafeBytes { salt in
            payload.withUnsafeBytes { SHA256.hash(salt, $0) }
        }
        let envelope = Envelope(
            sequence: nextSequence, at: at, kind: kind, app: app, environment: environment,
            actor: actor, payload: digest)
        let bytes = envelope.bytes
        let nodes = frontier.append(MerkleTree.leaf(bytes))
        return LedgerEntry(
            envelope: envelope, envelopeBytes: bytes, salt: salt, payload: payload, nodes: nodes)
    }
}
