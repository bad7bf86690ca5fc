import Engine
import JSON

/// `discern audit export`: all entries that a query wants, as a stream.
enum AuditExportCommand {
    static var command: Command {
        Command(
            name: "audit export", summary: "Write entries of the ledger as a stream.",
            positional: "[EXPR]",
            options: AuditRequest.options + [
                .value(
                    "format", "f", "FORMAT", "ndjson (default): an entry a line, or csv: a table")
            ],
            discussion: AuditRequest.discussion + """

                The columns of csv are the variables but for `now`. A text that a spreadsheet could
                take for a formula has ' before it.
                """, run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let request = try AuditRequest(arguments)
        let format = arguments["format"] ?? "ndjson"
        guard ["ndjson", "csv"].contains(format) else {
            throw UsageError("--format is ndjson or csv, not `\(format)`")
        }
        let source = try EntrySource(arguments)
        var columns = EntryColumns()
        var output: [UInt8] = []
        if format == "csv" {
            EntryCSV.append(EntryColumns.names.map(\.rawValue), to: &output)
        }
        let summary = try source.each(request) { entry in
            if format == "csv" {
                EntryCSV.append(columns.cells(of: entry).map(EntryCSV.safe), to: &output)
            } else {
                output += Array((entry.text + "\n").utf8)
            }
            guard output.count >= 64 << 10 else { return }
            Terminal.print(output)
            output.removeAll(keepingCapacity: true)
        }
        Terminal.print(output)
        summary.tellUndecided()
        Terminal.say("\(summary.entries) entries")
        return ExitStatus.fine
    }
}

/// Rows of comma-separated values (RFC 4180).
enum EntryCSV {
    /// Spreadsheets take a text that begins so for a formula, and would run what an entry says.
    private static let formula: Set<Character> = ["=", "+", "-", "@", "\t", "\r", "\n", "\r\n"]

    static func safe(_ cell: EntryColumns.Cell) -> String {
        guard cell.isText, let first = cell.text.first, formula.contains(first) else {
            return cell.text
        }
        return "'" + cell.text
    }

    static func append(_ cells: [String], to output: inout [UInt8]) {
        for (index, cell) in cells.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            let needsQuotes = cell.utf8.contains { byte in
                byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"")
                    || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
            }
            guard needsQuotes else {
                output += Array(cell.utf8)
                continue
            }
            output.append(UInt8(ascii: "\""))
            for byte in cell.utf8 {
                if byte == UInt8(ascii: "\"") { output.append(byte) }
                output.append(byte)
            }
            output.append(UInt8(ascii: "\""))
        }
        output += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    }
}
