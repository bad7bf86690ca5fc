import Engine
import Glibc
import Storage

extension RecordedStream {
    /// What commands take that read recorded evaluations.
    static let options: [Option] = [
        DataAccess.option,
        .value(
            "stream", nil, "FILE",
            "read an exported stream instead of a data folder; - for standard input"),
        .value("app", "a", "APP", "whose evaluations, if there are several apps"),
        .value("environment", "e", "ENV", "sandbox or production, if there are both"),
        .value("since", nil, "TIME", "from then on: 2026-11-30T12:00:00Z, or 90d (back from now)"),
        .value("until", nil, "TIME", "up to then, likewise"),
        .value(
            "mature", nil, "SPAN",
            "leave out of rates what is younger than this at the last entry, such as 60d"),
        .value("examples", nil, "N", "evaluations of each kind to open (3)"),
        .value("format", "f", "FORMAT", "pretty (default) or json"),
    ]

    /// The stream that is named, or the data folder's.
    init(_ arguments: Arguments) throws {
        // What is on the command line wins over what the environment says.
        guard !arguments.isGiven("stream") || !arguments.isGiven("data") else {
            throw UsageError(
                "--data and --stream exclude each other: what was recorded is read from the one "
                    + "or the other")
        }
        if !arguments.isGiven("data"), let path = arguments["stream"] {
            if path != "-", access(path, R_OK) != 0 {
                throw Files.Fault(
                    description: "--stream: \(path): \(String(cString: strerror(errno)))")
            }
            if path == "-" { try Self.makeInputRereadable() }
            self = .file(path: path)
            return
        }
        try DataAccess.requireDatabase(arguments)
        self = .folder(try LedgerFile(folder: DataAccess.folder(arguments)))
    }
}

extension RecordedStream {
    /// A stream is read twice, to find the apps in it and then for one of them. What comes through
    /// a pipe is put into a file without a name first, which then is standard input.
    private static func makeInputRereadable() throws {
        guard lseek(STDIN_FILENO, 0, SEEK_CUR) < 0 else { return }
        guard let file = tmpfile() else { throw inputFault }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw inputFault }
            if count == 0 { break }
            guard fwrite(buffer, 1, count, file) == count else { throw inputFault }
        }
        guard fflush(file) == 0, dup2(fileno(file), STDIN_FILENO) >= 0 else { throw inputFault }
    }

    private static var inputFault: Fault {
        Fault(description: "standard input: \(String(cString: strerror(errno)))")
    }
}

extension Backtest.Options {
    /// What was asked for.
    init(
        _ arguments: Arguments, _ stream: RecordedStream, kinds: [RecordKind] = [.evaluation]
    ) throws {
        if let name = arguments["environment"], DataEnvironment(rawValue: name) == nil {
            throw UsageError("--environment is sandbox or production, not `\(name)`")
        }
        self.init(
            tenant: try stream.tenant(
                app: arguments["app"], environment: arguments["environment"], kinds: kinds))
        since = try arguments.time("since")
        until = try arguments.time("until")
        if let since, let until, until < since { throw UsageError("--until is before --since") }
        examples = try arguments.number("examples", in: 0...1_000) ?? 3
        mature = try arguments.span("mature")
    }
}
