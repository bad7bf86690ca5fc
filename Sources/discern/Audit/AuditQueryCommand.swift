import Engine
import JSON
import Storage
import Time

/// `discern audit query`: what was recorded.
enum AuditQueryCommand {
    static var command: Command {
        Command(
            name: "audit query", summary: "Find entries of the ledger.", positional: "[EXPR]",
            options: AuditRequest.options + [
                .value("limit", nil, "N", "how many at most (100)"),
                .value("cursor", nil, "CURSOR", "go on where a page ended"),
                .flag("newest", nil, "the newest first"),
                .value("format", "f", "FORMAT", "pretty (default) or json: one entry a line"),
                .flag(
                    "explain", nil, "tell how it is looked for, and how long the first page takes"),
            ], discussion: AuditRequest.discussion, run: run)
    }

    /// The name that it had before it took expressions.
    static var list: Command {
        var list = command
        list.name = "audit list"
        list.summary = "The same as audit query."
        return list
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let request = try AuditRequest(arguments)
        let format = try format(arguments)
        let limit = try arguments.number("limit", in: 1...1_000_000) ?? 100
        var start: AuditCursor?
        if let text = arguments["cursor"] {
            guard let cursor = AuditCursor(text) else {
                throw UsageError("--cursor needs what a page named, not `\(text)`")
            }
            start = cursor
        }
        if arguments.has("explain") {
            let query = request.page(
                limit: min(limit, 1_000), newestFirst: arguments.has("newest"), from: start)
            return try explain(query, arguments)
        }
        let source = try EntrySource(arguments)
        let summary = try source.each(
            request, limit: limit, newestFirst: arguments.has("newest"), from: start
        ) { print($0, format) }
        if summary.entries == 0 { Terminal.say("no entries") }
        summary.tellUndecided()
        if let next = summary.next { Terminal.say("there is more: --cursor \(next.text)") }
        return ExitStatus.fine
    }

    static func format(_ arguments: Arguments) throws(UsageError) -> String {
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        return format
    }

    static func print(_ entry: JSONValue, _ format: String) {
        Terminal.print(format == "json" ? entry.text : EntryLine.text(entry))
    }

    // MARK: The plan

    private static func explain(_ query: EntryQuery, _ arguments: Arguments) throws -> Int32 {
        try DataAccess.requireDatabase(arguments)
        let plan = AuditPlan(query)
        let file = try LedgerFile(folder: DataAccess.folder(arguments))
        let place = try file.range(of: query)
        let count = max(place.last - place.first + 1, 0)
        var rows = [
            [
                "entries",
                count == 0
                    ? "none of \(place.size)"
                    : "\(place.first) to \(place.last) of \(place.size): \(count)",
            ]
        ]
        rows += bounds(plan.bounds).map { ["bound", $0] }
        let access =
            if query.about != nil {
                "the numbers that the index of keys has under the pseudonym"
            } else if place.usesServiceIndex {
                "the index service_entries, in order"
            } else {
                "the rows of the range, in order"
            }
        rows.append(["read by", access])
        rows += plan.pushed.map { ["by bounds alone", $0] }
        rows += plan.streamed.map { ["evaluated", $0] }
        if !plan.reads.isEmpty {
            rows.append(["reads", plan.reads.map(\.rawValue).joined(separator: ", ")])
        }
        rows.append(["payloads", plan.needsPayload ? "read" : "not read"])
        var watch = Stopwatch()
        let page = try watch.time { try file.page(query) }
        rows.append([
            "first page",
            "\(page.entries.count) found, \(page.examined) looked at, "
                + "\(Figures.tenths(Double(watch.nanoseconds) / 1e6)) ms",
        ])
        if page.next != nil { rows.append(["", "not all was looked at"]) }
        for line in Layout.table(rows, indent: 0) { Terminal.print(line) }
        return ExitStatus.fine
    }

    private static func bounds(_ bounds: AuditBounds) -> [String] {
        var lines: [String] = []
        func names(_ names: some Sequence<String>) -> String {
            names.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
        }
        if !bounds.hasAllKinds { lines.append("kind: " + names(bounds.kinds.map(\.rawValue))) }
        if let apps = bounds.apps { lines.append("app: " + names(apps)) }
        if bounds.environments.count < DataEnvironment.allCases.count + 1 {
            lines.append("environment: " + names(bounds.environments))
        }
        if bounds.erased.count == 1 {
            lines.append(bounds.erased.contains(true) ? "erased" : "not erased")
        }
        if bounds.since > .min { lines.append("at: from \(bounds.since.rfc3339)") }
        if bounds.until < .max { lines.append("at: to \(bounds.until.rfc3339)") }
        return lines
    }
}
