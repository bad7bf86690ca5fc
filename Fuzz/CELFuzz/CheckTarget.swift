import CEL

/// Any bytes as an expression over declared names: types, suggestions, folding, emission.
final class CheckTarget: FuzzTarget {
    private let environment = Environment.fuzz()

    func run(_ input: [UInt8]) {
        let compiled = environment.compile(utf8: input)
        examine(compiled.diagnostics, of: input)
        expect(
            (compiled.program == nil) == compiled.diagnostics.contains { $0.severity == .error },
            "a program and errors, or neither")
        guard let program = compiled.program else { return }
        expect(
            program.slotUse.read.union(program.slotUse.tested)
                .isSubset(of: Set(environment.slots.indices)), "a slot that is not there")
        expect(!"\(program.resultType)".isEmpty, "a type without a name")
        for conjunct in program.ast.conjuncts(of: program.root) { _ = program.part(conjunct) }
        _ = program.traced()
    }
}
