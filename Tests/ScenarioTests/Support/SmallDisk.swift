import Foundation
import Glibc

/// A file system of a few megabytes in memory, which a test fills and frees.
final class SmallDisk {
    let path: String
    private var filler: String { path + "/filler" }

    /// Whether this process may mount one.
    static let isPossible: Bool = (try? SmallDisk(kibibytes: 64)) != nil

    struct NotMounted: Error { var code: Int32 }

    init(kibibytes: Int) throws {
        path = NSTemporaryDirectory() + "discern-disk-" + UUID().uuidString
        mkdir(path, 0o700)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(kibibytes)k") == 0 else {
            let code = errno
            rmdir(path)
            throw NotMounted(code: code)
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
    }

    /// Takes all space but so much.
    func fill(allBut kibibytes: Int = 0) {
        let descriptor = open(filler, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let block = [UInt8](repeating: 0x66, count: 4_096)
        var written = 0
        while write(descriptor, block, block.count) == block.count { written += block.count }
        ftruncate(descriptor, max(0, written - kibibytes * 1_024))
        close(descriptor)
    }

    /// Gives the space back.
    func free() { unlink(filler) }
}

/// The largest file a process may write; beyond it a write fails, as on a full disk.
enum FileSizeLimit {
    /// The command of util-linux: the call of the same name is not to be had from Swift.
    private static let command = "/usr/bin/prlimit"

    struct Failure: Error { var status: Int32 }

    static let isPossible = access(command, X_OK) == 0

    /// Sets it for a process that runs; the hard limit stays, so that it can be lifted again.
    static func set(_ limit: String, of process: pid_t) throws {
        let set = try Spawned(
            program: command, ["--pid", String(process), "--fsize=\(limit):"],
            output: "/dev/null", errors: "/dev/null")
        let status = try set.waitForExit()
        if status != 0 { throw Failure(status: status) }
    }
}
