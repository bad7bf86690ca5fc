import Engine
import Glibc
import Ledger
import Storage

/// The ledger is not the one that its latest checkpoint was made of.
struct LedgerMismatch: Error, CustomStringConvertible {
    /// What is wrong, in one line.
    var what: String
    /// The file that says otherwise.
    var file: String
    /// What that file says; `nil` where it says nothing that can be believed.
    var expected: LedgerForkRecord.Tree?
    /// What the database holds; `nil` where that cannot be read.
    var found: LedgerForkRecord.Tree?
    var database: String

    var description: String {
        func text(_ tree: LedgerForkRecord.Tree) -> String {
            "\(tree.size) entries, root \(tree.root)"
        }
        return """
            \(what)
              expected  \(expected.map(text) ?? "a signed checkpoint") (\(file))
              found     \(found.map(text) ?? "nothing that can be read") (\(database))
            """
    }

    /// What to do when a server does not start for it.
    static let remedy = """
        Put back the database and the checkpoints that belong together; `discern audit verify` tells
        more. If the ledger is meant to be this one, for instance a backup that was restored on
        purpose, start once with --accept-ledger-fork "REASON": the reason becomes an entry, and the
        old checkpoints are kept under another name.
        """
}

/// Compares a database with the checkpoint that was exported last. It reads a few dozen rows.
enum LedgerGuard {
    /// The latest checkpoint, which the database fits; `nil` where none was ever made.
    static func check(data: String, folder: CheckpointFolder) throws -> SignedCheckpoint? {
        let keys = CheckpointKeys(folder: data)
        let database = data + "/discern.db"
        guard let text = try folder.latest() else {
            guard keys.areKnown else { return nil }
            throw LedgerMismatch(
                what:
                    "there were checkpoints (\(keys.publicPath) says so), and the latest is missing",
                file: folder.latestPath, found: try? tree(data), database: database)
        }
        guard let signed = SignedCheckpoint(text) else {
            throw LedgerMismatch(
                what: "the latest checkpoint is none", file: folder.latestPath,
                found: try? tree(data), database: database)
        }
        guard signed.isSigned(by: try keys.verifiers()) else {
            throw LedgerMismatch(
                what: "the latest checkpoint is signed by none of the keys in \(keys.publicPath)",
                file: folder.latestPath, found: try? tree(data), database: database)
        }
        try compare(signed.checkpoint, data: data, file: folder.latestPath)
        return signed
    }

    private static func compare(_ checkpoint: Checkpoint, data: String, file: String) throws {
        var mismatch = LedgerMismatch(
            what: "", file: file,
            expected: .init(size: Int64(clamping: checkpoint.size), root: checkpoint.root),
            database: data + "/discern.db")
        do {
            guard let ledger = try open(data) else {
                mismatch.what = "there is no ledger, and a checkpoint of one"
                mismatch.found = .init(size: 0, root: MerkleTree.emptyRoot)
                throw mismatch
            }
            let size = try ledger.size()
            let compared = min(size, checkpoint.size)
            let root = try ledger.root(of: compared)
            mismatch.found = .init(size: Int64(clamping: compared), root: root)
            if size < checkpoint.size {
                let missing = checkpoint.size - size
                mismatch.what = "the ledger has \(missing) entries less than its latest checkpoint"
                throw mismatch
            }
            if root != checkpoint.root {
                mismatch.what = "the ledger is another than that of its latest checkpoint"
                throw mismatch
            }
        } catch let error as SQLiteError where error.isMissingTable {
            mismatch.what = "the ledger cannot be read: \(error.message)"
            throw mismatch
        } catch let error as CorruptEntry {
            mismatch.what = "the ledger cannot be read: \(error)"
            throw mismatch
        }
    }

    private static func tree(_ data: String) throws -> LedgerForkRecord.Tree {
        guard let ledger = try open(data) else {
            return .init(size: 0, root: MerkleTree.emptyRoot)
        }
        let size = try ledger.size()
        return .init(size: Int64(clamping: size), root: try ledger.root(of: size))
    }

    /// How many entries the ledger of a folder has; 0 where there is none.
    static func size(_ data: String) throws -> UInt64 { try open(data)?.size() ?? 0 }

    /// The ledger of a folder; `nil` where there is none, or an empty file.
    private static func open(_ data: String) throws -> LedgerFile? {
        var status = stat()
        guard stat(data + "/discern.db", &status) == 0, status.st_size > 0 else { return nil }
        return try LedgerFile(folder: data)
    }
}
