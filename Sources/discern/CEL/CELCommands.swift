import CEL
import JSON
import Policies

/// The commands that try CEL itself, without policies.
enum CELCommands {
    static var eval: Command {
        Command(
            name: "cel eval", summary: "Evaluate a CEL expression.", positional: "EXPR",
            options: [
                .value("var", nil, "NAME=JSON", "Declare a variable with a value (repeatable).")
            ],
            discussion: """
                JSON numbers without a point are ints, objects are maps with string keys.
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
        for (name, text) in try variables(arguments, separator: "=") {
            let value: Value
            do throws(JSONError) {
                value = Value(try JSONReader.parse(Array(text.utf8)))
            } catch {
                throw UsageError("--var \(name): \(error.message) at offset \(error.offset)")
            }
            let slot = try declare(name, type(of: value), in: &environment)
            values.append((slot, value))
        }
        guard let program = compile(expression, environment) else {
            return ExitStatus.invalidPolicies
        }
        var activation = Activation(environment)
        for (slot, value) in values { activation.set(slot, value) }
        switch program.evaluate(&activation).outcome {
        case .success(let value):
            Terminal.print(value.text)
            return ExitStatus.fine
        case .failure(let error):
            let diagnostic = Diagnostic(
                range: error.range, code: "cel.evaluation.\(error.code)", message: error.message)
            show([diagnostic], of: expression)
            return ExitStatus.invalidPolicies
        }
    }

    private static func check(_ arguments: Arguments) throws -> Int32 {
        let expression = try expression(arguments)
        var environment = Environment(zones: SystemZones.load())
        for (name, text) in try variables(arguments, separator: ":") {
            guard let type = Type(text: text) else {
                throw UsageError("--var \(name): `\(text)` is no type")
            }
            _ = try declare(name, type, in: &environment)
        }
        guard let program = compile(expression, environment) else {
            return ExitStatus.invalidPolicies
        }
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

    private static func variables(_ arguments: Arguments, separator: Character) throws
        -> [(name: String, text: String)]
    {
        try arguments.all("var").map { given in
            guard let place = given.firstIndex(of: separator) else {
                throw UsageError("--var `\(given)`: there is no `\(separator)`")
            }
            return (String(given[..<place]), String(given[given.index(after: place)...]))
        }
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

    private static func compile(_ expression: String, _ environment: Environment) -> Program? {
        let result = environment.compile(expression)
        show(result.diagnostics, of: expression)
        return result.program
    }

    private static func show(_ diagnostics: [Diagnostic], of expression: String) {
        let source = SourceText(Array(expression.utf8), name: "<expression>")
        for diagnostic in diagnostics {
            // The text ends its last line itself.
            Terminal.say(String(source.render(diagnostic).dropLast()))
        }
    }

    private static func type(of value: Value) -> Type {
        switch value {
        case .bool: .bool
        case .int: .int
        case .uint: .uint
        case .double: .double
        case .string: .string
        case .list: .list(.dyn)
        case .map: .map(.string, .dyn)
        default: .dyn
        }
    }
}
