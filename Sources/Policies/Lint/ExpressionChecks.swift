import CEL

/// What is refused in single expressions beyond CEL's own rules.
final class ExpressionChecks {
    /// The slots of attributes that are not stored.
    private let unstored: Set<Int>
    /// The slot of `insight.outcome`; nil where the policy has none.
    private let outcomeSlot: Int?
    private let slotNames: [Int: String]
    private var variables: [Variable] = []

    init(unstored: Set<Int>, outcomeSlot: Int?, slotNames: [Int: String]) {
        self.unstored = unstored
        self.outcomeSlot = outcomeSlot
        self.slotNames = slotNames
    }

    /// Remembers a variable, so that expressions reading it can be followed into it.
    func note(_ variable: Variable) { variables.append(variable) }

    func check(
        _ program: Program, _ role: ExpressionScope.Role, _ map: ScalarMap,
        variables: [Int: Int], sink: DiagnosticSink
    ) {
        let ast = program.ast
        var pending = [program.root]
        while let id = pending.popLast() {
            checkStored(ast[id], map, sink)
            checkOutcomeOrder(ast, id, map, variables, sink)
            checkFailing(program, id, map, sink)
            pending.append(contentsOf: ast.children(of: id))
        }
    }

    private func checkStored(_ node: AST.Node, _ map: ScalarMap, _ sink: DiagnosticSink) {
        if case .presence = node.kind { return }
        switch node.reference {
        case .slot(let slot)? where unstored.contains(slot):
            sink.error(
                .notStored,
                "`\(slotNames[slot] ?? "this attribute")` is not stored: it may appear only in "
                    + "`has()` and `distinct`", at: map.range(utf8: node.range),
                help: "an explanation would leak it, and a replay could not have it")
        case .object("attributes")? where !unstored.isEmpty:
            sink.error(
                .notStored, "`attributes` as a whole holds an attribute that is not stored",
                at: map.range(utf8: node.range), help: "name the attributes you need")
        default: break
        }
    }

    private func checkOutcomeOrder(
        _ ast: AST, _ id: AST.NodeID, _ map: ScalarMap, _ variables: [Int: Int],
        _ sink: DiagnosticSink
    ) {
        guard case .call(let function, _, let arguments) = ast[id].kind,
            ["_<_", "_<=_", "_>_", "_>=_"].contains(function),
            arguments.contains(where: { isOutcome(ast, $0, variables) })
        else { return }
        sink.error(
            .outcomeOrder, "outcomes are names and have no order",
            at: map.range(utf8: ast[id].range),
            help: "list the ones you mean: `insight.outcome in [\"medium\", \"high\"]`")
    }

    /// Whether the node's value is an outcome, followed through variables and choices.
    private func isOutcome(_ ast: AST, _ id: AST.NodeID, _ variables: [Int: Int]) -> Bool {
        if case .slot(let slot)? = ast[id].reference {
            if slot == outcomeSlot { return true }
            guard let index = variables[slot] else { return false }
            let program = self.variables[index].expression.program
            return isOutcome(program.ast, program.root, variables)
        }
        switch ast[id].kind {
        case .call("_?_:_", nil, let parts) where parts.count == 3:
            return isOutcome(ast, parts[1], variables) || isOutcome(ast, parts[2], variables)
        case .bind(_, _, let body): return isOutcome(ast, body, variables)
        default: return false
        }
    }

    /// The values a variable can have if it is just the outcome under another name.
    func outcomeValues(
        _ ast: AST, _ root: AST.NodeID, variables: [Int: Int]
    ) -> [String]? {
        isOutcome(ast, root, variables) && ast[root].reference != nil ? Outcome.names : nil
    }

    // MARK: - What can only fail

    private func checkFailing(
        _ program: Program, _ id: AST.NodeID, _ map: ScalarMap, _ sink: DiagnosticSink
    ) {
        let ast = program.ast
        guard case .call(let function, nil, let arguments) = ast[id].kind, arguments.count == 2
        else { return }
        let right = arguments[1]
        switch function {
        case "_/_", "_%_":
            guard isZero(program, right) else { return }
            sink.error(
                .alwaysFails, "dividing by zero can only fail", at: map.range(utf8: ast[id].range))
        case "_[_]":
            guard let index = integer(program, right) else { return }
            if case .list(let elements, let optional) = ast[arguments[0]].kind, optional.isEmpty,
                index < 0 || index >= Int64(elements.count)
            {
                sink.error(
                    .alwaysFails,
                    "the list has \(elements.count) elements, index \(index) can only fail",
                    at: map.range(utf8: ast[right].range))
            } else if case .list = ast[arguments[0]].type, index < 0 {
                sink.error(
                    .alwaysFails, "an index below zero can only fail",
                    at: map.range(utf8: ast[right].range))
            }
        default: break
        }
    }

    private func isZero(_ program: Program, _ id: AST.NodeID) -> Bool {
        switch Constants.value(program, id) {
        case .int(0)?, .uint(0)?: true
        default: false
        }
    }

    private func integer(_ program: Program, _ id: AST.NodeID) -> Int64? {
        switch Constants.value(program, id) {
        case .int(let value)?: value
        case .uint(let value)?: Int64(exactly: value)
        default: nil
        }
    }
}
