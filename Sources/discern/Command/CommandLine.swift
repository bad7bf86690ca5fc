import Glibc

/// All commands, and how one is found and run.
enum CommandTable {
    static var commands: [Command] {
        [
            ServeCommand.command, CheckCommand.command, TestCommand.command, EvalCommand.command,
            ExplainCommand.command, BacktestCommand.command, FormatCommand.command,
            SimulateCommand.command, DiffCommand.command, BenchCommand.command,
            PresetsCommand.list, PresetsCommand.show,
            AppsCommand.create, AppsCommand.list, KeysCommand.create, KeysCommand.list,
            KeysCommand.revoke, PolicyListCommands.list, PolicyChangeCommands.activate,
            PolicyChangeCommands.deactivate, PolicyChangeCommands.rollBack,
            SubjectsCommand.erase,
            PolicyCompareCommand.command, PolicyListCommands.history, PolicyChangeCommands.reload,
            AuditQueryCommand.command, AuditQueryCommand.list, AuditTailCommand.command,
            AuditGetCommand.command, AuditExportCommand.command, AuditStatsCommand.command,
            AuditVerifyCommand.command, AuditProofCommands.inclusion,
            AuditProofCommands.consistency, AuditProofCommands.verify,
            AuditCheckpointCommand.command,
            CELCommands.eval, CELCommands.check, FormatCommand.expression,
            CELCommands.functions, CELCommands.conformance, version,
        ]
    }

    private static var version: Command {
        Command(name: "version", summary: "Print the version.") { _ in
            Terminal.print("discern \(Version.current)")
            return ExitStatus.fine
        }
    }

    /// Runs what the words call for. Results that were lost are a failure, whatever they were.
    static func run(_ words: [String]) -> Int32 {
        let status = perform(words)
        guard let failure = Terminal.outputFailure else { return status }
        Terminal.say("discern: the results could not be written: \(failure)")
        return status == ExitStatus.fine ? ExitStatus.failure : status
    }

    private static func perform(_ words: [String]) -> Int32 {
        if words.count > 1, words[0] == "help" {
            return perform(Array(words.dropFirst()) + ["--help"])
        }
        guard let first = words.first, !["help", "--help", "-h"].contains(first) else {
            Terminal.print(overview)
            return words.isEmpty ? ExitStatus.usage : ExitStatus.fine
        }
        if first == "--version" { return perform(["version"]) }
        let found = commands.filter { command in
            words.starts(with: command.name.split(separator: " ").map(String.init))
        }
        guard let command = found.max(by: { $0.name.count < $1.name.count }) else {
            let group = commands.filter { $0.name.hasPrefix(first + " ") }
            guard !group.isEmpty, words.count > 1, words[1] == "help" || isHelp(words[1]) else {
                return unknown(words, of: group)
            }
            Terminal.print(overview(of: first, group))
            return ExitStatus.fine
        }
        let rest = Array(words.dropFirst(command.name.split(separator: " ").count))
        if rest.contains(where: isHelp) {
            Terminal.print(prose: command.help)
            return ExitStatus.fine
        }
        return run(command, rest)
    }

    private static func run(_ command: Command, _ words: [String]) -> Int32 {
        do {
            return try command.run(try Arguments(words, for: command))
        } catch let error as UsageError {
            Terminal.say("discern \(command.name): \(error.message)")
            Terminal.say("`discern \(command.name) --help` tells what it takes")
            return ExitStatus.usage
        } catch let nothing as NothingTested {
            Terminal.say("discern \(command.name): \(nothing.message)")
            return ExitStatus.nothingTested
        } catch {
            Terminal.say("discern \(command.name): \(error)")
            return ExitStatus.failure
        }
    }

    private static func isHelp(_ word: String) -> Bool { word == "--help" || word == "-h" }

    private static func unknown(_ words: [String], of group: [Command]) -> Int32 {
        if group.isEmpty {
            Terminal.say("discern: there is no command `\(words[0])`; `discern help` lists them")
        } else {
            Terminal.say(
                words.count > 1
                    ? "discern \(words[0]): there is no command `\(words[1])`; there are"
                    : "discern \(words[0]): which of these?")
            Terminal.say(list(group))
        }
        return ExitStatus.usage
    }

    private static func list(_ commands: [Command]) -> String {
        Layout.table(commands.map { [$0.name, $0.summary] }).joined(separator: "\n")
    }

    private static func overview(of group: String, _ commands: [Command]) -> String {
        """
        usage: discern \(group) COMMAND [options] [arguments]

        commands:
        \(list(commands))

        `discern \(group) COMMAND --help` tells what a command takes.
        """
    }

    private static var overview: String {
        """
        discern decides how much to interrupt a person.

        usage: discern COMMAND [options] [arguments]

        commands:
        \(list(commands))

        `discern COMMAND --help` tells what a command takes.
        Exit status: 0 fine, 1 failure, 2 usage, 3 policies invalid, 4 tests failed,
        5 nothing tested or below the threshold, 6 audit log broken.
        """
    }
}

/// The version of the program.
enum Version {
    static let current = "0.1.0"
}
