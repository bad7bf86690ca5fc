import Engine
import JSON

/// `discern audit get`: one entry, whole.
enum AuditGetCommand {
    static var command: Command {
        Command(
            name: "audit get", summary: "Show one entry of the ledger.", positional: "SEQUENCE",
            options: [
                .value("format", "f", "FORMAT", "pretty (default) or json: on one line"),
                DataAccess.option,
            ], run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        guard arguments.positional.count == 1, let sequence = Int64(arguments.positional[0]),
            sequence > 0
        else { throw UsageError("the number of one entry is expected, from 1") }
        let format = try AuditQueryCommand.format(arguments)
        guard let entry = try EntrySource(arguments).entry(sequence) else {
            Terminal.say("discern audit get: there is no entry \(sequence)")
            return ExitStatus.failure
        }
        if format == "json" {
            Terminal.print(entry.text)
        } else {
            Terminal.print(EntryLine.text(entry))
            Terminal.print(lines(entry, "").joined(separator: "\n"))
        }
        return ExitStatus.fine
    }

    /// The members, one a line, those within moved in.
    private static func lines(_ value: JSONValue, _ indent: String) -> [String] {
        switch value {
        case .object(let object):
            object.members.flatMap { name, value in
                isPlain(value)
                    ? ["\(indent)\(name)  \(value.stringValue ?? value.text)"]
                    : ["\(indent)\(name)"] + lines(value, indent + "  ")
            }
        case .array(let elements):
            elements.flatMap { element in
                isPlain(element)
                    ? ["\(indent)- \(element.stringValue ?? element.text)"]
                    : ["\(indent)-"] + lines(element, indent + "  ")
            }
        default: [indent + (value.stringValue ?? value.text)]
        }
    }

    private static func isPlain(_ value: JSONValue) -> Bool {
        switch value {
        case .object(let object): object.members.isEmpty
        case .array(let elements): elements.isEmpty
        default: true
        }
    }
}
