import CSQLite
import Engine
import Foundation
import Ledger
import Storage
import Testing
import Time

/// Recomputing a ledger that is longer than one stretch.
@Suite struct LedgerVerificationTests {
    private static let size: UInt64 = 2 * LedgerVerification.stretch + 100

    /// A ledger of three stretches, made once, and the roots of some of its beginnings.
    private final class Recorded: Sendable {
        let folder = TemporaryFolder()
        let roots: [UInt64: Digest]
        static let marks: [UInt64] = [
            1, 100, LedgerVerification.stretch - 1, LedgerVerification.stretch,
            LedgerVerification.stretch + 1, 2 * LedgerVerification.stretch, size,
        ]

        init() throws {
            let store = try SQLiteStore(folder: DataFolder(path: folder.path))
            defer { store.close() }
            var tail = LedgerTail()
            var roots: [UInt64: Digest] = [:]
            for number in 1...size {
                let entry = tail.append(
                    kind: "label", app: "demo", environment: "sandbox",
                    actor: number % 7 == 0 ? "who \"é\"" : "key-1",
                    at: Instant(milliseconds: Int64(number / 2)),
                    salt: [UInt8](repeating: UInt8(number % 251), count: 16),
                    payload: Array("{\"command\":{\"number\":\(number)}}".utf8))
                try store.append(entry, keys: [])
                if Self.marks.contains(number) { roots[number] = tail.frontier.root }
            }
            try store.commit()
            self.roots = roots
        }
    }

    private static let recorded = Result { try Recorded() }

    private static func verify(_ folder: String, to size: UInt64? = nil) throws
        -> LedgerVerification
    {
        let ledger = try LedgerFile(folder: folder)
        let size = try size ?? ledger.size()
        var verification = LedgerVerification()
        var index = 0
        while verification.size < size {
            try verification.add(
                try ledger.verify(
                    LedgerVerification.range(index, of: size), marks: Recorded.marks))
            index += 1
        }
        return verification
    }

    @Test func everyRootIsRecomputed() throws {
        let recorded = try Self.recorded.get()
        let verification = try Self.verify(recorded.folder.path)
        #expect(verification.size == Self.size)
        #expect(verification.root == recorded.roots[Self.size])
        let ledger = try LedgerFile(folder: recorded.folder.path)
        #expect(try ledger.size() == Self.size)
        for mark in Recorded.marks {
            #expect(verification.roots[mark] == recorded.roots[mark], "\(mark)")
            // And what is stored says the same, in a few rows.
            #expect(try ledger.root(of: mark) == recorded.roots[mark], "\(mark)")
            let part = try Self.verify(recorded.folder.path, to: mark)
            #expect(part.root == recorded.roots[mark], "\(mark)")
        }
        for (from, to) in zip(Recorded.marks, Recorded.marks.dropFirst()) {
            #expect(try ledger.consistency(from: from, to: to).holds)
            #expect(try ledger.inclusion(of: from, size: to).holds)
        }
        #expect(throws: (any Error).self) { try ledger.inclusion(of: 3, size: Self.size + 1) }
    }

    /// Changes by SQL, with the first place that must be named.
    @Test(arguments: [
        (
            "UPDATE entries SET nodes = CAST(substr(nodes, 1, 32 * 14) || randomblob(32) AS BLOB) WHERE sequence = 16384",
            16_384, "the hash over 16384 entries is not theirs"
        ),
        (
            "UPDATE entries SET nodes = substr(nodes, 1, 32 * 14) WHERE sequence = 16384", 16_384,
            "it has not the hashes that it completes"
        ),
        (
            "UPDATE entries SET nodes = CAST(nodes || randomblob(32) AS BLOB) WHERE sequence = 16384",
            16_384,
            "it has not the hashes that it completes"
        ),
        (
            "UPDATE entries SET nodes = CAST(nodes || randomblob(5) AS BLOB) WHERE sequence = 16001",
            16_001,
            "the hashes beside it are not whole"
        ),
        (
            "UPDATE entries SET nodes = CAST(substr(nodes, 1, 32) || randomblob(32) AS BLOB) WHERE sequence = 9002",
            9_002, "the hash over 2 entries is not theirs"
        ),
        (
            "UPDATE entries SET nodes = zeroblob(32) WHERE sequence = 16385", 16_385,
            "its leaf hash is not that of its envelope"
        ),
        ("DELETE FROM entries WHERE sequence = 8192", 8_192, "it is missing"),
        ("DELETE FROM entries WHERE sequence = 8193", 8_193, "it is missing"),
        ("DELETE FROM entries WHERE sequence = 1", 1, "it is missing"),
        ("DELETE FROM entries WHERE sequence < 16384", 1, "it is missing"),
        ("UPDATE entries SET salt = zeroblob(16) WHERE sequence = 7", 7, "the digest is not"),
        (
            "UPDATE entries SET salt = NULL, payload = NULL WHERE sequence IN (9000, 12000)", 9_000,
            "no erasure names it"
        ),
        ("UPDATE entries SET payload = NULL WHERE sequence = 9000", 9_000, "but not its salt"),
        ("UPDATE entries SET salt = NULL WHERE sequence = 9000", 9_000, "its salt is gone"),
        ("UPDATE entries SET at = 0 WHERE sequence = 8193", 8_193, "time lies before"),
        ("UPDATE entries SET at = at - 1 WHERE sequence = 12001", 12_001, "time lies before"),
        ("UPDATE entries SET at = at + 1 WHERE sequence = 12000", 12_000, "`at` of its row"),
        (
            "UPDATE entries SET envelope = CAST(envelope || ' ' AS BLOB) WHERE sequence = 12000",
            12_000,
            "its envelope is not in canonical form"
        ),
        ("UPDATE entries SET envelope = x'7B' WHERE sequence = 12000", 12_000, "cannot be read"),
    ])
    func theFirstBadPlaceIsNamed(sql: String, sequence: Int64, what: String) throws {
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(
            atPath: try Self.recorded.get().folder.path, toPath: copy.path)
        try Self.change(copy.path, sql)
        let fault = try #require(throws: LedgerFault.self) { try Self.verify(copy.path) }
        #expect(fault.sequence == sequence)
        #expect(fault.what.contains(what), "\(fault)")
    }

    private static func change(_ folder: String, _ sql: String) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close_v2(handle) }
        try #require(sqlite3_open(folder + "/discern.db", &handle) == SQLITE_OK)
        try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
        try #require(sqlite3_changes(handle) > 0)
    }
}

/// The files of checkpoints and their keys.
@Suite struct CheckpointFolderTests {
    private static func note(_ size: UInt64, _ signer: NoteSigner) throws -> SignedCheckpoint {
        try #require(
            SignedCheckpoint(
                Checkpoint(origin: signer.verifier.name, size: size, root: MerkleTree.leaf([1])),
                by: signer))
    }

    @Test func notesAreAppendedAndTheLatestIsReplaced() throws {
        let folder = TemporaryFolder()
        let checkpoints = CheckpointFolder(path: folder.path)
        #expect(try checkpoints.latest() == nil)
        try checkpoints.make()
        try checkpoints.make()
        let (signer, _) = try #require(NoteSigner.make(name: "demo"))
        let notes = try (UInt64(1)...5).map { try Self.note($0, signer) }
        for note in notes { try checkpoints.write(note.note.note) }
        #expect(try checkpoints.latest() == notes.last?.note.note)
        let history = try File.read(checkpoints.historyPath)
        #expect(CheckpointFolder.notes(in: history).notes == notes)
        #expect(CheckpointFolder.notes(in: history).torn == 0)
        #expect(CheckpointFolder.notes(in: notes[2].note.note).notes == [notes[2]])
    }

    /// Wherever a power cut tears a note, those before and after it stay what they are.
    @Test func aTornNoteHarmsNoOther() throws {
        let folder = TemporaryFolder()
        let checkpoints = CheckpointFolder(path: folder.path)
        try checkpoints.make()
        let (signer, _) = try #require(NoteSigner.make(name: "demo"))
        let notes = try (UInt64(1)...3).map { try Self.note($0, signer) }
        let torn = notes[1].note.note + "\n"
        for length in 1..<torn.utf8.count {
            unlink(checkpoints.historyPath)
            try checkpoints.write(notes[0].note.note)
            let piece = Data(torn.utf8.prefix(length))
            let file = try #require(FileHandle(forWritingAtPath: checkpoints.historyPath))
            try file.seekToEnd()
            try file.write(contentsOf: piece)
            try file.close()
            try checkpoints.write(notes[2].note.note)
            let found = CheckpointFolder.notes(in: try File.read(checkpoints.historyPath))
            // Without its last line break, the note is still whole.
            let isWhole = length >= torn.utf8.count - 2
            #expect(found.notes == (isWhole ? notes : [notes[0], notes[2]]), "\(length)")
            #expect((found.torn > 0) == !isWhole, "\(length)")
        }
    }

    @Test func keysAreKeptAndRotated() throws {
        let folder = TemporaryFolder()
        try CheckpointFolder(path: folder.path).make()
        let keys = CheckpointKeys(folder: folder.path)
        #expect(try keys.signer() == nil)
        #expect(try keys.verifiers() == [])
        let first = try keys.makeSigner(name: "demo")
        #expect(try keys.signer()?.verifier == first.verifier)
        #expect(!keys.areKnown)
        #expect(try keys.verifiers() == [first.verifier])
        try keys.publish(first.verifier)
        try keys.publish(first.verifier)
        #expect(try keys.verifiers() == [first.verifier])
        let second = try keys.makeSigner(name: "demo")
        try keys.publish(second.verifier)
        #expect(try keys.verifiers() == [second.verifier, first.verifier])
        try File.write("no key\n", to: keys.keyPath)
        #expect(throws: StorageError.self) { try keys.signer() }
        try File.write("no key\n", to: keys.publicPath)
        #expect(throws: StorageError.self) { try keys.verifiers() }
        #expect(throws: StorageError.self) { try keys.makeSigner(name: "a name") }
    }
}
