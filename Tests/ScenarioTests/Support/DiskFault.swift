import Foundation

/// A fault of the disk that the library of `Tests/Faults` makes for a process.
struct DiskFault: Sendable, CustomStringConvertible {
    /// The calls of the system that may fail, in the order in which the library counts them.
    enum Call: String, CaseIterable { case open, write, sync, truncate, rename }
    enum Error: String, CaseIterable { case eio = "EIO", enospc = "ENOSPC", short }

    /// What fails with what; for once, or from then on.
    struct Kind: Sendable, Hashable, CustomStringConvertible {
        var call: Call
        var error: Error
        var lasts: Bool

        /// All that there are, the many writes last. Only they can be short.
        static let all = [Call.truncate, .rename, .sync, .open, .write].flatMap { call in
            Error.allCases.filter { $0 != .short || call == .write }.flatMap { error in
                [false, true].map { Kind(call: call, error: error, lasts: $0) }
            }
        }

        var description: String { "\(call) \(error.rawValue) \(lasts ? "for ever" : "once")" }
    }

    var kind: Kind
    /// The first call that fails, from 1.
    var number: Int

    var description: String { "\(kind), call \(number)" }
}

/// The built library, and what it counted.
struct FaultLibrary {
    struct Failure: Error { var errors: String }

    private static let compiler = "/usr/bin/cc"
    static let isPossible = access(compiler, X_OK) == 0

    private let path: String

    /// Builds it in a folder.
    init(in folder: TemporaryFolder) throws {
        path = folder.path + "/faults.so"
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Faults/faults.c").path
        let built = try Program.run(
            [
                "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", path,
                source, "-ldl",
            ], of: Self.compiler)
        guard built.status == 0 else { throw Failure(errors: built.errors) }
    }

    /// What a process has to find in its environment so that a fault comes to files below a folder;
    /// without one, calls are only counted.
    func environment(_ fault: DiskFault?, below folder: String, counting: String) throws
        -> [String: String]
    {
        try Data(count: 8 * (DiskFault.Call.allCases.count + 1)).write(
            to: URL(fileURLWithPath: counting))
        var settings = [
            "LD_PRELOAD": path, "DISCERN_FAULT_FOLDER": folder, "DISCERN_FAULT_COUNT": counting,
        ]
        if let fault {
            settings["DISCERN_FAULT_CALL"] = fault.kind.call.rawValue
            settings["DISCERN_FAULT_AT"] = "\(fault.number)"
            settings["DISCERN_FAULT_ERROR"] = fault.kind.error.rawValue
            settings["DISCERN_FAULT_LENGTH"] = fault.kind.lasts ? "0" : "1"
        }
        return settings
    }

    /// The calls of each kind that were made, and how many failed.
    static func counts(in file: String) -> (calls: [DiskFault.Call: Int], failures: Int) {
        let numbers = Files.bytes(file).withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        guard numbers.count > DiskFault.Call.allCases.count else { return ([:], 0) }
        let calls = zip(DiskFault.Call.allCases, numbers.map { Int($0) })
        return (Dictionary(uniqueKeysWithValues: calls), Int(numbers[numbers.count - 1]))
    }
}
