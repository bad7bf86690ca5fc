import CEL
import Glibc
import Policies

/// The commands that try CEL itself, without policies.
enum CELCommands {
    static var eval: Command {
        Command(
            name: "cel eval", summary: "Evaluate a CEL expression.", positional: "EXPR",
            options: [
                .value(
                    "var", nil, "NAME[:TYPE]=JSON", "Declare a variable with a value (repeatable).")
            ],
            discussion: """
                JSON numbers without a point are ints, objects are maps with string keys. With a
                type the value becomes one of it: `n:uint=5`, `x:dyn=1`, `t:timestamp="2026-…Z"`,
                `d:duration="1h30m"`, `b:bytes="AAE="` (base64), `l:list(double)=[1, 2]`.
                Write `--` before an expression that begins with a minus.
                Exit status: 0 a value, 2 usage, 3 an invalid expression or an error value.
                """
        ) { try evaluate($0) }
    }

    static var check: Command {
        Command(
            name: "cel check", summary: "Check a CEL expression, print its type and its cost.",
            positional: "EXPR",
            options: [
                .value("var", nil, "NAME:TYPE", "Declare a variable of a type (repeatable).")
            ],
            discussion: """
                Types are written as in list(string), map(string, dyn), timestamp.
                The cost is that of one evaluation, in steps, elements, and units of 16 bytes; it has
                no upper bound where it depends on the size of a variable.
                """
        ) { try check($0) }
    }

    private static func evaluate(_ arguments: Arguments) throws -> Int32 {
        let expression = try expression(arguments)
        var environment = Environment(zones: SystemZones.load())
        var values: [(slot: Int, value: Value)] = []
        for variable in try arguments.all("var").map(CELVariable.init) {
            guard let value = try variable.value() else {
                throw UsageError(
                    "--var \(variable.name): a value is needed: NAME=JSON or NAME:TYPE=JSON")
            }
            let slot = try declare(variable.name, variable.declaredType(), in: &environment)
            values.append((slot, value))
        }
        let compiled = environment.compile(expression)
        guard let program = compiled.program else {
            show(compiled.diagnostics, of: expression)
            return ExitStatus.invalidPolicies
        }
        var activation = Activation(environment)
        for (slot, value) in values { activation.set(slot, value) }
        switch program.evaluate(&activation).outcome {
        case .success(let value):
            show(compiled.diagnostics, of: expression)
            Terminal.print(value.text)
            return ExitStatus.fine
        case .failure(let error):
            // That it can only fail need not be said where it has just failed.
            let others = compiled.diagnostics.filter {
                $0.code != "cel.alwaysFails" || $0.range != error.range
            }
            let diagnostic = Diagnostic(
                range: error.range, code: "cel.evaluation.\(error.code)", message: error.message)
            show(others + [diagnostic], of: expression)
            return ExitStatus.invalidPolicies
        }
    }

    private static func check(_ arguments: Arguments) throws -> Int32 {
        let expression = try expression(arguments)
        var environment = Environment(zones: SystemZones.load())
        for variable in try arguments.all("var").map(CELVariable.init) {
            guard let type = variable.type, variable.json == nil else {
                throw UsageError(
                    "--var \(variable.name): a type is needed, and no value: NAME:TYPE")
            }
            _ = try declare(variable.name, type, in: &environment)
        }
        let compiled = environment.compile(expression)
        show(compiled.diagnostics, of: expression)
        guard let program = compiled.program else { return ExitStatus.invalidPolicies }
        Terminal.print("\(program.resultType)")
        Terminal.print("cost: \(text(program.costEstimate()))")
        return ExitStatus.fine
    }

    private static func text(_ cost: CostEstimate) -> String {
        guard let maximum = cost.maximum else { return "at least \(cost.minimum)" }
        return maximum == cost.minimum ? "\(maximum)" : "\(cost.minimum) to \(maximum)"
    }

    private static func expression(_ arguments: Arguments) throws -> String {
        guard arguments.positional.count == 1 else {
            throw UsageError("exactly one expression is needed, not \(arguments.positional.count)")
        }
        return arguments.positional[0]
    }

    private static func declare(
        _ name: String, _ type: Type, in environment: inout Environment
    ) throws -> Int {
        do throws(Environment.DeclarationError) {
            return try environment.declare(name, type).lowerBound
        } catch .duplicate {
            throw UsageError("--var \(name): the name is taken")
        } catch .invalidName {
            throw UsageError("--var \(name): this is no name of a variable")
        }
    }

    static func show(_ diagnostics: [Diagnostic], of expression: String) {
        let source = SourceText(Array(expression.utf8), name: "<expression>")
        let columns = Terminal.columns(of: STDERR_FILENO) ?? Layout.columns
        for diagnostic in diagnostics {
            // The text ends its last line itself.
            Terminal.say(String(source.render(diagnostic, columns: columns).dropLast()))
        }
    }
}
