import Engine
import Ledger
import Storage
import Time

/// Which entries a command of `audit` wants: the query, and the same as the query of a URL.
struct AuditRequest {
    private(set) var query = EntryQuery()
    private var items: [(String, String)] = []

    /// What all commands take that look for entries.
    static let options: [Option] = [
        .value("app", "a", "APP", "only of this app"),
        .value("environment", "e", "ENV", "only of sandbox or production"),
        .value("kind", "k", "KIND", "only of this kind, such as evaluation or label"),
        .value(
            "since", nil, "TIME",
            "from then on: 2026-11-30T12:00:00Z, 2026-11-30, 2h for two hours ago, yesterday"),
        .value("until", nil, "TIME", "up to then"),
        .value("between", nil, "A..B", "from A to B: yesterday..today, 3d..2d"),
        .value("subject", nil, "ID", "only about this person; needs --app and --environment"),
        .value("device", nil, "ID", "only about this device; likewise"),
        DataAccess.option,
    ]

    static let discussion = """
        EXPR is a condition in CEL, such as 'kind == "evaluation" && outcome == "high"'; variables:
        \(AuditVariable.allCases.map(\.rawValue).joined(separator: ", ")).
        Kinds: \(RecordKind.allCases.map(\.rawValue).joined(separator: ", ")).
        Ids of people and devices are stored as pseudonyms only; --subject and --device
        compute the pseudonym with the data folder's key, here, not on a server.
        """

    /// Reads options and the filter.
    init(_ arguments: Arguments) throws {
        query.now = Engine.wallClock()
        query.budget = .call
        query.app = arguments["app"]
        take("app", arguments["app"])
        if let text = arguments["environment"] {
            guard DataEnvironment(rawValue: text) != nil else {
                throw UsageError("--environment is sandbox or production, not `\(text)`")
            }
            query.environment = text
            take("environment", text)
        }
        if let text = arguments["kind"] {
            guard let kind = RecordKind(rawValue: text) else {
                throw UsageError(
                    "`\(text)` is no kind; there are "
                        + RecordKind.allCases.map(\.rawValue).joined(separator: ", "))
            }
            query.kind = kind
            take("kind", text)
        }
        try takeTimes(arguments)
        if let pseudonym = try Self.pseudonym(arguments) {
            query.about = pseudonym
            take("subject", pseudonym.pseudonym.text)
        }
        guard arguments.positional.count <= 1 else {
            throw UsageError("one expression is expected; put it in quotes")
        }
        if let text = arguments.positional.first {
            do {
                query.filter = try AuditFilter(text)
            } catch {
                throw UsageError("the filter cannot be used\n\(error)")
            }
            take("filter", text)
        }
    }

    private mutating func takeTimes(_ arguments: Arguments) throws {
        query.since = try arguments.time("since")
        query.until = try arguments.time("until")
        if let text = arguments["between"] {
            guard query.since == nil, query.until == nil else {
                throw UsageError("--between excludes --since and --until")
            }
            guard let dots = text.firstRange(of: "..") else {
                throw UsageError("--between needs A..B, such as yesterday..today, not `\(text)`")
            }
            query.since = try Arguments.time(String(text[..<dots.lowerBound]), of: "between")
            query.until = try Arguments.time(String(text[dots.upperBound...]), of: "between")
        }
        if let since = query.since, let until = query.until, since > until {
            throw UsageError(
                "nothing is between \(since.rfc3339) and \(until.rfc3339): the first is the later")
        }
        take("since", query.since?.rfc3339)
        take("until", query.until?.rfc3339)
    }

    private mutating func take(_ name: String, _ value: String?) {
        if let value { items.append((name, value)) }
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

    // MARK: A page of it

    /// The query of a page.
    func page(limit: Int, newestFirst: Bool, from cursor: AuditCursor?) -> EntryQuery {
        var page = query
        page.limit = limit
        page.newestFirst = newestFirst
        if let cursor { page.goOn(from: cursor) }
        return page
    }

    /// The same as the query of a URL.
    func text(limit: Int, newestFirst: Bool, from cursor: AuditCursor?) -> String {
        var items = items
        items.append(("limit", String(limit)))
        if newestFirst { items.append(("order", "descending")) }
        if let cursor { items.append(("cursor", cursor.text)) }
        return items.map { "\($0.0)=\(Self.escape($0.1))" }.joined(separator: "&")
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
