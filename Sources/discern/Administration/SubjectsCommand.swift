import Engine
import JSON
import Storage

/// `discern subjects erase`: a person asks to be forgotten.
enum SubjectsCommand {
    static var erase: Command {
        Command(
            name: "subjects erase", summary: "Erase a person from the ledger.",
            positional: "SUBJECT",
            options: [
                .value("app", "a", "APP", "the app that knows the person"),
                .value("environment", "e", "ENV", "sandbox or production"),
                .value("reason", "r", "TEXT", "why; it is recorded and stays, so name nobody"),
                .value("format", "f", "FORMAT", "pretty (default) or json"), DataAccess.option,
            ],
            discussion: """
                Takes payload and salt of every entry about the person away, and whatever leads to
                them; so, too, of the account that the person was merged into, and of all that were
                merged into that. What stays: that there were entries, and their hashes; totals; times
                and versions of prompts, under the device's pseudonym. Later calls about what was
                erased are answered 410 `erased`. Backups and exports are not reached.

                SUBJECT is the id that the app uses. It shows in the shell's history; the API takes it
                in the body of POST /v1/subjects/erase.
                """,
            run: erase)
    }

    private static func erase(_ arguments: Arguments) throws -> Int32 {
        guard arguments.positional.count == 1 else { throw UsageError("name one person's id") }
        let id = arguments.positional[0]
        guard (1...256).contains(id.utf8.count) else {
            throw UsageError("an id has 1 to 256 bytes")
        }
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        let request = try ActingChangeRequest(arguments)
        guard let tenant = request.tenant else {
            throw UsageError("--app and --environment are needed: a person is known to one app")
        }
        var body = request.body
        body["subject"] = .string(id)
        let answer = try DataAccess.change(
            arguments, server: { try $0.post("/v1/subjects/erase", .object(body)) },
            engine: { engine in
                guard engine.directory.registry.apps[tenant.app] != nil else {
                    throw CommandRefused(
                        refusal: Refusal(
                            .notFound, "There is no such app.", field: "/app",
                            value: .string(tenant.app)))
                }
                let key = try DataFolder.readKey(path: DataAccess.folder(arguments))
                let command = EraseCommand(
                    subject: Pseudonymizer(key: key).subject(id, of: tenant),
                    reason: request.reason)
                let reply = engine.perform(
                    Submission(tenant: tenant, actor: "operator", command: .erase(command)))
                switch reply.content {
                case .erased(let answer): return answer.json
                case .refused(let refusal):
                    throw CommandRefused(refusal: refusal, cause: engine.failure)
                default: return .null
                }
            })
        Terminal.print(prose: format == "json" ? answer.text : text(answer))
        return ExitStatus.fine
    }

    private static func text(_ answer: JSONValue) -> String {
        let counts = (answer["erased"]?.objectValue?.members ?? []).filter { $0.value != 0 }
        guard !counts.isEmpty else {
            return "nothing is recorded of this person"
                + (answer["logCleared"] == true ? "" : "\n" + notYet)
        }
        let kinds = counts.map { "\($0.value.intValue ?? 0) \($0.key)" }
        let entries = (answer["entries"]?.arrayValue ?? []).compactMap(\.intValue).map(String.init)
        var lines = [
            "erased: " + kinds.joined(separator: ", "),
            "recorded in entry " + entries.joined(separator: ", "),
        ]
        let cancelled = answer["cancelledReports"]?.intValue ?? 0
        if cancelled > 0 { lines.append("reports no longer owed: \(cancelled)") }
        let kept = answer["kept"] ?? .null
        if let prompts = kept["devicePrompts"]?.intValue, prompts > 0 {
            lines.append(
                "kept: times and versions of \(prompts) prompts on devices, which count until "
                    + (kept["devicePromptsUntil"]?.stringValue ?? "?"))
        }
        lines.append("kept: totals over all people")
        if answer["logCleared"] != true { lines.append(notYet) }
        return lines.joined(separator: "\n")
    }

    private static let notYet =
        "somebody is reading: the database's log still holds it, and is emptied as soon as it can be"
}
