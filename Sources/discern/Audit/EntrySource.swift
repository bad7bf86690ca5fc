import Engine
import JSON
import Ledger
import Storage

/// Where entries are read: through the server that runs on the data folder, or in the folder.
enum EntrySource {
    case server(ServerClient)
    case file(LedgerFile)

    /// A page of entries, as they are answered.
    struct Page {
        var entries: [JSONValue] = []
        var next: AuditCursor?
        var examined: Int64 = 0
        var undecided: Int64 = 0
        var size: Int64 = 0
    }

    /// The source of a command.
    init(_ arguments: Arguments) throws {
        try DataAccess.requireDatabase(arguments)
        let data = DataAccess.folder(arguments)
        if let server = try RunningServer.find(data: data) {
            self = .server(ServerClient(server: server))
        } else {
            // For reading alone: looking at the ledger changes nothing.
            self = .file(try LedgerFile(folder: data))
        }
    }

    func page(
        _ request: AuditRequest, limit: Int, newestFirst: Bool = false, from cursor: AuditCursor?
    ) throws -> Page {
        switch self {
        case .server(let client):
            let text = request.text(limit: limit, newestFirst: newestFirst, from: cursor)
            let answer = try client.get("/v1/audit/entries?" + text)
            return Page(
                entries: answer["entries"]?.arrayValue ?? [],
                next: answer["next"]?.stringValue.flatMap { AuditCursor($0) },
                examined: answer["examined"]?.intValue ?? 0,
                undecided: answer["undecided"]?.intValue ?? 0,
                size: answer["size"]?.intValue ?? 0)
        case .file(let file):
            let query = request.page(limit: limit, newestFirst: newestFirst, from: cursor)
            let page = try file.page(query)
            return Page(
                entries: try page.entries.map(Self.answer), next: query.cursor(after: page),
                examined: page.examined, undecided: page.undecided, size: page.size)
        }
    }

    /// The entry of that number, if there is one.
    func entry(_ sequence: Int64) throws -> JSONValue? {
        switch self {
        case .server(let client):
            do {
                return try client.get("/v1/audit/entries/\(sequence)")
            } catch let failure as ServerClient.Failure where failure.code == "notFound" {
                return nil
            }
        case .file(let file): return try file.entry(sequence).map(Self.answer)
        }
    }

    private static func answer(_ entry: LedgerEntry) throws -> JSONValue {
        var writer = JSONWriter()
        entry.writeAnswer(to: &writer)
        return try JSONReader.parse(writer.bytes)
    }

    /// What came of going through pages.
    struct Summary {
        var entries = 0
        var next: AuditCursor?
        var examined: Int64 = 0
        var undecided: Int64 = 0
        /// The last entry there was when the first page was made.
        var size: Int64 = 0
    }

    /// Hands entries to `body`, page by page, up to so many; shows how far it is.
    @discardableResult
    func each(
        _ request: AuditRequest, limit: Int = .max, newestFirst: Bool = false,
        from start: AuditCursor? = nil, _ body: (JSONValue) throws -> Void
    ) throws -> Summary {
        var summary = Summary()
        summary.next = start
        let progress = Progress("looking through the ledger")
        defer { progress.end() }
        var isFirst = true
        repeat {
            let page = try page(
                request, limit: min(limit - summary.entries, 1_000), newestFirst: newestFirst,
                from: summary.next)
            if isFirst { summary.size = page.size }
            isFirst = false
            for entry in page.entries { try body(entry) }
            summary.entries += page.entries.count
            summary.examined += page.examined
            summary.undecided += page.undecided
            summary.next = page.next
            progress.show(
                "\(Figures.grouped(summary.examined)) looked at, "
                    + "\(Figures.grouped(Int64(summary.entries))) found")
        } while summary.next != nil && summary.entries < limit
        return summary
    }
}

extension EntrySource.Summary {
    /// Tells of entries that the filter could not be decided for.
    func tellUndecided() {
        guard undecided > 0 else { return }
        Terminal.say(
            "\(undecided) of \(examined) entries could not be decided: something that the filter "
                + "reads is absent there")
    }
}
