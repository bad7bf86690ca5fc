import CEL
import Engine
import JSON
import Policies

/// Runs the tests of a plain CEL policy.
struct PlainTestRun {
    var policy: PlainPolicy
    var tests: PlainTests

    func results(where runs: (String, String) -> Bool) -> [PolicyTestResult] {
        tests.sections.flatMap { section in
            section.tests.filter { runs(section.name, $0.name) }.map { test in
                PolicyTestResult(
                    path: tests.path, line: test.position.line, policy: policy.name,
                    section: section.name, name: test.name, failures: failures(of: test))
            }
        }
    }

    private func failures(of test: PlainTests.Test) -> [String] {
        var inputs: [(name: String, value: Value)] = []
        for (name, operand) in test.input {
            switch value(operand) {
            case .success(let value): inputs.append((name, value))
            case .failure(let error): return ["input `\(name)`: \(error.message)"]
            }
        }
        switch (value(test.output), policy.evaluate(inputs)) {
        case (.failure(let error), _): return ["expected output: \(error.message)"]
        case (_, .failure(let error)): return ["the policy failed: \(error.message)"]
        case (.success(let expected), .success(let given)):
            // An optional result stands for what it holds.
            let actual = if case .optional(let inner?) = given { inner } else { given }
            if expected == given || expected == actual { return [] }
            return ["expected \(expected), got \(given)"]
        }
    }

    private func value(_ operand: PlainTests.Operand) -> Result<Value, EvaluationError> {
        switch operand {
        case .value(let json): return .success(JSONBridge.value(json))
        case .expression(let source):
            let result = Environment().compile(source)
            guard let program = result.program else {
                let message = result.diagnostics.first?.message ?? "not valid"
                return .failure(EvaluationError(.invalidArgument, "`\(source)`: \(message)"))
            }
            var activation = Activation(Environment())
            return program.evaluate(&activation).outcome
        }
    }
}
