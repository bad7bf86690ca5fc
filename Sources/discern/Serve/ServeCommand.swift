import Engine
import Glibc
import JSON
import Ledger
import Server
import Storage
import Time

/// `discern serve`: the service, from the data folder to the socket.
enum ServeCommand {
    static var command: Command {
        Command(
            name: "serve", summary: "Run the service.",
            options: [
                .value(
                    "listen", "l", "ADDRESS:PORT",
                    "where to listen (127.0.0.1:8080); port 0 takes a free one"),
                .value("data", "d", "DIR", "the data folder (discern-data)"),
                .value("policies", "p", "DIR", "the policy files (Policies)"),
                .value(
                    "config", nil, "FILE", "a JSON file with numbers that differ from the defaults"),
                .value(
                    "checkpoints", nil, "DIR",
                    "where signed checkpoints of the ledger go (checkpoints in the data folder)"),
                .value(
                    "checkpoint-entries", nil, "N", "a checkpoint after that many entries (10000)"),
                .value(
                    "checkpoint-interval", nil, "TIME",
                    "and that long after the one before, if there is anything new (60s)"),
                .value(
                    "origin", nil, "NAME",
                    "what checkpoints call the ledger; only when their key is made"),
                .value(
                    "accept-ledger-fork", nil, "REASON",
                    "start once on a ledger that is not the one of its latest checkpoint"),
                .flag("dev", nil, "for development: loopback and sandbox only, one key for all"),
                .value("threads", nil, "N", "threads that read requests and write answers (2)"),
                .value("log-level", nil, "LEVEL", "debug, info (default), warning or error"),
            ],
            discussion: """
                In development (--dev) all policies of the folder act at every load, and two lines
                on standard output tell the rest: DISCERN_KEY=<key> and, once requests are taken,
                listening on http://ADDRESS:PORT.

                Otherwise the first load of an empty data folder lets its policies act; later ones
                only add candidates. Exit status 6: the ledger is not the one of its latest
                checkpoint; nothing was changed. `discern apps create` and `discern keys create` register a
                caller. SIGHUP reads the policies again; SIGTERM and SIGINT stop in good order.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let options = try ServeOptions(arguments)
        // Before any thread starts, so that signals wait for the main thread to ask for them.
        let signals = Signals()
        let log = Log(level: options.logLevel)
        let running: Running
        do {
            running = try Running(options, log: log)
        } catch let refused as PoliciesRefused {
            Terminal.say(refused.report)
            Terminal.say("discern serve: the policies are invalid, and none acts yet")
            return ExitStatus.invalidPolicies
        } catch let mismatch as LedgerMismatch {
            log.error(
                "the ledger does not fit its latest checkpoint",
                [
                    ("detail", .word(mismatch.what)), ("file", .word(mismatch.file)),
                    ("expectedSize", .int(mismatch.expected?.size ?? 0)),
                    ("foundSize", .int(mismatch.found?.size ?? 0)),
                ])
            Terminal.say("discern serve: \(mismatch)\n\(LedgerMismatch.remedy)")
            return ExitStatus.auditBroken
        }
        defer { running.stop() }
        while true {
            switch signals.next() {
            case SIGHUP: running.reload()
            default:
                log.info("stopping")
                return ExitStatus.fine
            }
        }
    }
}

/// What `serve` was told.
struct ServeOptions {
    var address: SocketAddress
    var data: String
    var policies: String
    var configuration: Configuration
    var isDevelopment: Bool
    var threads: Int
    var logLevel: Log.Level
    var checkpoints: CheckpointFolder
    var schedule = CheckpointWriter.Schedule()
    /// What checkpoints call the ledger, if the operator says.
    var origin: String?
    /// Why a ledger that does not fit its latest checkpoint is to be gone on with.
    var forkReason: String?

    init(_ arguments: Arguments) throws {
        let listen = arguments["listen"] ?? "127.0.0.1:8080"
        guard let address = SocketAddress(listen) else {
            throw UsageError("--listen needs ADDRESS:PORT such as 127.0.0.1:8080, not `\(listen)`")
        }
        self.address = address
        data = arguments["data"] ?? "discern-data"
        policies = arguments["policies"] ?? "Policies"
        isDevelopment = arguments.has("dev")
        if isDevelopment, !address.isLoopback {
            throw UsageError("--dev listens on a loopback address only, not on `\(listen)`")
        }
        threads = try arguments.number("threads", in: 2...64) ?? 2
        let level = arguments["log-level"] ?? "info"
        guard let logLevel = Log.Level(rawValue: level) else {
            throw UsageError("--log-level is debug, info, warning or error, not `\(level)`")
        }
        self.logLevel = logLevel
        checkpoints = CheckpointFolder(path: arguments["checkpoints"] ?? data + "/checkpoints")
        if let entries = try arguments.number("checkpoint-entries", in: 1...1_000_000_000) {
            schedule.entries = UInt64(entries)
        }
        if let text = arguments["checkpoint-interval"] {
            guard let interval = Duration(policyText: text),
                (.milliseconds(100)...Duration.days(1)).contains(interval)
            else {
                throw UsageError(
                    "--checkpoint-interval is a time from 100ms to 1d, such as 60s, not `\(text)`")
            }
            schedule.milliseconds = interval.milliseconds
        }
        origin = arguments["origin"]
        forkReason = arguments["accept-ledger-fork"]
        if let forkReason, !(1...1_000).contains(forkReason.utf8.count) {
            throw UsageError("--accept-ledger-fork needs a reason of 1 to 1000 bytes")
        }
        configuration = Configuration()
        if let path = arguments["config"] { configuration = try Self.configuration(path) }
    }

    private static func configuration(_ path: String) throws -> Configuration {
        guard let bytes = Files.read(path) else {
            throw UsageError("--config: \(path): \(String(cString: strerror(errno)))")
        }
        do {
            return try Configuration(json: try JSONReader.parse(bytes))
        } catch let error as JSONError {
            throw UsageError("--config: \(path): \(error.message)")
        } catch let refusal as Refusal {
            let allowed = refusal.allowed.map(\.text).joined(separator: ", ")
            throw UsageError(
                "--config: \(path): \(refusal.field ?? "/"): \(refusal.detail); allowed: \(allowed)"
            )
        }
    }
}

/// Signals, taken one after another by the main thread.
struct Signals {
    private var set = sigset_t()

    init() {
        sigemptyset(&set)
        for signal in [SIGHUP, SIGTERM, SIGINT] { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A client that goes away is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        // A limit on the size of files is an error of that write, like a full disk.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Waits for the next one.
    func next() -> Int32 {
        var set = set
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
        return signal
    }
}
