import CEL
import JSON

extension PlainPolicy {
    /// What a test finds wrong; empty where the policy gives what the test expects.
    package func failures(of test: PlainTests.Test) -> [String] {
        switch inputs(of: test) {
        case .failure(let fault): [fault.message]
        case .success(let inputs): failures(of: test, evaluate(inputs.values))
        }
    }

    /// The inputs of a test, by name.
    package struct TestInputs {
        package let values: [(name: String, value: Value)]
    }

    /// Why a test has no inputs.
    package struct TestFault: Error {
        package let message: String
    }

    /// What a test gives the policy.
    package func inputs(of test: PlainTests.Test) -> Result<TestInputs, TestFault> {
        var inputs: [(name: String, value: Value)] = []
        if let source = test.context {
            switch value(of: source) {
            case .success(.map(let map)):
                for entry in map.entries {
                    if case .string(let name) = entry.key { inputs.append((name, entry.value)) }
                }
            case .success(let value):
                return .failure(
                    TestFault(message: "`context_expr` gives \(value.text), which has no fields"))
            case .failure(let error):
                return .failure(TestFault(message: "`context_expr`: \(error.message)"))
            }
        }
        for (name, operand) in test.input {
            switch value(of: operand) {
            case .success(let value): inputs.append((name, value))
            case .failure(let error):
                return .failure(TestFault(message: "input `\(name)`: \(error.message)"))
            }
        }
        return .success(TestInputs(values: inputs))
    }

    private func failures(
        of test: PlainTests.Test, _ outcome: Result<Value, Failure>
    ) -> [String] {
        switch (test.output, outcome) {
        case (.failure(let messages), .failure(let failure)):
            let message = failure.error.message
            if messages.isEmpty || messages.contains(where: message.contains) { return [] }
            return ["expected an error like \(messages), got: \(message)"]
        case (.failure, .success(let value)): return ["expected an error, got \(value.text)"]
        case (.result, .failure(let failure)):
            return ["the policy failed: \(failure.error.message)"]
        case (.result(let operand), .success(let given)): return compare(operand, given)
        }
    }

    private func compare(_ operand: PlainTests.Operand, _ given: Value) -> [String] {
        switch value(of: operand) {
        case .failure(let error): return ["expected output: \(error.message)"]
        case .success(let expected):
            // An optional result stands for what it holds.
            let held = if case .optional(let inner?) = given { inner } else { given }
            return expected == given || expected == held
                ? [] : ["expected \(expected.text), got \(given.text)"]
        }
    }

    private func value(of operand: PlainTests.Operand) -> Result<Value, EvaluationError> {
        switch operand {
        case .value(let json): .success(Value(json))
        case .expression(let source): value(of: source)
        }
    }

    /// An expression of a test may use the policy's functions, not its variables.
    private func value(of source: String) -> Result<Value, EvaluationError> {
        var bare = Environment(zones: environment.zones)
        bare.container = environment.container
        bare.abbreviations = environment.abbreviations
        for function in environment.functions { bare.declare(function) }
        let result = bare.compile(source)
        guard let program = result.program else {
            let message = result.diagnostics.first?.message ?? "not valid"
            return .failure(EvaluationError(.invalidArgument, "`\(source)`: \(message)"))
        }
        var activation = Activation(bare)
        return program.evaluate(&activation).outcome
    }
}
