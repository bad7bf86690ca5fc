import CEL

/// Finds the conjuncts of a rule's condition that are evidence beside the insight: true on their
/// own, from a value of the caller or the engine, without any part of the insight.
struct EvidenceFinder {
    let scope: ExpressionScope

    /// The conjuncts of all the conditions, variables expanded.
    func find(_ conditions: [Expression]) -> [Expression] {
        conditions.flatMap { conjuncts($0.program, $0.position) }
    }

    private func conjuncts(_ program: Program, _ position: SourcePosition) -> [Expression] {
        program.ast.conjuncts(of: program.root).flatMap { node -> [Expression] in
            if case .slot(let slot)? = program.ast[node].reference,
                let index = scope.variableOfSlot[slot]
            {
                let inner = scope.variables[index].expression
                return conjuncts(inner.program, inner.position)
            }
            return evidence(program, node, position).map { [$0] } ?? []
        }
    }

    private func evidence(
        _ program: Program, _ node: AST.NodeID, _ position: SourcePosition
    ) -> Expression? {
        let use = program.ast.slotUse(below: node)
        let deep = scope.deepReads(use.read)
        let tested = scope.deepReads(use.tested)
        guard !(deep + tested).contains(where: Self.isInsight),
            deep.contains(where: Self.isEvidence),
            let part = program.part(node)
        else { return nil }
        return Expression(
            source: program.ast.text(of: node), program: part, reads: use.read.sorted(),
            deepReads: deep, position: position)
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
