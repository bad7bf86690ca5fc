/// Chains of `&&` and `||`, and membership of constant lists.
extension Emitter {
    /// A chain as one run of terms, so that a term that decides leaves it in one jump. The traced
    /// form keeps the pairs of the source, since each of them has a value to be recorded.
    mutating func chain(_ node: AST.Node, _ function: String, into dst: Int32) {
        let isAnd = function == "_&&_"
        let terms = traced ? pair(node) : self.terms(of: node, function)
        let reader = isAnd ? Test.decidedByFalse : Test.decidedByTrue
        var jumps: [Int] = []
        let outer = currentNode
        defer { currentNode = outer }
        for term in traced ? [] : termsWorthAPeek(terms) {
            jumps.append(
                take(term.operand, isAnd ? .andPeek : .orPeek, reader, at: term.node, into: dst))
        }
        for (index, term) in terms.enumerated() {
            let isFirst = index == 0
            let operation: Instruction.Operation =
                isFirst ? (isAnd ? .andFirst : .orFirst) : isAnd ? .andNext : .orNext
            jumps.append(
                take(
                    term.operand, operation, reader, at: term.node, into: dst,
                    scratch: isFirst ? dst : nil))
        }
        land(jumps)
    }

    /// One term: what computes it, and the instruction that takes it into the chain.
    private mutating func take(
        _ term: AST.NodeID, _ operation: Instruction.Operation, _ reader: Int, at node: AST.NodeID,
        into dst: Int32, scratch: Int32? = nil
    ) -> Int {
        currentNode = node.index
        return scoped { emitter in
            let register = emitter.operand(term, scratch: scratch)
            // A test that does not decide has written true, which for the first term is the
            // chain's value so far.
            if scratch == nil || register == dst {
                emitter.markTest(into: register, readBy: reader)
            }
            return emitter.add(Instruction(operation, dst: dst, a: register))
        }
    }

    private typealias Term = (operand: AST.NodeID, node: AST.NodeID)

    private func pair(_ node: AST.Node) -> [Term] {
        guard case .call(_, _, let arguments) = node.kind else { return [] }
        let id = AST.NodeID(Int(currentNode))
        return arguments.map { ($0, id) }
    }

    /// The terms of `a && b && c` from left to right, each with the node that joins it.
    private func terms(of node: AST.Node, _ function: String) -> [Term] {
        var terms: [Term] = []
        var pending: [Term] = pair(node).reversed()
        while let next = pending.popLast() {
            if case .call(function, _, let sides) = ast[next.operand].kind {
                pending += sides.reversed().map { ($0, next.operand) }
            } else {
                terms.append(next)
            }
        }
        return terms
    }

    /// The cheap terms that have a dear one before them: they are looked at ahead of their turn. If
    /// none of them decides the chain runs as written, so results and errors stay the same.
    private func termsWorthAPeek(_ terms: [Term]) -> [Term] {
        guard let dear = terms.firstIndex(where: { isDear($0.operand) }) else { return [] }
        return terms[dear...].filter { isCheap($0.operand) }
    }

    /// A slot, or the question whether one is a short constant: what costs nothing but its steps.
    private func isCheap(_ id: AST.NodeID) -> Bool {
        if isPlainSlot(id) { return true }
        guard case .call("_==_", _, let sides) = ast[id].kind, sides.count == 2,
            let slot = sides.firstIndex(where: isPlainSlot),
            case .literal(let value) = ast[sides[1 - slot]].kind
        else { return false }
        if case .string(let text) = value { return text.utf8.count < Machine.quickText }
        return true
    }

    private func isPlainSlot(_ id: AST.NodeID) -> Bool {
        guard case .slot(let slot)? = ast[id].reference else { return false }
        return environment.slots[slot].program == nil
    }

    /// What may look at many things: a loop, a function that goes over texts or lists, code of the
    /// host, or simply a lot of it.
    private func isDear(_ id: AST.NodeID) -> Bool {
        var pending = [id]
        var seen = 0
        while let next = pending.popLast() {
            seen += 1
            if seen > 64 { return true }
            switch ast[next].kind {
            case .comprehension: return true
            case .call:
                guard case .function(let name, _)? = ast[next].reference else { break }
                if Library.functions[name]?.builtin?.isDear ?? true { return true }
            default: break
            }
            pending += ast.children(of: next)
        }
        return false
    }

    /// A constant list as a set to look things up in; nil where it is too short to be worth it, or
    /// holds what is compared part by part.
    mutating func set(of register: Int32) -> Int32? {
        guard register >= Register.constants else { return nil }
        let list = constant(at: register)
        guard list.tag == .list, list.count > MapLayout.searched,
            let set = MapLayout.set(of: list, in: &arenaBox.arena)
        else { return nil }
        return constant(set)
    }
}
