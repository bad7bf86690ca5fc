import CEL

extension PlainPolicy {
    /// Why there is no result, and which text of the file gave the error.
    public struct Failure: Error, Sendable, Equatable {
        /// The error; its own range is that within the expression.
        public let error: EvaluationError
        /// The part of the expression that failed.
        public let range: SourceRange

        init(_ error: EvaluationError, in expression: Expression) {
            self.error = error
            range = expression.place(of: error.range)
        }
    }

    /// The result for some inputs, by name. An input that the policy does not declare is left
    /// out; one that is missing is absent. Where the rules may give none, the result is an optional.
    public func evaluate(_ inputs: [(name: String, value: Value)]) -> Result<Value, Failure> {
        var activation = Activation(environment)
        for (name, value) in inputs {
            if let slot = environment.slot(name) { activation.set(slot, value) }
        }
        let outcome = Self.result(of: rule, &activation)
        guard rule.mayGiveNone else { return outcome ?? .success(.optional(nil)) }
        return outcome.map { $0.map { .optional($0) } } ?? .success(.optional(nil))
    }

    private static func result(of block: PlainBlock, _ activation: inout Activation) -> Result<
        Value, Failure
    >? {
        for match in block.matches {
            if let condition = match.condition {
                switch condition.program.evaluateCondition(&activation) {
                case .failed(let error): return .failure(Failure(error, in: condition))
                case .matched where match.isNegated, .notMatched where !match.isNegated: continue
                case .matched, .notMatched: break
                }
            }
            switch match.action {
            case .output(let expression):
                return expression.program.evaluate(&activation).outcome.mapError {
                    Failure($0, in: expression)
                }
            case .block(let nested):
                let result = result(of: nested, &activation)
                if result != nil || !match.isUnconditional { return result }
            }
        }
        return nil
    }
}
