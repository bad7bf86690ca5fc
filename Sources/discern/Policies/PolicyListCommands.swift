import Engine
import JSON

/// `discern policies list | history`: what can act, what acts, and how it came to that.
enum PolicyListCommands {
    private static let format = Option.value(
        "format", "f", "FORMAT", "pretty (default) or json")

    static var list: Command {
        Command(
            name: "policies list", summary: "List candidates and what acts where.",
            options: [format, DataAccess.option],
            discussion: """
                What acts is a recorded fact: for each category one policy, common to all apps or
                an app's own, since when, by whom and why. A policy in shadow is judged beside the
                acting one and recorded; `discern policies compare` shows the difference.
                A candidate is a version that was loaded: it can act, but need not.
                """
        ) { arguments in
            try show(try policies(arguments), arguments) { answer in
                ["acting"] + table(answer["acting"], acting) + ["", "candidates"]
                    + table(answer["candidates"], candidate)
            }
            return ExitStatus.fine
        }
    }

    /// Candidates, and what acts where.
    static func policies(_ arguments: Arguments) throws -> JSONValue {
        try DataAccess.read(
            arguments, server: { try $0.get("/v1/policies") },
            engine: { $0.directory.policiesAnswer(for: nil) })
    }

    static var history: Command {
        Command(
            name: "policies history", summary: "List what began and ceased to act.",
            positional: "[NAME]",
            options: [
                .value("limit", nil, "N", "how many at most, the newest first (100)"), format,
                DataAccess.option,
            ],
            discussion: """
                NAME is of a policy, in all its versions. Each line is an entry of the ledger,
                with its number: `discern audit get` has the whole of it.
                Exit status: 0 listed, 1 the data cannot be read, 2 usage, or no such policy.
                """
        ) { arguments in
            guard arguments.positional.count <= 1 else { throw UsageError("name one policy") }
            let name = arguments.positional.first
            if let name {
                try PolicyName.check(name)
                guard !name.contains("@") else {
                    throw UsageError("the history is of all versions: name the policy alone")
                }
            }
            let limit = try arguments.number("limit", in: 1...1_000) ?? 100
            let answer = try DataAccess.read(
                arguments,
                server: {
                    try $0.get(
                        "/v1/policies/history?limit=\(limit)" + (name.map { "&name=\($0)" } ?? ""))
                },
                engine: { $0.directory.historyAnswer(for: nil, name: name, limit: limit) })
            if let name, answer["changes"]?.arrayValue?.isEmpty ?? true {
                try PolicyName.requireKnown(name, arguments)
            }
            try show(answer, arguments) { table($0["changes"], change) }
            return ExitStatus.fine
        }
    }

    private static func show(
        _ answer: JSONValue, _ arguments: Arguments, _ pretty: (JSONValue) -> [String]
    ) throws {
        switch arguments["format"] ?? "pretty" {
        case "pretty": Terminal.print(pretty(answer).joined(separator: "\n"))
        case "json": Terminal.print(answer.text)
        case let other: throw UsageError("--format is pretty or json, not `\(other)`")
        }
    }

    // MARK: Rows

    private static func acting(_ row: JSONValue) -> [String] {
        [
            owner(row), text(row, "category"), reference(row),
            row["shadow"] == true ? "in shadow" : "acts", since(row, "since"),
        ]
    }

    private static func candidate(_ row: JSONValue) -> [String] {
        [
            reference(row), text(row, "kind"), names(row["categories"]),
            String(text(row, "digest").prefix(12)),
        ]
    }

    private static func change(_ row: JSONValue) -> [String] {
        var what = text(row, "change") + (row["shadow"] == true ? " in shadow" : "")
        if row["change"] == "rolledBack" {
            what += " to " + (row["to"].map(reference) ?? "the common one")
        }
        let overridden = names(row["guards"]?["overridden"])
        return [
            "\(row["sequence"]?.intValue ?? 0)", owner(row), names(row["categories"]),
            reference(row), what,
            since(row, "at") + (overridden.isEmpty ? "" : " (in spite of \(overridden))"),
        ]
    }

    private static func owner(_ row: JSONValue) -> String {
        row["app"]?.stringValue.map { "\($0)/\(text(row, "environment"))" } ?? "all apps"
    }

    private static func since(_ row: JSONValue, _ name: String) -> String {
        "\(text(row, name)) by \(text(row, "actor")): \(text(row, "reason"))"
    }

    static func reference(_ row: JSONValue) -> String {
        "\(text(row, "name"))@\(row["version"]?.intValue ?? 0)"
    }

    static func names(_ list: JSONValue?) -> String {
        (list?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ", ")
    }

    private static func text(_ row: JSONValue, _ name: String) -> String {
        row[name]?.stringValue ?? ""
    }

    private static func table(_ rows: JSONValue?, _ columns: (JSONValue) -> [String]) -> [String] {
        let cells = (rows?.arrayValue ?? []).map(columns)
        return cells.isEmpty ? ["  none"] : Layout.table(cells)
    }
}
