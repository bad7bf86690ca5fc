import CEL

extension CELCommands {
    static var functions: Command {
        Command(
            name: "cel functions", summary: "List CEL's operators and functions.",
            positional: "[NAME…]",
            discussion: """
                Prints each overload. With names only those of functions whose name contains one.
                Macros (`has`, `all`, `map` …) are no functions; docs/cel.md has them, and examples.
                """
        ) { arguments in
            let wanted = arguments.positional.map { $0.lowercased() }
            let found = Function.standard.filter { function in
                let name = function.name.lowercased()
                return wanted.isEmpty || wanted.contains { name.contains($0) }
            }
            for signature in found.flatMap(\.signatures) { Terminal.print(signature) }
            let macros = arguments.positional.filter {
                Function.macros.contains($0) || Function.macros.contains("cel." + $0)
            }
            for name in macros {
                Terminal.say("`\(name)` is a macro, see \"Macros\" in docs/cel.md")
            }
            if !found.isEmpty || !macros.isEmpty { return ExitStatus.fine }
            Terminal.say("no function has such a name")
            return ExitStatus.failure
        }
    }
}
