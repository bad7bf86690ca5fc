import CEL

extension PlainPolicy {
    /// The result for some inputs, by name. An input that the policy does not declare is left
    /// out; one that is missing is absent. Without any match the result is `optional.none()`.
    public func evaluate(_ inputs: [(name: String, value: Value)]) -> Result<
        Value, EvaluationError
    > {
        var activation = Activation(environment)
        for (name, value) in inputs {
            if let slot = environment.slot(name) { activation.set(slot, value) }
        }
        return Self.result(of: rule, &activation) ?? .success(.optional(nil))
    }

    private static func result(of block: PlainBlock, _ activation: inout Activation) -> Result<
        Value, EvaluationError
    >? {
        for match in block.matches {
            switch match.condition?.program.evaluateCondition(&activation) ?? .matched {
            case .notMatched: continue
            case .failed(let error): return .failure(error)
            case .matched: break
            }
            switch match.action {
            case .output(let expression): return expression.program.evaluate(&activation).outcome
            case .block(let nested):
                if let result = result(of: nested, &activation) { return result }
            }
        }
        return nil
    }
}
