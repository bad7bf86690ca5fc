import Engine
import JSON
import Ledger
import Storage
import Time

/// `discern audit list`: what was recorded.
enum AuditListCommand {
    static var command: Command {
        Command(
            name: "audit list", summary: "List entries of the ledger.",
            options: [
                .value("app", "a", "APP", "only of this app"),
                .value("environment", "e", "ENV", "only of sandbox or production"),
                .value("kind", "k", "KIND", "only of this kind, such as evaluation or label"),
                .value(
                    "since", nil, "TIME",
                    "from then on: 2026-11-30T12:00:00Z, or 2h for two hours ago"),
                .value("until", nil, "TIME", "up to then"),
                .value(
                    "subject", nil, "ID", "only about this person; needs --app and --environment"),
                .value("device", nil, "ID", "only about this device; likewise"),
                .value("limit", nil, "N", "how many at most (100)"),
                .value("cursor", nil, "N", "go on where a page ended"),
                .flag("newest", nil, "the newest first"),
                .value("format", "f", "FORMAT", "pretty (default) or json: one entry a line"),
                DataAccess.option,
            ],
            discussion: """
                Ids of people and devices are stored as pseudonyms only; --subject and --device
                compute the pseudonym with the data folder's key, here, not on a server.
                Kinds: \(RecordKind.allCases.map(\.rawValue).joined(separator: ", ")).
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let query = try query(arguments)
        let data = DataAccess.folder(arguments)
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        try DataAccess.requireDatabase(arguments)
        let entries: [JSONValue]
        let next: String?
        if let server = try RunningServer.find(data: data) {
            let page = try ServerClient(server: server).get("/v1/audit/entries?" + query.text)
            entries = page["entries"]?.arrayValue ?? []
            next = page["next"]?.stringValue
        } else {
            // For reading alone: looking at the ledger changes nothing.
            let page = try LedgerFile(folder: data).page(query.query)
            entries = try page.entries.map { entry in
                var writer = JSONWriter()
                entry.writeAnswer(to: &writer)
                return try JSONReader.parse(writer.bytes)
            }
            next = page.next.map(String.init)
        }
        for entry in entries {
            Terminal.print(format == "json" ? entry.text : EntryLine.text(entry))
        }
        if entries.isEmpty { Terminal.say("no entries") }
        if let next { Terminal.say("there is more: --cursor \(next)") }
        return ExitStatus.fine
    }

    /// The query, and the same as the query of a URL.
    private struct Query {
        var query = EntryQuery()
        var items: [(String, String)] = []

        var text: String {
            items.map { "\($0.0)=\(Self.escape($0.1))" }.joined(separator: "&")
        }

        private static func escape(_ text: String) -> String {
            text.utf8.map { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                    String(UnicodeScalar(byte))
                default: "%" + Hex.encode([byte])
                }
            }.joined()
        }
    }

    private static func query(_ arguments: Arguments) throws -> Query {
        var query = Query()
        func take(_ name: String, _ value: String?) {
            if let value { query.items.append((name, value)) }
        }
        query.query.app = arguments["app"]
        take("app", arguments["app"])
        if let text = arguments["environment"] {
            guard DataEnvironment(rawValue: text) != nil else {
                throw UsageError("--environment is sandbox or production, not `\(text)`")
            }
            query.query.environment = text
            take("environment", text)
        }
        if let text = arguments["kind"] {
            guard let kind = RecordKind(rawValue: text) else {
                throw UsageError(
                    "`\(text)` is no kind; there are "
                        + RecordKind.allCases.map(\.rawValue).joined(separator: ", "))
            }
            query.query.kind = kind
            take("kind", text)
        }
        query.query.since = try arguments.time("since")
        take("since", query.query.since?.rfc3339)
        query.query.until = try arguments.time("until")
        take("until", query.query.until?.rfc3339)
        query.query.limit = try arguments.number("limit", in: 1...1_000) ?? 100
        take("limit", String(query.query.limit))
        query.query.cursor = try arguments.number("cursor", in: 1...Int.max).map(Int64.init)
        take("cursor", query.query.cursor.map(String.init))
        query.query.newestFirst = arguments.has("newest")
        if query.query.newestFirst { take("order", "descending") }
        if let pseudonym = try pseudonym(arguments) {
            query.query.about = pseudonym
            take("subject", pseudonym.pseudonym.text)
        }
        return query
    }

    private static func pseudonym(_ arguments: Arguments) throws -> (
        pseudonym: Pseudonym, keys: [EntityKey]
    )? {
        guard arguments["subject"] != nil || arguments["device"] != nil else { return nil }
        guard let app = arguments["app"],
            let environment = arguments["environment"].flatMap(DataEnvironment.init(rawValue:))
        else { throw UsageError("--subject and --device need --app and --environment") }
        let tenant = Tenant(app: app, environment: environment)
        let maker = Pseudonymizer(
            key: try DataFolder.readKey(path: DataAccess.folder(arguments)))
        let pseudonym =
            if let id = arguments["subject"] { maker.subject(id, of: tenant) } else {
                maker.device(arguments["device"] ?? "", of: tenant)
            }
        return (pseudonym, EntityKey.all(about: pseudonym, of: tenant))
    }
}
