import Engine
import JSON
import Policies
import ReviewPrompts
import Time

/// `discern simulate`: what a review policy does over a stream of donations.
enum SimulateCommand {
    static var command: Command {
        Command(
            name: "simulate", summary: "Play donations through a review policy, or through two.",
            positional: "POLICY",
            options: [
                .value("compare", "c", "POLICY", "another policy, side by side"),
                .value("events", nil, "FILE", "donations as NDJSON; - for standard input"),
                DataAccess.option,
                .value("app", "a", "APP", "whose donations, if the folder has several apps"),
                .value(
                    "environment", "e", "ENV", "sandbox or production; of a stream: production"),
                .value("in", "i", "PATH", "where to look up names (Policies)"),
                .value("timeline", "t", "SUBJECT", "what came of each event of one person"),
                .value("svg", nil, "FILE", "write the prompts by month as a picture"),
                .value("decisions", nil, "FILE", "write what came of each event, as NDJSON"),
                .value("format", "f", "FORMAT", "table (default) or json"),
            ],
            discussion: """
                POLICY is a preset (\(Preset.names)), a file or folder
                with one review policy, or name or name@version of one below --in.
                Every event is decided by what decides in a server, at its own time, from a history
                without any. The preset `treaty`, also with other numbers, decides as on a device.
                With --data the recorded donations are played, merges and resets are not; ids may be
                raw or pseudonyms.

                A line of a stream is a donation as the API takes it, with these members more:
                  receivedAt     when it came in, the clock of the simulation; occurredAt if left
                                 out. Lines stand in its order
                  activeScene    false where there is nothing to ask in: a grant is given back
                  outcome        what the app does with a grant: requested (if left out),
                                 notRequested, silent
                  outcomeReason  why it is notRequested
                  environment    sandbox or production (if left out)

                  fixture-generator donations year.ndjson
                  discern simulate transcripts --compare treaty --events year.ndjson --svg year.svg

                Exit status: 0 simulated, 1 a file or data that cannot be read or written, 2 usage,
                3 a policy is invalid, 5 there was nothing that the policy could judge.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let format = arguments["format"] ?? "table"
        guard ["table", "pretty", "json"].contains(format) else {
            throw UsageError("--format is table or json, not `\(format)`")
        }
        guard arguments.positional.count == 1 else {
            throw UsageError(
                arguments.positional.isEmpty
                    ? "name a policy, or a preset: \(Preset.names)"
                    : "name one policy; the other is named with --compare")
        }
        let zones = SystemZones.load()
        var policies: [ReviewPromptPolicy] = []
        for word in arguments.positional + (arguments["compare"].map { [$0] } ?? []) {
            switch try ReviewPolicyChoice.find(word, in: arguments["in"], zones: zones) {
            case .invalid(let report):
                Terminal.say(report)
                return ExitStatus.invalidPolicies
            case .found(let policy): policies.append(policy)
            }
        }
        try refuseOverwriting(arguments)
        let source = try EventSource(arguments, zones: zones)
        if let path = arguments["svg"] { try Files.requireWritable(path) }
        var run = SimulationRun(
            policies, zones: zones,
            timeline: try arguments["timeline"].map { try source.subject($0, arguments) },
            decisions: try arguments["decisions"].map { try DecisionFile(path: $0) })
        try run.perform(source)
        try check(run, arguments["timeline"])
        try run.keepDecisions()
        Terminal.print(
            format == "json" ? SimulationJSON.text(run) : SimulationText.pretty(run, arguments))
        if let path = arguments["svg"] {
            try Files.write(SimulationPicture(run.reports).text, to: path)
            Terminal.say("picture written to \(path)")
        }
        return ExitStatus.fine
    }

    /// Refuses to write where it reads, or two results into one file.
    private static func refuseOverwriting(_ arguments: Arguments) throws {
        let names = ["events", "svg", "decisions"].filter { arguments[$0] != nil }
        for (place, name) in names.enumerated() {
            for other in names[(place + 1)...] {
                guard let path = arguments[name], let second = arguments[other] else { continue }
                if path == second && path != "-" || Files.areSame(path, second) {
                    throw UsageError("--\(name) and --\(other) are one file: \(second)")
                }
            }
        }
    }

    /// Refuses to report on nothing.
    private static func check(_ run: SimulationRun, _ subject: String?) throws {
        guard let first = run.reports.first, first.events > 0 else {
            throw NothingTested(message: "there are no donations: nothing was simulated")
        }
        for report in run.reports where report.judged == 0 {
            let names = report.unknownReasons.named.keys.sorted().prefix(8).joined(separator: ", ")
            let errors = report.refused.named.keys.sorted().joined(separator: ", ")
            throw NothingTested(
                message: "\(report.policy) could judge none of "
                    + "\(Figures.counted(report.events, "donation"))"
                    + (errors.isEmpty ? "" : ": \(errors)")
                    + (names.isEmpty ? "" : "; it knows none of their reasons: \(names)"))
        }
        if let subject, run.timeline.isEmpty {
            throw NothingTested(message: "there is no donation of `\(subject)`")
        }
    }
}
