import Engine
import Glibc
import Ledger

/// The latest snapshot of what is derived from the ledger, in a file that a thread of its own
/// writes: only the newest one that waits, since an older one is of no use any more.
///
/// The file is the snapshot behind a head of 80 bytes: "DSCSNAP1", the count of entries, the root of
/// their tree, and an HMAC-SHA-256 under the pseudonyms' key over all the rest. So a snapshot that was
/// cut, changed, or is of another ledger is not used.
final class SnapshotFile: Sendable {
    private struct State {
        var pending: LedgerSnapshot?
        var isStopping = false
    }

    private static let magic = Array("DSCSNAP1".utf8)
    private static let headBytes = 80

    private let path: String
    private let hash: KeyedHash
    private let state = Guarded(State())
    private let thread: Guarded<Thread?> = Guarded(nil)

    init(path: String, key: [UInt8]) {
        self.path = path
        hash = KeyedHash(key: key)
        let worker = Thread(name: "snapshot") { [weak self] in self?.run() }
        thread.withLock { $0 = worker }
    }

    /// Has a snapshot written.
    func keep(_ snapshot: LedgerSnapshot) { state.signal { $0.pending = snapshot } }

    /// A snapshot as a file has it.
    struct Kept {
        var count: UInt64
        var root: Digest
        var bytes: [UInt8]

        /// The same, if it is of the ledger that has so many entries.
        func fitting(last: Int64, entry: (Int64) throws -> LedgerEntry?) throws
            -> (through: Int64, bytes: [UInt8])?
        {
            guard count <= UInt64(last),
                try MerkleFrontier(count: count, entry: entry).root == root
            else { return nil }
            return (Int64(count), bytes)
        }
    }

    /// The snapshot in the file; `nil` if there is none that is whole.
    func read() -> Kept? { Self.read(path, hash) }

    /// The snapshot in a file, for whoever only reads.
    static func read(_ path: String, _ hash: KeyedHash) -> Kept? {
        guard let file = try? File.bytes(path), file.count >= Self.headBytes,
            Array(file[..<8]) == Self.magic, let root = Digest(bytes: file[16..<48]),
            let code = Digest(bytes: file[48..<80])
        else { return nil }
        let bytes = Array(file[Self.headBytes...])
        guard hash.hash(Array(file[..<48]) + bytes) == code else { return nil }
        let count = file[8..<16].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Kept(count: count, root: root, bytes: bytes)
    }

    /// Writes what waits and ends the thread.
    func stop() {
        state.signal { $0.isStopping = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    private func run() {
        while true {
            let next = state.wait { state -> LedgerSnapshot?? in
                if let pending = state.pending {
                    state.pending = nil
                    return .some(pending)
                }
                return state.isStopping ? .some(nil) : nil
            }
            guard let snapshot = next ?? nil else { return }
            write(snapshot)
        }
    }

    /// A failure is no loss: the next start reads more entries.
    private func write(_ snapshot: LedgerSnapshot) {
        var head = Self.magic
        withUnsafeBytes(of: snapshot.frontier.count.littleEndian) { head.append(contentsOf: $0) }
        snapshot.frontier.root.withBytes { head.append(contentsOf: $0) }
        let bytes = snapshot.bytes()
        let code = hash.hash(head + bytes).withBytes { Array($0) }
        try? File.write(head + code + bytes, to: path)
    }
}
