import Engine
import Glibc
import JSON

/// `discern audit tail`: the newest entries, and those that come.
enum AuditTailCommand {
    static var command: Command {
        Command(
            name: "audit tail", summary: "Show the newest entries, and with -f those that come.",
            positional: "[EXPR]",
            options: AuditRequest.options + [
                .value("lines", "n", "N", "how many entries to begin with (10)"),
                .flag("follow", "f", "go on with entries as they are recorded, until interrupted"),
                .flag("json", nil, "one entry a line, as JSON"),
            ], discussion: AuditRequest.discussion, run: run)
    }

    /// How long to wait for more.
    private static let pause: UInt32 = 300_000

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let format = arguments.has("json") ? "json" : "pretty"
        let count = try arguments.number("lines", in: 0...10_000) ?? 10
        var request = try AuditRequest(arguments)
        var latest: [JSONValue] = []
        let source = try EntrySource(arguments)
        // Even where no entries are wanted to begin with, one page tells where the ledger ends.
        let summary = try source.each(request, limit: max(count, 1), newestFirst: true) {
            latest.append($0)
        }
        for entry in latest.prefix(count).reversed() { AuditQueryCommand.print(entry, format) }
        summary.tellUndecided()
        guard arguments.has("follow") else { return ExitStatus.fine }
        var end = summary.size
        while true {
            usleep(pause)
            // A server may have been started or stopped meanwhile, and the time has gone on.
            request = try AuditRequest(arguments)
            let start = end > 0 ? AuditCursor(sequence: end, now: nil) : nil
            let more = try EntrySource(arguments).each(request, from: start) {
                AuditQueryCommand.print($0, format)
            }
            end = max(end, more.size)
        }
    }
}
