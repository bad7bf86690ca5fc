import CEL

extension PlainPolicy {
    /// The result for some inputs, by name. An input that the policy does not declare is left
    /// out; one that is missing is absent. Where the rules may give none, the result is an optional.
    public func evaluate(_ inputs: [(name: String, value: Value)]) -> Result<
        Value, EvaluationError
    > {
        var activation = Activation(environment)
        for (name, value) in inputs {
            if let slot = environment.slot(name) { activation.set(slot, value) }
        }
        let outcome = Self.result(of: rule, &activation)
        guard rule.mayGiveNone else { return outcome ?? .success(.optional(nil)) }
        return outcome.map { $0.map { .optional($0) } } ?? .success(.optional(nil))
    }

    private static func result(of block: PlainBlock, _ activation: inout Activation) -> Result<
        Value, EvaluationError
    >? {
        for match in block.matches {
            switch match.condition?.program.evaluateCondition(&activation) {
            case .failed(let error)?: return .failure(error)
            case .matched? where match.isNegated, .notMatched? where !match.isNegated: continue
            case .matched?, .notMatched?, nil: break
            }
            switch match.action {
            case .output(let expression): return expression.program.evaluate(&activation).outcome
            case .block(let nested):
                let result = result(of: nested, &activation)
                if result != nil || !match.isUnconditional { return result }
            }
        }
        return nil
    }
}
