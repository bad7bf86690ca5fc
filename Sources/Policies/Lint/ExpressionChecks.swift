import CEL

/// What is refused in single expressions beyond CEL's own rules.
final class ExpressionChecks {
    /// The slots of attributes that are not stored.
    private let unstored: Set<Int>
    /// The slot of `insight.outcome`; nil where the policy has none.
    private let outcomeSlot: Int?
    private let slotNames: [Int: String]
    /// The slots of variables that are the outcome, or may be.
    private var outcomeVariables: Set<Int> = []

    init(unstored: Set<Int>, outcomeSlot: Int?, slotNames: [Int: String]) {
        self.unstored = unstored
        self.outcomeSlot = outcomeSlot
        self.slotNames = slotNames
    }

    /// Remembers a variable, so that expressions reading it are known to read an outcome.
    func note(_ program: Program, slot: Int) {
        if isOutcome(program.ast, program.root) { outcomeVariables.insert(slot) }
    }

    func check(
        _ program: Program, _ map: ScalarMap, environment: Environment, sink: DiagnosticSink
    ) {
        let ast = program.ast
        var pending = [program.root]
        while let id = pending.popLast() {
            checkStored(ast[id], map, sink)
            checkOutcomeOrder(ast, id, map, sink)
            checkValues(ast, id, map, environment, sink)
            pending.append(contentsOf: ast.children(of: id))
        }
    }

    /// A comparison with a text that the value can never be is a slip of the pen.
    private func checkValues(
        _ ast: AST, _ id: AST.NodeID, _ map: ScalarMap, _ environment: Environment,
        _ sink: DiagnosticSink
    ) {
        guard case .call(let function, nil, let arguments) = ast[id].kind, arguments.count == 2,
            ["_==_", "_!=_", "@in"].contains(function)
        else { return }
        for (value, other) in [(arguments[0], arguments[1]), (arguments[1], arguments[0])] {
            if case .presence = ast[value].kind { continue }
            guard case .slot(let slot)? = ast[value].reference,
                let known = environment.slots[slot].values
            else { continue }
            var literals = [other]
            if case .list(let elements, _) = ast[other].kind { literals = elements }
            for literal in literals {
                guard case .string(let text)? = Constants.value(ast, literal), !known.contains(text)
                else { continue }
                sink.warning(
                    .impossibleValue, "`\(environment.slots[slot].path)` is never `\(text)`",
                    at: map.range(utf8: ast[literal].range),
                    help: NearestName.help(text, among: known, what: "values"))
            }
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
        _ ast: AST, _ id: AST.NodeID, _ map: ScalarMap, _ sink: DiagnosticSink
    ) {
        guard case .call(let function, _, let arguments) = ast[id].kind,
            ["_<_", "_<=_", "_>_", "_>=_"].contains(function),
            arguments.contains(where: { isOutcome(ast, $0) })
        else { return }
        sink.error(
            .outcomeOrder, "outcomes are names and have no order",
            at: map.range(utf8: ast[id].range),
            help: "list the ones you mean: `insight.outcome in [\"medium\", \"high\"]`",
            fix: listing(ast, id, map.range(utf8: ast[id].range), sink))
    }

    /// `insight.outcome >= "medium"` can mean but one thing. What is below an outcome is not as
    /// clear: `unknown` has no place in an order.
    private func listing(
        _ ast: AST, _ id: AST.NodeID, _ range: SourceRange, _ sink: DiagnosticSink
    ) -> PolicyFix? {
        guard case .call(let function, _, let parts) = ast[id].kind,
            ["_>_", "_>=_"].contains(function), isOutcome(ast, parts[0]),
            case .string(let least)? = Constants.value(ast, parts[1]),
            let place = Outcome.names.firstIndex(of: least), least != Outcome.unknown.rawValue
        else { return nil }
        let names = Outcome.names[(function == "_>_" ? place + 1 : place)...]
        // Quoted as the author did, where that is what stands in the file.
        let literal = ast.text(of: parts[1])
        let start = sink.text.index(of: range.start)
        let raw = sink.text.scalars[start..<max(start, sink.text.index(of: range.end))]
        guard !names.isEmpty, raw.elementsEqual(ast.text(of: id).unicodeScalars),
            literal.count == least.count + 2
        else { return nil }
        let quoted = names.map { literal.replacing(least, with: $0) }
        return PolicyFix(
            quoted.count == 1
                ? "\(ast.text(of: parts[0])) == \(quoted[0])"
                : "\(ast.text(of: parts[0])) in [\(quoted.joined(separator: ", "))]", at: range)
    }

    /// Whether the node's value is an outcome, also by way of variables and choices.
    private func isOutcome(_ ast: AST, _ id: AST.NodeID) -> Bool {
        if case .slot(let slot)? = ast[id].reference {
            return slot == outcomeSlot || outcomeVariables.contains(slot)
        }
        switch ast[id].kind {
        case .call("_?_:_", nil, let parts) where parts.count == 3:
            return isOutcome(ast, parts[1]) || isOutcome(ast, parts[2])
        case .bind(_, _, let body): return isOutcome(ast, body)
        default: return false
        }
    }

    /// The values a variable can have if it is just the outcome under another name.
    func outcomeValues(_ program: Program) -> [String]? {
        let ast = program.ast
        return ast[program.root].reference != nil && isOutcome(ast, program.root)
            ? Outcome.names : nil
    }
}
