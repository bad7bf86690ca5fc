import Foundation
import JSON
import Ledger
import Testing
import Time

@Suite struct ProofDocumentTests {
    /// A ledger of so many entries, with what is stored beside each.
    struct Sample {
        var entries: [LedgerEntry] = []
        var roots = [MerkleTree.emptyRoot]

        init(_ size: Int) {
            var tail = LedgerTail()
            for number in 1...size {
                entries.append(
                    tail.append(
                        kind: "label", app: "demo \(number % 3) é\"\u{1}", environment: "sandbox",
                        actor: "key-\(number)", at: Instant(milliseconds: Int64(number) * 1_000),
                        salt: [UInt8](repeating: 1, count: 16), payload: Array("{}".utf8)))
                roots.append(tail.frontier.root)
            }
        }

        func node(_ leaf: UInt64, _ level: Int) -> Digest { entries[Int(leaf) - 1].nodes[level] }

        func inclusion(_ sequence: UInt64, _ size: UInt64) throws -> ProofDocument {
            .inclusion(
                sequence: sequence, envelope: entries[Int(sequence) - 1].envelopeBytes, size: size,
                root: roots[Int(size)],
                proof: try MerkleProof.inclusion(of: sequence, size: size, node: node))
        }

        func consistency(_ from: UInt64, _ to: UInt64) throws -> ProofDocument {
            .consistency(
                from: from, fromRoot: roots[Int(from)], to: to, toRoot: roots[Int(to)],
                proof: try MerkleProof.consistency(from: from, to: to, node: node))
        }
    }

    static let sample = Sample(300)
    static let origin = "discern/test"

    static func signer(_ seed: UInt8) throws -> NoteSigner {
        let key = try #require(Ed25519.PrivateKey(seed: [UInt8](repeating: seed, count: 32)))
        return try #require(NoteSigner(name: origin, key: key))
    }

    static func signed(_ size: UInt64, by seed: UInt8 = 7) throws -> SignedCheckpoint {
        let checkpoint = Checkpoint(origin: origin, size: size, root: sample.roots[Int(size)])
        return try #require(SignedCheckpoint(checkpoint, by: signer(seed)))
    }

    /// The same numbers at every run (SplitMix64).
    struct Steady: RandomNumberGenerator {
        private var state: UInt64 = 42

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }

    /// Random proofs of both kinds.
    static func proofs(_ count: Int) throws -> [ProofDocument] {
        var random = Steady()
        return try (0..<count).map { index in
            let size = UInt64.random(in: 1...300, using: &random)
            let smaller = UInt64.random(in: 1...size, using: &random)
            return try index % 2 == 0
                ? sample.inclusion(smaller, size) : sample.consistency(smaller, size)
        }
    }

    @Test func documentsAreReadBack() throws {
        let note = try Self.signed(300)
        for proof in try Self.proofs(200) {
            #expect(proof.holds)
            let read = try #require(ProofDocument.read(proof.bytes(with: [note])))
            #expect(read.proof == proof)
            #expect(read.notes == [note])
        }
    }

    @Test func whatIsChangedDoesNotHold() throws {
        let envelope = Self.sample.entries[4].envelopeBytes
        guard
            case .inclusion(_, _, let size, let root, let path) = try Self.sample.inclusion(4, 300)
        else { return }
        // Another entry, or the same under another number.
        #expect(
            !ProofDocument.inclusion(
                sequence: 4, envelope: envelope, size: size, root: root, proof: path
            ).holds)
        #expect(
            !ProofDocument.inclusion(
                sequence: 5, envelope: Self.sample.entries[3].envelopeBytes, size: size, root: root,
                proof: path
            ).holds)
        let text = String(
            decoding: try Self.sample.inclusion(4, 300).bytes(with: []), as: UTF8.self)
        for (old, new) in [
            ("inclusion", "exclusion"), ("\"proof\":[\"", "\"proof\":[\"0"),
            ("\"size\"", "\"Size\""),
            ("\"key-4\"", "\"key-5\""), ("\"checkpoints\":[", "\"checkpoints\":[\"x\""),
        ] {
            let changed = Array(text.replacingOccurrences(of: old, with: new).utf8)
            #expect(ProofDocument.read(changed) == nil, "\(old)")
        }
        #expect(ProofDocument.read([]) == nil)
    }

    @Test func aCheckpointIsBelievedUnderItsKeyAndName() throws {
        let note = try Self.signed(10)
        #expect(SignedCheckpoint(note.note.note) == note)
        #expect(note.isSigned(by: [try Self.signer(8).verifier, try Self.signer(7).verifier]))
        #expect(!note.isSigned(by: [try Self.signer(8).verifier]))
        #expect(!note.isSigned(by: []))
        // A key of another ledger vouches for none of this one's.
        let other = Checkpoint(origin: "other", size: 1, root: Self.sample.roots[1])
        let foreign = try #require(SignedCheckpoint(other, by: Self.signer(7)))
        #expect(!foreign.isSigned(by: [try Self.signer(7).verifier]))
    }

    @Test func signingKeysAreReadBack() throws {
        let (signer, text) = try #require(NoteSigner.make(name: Self.origin))
        #expect(NoteSigner(text)?.verifier == signer.verifier)
        #expect(text.hasPrefix("PRIVATE+KEY+discern/test+"))
        for bad in ["", "PRIVATE+KEY+", String(text.dropLast()), signer.verifier.description] {
            #expect(NoteSigner(bad) == nil, "\(bad)")
        }
        #expect(NoteSigner.make(name: "a b") == nil)
        #expect(NoteSigner.make(name: "a+b") == nil)
    }

    // MARK: The script

    static let hasPython = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: $0 + "/python3")
        }

    private static func script(_ lines: [String], _ arguments: [String] = []) throws -> (
        status: Int32, output: String
    ) {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let input = FileManager.default.temporaryDirectory.appending(
            path: "discern-proofs-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: input) }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: input)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["python3", root.appending(path: "verify_audit.py").path] + arguments + [input.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    private static func text(_ proof: ProofDocument, _ notes: [SignedCheckpoint] = []) -> String {
        String(decoding: proof.bytes(with: notes), as: UTF8.self)
    }

    @Test(.enabled(if: hasPython, "python3 is needed"))
    func theScriptAgreesOnRandomProofs() throws {
        let proofs = try Self.proofs(1_000).map { Self.text($0) }
        let good = try Self.script(proofs)
        #expect(good.status == 0, "\(good.output)")
        #expect(good.output == "1000 proofs\n")

        // One hash of each is changed; those without hashes lead to another root.
        let bad = try Self.script(
            proofs.map { proof in
                let place = proof.contains("\"proof\":[\"") ? "\"proof\":[\"" : "oot\":\""
                let start = proof.range(of: place)!.upperBound
                let digit = proof[start] == "0" ? "1" : "0"
                return proof.replacingCharacters(in: start...start, with: digit)
            })
        #expect(bad.status == 1)
        let lines = bad.output.split(separator: "\n")
        #expect(Set(lines.compactMap { $0.split(separator: ":").first }).count == 1_001)
    }

    @Test(.enabled(if: hasPython, "python3 is needed"))
    func theScriptVerifiesSignatures() throws {
        let vkey = ["--vkey", "\(try Self.signer(7).verifier)"]
        let inclusion = try Self.sample.inclusion(4, 300)
        let consistency = try Self.sample.consistency(17, 300)
        let (small, large) = (try Self.signed(17), try Self.signed(300))
        let good = [
            Self.text(inclusion, [large]), Self.text(consistency, [small, large]),
        ]
        #expect(try Self.script(good, vkey).status == 0)
        for (lines, part) in [
            ([Self.text(inclusion)], "nobody vouches for the root of 300"),
            ([Self.text(consistency, [large])], "nobody vouches for the root of 17"),
            ([Self.text(inclusion, [try Self.signed(300, by: 8)])], "none of the keys"),
            (
                [good[0].replacingOccurrences(of: "— discern/test ", with: "— discern/tes ")],
                "none of the keys"
            ),
        ] {
            let bad = try Self.script(lines, vkey)
            #expect(bad.status == 1)
            #expect(bad.output.contains(part), "\(bad.output)")
        }
    }
}
