import Glibc

/// The little that the commands need of the file system.
enum Files {
    /// The content of a file; nil with `errno` set where it cannot be read.
    static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Writes a file anew.
    static func write(_ text: String, to path: String) throws(Fault) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw fault(path) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let count = bytes[offset...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw fault(path) }
            offset += count
        }
    }

    /// Refuses a path that nothing can be written to, before the work whose result it is for.
    static func requireWritable(_ path: String) throws(Fault) {
        if isFolder(path) {
            throw Fault(description: "\(path): \(String(cString: strerror(EISDIR)))")
        }
        guard access(path, F_OK) != 0 else {
            guard access(path, W_OK) == 0 else { throw fault(path) }
            return
        }
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard access(folder, W_OK | X_OK) == 0 else { throw fault(path) }
        // A file below a file.
        guard isFolder(folder) else {
            throw Fault(description: "\(path): \(String(cString: strerror(ENOTDIR)))")
        }
    }

    private static func fault(_ path: String) -> Fault {
        Fault(description: "\(path): \(String(cString: strerror(errno)))")
    }

    /// Whether two paths lead to one file.
    static func areSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(path, &first) == 0 && stat(other, &second) == 0
            && first.st_dev == second.st_dev && first.st_ino == second.st_ino
            && first.st_mode & S_IFMT == S_IFREG
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The paths of the files in a folder with that ending, sorted.
    static func list(_ folder: String, ending: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var paths: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(ending) { paths.append(folder + "/" + name) }
        }
        return paths.sorted()
    }

    /// The last part of a path, without its ending.
    static func name(_ path: String) -> String {
        let last = path.split(separator: "/").last ?? ""
        return String(last.split(separator: ".").first ?? last)
    }
}

extension Files {
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// Puts other content into a file, all of it or nothing. Links are followed, rights stay. The
    /// draft beside it always has the same name: the next run takes over what a killed one left.
    static func replace(_ path: String, with bytes: [UInt8]) throws(Fault) {
        let real = realpath(path, nil)
        defer { free(real) }
        let target = real.map { String(cString: $0) } ?? path
        let draft = target + ".discern-draft"
        var status = stat()
        guard stat(target, &status) == 0 else { throw fault(path) }
        let descriptor = try openDraft(draft, mode: status.st_mode & 0o777)
        fchmod(descriptor, status.st_mode & 0o7777)
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: offset), bytes.count - offset)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            offset += count
        }
        let isWritten = offset == bytes.count && fsync(descriptor) == 0
        // The lock is held until the draft has left its name.
        defer { close(descriptor) }
        guard isWritten, rename(draft, target) == 0 else {
            let found = fault(path)
            unlink(draft)
            throw found
        }
    }

    /// An empty draft, locked against whoever else would write it at the same time.
    private static func openDraft(_ draft: String, mode: mode_t) throws(Fault) -> Int32 {
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw fault(draft) }
        var opened = stat()
        var named = stat()
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &opened) == 0,
            // Another process may have put the draft into place between opening and locking.
            lstat(draft, &named) == 0, opened.st_ino == named.st_ino,
            opened.st_mode & S_IFMT == S_IFREG
        else {
            close(descriptor)
            throw Fault(description: "\(draft): another process is writing it")
        }
        guard ftruncate(descriptor, 0) == 0 else {
            let found = fault(draft)
            close(descriptor)
            throw found
        }
        return descriptor
    }
}
