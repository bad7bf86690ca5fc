import Glibc
import Ledger

/// The folder that holds all data of a service, locked for this process.
///
/// | file | what |
/// | --- | --- |
/// | `discern.db` | the ledger (with `-wal` and `-shm` while in use) |
/// | `index/` | the index from keys to entries; derived, can be deleted |
/// | `state.snapshot` | what a start would else derive from all entries; can be deleted |
/// | `pseudonym.key` | the key under which personal ids become pseudonyms; never in the database |
/// | `operator.key` | the operator's key, for the command line |
/// | `server.json` | where the running server listens |
/// | `lock` | held by the process that writes |
public final class DataFolder: Sendable {
    /// The folder.
    public let path: String
    /// The secret key of pseudonyms: 32 bytes.
    public let pseudonymKey: [UInt8]
    private let lock: Int32

    /// The file of the database.
    public var databasePath: String { path + "/discern.db" }
    /// The file of the latest snapshot.
    public var snapshotPath: String { Self.snapshotPath(in: path) }

    static func snapshotPath(in path: String) -> String { path + "/state.snapshot" }
    /// The folder of the index.
    public var indexPath: String { path + "/index" }
    /// The file of the pseudonyms' key.
    public var keyPath: String { path + "/pseudonym.key" }

    /// Opens a folder, making it if need be, and locks it. Fails if another process has it.
    public init(path: String) throws(StorageError) {
        self.path = path
        try Self.makeFolder(path)
        let lockPath = path + "/lock"
        lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw .file(path: lockPath, doing: "opening", error: Self.reason) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw .locked(path: path)
        }
        do {
            pseudonymKey = try Self.key(at: path + "/pseudonym.key", in: path)
        } catch {
            close(lock)
            throw error
        }
    }

    deinit {
        // Not left to `close`: a child that is being started right now has a copy of the
        // descriptor, which would hold the lock on until the child runs its program.
        flock(lock, LOCK_UN)
        close(lock)
    }

    /// Whether another process holds the folder's lock.
    public static func isLocked(path: String) -> Bool {
        let descriptor = open(path + "/lock", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0
    }

    /// Reads the pseudonyms' key of a folder without locking it.
    public static func readKey(path: String) throws(StorageError) -> [UInt8] {
        let file = path + "/pseudonym.key"
        let text = try File.read(file)
        guard let key = Hex.decode(text.trimmingNewline), key.count == 32 else {
            throw .file(path: file, doing: "reading", error: "it should hold 64 hexadecimal digits")
        }
        return key
    }

    private static func key(at file: String, in folder: String) throws(StorageError) -> [UInt8] {
        if access(file, F_OK) == 0 { return try readKey(path: folder) }
        // A database without its key must not get a new one: its pseudonyms would be lost.
        guard access(folder + "/discern.db", F_OK) != 0 else {
            throw .file(
                path: file, doing: "opening",
                error: "it is missing, but a database is there; restore it from a backup")
        }
        let key = Random.bytes(32)
        try File.write(Hex.encode(key) + "\n", to: file)
        return key
    }

    static func makeFolder(_ path: String) throws(StorageError) {
        if mkdir(path, 0o700) == 0 { return }
        guard errno == EEXIST else { throw .file(path: path, doing: "making", error: reason) }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .file(path: path, doing: "opening", error: "it is no folder")
        }
    }

    static var reason: String { String(cString: strerror(errno)) }
}

/// Small files that only the owner may read.
public enum File {
    /// The text of a file of at most 1 MiB.
    public static func read(_ path: String) throws(StorageError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .file(path: path, doing: "reading", error: DataFolder.reason)
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else {
            throw .file(path: path, doing: "reading", error: DataFolder.reason)
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Writes a file anew: beside it first and on disk, then in its place, so that nobody
    /// ever sees half of it.
    public static func write(_ text: String, to path: String) throws(StorageError) {
        try write(Array(text.utf8), to: path)
    }

    /// The same with bytes.
    static func write(_ bytes: [UInt8], to path: String) throws(StorageError) {
        let beside = path + ".new"
        let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .file(path: beside, doing: "writing", error: DataFolder.reason)
        }
        let isWritten = bytes.withUnsafeBytes { writeAll(descriptor, $0) }
        let isSynced = fsync(descriptor) == 0
        let reason = DataFolder.reason
        close(descriptor)
        guard isWritten, isSynced, rename(beside, path) == 0 else {
            unlink(beside)
            throw .file(path: path, doing: "writing", error: isSynced ? DataFolder.reason : reason)
        }
    }
}

extension File {
    /// All bytes of a file.
    static func bytes(_ path: String) throws(StorageError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            throw .file(path: path, doing: "reading", error: DataFolder.reason)
        }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
            while count < buffer.count {
                let read = Glibc.read(
                    descriptor, buffer.baseAddress! + count, buffer.count - count)
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { return }
                count += read
            }
        }
        guard bytes.count == Int(status.st_size) else {
            throw .file(path: path, doing: "reading", error: "it is cut")
        }
        return bytes
    }

    /// Writes all bytes, however many the system takes at a time.
    static func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}

extension File {
    /// A file's new name is on disk once its folder is.
    static func syncFolder(_ path: String) throws(StorageError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .file(path: path, doing: "opening", error: DataFolder.reason)
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw .file(path: path, doing: "writing", error: DataFolder.reason)
        }
    }
}

extension String {
    /// The text without white space at its end.
    var trimmingNewline: String {
        var text = Substring(self)
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
