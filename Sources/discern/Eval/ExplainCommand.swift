import Engine
import JSON
import Policies
import Storage
import Time
import TrustInsights

/// `discern explain`: how a recorded decision came about.
enum ExplainCommand {
    static var command: Command {
        Command(
            name: "explain", summary: "Show how a recorded decision came about, rule by rule.",
            positional: "ID",
            options: [
                DataAccess.option,
                .value("app", "a", "APP", "whose requestID it is, if there are several apps"),
                .value("environment", "e", "ENV", "sandbox or production, if there are both"),
                .value("format", "f", "FORMAT", "pretty (default) or json"),
            ],
            discussion: """
                ID is an evaluationID, an insightID, or the caller's requestID.
                The policy is the one that the ledger recorded, whatever stands in the folder today.
                For each rule every sub-expression is shown with its value; what a short cut passed
                over is marked as not evaluated. Then what filled the velocity windows, and what
                was reported afterwards. Nothing is changed, and a server may go on running.
                Exit status: 0 found, 1 there is no such evaluation.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        guard arguments.positional.count == 1 else { throw UsageError("name one evaluation") }
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        try DataAccess.requireDatabase(arguments)
        let ledger = try LedgerFile(folder: DataAccess.folder(arguments))
        let explanation: RecordedExplanation
        do {
            explanation = try find(arguments.positional[0], arguments, ledger)
        } catch let refusal as Refusal {
            throw CommandRefused(refusal: refusal)
        }
        Terminal.print(
            format == "json" ? json(explanation).text : pretty(explanation).joined(separator: "\n"))
        return ExitStatus.fine
    }

    private static func find(_ id: String, _ arguments: Arguments, _ ledger: LedgerFile) throws
        -> RecordedExplanation
    {
        let zones = SystemZones.load()
        let source = RecordedExplanation.Source(
            entry: ledger.entry, entries: ledger.entries(under:),
            policies: { try ledger.entries(of: .policies, through: $0) })
        // A caller's requestID may look like one of ours.
        if let known = Identifier(id),
            let found = try? RecordedExplanation(known, in: source, zones: zones)
        {
            return found
        }
        let tenant = try RecordedStream.folder(ledger).tenant(
            app: arguments["app"], environment: arguments["environment"])
        do {
            return try RecordedExplanation(request: id, of: tenant, in: source, zones: zones)
        } catch let refusal as Refusal where refusal.code == .notFound {
            if let known = Identifier(id) {
                return try RecordedExplanation(known, in: source, zones: zones)
            }
            throw Refusal(
                .notFound,
                "\(tenant.app)/\(tenant.environment.rawValue) has no evaluation of the requestID "
                    + "`\(id)`, and it is no id of an evaluation")
        }
    }

    // MARK: Text

    private static func pretty(_ explanation: RecordedExplanation) -> [String] {
        let state = explanation.state
        let record = state.record
        var lines = [
            "evaluation \(record.evaluationID.text)",
            "  of \(state.tenant.app)/\(state.tenant.environment.rawValue), request "
                + "\(record.requestID), received \(record.receivedAt.rfc3339)",
            "  judged by \(explanation.policy.reference) as recorded, sha256 "
                + "\(record.policy.digest.prefix(16))…",
            "",
        ].flatMap { Layout.wrapIfLong($0) }
        lines += DecisionText.lines(
            record, explanation.policy, explanation.windows, explanation.trace)
        return lines + ["", "afterwards"] + report(state) + labels(state)
    }

    private static func report(_ state: EvaluationState) -> [String] {
        if let report = state.consumption {
            let isLate = report.reportedAt > report.dueAt
            return Layout.beside(
                "  reported    ",
                "\(report.status.rawValue), at \(report.reportedAt.rfc3339), "
                    + (isLate ? "late: it was due at " : "in time: it is due at ")
                    + report.dueAt.rfc3339)
        }
        guard let due = state.record.reportDueAt else { return ["  reported    none is owed"] }
        return ["  reported    not yet; due at \(due.rfc3339)"]
    }

    private static func labels(_ state: EvaluationState) -> [String] {
        guard !state.labels.isEmpty else {
            return ["  labelled    not yet; possible until \(state.record.labelDeadline.rfc3339)"]
        }
        var lines: [String] = []
        for label in state.labels {
            var text = "\(label.label.rawValue) (\(label.labelID))"
            if let category = label.category { text += ", \(category.rawValue)" }
            text += ", from \(label.source.rawValue), of \(label.occurredAt.rfc3339)"
            if let retracts = label.retracts { text += ", retracts \(retracts)" }
            lines += Layout.beside(lines.isEmpty ? "  labelled    " : "              ", text)
        }
        let current = state.labels.current.map { "\($0.label.rawValue) (\($0.labelID))" }
        return lines + Layout.beside("  so it is    ", current ?? "unlabelled again")
    }

    // MARK: JSON

    private static func json(_ explanation: RecordedExplanation) -> JSONValue {
        let state = explanation.state
        let record = state.record
        var writer = JSONWriter()
        // Where the report stands now is the server's to say; here is what was recorded.
        state.writeAnswer(to: &writer, now: record.receivedAt, policy: nil)
        guard case .object(var object)? = try? JSONReader.parse(writer.bytes) else { return .null }
        object["app"] = .string(state.tenant.app)
        object["environment"] = .string(state.tenant.environment.rawValue)
        object["category"] = .string(record.category.rawValue)
        object["windows"] = DecisionText.json(explanation.windows)
        object["trace"] = TraceText.json(explanation.trace)
        object["consumption"] = nil
        return .object(object)
    }
}
