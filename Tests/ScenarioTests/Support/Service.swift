import Foundation
import Glibc

/// The real service in a folder of its own, on a free port of the loopback.
///
/// `restart` starts it again on the same data, as an operator would after a crash.
final class Service {
    enum Failure: Error, CustomStringConvertible {
        case ended(Int32, String)
        case silent(String)

        var description: String {
            switch self {
            case .ended(let status, let errors): "ended with \(status): \(errors)"
            case .silent(let errors): "does not listen: \(errors)"
            }
        }
    }

    /// Where data, policies and what it printed lie.
    let folder: TemporaryFolder
    var data: String
    var policies: String
    let output: String
    let errors: String
    private let arguments: [String]
    /// What the next start finds in its environment beside what there is.
    var environment: [String: String] = [:]
    private(set) var process: Spawned?
    private(set) var port: UInt16 = 0
    /// The development key; empty without `--dev`.
    private(set) var key = ""

    /// The repository's policies.
    static let shippedPolicies: String = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Policies").path

    /// Prepares a folder with a copy of the shipped policies; `start` starts.
    init(_ arguments: [String] = ["--dev"]) throws {
        folder = try TemporaryFolder()
        data = folder.path + "/data"
        policies = folder.path + "/policies"
        output = folder.path + "/out"
        errors = folder.path + "/err"
        self.arguments = arguments
        try Files.copy(Self.shippedPolicies, to: policies)
    }

    /// A service that runs.
    static func started(_ arguments: [String] = ["--dev"]) throws -> Service {
        let service = try Service(arguments)
        try service.start()
        return service
    }

    private func spawn() throws -> (process: Spawned, before: Int) {
        let before = Files.bytes(output).count
        let process = try Spawned(
            [
                "serve", "--listen", "127.0.0.1:0", "--data", data, "--policies", policies,
            ] + arguments, output: output, errors: errors, environment: environment)
        return (process, before)
    }

    /// Starts and waits until it listens.
    func start() throws {
        let (process, before) = try spawn()
        self.process = process
        let line = try Wait.until { () throws -> String? in
            let text = String(decoding: Files.bytes(output).dropFirst(before), as: UTF8.self)
            for line in text.split(separator: "\n") where line.hasPrefix("DISCERN_KEY=") {
                key = String(line.dropFirst("DISCERN_KEY=".count))
            }
            if let start = text.range(of: "listening on http://"),
                let end = text[start.upperBound...].firstIndex(of: "\n")
            {
                return String(text[start.upperBound..<end])
            }
            if let status = process.poll() {
                throw Failure.ended(status, Files.text(errors))
            }
            return nil
        }
        guard let colon = line?.lastIndex(of: ":"), let line,
            let port = UInt16(line[line.index(after: colon)...])
        else { throw Failure.silent(Files.text(errors)) }
        self.port = port
    }

    /// Starts a server that is expected to end by itself.
    func startInVain() throws -> Program.Outcome {
        let (process, before) = try spawn()
        let errorsBefore = Files.bytes(errors).count
        let status = try process.waitForExit()
        return Program.Outcome(
            status: status,
            output: String(decoding: Files.bytes(output).dropFirst(before), as: UTF8.self),
            errors: String(decoding: Files.bytes(errors).dropFirst(errorsBefore), as: UTF8.self))
    }

    /// Asks it to stop and gives its exit status.
    @discardableResult
    func stop() throws -> Int32 {
        process?.signal(SIGTERM)
        return try waitForExit()
    }

    /// Ends it on the spot, as a power cut would as far as the process can tell.
    func kill() throws {
        process?.signal(SIGKILL)
        _ = try waitForExit()
    }

    func waitForExit() throws -> Int32 {
        defer { process = nil }
        return try process?.waitForExit() ?? 0
    }

    var isRunning: Bool { process?.poll() == nil && process != nil }

    /// A connection of its own, with a key.
    func client(key: String? = nil) -> Client { Client(port: port, key: key ?? self.key) }

    /// The key of the data folder's operator.
    var operatorKey: String {
        Files.text(data + "/operator.key").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs `discern …` on the data folder.
    func command(_ arguments: String...) throws -> Program.Outcome {
        try Program.run(arguments + ["--data", data])
    }
}
