import CEL

/// Finds the conjuncts of a rule's condition that are evidence beside the insight: true on their
/// own, from a value of the caller or the engine, without any part of the insight.
struct EvidenceFinder {
    let scope: ExpressionScope

    /// The conjuncts of all the conditions, variables expanded.
    func find(_ conditions: [Expression]) -> [Expression] {
        var seen: Set<Int> = []
        return conditions.flatMap { conjuncts($0, &seen) }
    }

    /// Each variable is followed once: what holds twice holds once, and variables that name each
    /// other twice would double the work at every step.
    private func conjuncts(_ whole: Expression, _ seen: inout Set<Int>) -> [Expression] {
        let program = whole.program
        var result: [Expression] = []
        for node in program.ast.conjuncts(of: program.root) {
            if case .slot(let slot)? = program.ast[node].reference,
                let index = scope.variableOfSlot[slot]
            {
                guard seen.insert(slot).inserted else { continue }
                let inner = scope.variables[index].expression
                result += conjuncts(inner, &seen)
            } else if let found = evidence(whole, node) {
                result.append(found)
            }
        }
        return result
    }

    private func evidence(_ whole: Expression, _ node: AST.NodeID) -> Expression? {
        let use = whole.program.ast.slotUse(below: node)
        let reads = scope.deepReads(use.read)
        let tests = scope.deepTests(use)
        guard !(reads + tests).contains(where: Self.isInsight),
            reads.contains(where: Self.isEvidence)
        else { return nil }
        return whole.part(node, reads: use.read.sorted(), deepReads: reads, deepTests: tests)
    }

    private static func isInsight(_ slot: Int) -> Bool {
        slot <= SlotLayout.Fixed.insightModelVersion
    }

    /// Neither the clock nor the category says anything about this person. A mere `has()` reads
    /// no value, so it does not come here at all.
    private static func isEvidence(_ slot: Int) -> Bool {
        slot != SlotLayout.Fixed.now && slot != SlotLayout.Fixed.contextCategory
    }
}
