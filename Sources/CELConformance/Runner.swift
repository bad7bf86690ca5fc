import CEL
import JSON
public import Time

/// Runs conformance tests against this implementation.
public struct ConformanceRunner: Sendable {
    /// Zones for the tests that name one.
    public var zones: ZoneDatabase

    /// A runner that looks zones up here.
    public init(zones: ZoneDatabase) { self.zones = zones }

    /// Runs one test.
    public func run(_ test: ConformanceTest) -> ConformanceOutcome {
        if test.needs.contains("proto") { return .skipped("needs messages of the caller's own") }
        var environment = Environment(zones: zones)
        environment.container = test.json["container"]?.stringValue ?? ""
        environment.expandsMacros = !test.flag("disable_macros")
        environment.checking = test.flag("disable_check") ? .lenient : .strict
        var bindings: [(slot: Int, value: Value)] = []
        if let reason = declare(test, &environment, &bindings) { return .skipped(reason) }
        let compiled = environment.compile(test.expression)
        guard let program = compiled.program else {
            let message = compiled.diagnostics.map(\.message).joined(separator: "; ")
            return judge(test, .failure(EvaluationError(.undeclared, message)), type: nil)
        }
        if test.flag("check_only") { return judge(test, nil, type: program.resultType) }
        var activation = Activation(environment)
        for binding in bindings { activation.set(binding.slot, binding.value) }
        let result = program.evaluate(&activation)
        return judge(test, result.outcome, type: program.resultType)
    }

    /// Declares what the test may refer to. Gives the reason where that is not possible.
    private func declare(
        _ test: ConformanceTest, _ environment: inout Environment,
        _ bindings: inout [(slot: Int, value: Value)]
    ) -> String? {
        for declaration in test.json["type_env"]?.arrayValue ?? [] {
            guard let name = declaration["name"]?.stringValue else { continue }
            if let ident = declaration["ident"] {
                guard let type = ident["type"].flatMap(ConformanceJSON.type) else {
                    return "the type of `\(name)` is not known"
                }
                _ = try? environment.declare(name, type)
                // A constant has its value beside its type.
                if let constant = ident["value"], let slot = environment.slot(name) {
                    guard let value = ConformanceJSON.value(constant) else {
                        return "the value of `\(name)` is not supported"
                    }
                    bindings.append((slot, value))
                }
            } else if let function = declaration["function"] {
                environment.declare(ConformanceJSON.function(name, function))
            }
        }
        for (name, json) in test.json["bindings"]?.objectValue?.members ?? [] {
            guard let value = ConformanceJSON.value(json) else {
                return "the value of `\(name)` is not supported"
            }
            if environment.slot(name) == nil { _ = try? environment.declare(name, .dyn) }
            if let slot = environment.slot(name) { bindings.append((slot, value)) }
        }
        return nil
    }

    private func judge(
        _ test: ConformanceTest, _ outcome: Result<Value, EvaluationError>?, type: Type?
    ) -> ConformanceOutcome {
        guard let expect = test.json["expect"] else { return .skipped("no expectation") }
        let actual = ConformanceJSON.text(outcome, type: type)
        if expect["error"] != nil {
            if case .failure? = outcome { return .passed }
            return .failed(expected: "an error", actual: actual)
        }
        if let value = expect["value"] ?? expect["typed_result"]?["value"],
            ConformanceJSON.value(value) == nil
        {
            return .skipped("the expected value is not supported")
        }
        if let typed = expect["typed_result"] {
            guard let wanted = typed["type"].flatMap(ConformanceJSON.type) else {
                return .skipped("the expected type is not known")
            }
            if let type, type == wanted,
                typed["value"].map({ matches($0, outcome) }) ?? true
            {
                return .passed
            }
            let value = typed["value"].map { " \(ConformanceJSON.text($0))" } ?? ""
            return .failed(expected: "\(wanted)\(value)", actual: actual)
        }
        guard let value = expect["value"] else { return .skipped("an expectation of another kind") }
        return matches(value, outcome)
            ? .passed : .failed(expected: ConformanceJSON.text(value), actual: actual)
    }

    private func matches(_ expected: JSONValue, _ outcome: Result<Value, EvaluationError>?) -> Bool
    {
        guard case .success(let actual)? = outcome, let wanted = ConformanceJSON.value(expected)
        else { return false }
        return wanted.isIdentical(to: actual)
    }
}
