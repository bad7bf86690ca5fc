import Engine
import Glibc
import ReviewPrompts
import Storage
import Time

/// Where the donations of a simulation come from.
enum EventSource {
    case stream(EventStream, environment: ReviewEnvironment)
    case folder(RecordedDonations)

    /// The stream that is named, or the data folder's.
    init(_ arguments: Arguments, zones: ZoneDatabase) throws {
        guard !arguments.isGiven("events") || !arguments.isGiven("data") else {
            throw UsageError(
                "--data and --events exclude each other: donations are read from the one or the "
                    + "other")
        }
        let environment = arguments["environment"]
        if let environment, DataEnvironment(rawValue: environment) == nil {
            throw UsageError("--environment is sandbox or production, not `\(environment)`")
        }
        if !arguments.isGiven("data"), let path = arguments["events"] {
            if path != "-", access(path, R_OK) != 0 {
                throw Files.Fault(
                    description: "--events: \(path): \(String(cString: strerror(errno)))")
            }
            self = .stream(
                EventStream(path: path, zones: zones),
                environment: environment.flatMap(ReviewEnvironment.init) ?? .production)
            return
        }
        guard arguments["data"] != nil else {
            throw UsageError("name the donations: --events FILE.ndjson or --data DIR")
        }
        try DataAccess.requireDatabase(arguments)
        let ledger = try LedgerFile(folder: DataAccess.folder(arguments))
        self = .folder(
            RecordedDonations(
                ledger: ledger,
                tenant: try RecordedStream.folder(ledger).tenant(
                    app: arguments["app"], environment: environment, kinds: [.donation])))
    }

    /// Hands the events of the environment to `body`, in their order, with the numbers of their
    /// lines or entries.
    func each(_ body: (ReviewEvent, _ number: Int64) throws -> Void) throws {
        switch self {
        case .folder(let donations): try donations.each(body)
        case .stream(let stream, let environment):
            var others = 0
            try stream.each { event, line in
                guard event.environment == environment else {
                    others += 1
                    return
                }
                try body(event, Int64(line))
            }
            if others > 0 {
                let name = environment == .production ? "sandbox" : "production"
                Terminal.say(
                    "left out: \(Figures.counted(others, "event")) of \(name) "
                        + "(--environment \(name) simulates those)")
            }
        }
    }

    /// An error with the line or entry it is about.
    func fault(_ error: SimulationError, at number: Int64) -> EventStream.Fault {
        switch self {
        case .stream(let stream, _):
            EventStream.Fault(description: "\(stream.path):\(number): \(error)")
        case .folder: EventStream.Fault(description: "entry \(number): \(error)")
        }
    }

    /// A person's id as the events have it: a data folder knows pseudonyms only.
    func subject(_ id: String, _ arguments: Arguments) throws -> String {
        guard case .folder(let donations) = self, Pseudonym(id) == nil else { return id }
        let key = try DataFolder.readKey(path: DataAccess.folder(arguments))
        return Pseudonymizer(key: key).subject(id, of: donations.tenant).text
    }
}
