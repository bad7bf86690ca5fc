/// The commands about the expression language alone.
enum CELCommands {
    static var eval: Command {
        Command(
            name: "cel eval", summary: "Evaluate a CEL expression.",
            positional: "EXPR", options: [.value("var", nil, "NAME=JSON", "a variable")],
            discussion: "discern cel eval 'a.map(x, x * 2)' --var 'a=[1, 2, 3]'"
        ) { arguments in
            celEval(
                arguments: arguments.positional + arguments.all("var").flatMap { ["--var", $0] })
        }
    }

    static var check: Command {
        Command(
            name: "cel check", summary: "Check a CEL expression and print its type.",
            positional: "EXPR", options: [.value("var", nil, "NAME:TYPE", "a variable")],
            discussion: "discern cel check 'a.map(x, x * 2)' --var 'a:list(int)'"
        ) { arguments in
            celCheck(
                arguments: arguments.positional + arguments.all("var").flatMap { ["--var", $0] })
        }
    }

    static var conformance: Command {
        Command(
            name: "cel conformance", summary: "Run the CEL conformance suite, given as JSON.",
            positional: "PATH…"
        ) { celConformance(arguments: $0.positional) }
    }
}
