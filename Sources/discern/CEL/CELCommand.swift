import CEL
import Glibc
import JSON
import Time

/// Exit codes of the `cel` commands.
enum CELExit {
    static let ok: Int32 = 0
    static let inputOutput: Int32 = 1
    static let usage: Int32 = 2
    static let invalidExpression: Int32 = 3
    static let failed: Int32 = 4
}

/// `discern cel eval EXPR [--var name=JSON]…`: the value on standard output.
func celEval(arguments: [String]) -> Int32 {
    guard let call = CELArguments(arguments, usage: "discern cel eval EXPR [--var name=JSON]…")
    else {
        return CELExit.usage
    }
    var environment = Environment(zones: SystemZones.load())
    var values: [(slot: Int, value: Value)] = []
    for (name, text) in call.variables {
        do throws(JSONError) {
            let json = try JSONReader.parse(Array(text.utf8))
            let value = JSONBridge.value(json)
            guard let slot = declare(name, JSONBridge.type(of: value), in: &environment) else {
                return CELExit.usage
            }
            values.append((slot, value))
        } catch {
            complain("--var \(name): \(error.message) at offset \(error.offset)")
            return CELExit.usage
        }
    }
    guard let program = compile(call.expression, environment) else {
        return CELExit.invalidExpression
    }
    var activation = Activation(environment)
    for (slot, value) in values { activation.set(slot, value) }
    switch program.evaluate(&activation).outcome {
    case .success(let value):
        write(JSONBridge.text(value) + "\n", to: STDOUT_FILENO)
        return CELExit.ok
    case .failure(let error):
        let diagnostic = Diagnostic(
            range: error.range, code: "cel.evaluation.\(error.code)", message: error.message)
        show([diagnostic], of: call.expression)
        return CELExit.invalidExpression
    }
}

/// `discern cel check EXPR [--var name:type]…`: the type of the result on standard output.
func celCheck(arguments: [String]) -> Int32 {
    let usage = "discern cel check EXPR [--var name:type]…"
    guard let call = CELArguments(arguments, separator: ":", usage: usage) else {
        return CELExit.usage
    }
    var environment = Environment(zones: SystemZones.load())
    for (name, text) in call.variables {
        guard let type = Type(text: text) else {
            complain("--var \(name): `\(text)` is no type; write one such as list(string)")
            return CELExit.usage
        }
        guard declare(name, type, in: &environment) != nil else { return CELExit.usage }
    }
    guard let program = compile(call.expression, environment) else {
        return CELExit.invalidExpression
    }
    write("\(program.resultType)\n", to: STDOUT_FILENO)
    return CELExit.ok
}

private func declare(_ name: String, _ type: Type, in environment: inout Environment) -> Int? {
    do throws(Environment.DeclarationError) {
        return try environment.declare(name, type).lowerBound
    } catch {
        complain("--var \(name): the name is taken, or is no identifier")
        return nil
    }
}

private func compile(_ expression: String, _ environment: Environment) -> Program? {
    let result = environment.compile(expression)
    show(result.diagnostics, of: expression)
    return result.program
}

private func show(_ diagnostics: [Diagnostic], of expression: String) {
    let source = SourceText(Array(expression.utf8), name: "<expression>")
    for diagnostic in diagnostics { write(source.render(diagnostic), to: STDERR_FILENO) }
}

func complain(_ message: String) { write("discern cel: \(message)\n", to: STDERR_FILENO) }

/// Writes all of a text, since a pipe may take less at once.
func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }
}

/// The expression and the `--var` options of a command line.
struct CELArguments {
    var expression = ""
    var variables: [(name: String, text: String)] = []

    /// Nil where the arguments are wrong, which has then been said.
    init?(_ arguments: [String], separator: Character = "=", usage: String) {
        var expressions: [String] = []
        var rest = arguments[...]
        var isOption = true
        while let argument = rest.popFirst() {
            if isOption, argument == "--" {
                isOption = false
            } else if isOption, argument == "--var" || argument.hasPrefix("--var=") {
                let given = argument == "--var" ? rest.popFirst() : String(argument.dropFirst(6))
                guard let given, let place = given.firstIndex(of: separator) else {
                    complain("--var needs name\(separator)…\nusage: \(usage)")
                    return nil
                }
                variables.append(
                    (String(given[..<place]), String(given[given.index(after: place)...])))
            } else if isOption, argument.hasPrefix("--") {
                complain("unknown option `\(argument)`\nusage: \(usage)")
                return nil
            } else {
                expressions.append(argument)
            }
        }
        guard expressions.count == 1, let only = expressions.first else {
            complain("exactly one expression is needed\nusage: \(usage)")
            return nil
        }
        expression = only
    }
}
