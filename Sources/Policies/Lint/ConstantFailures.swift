import CEL

/// Finds the parts of an expression that fail whatever the event: divisions by zero, indexes
/// outside of a list, texts that are no time.
struct ConstantFailures {
    let program: Program

    struct Failure {
        let range: Range<Int>
        let message: String
    }

    /// The cost one part may have: what is known beforehand should be cheap to know.
    private static let cost = 10_000

    /// The innermost parts that fail, in the order of the tree.
    func find() -> [Failure] {
        var failures: [Failure] = []
        _ = visit(program.root, &failures)
        return failures
    }

    private enum Knowledge {
        /// Depends on the event, or was reported.
        case open
        case constant
    }

    private func visit(_ id: AST.NodeID, _ failures: inout [Failure]) -> Knowledge {
        let ast = program.ast
        var isConstant = true
        for child in ast.children(of: id) where visit(child, &failures) == .open {
            isConstant = false
        }
        switch ast[id].kind {
        case .literal: return .constant
        case .identifier, .select, .presence, .comprehension, .bind, .block, .invalid, .structure:
            return .open
        case .list, .map: return isConstant ? .constant : .open
        case .call(let function, let target, let arguments):
            guard isConstant else {
                if target == nil, arguments.count == 2 {
                    check(function, id, arguments[0], arguments[1], &failures)
                }
                return .open
            }
            guard let error = evaluate(id)?.error else { return .constant }
            failures.append(Failure(range: ast[id].range, message: error.message))
            return .open
        }
    }

    private func evaluate(_ id: AST.NodeID) -> EvaluationResult? {
        guard let part = program.part(id) else { return nil }
        var activation = Activation(Environment())
        let result = part.evaluate(&activation, costLimit: Self.cost)
        // Giving up is not failing.
        return result.error?.code == .costLimit ? nil : result
    }

    /// One side depends on the event, the other alone is enough to fail.
    private func check(
        _ function: String, _ id: AST.NodeID, _ left: AST.NodeID, _ right: AST.NodeID,
        _ failures: inout [Failure]
    ) {
        let ast = program.ast
        switch function {
        case "_/_", "_%_":
            switch constant(right) {
            case .int(0)?, .uint(0)?:
                failures.append(Failure(range: ast[id].range, message: "it divides by zero"))
            default: break
            }
        case "_[_]":
            guard case .int(let index)? = constant(right), case .list = ast[left].type else {
                return
            }
            var count = Int64.max
            if case .list(let elements, let optional) = ast[left].kind, optional.isEmpty {
                count = Int64(elements.count)
            }
            guard index < 0 || index >= count else { return }
            failures.append(
                Failure(range: ast[right].range, message: "the list has no index \(index)"))
        default: break
        }
    }

    private func constant(_ id: AST.NodeID) -> Value? {
        var failures: [Failure] = []
        guard visit(id, &failures) == .constant else { return nil }
        return evaluate(id)?.value
    }
}
