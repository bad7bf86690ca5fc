import CEL

/// Finds divisions and indexes that fail whatever the event, though one of their sides depends on
/// it: a divisor that comes to zero, an index that no list of that length has. Parts that are
/// constant as a whole, and divisions by a literal zero, are found by the language itself.
struct ConstantFailures {
    let program: Program

    struct Failure {
        let range: Range<Int>
        let message: String
    }

    /// The cost one part may have: what is known beforehand should be cheap to know.
    private static let cost = 10_000

    /// In the order of the tree.
    func find() -> [Failure] {
        var failures: [Failure] = []
        var pending = [program.root]
        while let id = pending.popLast() {
            if let failure = failure(at: id) { failures.append(failure) }
            pending.append(contentsOf: program.ast.children(of: id))
        }
        return failures
    }

    private func failure(at id: AST.NodeID) -> Failure? {
        let ast = program.ast
        guard case .call(let function, nil, let arguments) = ast[id].kind, arguments.count == 2
        else { return nil }
        let (left, right) = (arguments[0], arguments[1])
        switch function {
        case "_/_", "_%_":
            switch constant(right) {
            case .int(0)?, .uint(0)?:
                return Failure(range: ast[id].range, message: "it divides by zero")
            default: return nil
            }
        case "_[_]":
            guard case .list = ast[left].type, case .int(let index)? = constant(right) else {
                return nil
            }
            var count = Int64.max
            if case .list(let elements, let optional) = ast[left].kind, optional.isEmpty {
                count = Int64(elements.count)
            }
            guard index < 0 || index >= count else { return nil }
            return Failure(range: ast[right].range, message: "the list has no index \(index)")
        default: return nil
        }
    }

    /// The value of a part that reads nothing; nil for any other.
    private func constant(_ id: AST.NodeID) -> Value? {
        if let value = Constants.value(program.ast, id) { return value }
        guard isConstant(id), let part = program.part(id) else { return nil }
        var activation = Activation(Environment())
        return part.evaluate(&activation, costLimit: Self.cost).value
    }

    private func isConstant(_ id: AST.NodeID) -> Bool {
        var pending = [id]
        while let next = pending.popLast() {
            switch program.ast[next].kind {
            case .literal, .call, .list, .map: break
            case .identifier, .select, .presence, .comprehension, .bind, .block, .invalid,
                .structure:
                return false
            }
            pending.append(contentsOf: program.ast.children(of: next))
        }
        return true
    }
}
