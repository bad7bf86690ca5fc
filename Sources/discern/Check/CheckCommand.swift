import JSON
import Policies

/// `discern check`: loads policies, models and tests and says what is wrong.
enum CheckCommand {
    static var command: Command {
        Command(
            name: "check", summary: "Check policies, models and tests.", positional: "PATH…",
            options: [
                .value("format", "f", "FORMAT", "pretty (default) or json"),
                .flag("strict", nil, "warnings fail as well"),
            ],
            discussion: """
                Findings go to standard error, each with its place, a caret and a code; as JSON
                they go to standard output. Folders are read with all below them.
                Exit status: 0 fine (warnings included), 3 policies invalid.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        guard !arguments.positional.isEmpty else { throw UsageError("name files or folders") }
        let found = try PolicyFiles.read(arguments.positional).get()
        guard !found.files.isEmpty else {
            throw UsageError("no policy files in \(arguments.positional.joined(separator: ", "))")
        }
        let load = PolicyLoader(zones: SystemZones.load()).load(found.files)
        if format == "json" { Terminal.print(load.json.text) } else { report(load) }
        let isStrict = arguments.has("strict") && !load.diagnostics.isEmpty
        return load.hasErrors || isStrict ? ExitStatus.invalidPolicies : ExitStatus.fine
    }

    private static func report(_ load: PolicyLoad) {
        let findings = load.rendered(colour: Terminal.hasColour)
        if !findings.isEmpty { Terminal.say(findings) }
        for file in load.files {
            let reference = file.reference.map { " " + $0 } ?? ""
            Terminal.print("\(file.path): \(file.role.rawValue)\(reference)")
        }
        let errors = load.diagnostics.count { $0.severity == .error }
        let warnings = load.diagnostics.count - errors
        Terminal.print("\(load.files.count) files, \(errors) errors, \(warnings) warnings")
    }
}
