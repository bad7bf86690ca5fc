import Glibc
import JSON
import Policies

/// `discern check`: loads policies, models and tests and says what is wrong.
enum CheckCommand {
    static var command: Command {
        Command(
            name: "check", summary: "Check policies, models and tests.", positional: "[PATH…]",
            options: [
                .value("format", "f", "FORMAT", "pretty (default) or json"),
                .flag("strict", nil, "warnings fail as well"),
                .flag("fix", nil, "make the changes that are safe, and check again"),
            ],
            discussion: """
                Findings go to standard error, each with its place, a caret and a code; as JSON
                they go to standard output, lines and columns from 1, with a `fix` where one is
                known: edits that replace a range by a text. Folders are read with all below them;
                without a PATH it is the folder Policies. In a terminal lines are broken to fit it;
                elsewhere the first line of a finding, file:line:column: severity: message [code],
                is one line, as editors and builds read it.

                --fix makes those edits: a misspelt key, name or value with exactly one near
                match, quotes around a number or a truth value, an order of outcomes written out
                as a list. A change stays only if less is found afterwards; a file that would
                check worse is never written.

                  discern check Policies             all of a folder
                  discern check --strict Policies    in CI: warnings fail too
                  discern check --fix payments.yaml  mend slips of the pen

                Exit status: 0 fine (warnings included, unless --strict), 1 a path that cannot be
                read or written, 2 usage, or no policy file there, 3 policies invalid.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        let paths = arguments.paths
        let found = try PolicyFiles.read(paths).get()
        guard !found.files.isEmpty else { throw UsageError(PolicyFiles.nothing(in: paths)) }
        let loader = PolicyLoader(zones: SystemZones.load())
        let load: PolicyLoad
        if arguments.has("fix") {
            let fixed = FixRun(found.files, with: loader)
            try write(fixed)
            load = fixed.load
        } else {
            load = loader.load(found.files)
        }
        if format == "json" { Terminal.print(load.json.text) } else { report(load) }
        let isStrict = arguments.has("strict") && !load.diagnostics.isEmpty
        return load.hasErrors || isStrict ? ExitStatus.invalidPolicies : ExitStatus.fine
    }

    private static func write(_ fixed: FixRun) throws {
        for file in fixed.files where fixed.changedPaths.contains(file.path) {
            try Files.replace(file.path, with: file.bytes)
        }
        for change in fixed.changes {
            let place = change.finding.place
            Terminal.say(
                "\(change.finding.file):\(place.line):\(place.column): fixed: "
                    + "\(change.finding.message): \(change.fix.title)")
        }
    }

    private static func report(_ load: PolicyLoad) {
        let findings = load.rendered(
            colour: Terminal.hasColour, columns: Terminal.columns(of: STDERR_FILENO))
        if !findings.isEmpty { Terminal.write(findings + "\n", to: STDERR_FILENO) }
        for file in load.files {
            let reference = file.reference.map { " " + $0 } ?? ""
            Terminal.print(prose: "\(file.path): \(file.role.rawValue)\(reference)")
        }
        let errors = load.diagnostics.count { $0.severity == .error }
        let warnings = load.diagnostics.count - errors
        let fixable = load.diagnostics.count { $0.fix != nil }
        Terminal.print(
            prose:
                "\(Figures.counted(load.files.count, "file")), \(Figures.counted(errors, "error")), "
                + Figures.counted(warnings, "warning")
                + (fixable > 0 ? " (--fix can mend \(fixable))" : ""))
    }
}
