import Foundation
import Glibc

/// The built binary, and running it: once, or as a service.
enum Program {
    /// `discern` of the same build folder as the test bundle.
    static let path = built("discern")

    /// A program of that build folder.
    static func built(_ name: String) -> String {
        let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appending(path: name).path
    }

    /// What a command said, and how it ended.
    struct Outcome {
        var status: Int32
        var output: String
        var errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Runs a command to its end.
    static func run(_ arguments: [String], of program: String = path) throws -> Outcome {
        let folder = try TemporaryFolder()
        let process = try Spawned(
            program: program, arguments, output: folder.path + "/out",
            errors: folder.path + "/err")
        let status = try process.waitForExit()
        return Outcome(
            status: status, output: Files.text(folder.path + "/out"),
            errors: Files.text(folder.path + "/err"))
    }
}

/// A child process. It is killed, at the latest, when nobody holds it any more.
final class Spawned {
    enum Failure: Error { case spawn(Int32), stillRunning }

    let identifier: pid_t
    private(set) var exitStatus: Int32?

    /// Starts the program with its two streams going to files, and more in its environment.
    init(
        program: String = Program.path, _ arguments: [String], output: String, errors: String,
        environment: [String: String] = [:]
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errors, flags, 0o600)
        // The test process may have blocked signals that the program is sent.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] =
            ([program] + arguments).map { strdup($0) } + [nil]
        let more = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var settings: [UnsafeMutablePointer<CChar>?] =
            more.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var identifier = pid_t()
        let status = posix_spawn(
            &identifier, program, &actions, &attributes, &words, &settings)
        guard status == 0 else { throw Failure.spawn(status) }
        self.identifier = identifier
    }

    deinit {
        if exitStatus == nil {
            Glibc.kill(identifier, SIGKILL)
            _ = try? waitForExit()
        }
    }

    /// The exit status once it has ended; minus the signal if one ended it.
    func poll() -> Int32? {
        if let exitStatus { return exitStatus }
        var status: Int32 = 0
        guard waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
        exitStatus = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
        return exitStatus
    }

    /// Waits for its end. The limit is a guard against hanging, not a measurement.
    func waitForExit() throws -> Int32 {
        guard let status = Wait.until({ poll() }) else { throw Failure.stillRunning }
        return status
    }

    func signal(_ number: Int32) {
        if exitStatus == nil { Glibc.kill(identifier, number) }
    }
}

/// Waiting for something that comes by itself.
enum Wait {
    /// Nothing takes that long unless something is broken.
    static let guardSeconds = 120

    /// Asks again and again until there is something; `nil` when the guard's time is over.
    static func until<R>(_ body: () throws -> R?) rethrows -> R? {
        let end = Date().addingTimeInterval(Double(guardSeconds))
        while true {
            if let result = try body() { return result }
            if Date() > end { return nil }
            usleep(3_000)
        }
    }
}

/// A folder of its own for a test, removed with it.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "discern-scenario-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

enum Files {
    /// The text of a file; empty if there is none.
    static func text(_ path: String) -> String { String(decoding: bytes(path), as: UTF8.self) }

    static func bytes(_ path: String) -> [UInt8] {
        FileManager.default.contents(atPath: path).map { Array($0) } ?? []
    }

    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// Copies a folder's files; owner and modes stay behind, which may be another's.
    static func copy(_ folder: String, to copy: String, only name: String? = nil) throws {
        for file in all(in: folder) where name == nil || file == "\(folder)/\(name ?? "")" {
            let path = copy + file.dropFirst(folder.count)
            try FileManager.default.createDirectory(
                at: URL(fileURLWithPath: path).deletingLastPathComponent(),
                withIntermediateDirectories: true)
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: file, toPath: path)
        }
    }

    /// All files below a folder.
    static func all(in folder: String) -> [String] {
        let found = FileManager.default.enumerator(atPath: folder)
        return (found?.compactMap { $0 as? String } ?? []).map { folder + "/" + $0 }.filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: $0, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }
}
