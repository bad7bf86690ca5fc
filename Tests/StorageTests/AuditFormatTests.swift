import Engine
import Foundation
import JSON
import Ledger
import Testing
import Time

/// The vectors of docs/audit-format.md, computed anew.
@Suite struct AuditFormatTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The text of the block that is fenced under that name.
    private static func block(_ name: String) throws -> JSONValue {
        let url = root.appending(path: "docs/audit-format.md")
        let document = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        let parts = document.components(separatedBy: "```json \(name)\n")
        let text = try #require(parts.dropFirst().first?.components(separatedBy: "\n```").first)
        return try JSONReader.parse(Array(text.utf8))
    }

    private static func text(_ value: JSONValue, _ name: String) throws -> String {
        try #require(value[name]?.stringValue, "\(name)")
    }

    @Test func entriesHashAsWritten() throws {
        let vectors = try #require(Self.block("entries").arrayValue)
        #expect(vectors.count == 3)
        var tail = LedgerTail()
        for vector in vectors {
            let bytes = Array(try Self.text(vector, "envelope").utf8)
            let envelope = try #require(Envelope(bytes: bytes))
            let payload = Array(try Self.text(vector, "payload").utf8)
            let entry = tail.append(
                kind: envelope.kind, app: envelope.app, environment: envelope.environment,
                actor: envelope.actor, at: envelope.at,
                salt: try #require(Hex.decode(Self.text(vector, "salt"))), payload: payload)
            #expect(entry.envelopeBytes == bytes)
            #expect(try entry.envelope.payload.hex == Self.text(vector, "digest"))
            #expect(try MerkleTree.leaf(bytes).hex == Self.text(vector, "leaf"))
            #expect(entry.nodes.map(\.hex) == vector["nodes"]?.arrayValue?.map(\.stringValue))
            #expect(try tail.frontier.root.hex == Self.text(vector, "root"))
            // The payloads are canonical themselves.
            #expect(try JSONReader.parse(payload).canonicalBytes == payload)
        }
    }

    @Test func checkpointsAndProofsAreAsWritten() throws {
        let vectors = try Self.block("checkpoints")
        let entries = try #require(Self.block("entries").arrayValue)
        let signer = try #require(NoteSigner(Self.text(vectors, "privateKey")))
        #expect(try signer.verifier.description == Self.text(vectors, "vkey"))
        var tail = LedgerTail()
        var roots: [Digest] = []
        for entry in entries {
            let envelope = try #require(Envelope(bytes: Array(Self.text(entry, "envelope").utf8)))
            _ = tail.append(
                kind: envelope.kind, app: envelope.app, environment: envelope.environment,
                actor: envelope.actor, at: envelope.at,
                salt: try #require(Hex.decode(Self.text(entry, "salt"))),
                payload: Array(try Self.text(entry, "payload").utf8))
            roots.append(tail.frontier.root)
        }
        let notes = try [2, 3].map { size in
            try #require(
                SignedCheckpoint(
                    Checkpoint(
                        origin: signer.verifier.name, size: UInt64(size), root: roots[size - 1]),
                    by: signer))
        }
        let note = try Self.text(vectors, "note")
        #expect(notes[1].note.note == note)
        // The note stands in the text, too.
        let url = Self.root.appending(path: "docs/audit-format.md")
        let document = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        #expect(document.contains("```\n\(note)```"))
        for (name, vouching) in [("inclusion", [notes[1]]), ("consistency", notes)] {
            let text = try Self.text(vectors, name)
            let (proof, found) = try #require(ProofDocument.read(Array(text.utf8)))
            #expect(proof.holds)
            #expect(found == vouching)
            #expect(String(decoding: proof.bytes(with: vouching), as: UTF8.self) == text)
            #expect(
                proof.roots.allSatisfy { root in
                    vouching.contains {
                        $0.checkpoint.size == root.size && $0.checkpoint.root == root.root
                    }
                })
        }
    }

    @Test func valuesAreCanonicalAsWritten() throws {
        for vector in try #require(Self.block("canonical").arrayValue) {
            let value = try JSONReader.parse(Array(Self.text(vector, "text").utf8))
            let canonical = String(decoding: value.canonicalBytes, as: UTF8.self)
            #expect(try canonical == Self.text(vector, "canonical"))
        }
    }

    @Test func idsPseudonymsAndKeysAreAsWritten() throws {
        let vectors = try Self.block("ids")
        let tenant = Tenant(app: "demo", environment: .sandbox)

        let id = try #require(vectors["id"])
        let identifier = Identifier(
            at: try #require(Instant(rfc3339: Self.text(id, "at"))),
            sequence: try #require(id["sequence"]?.intValue),
            ordinal: try #require(id["ordinal"]?.intValue.map(UInt16.init)),
            chance: try #require(id["chance"]?.intValue.map(UInt16.init)))
        #expect(try identifier.text == Self.text(id, "text"))
        #expect(try Identifier(Self.text(id, "text")) == identifier)

        let pseudonym = try #require(vectors["pseudonym"])
        let maker = Pseudonymizer(key: Array(0..<32))
        #expect(
            try maker.subject(Self.text(pseudonym, "subject"), of: tenant).text
                == Self.text(pseudonym, "text"))

        let key = try #require(vectors["requestKey"])
        let value = EntityKey.request(try Self.text(key, "requestID"), of: tenant).value
        let bytes = withUnsafeBytes(of: value.bigEndian) { Hex.encode(Array($0)) }
        #expect(try bytes == Self.text(key, "bytes"))
    }

    private static let hasPython = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: $0 + "/python3")
        }

    /// The script passes a ledger of these entries, and names what was changed in one.
    @Test(.enabled(if: hasPython, "python3 is needed"))
    func theScriptAgrees() throws {
        let vectors = try #require(Self.block("entries").arrayValue)
        let lines = try vectors.map { vector in
            #"{"envelope":\#(try Self.text(vector, "envelope")),"#
                + #""leafHash":"\#(try Self.text(vector, "leaf"))","#
                + #""salt":"\#(try Self.text(vector, "salt"))","#
                + #""payload":\#(try Self.text(vector, "payload"))}"#
        }
        let root = try Self.text(try #require(vectors.last), "root")
        let good = try Self.verify(lines)
        #expect(good.status == 0)
        #expect(good.output.contains("root \(root)"))

        let changed = lines.map { $0.replacingOccurrences(of: "authorized", with: "denied") }
        let bad = try Self.verify(changed)
        #expect(bad.status == 1)
        #expect(bad.output.contains("entry 2: the digest is not that of salt and payload"))
        #expect(try Self.verify([lines[0], lines[2]]).status == 1)
    }

    private static func verify(_ lines: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", root.appending(path: "Tests/verify_audit.py").path]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        input.fileHandleForWriting.write(Data((lines.joined(separator: "\n") + "\n").utf8))
        try input.fileHandleForWriting.close()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
