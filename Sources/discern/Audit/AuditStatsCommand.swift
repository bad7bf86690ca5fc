import Engine
import JSON

/// `discern audit stats`: how many entries there are of what.
enum AuditStatsCommand {
    static var command: Command {
        Command(
            name: "audit stats", summary: "Count entries of the ledger.", positional: "[EXPR]",
            options: AuditRequest.options + [
                .value("format", "f", "FORMAT", "pretty (default) or json")
            ], discussion: AuditRequest.discussion, run: run)
    }

    /// By what is counted.
    private static let counted: [AuditVariable] = [
        .kind, .app, .environment, .actor, .outcome, .friction, .status, .label, .policy,
    ]
    /// Names listed for each; the rest is counted together.
    private static let listed = 20

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let format = try AuditQueryCommand.format(arguments)
        let request = try AuditRequest(arguments)
        var columns = EntryColumns()
        var counts = Array(repeating: [String: Int64](), count: counted.count)
        let places = counted.map { EntryColumns.names.firstIndex(of: $0) ?? 0 }
        var times: (first: String, last: String)?
        let summary = try EntrySource(arguments).each(request) { entry in
            let cells = columns.cells(of: entry)
            for (index, place) in places.enumerated() where !cells[place].text.isEmpty {
                counts[index][cells[place].text, default: 0] += 1
            }
            let at = entry["envelope"]?["at"]?.stringValue ?? ""
            times = (times?.first ?? at, at)
        }
        if format == "json" {
            Terminal.print(json(summary, counts, times).text)
            return ExitStatus.fine
        }
        var rows = [["entries", Figures.grouped(Int64(summary.entries))]]
        if let times { rows.append(["from", times.first]); rows.append(["to", times.last]) }
        for (variable, counts) in zip(counted, counts) where !counts.isEmpty {
            let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            for (index, count) in sorted.prefix(listed).enumerated() {
                rows.append([
                    index == 0 ? variable.rawValue : "", Figures.grouped(count.value), count.key,
                ])
            }
            let rest = sorted.dropFirst(listed)
            guard !rest.isEmpty else { continue }
            rows.append([
                "", Figures.grouped(rest.reduce(0) { $0 + $1.value }), "\(rest.count) others",
            ])
        }
        for line in Layout.table(rows, indent: 0) { Terminal.print(line) }
        summary.tellUndecided()
        return ExitStatus.fine
    }

    private static func json(
        _ summary: EntrySource.Summary, _ counts: [[String: Int64]],
        _ times: (first: String, last: String)?
    ) -> JSONValue {
        var object: JSONObject = [
            "entries": .int(Int64(summary.entries)), "examined": .int(summary.examined),
            "undecided": .int(summary.undecided),
        ]
        object["from"] = times.map { .string($0.first) }
        object["to"] = times.map { .string($0.last) }
        for (variable, counts) in zip(counted, counts) where !counts.isEmpty {
            let sorted = counts.sorted { $0.key < $1.key }
            object[variable.rawValue] = .object(
                JSONObject(sorted.map { (key: $0.key, value: .int($0.value)) }))
        }
        return .object(object)
    }
}
