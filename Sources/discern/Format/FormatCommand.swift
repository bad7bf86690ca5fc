import CEL
import Glibc
import Policies

/// `discern fmt`: lays files out.
enum FormatCommand {
    static var command: Command {
        Command(
            name: "fmt", summary: "Lay out policies, models and tests.", positional: "PATH…",
            options: [
                .flag("check", nil, "write nothing, list files that would change, and exit with 3"),
                .flag("diff", nil, "write nothing, print what would change; with --check as well"),
            ],
            discussion: """
                Indentation by two, one blank line at most, one blank inside of `{a: 1, b: [c]}`
                and around operators of expressions, strings of expressions in double quotes.
                A chain of && or || that an author broke, or that is wider than 100 columns below
                `|` or `>`, has an operand a line. Order, comments and content stay. Each result
                is read again and compared before it is written: a file that would come to mean
                anything else is left as it is, and named; so is one with an expression that is
                too long or does not parse. An expression with // comments in it is left as it is
                too, while the rest of its file is laid out; standard error tells of which lines.

                Folders are laid out with all below them; - is standard input to output.

                  discern fmt Policies            all of a folder
                  discern fmt --check Policies    in CI
                  discern fmt --diff a.yaml       see first

                Exit status: 0 fine, 1 a path that cannot be read or written, 2 usage,
                3 --check found files to lay out, or there is a file that cannot be.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        guard !arguments.positional.isEmpty else { throw UsageError("name files or folders, or -") }
        if arguments.positional == ["-"] { return try standardInput(arguments) }
        let found = try PolicyFiles.read(arguments.positional, withCompanions: false).get()
        guard !found.files.isEmpty else {
            throw UsageError(PolicyFiles.nothing(in: arguments.positional))
        }
        let onlyLooks = arguments.has("check") || arguments.has("diff")
        var changed = 0
        var refused = 0
        var failed = 0
        for file in found.files {
            guard let result = format(file) else {
                refused += 1
                continue
            }
            guard result != file.bytes else { continue }
            if !onlyLooks, let fault = write(result, to: file.path) {
                Terminal.say(fault)
                failed += 1
                continue
            }
            changed += 1
            if arguments.has("diff") {
                Terminal.write(LineDiff.unified(file.bytes, result, path: file.path), to: 1)
            } else {
                Terminal.print(file.path)
            }
        }
        Terminal.say(
            "\(Figures.counted(found.files.count, "file")), \(changed) \(onlyLooks ? "to lay out" : "laid out")"
                + (refused > 0 ? ", \(refused) left as they are" : "")
                + (failed > 0 ? ", \(failed) could not be written" : ""))
        guard failed == 0 else { return ExitStatus.failure }
        let isWanting = arguments.has("check") && changed > 0
        return refused > 0 || isWanting ? ExitStatus.invalidPolicies : ExitStatus.fine
    }

    /// Writes a file; what went wrong, if something did.
    private static func write(_ bytes: [UInt8], to path: String) -> String? {
        do {
            try Files.replace(path, with: bytes)
            return nil
        } catch { return "discern fmt: \(error)" }
    }

    private static func standardInput(_ arguments: Arguments) throws -> Int32 {
        guard let bytes = Files.read("/dev/stdin") else {
            throw Files.Fault(description: "standard input: \(String(cString: strerror(errno)))")
        }
        guard let result = format(PolicyLoader.File(path: "<stdin>", bytes: bytes)) else {
            return ExitStatus.invalidPolicies
        }
        if arguments.has("diff") {
            Terminal.write(LineDiff.unified(bytes, result, path: "<stdin>"), to: 1)
        } else if !arguments.has("check") {
            Terminal.print(result)
        }
        return arguments.has("check") && result != bytes
            ? ExitStatus.invalidPolicies : ExitStatus.fine
    }

    /// The file's new content; nil, and said why, where it stays as it is.
    private static func format(_ file: PolicyLoader.File) -> [UInt8]? {
        if let fault = file.fault {
            Terminal.say("\(file.path): left as it is: \(fault)")
            return nil
        }
        do throws(FileFormatter.Refusal) {
            let result = try FileFormatter.format(file)
            let lines = FileFormatter.commentedExpressions(file)
            if !lines.isEmpty {
                Terminal.say(
                    "\(file.path): expressions with comments are left as they are: "
                        + "line\(lines.count == 1 ? "" : "s") "
                        + lines.map(String.init).joined(separator: ", "))
            }
            return result
        } catch {
            Terminal.say("\(file.path):\(error.line): left as it is: \(error.reason)")
            return nil
        }
    }

    // MARK: Expressions

    static var expression: Command {
        Command(
            name: "cel fmt", summary: "Lay out a CEL expression.", positional: "EXPR",
            discussion: """
                One blank around operators and behind commas, double quotes, no brackets around
                what needs none. An expression with comments is printed as it is.
                Exit status: 0 fine, 2 usage, 3 not an expression.
                """
        ) { arguments in
            guard arguments.positional.count == 1 else {
                throw UsageError("exactly one expression is needed")
            }
            var environment = Environment()
            environment.checking = .lenient
            let text = arguments.positional[0]
            let result = environment.compile(text)
            let errors = result.diagnostics.filter { $0.severity == .error }
            guard errors.isEmpty else {
                CELCommands.show(errors, of: text)
                return ExitStatus.invalidPolicies
            }
            let formatted = result.ast.formatted()
            if formatted == nil { Terminal.say("left as it is: it has comments") }
            Terminal.print(formatted ?? text)
            return ExitStatus.fine
        }
    }
}
