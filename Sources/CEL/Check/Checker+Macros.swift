/// Macros that go over something, checked as what they stand for by definition.
extension Checker {
    mutating func comprehension(_ id: AST.NodeID, _ loop: AST.Comprehension) -> Type {
        let range = visit(loop.range)
        if loop.macro == .optMap || loop.macro == .optFlatMap { return optional(id, loop, range) }
        let (first, second) = variables(loop, range)
        var variables = [(loop.variable, first)]
        if let name = loop.secondVariable { variables.append((name, second)) }
        return with(id, variables) { checker in
            let filter = loop.filter.map { ($0, checker.visit($0)) }
            let body = checker.visit(loop.body)
            let result: Type
            switch loop.macro {
            case .all, .exists, .existsOne: result = .bool
            case .filter, .sortBy: result = .list(first)
            case .map, .transformList: result = .list(body)
            case .transformMap: result = .map(first, body)
            case .transformMapEntry:
                let entry = Type.map(checker.types.fresh(), checker.types.fresh())
                guard checker.types.assign(body, to: entry) else {
                    checker.report(
                        loop.body, "cel.type",
                        "`transformMapEntry` needs a map, not '\(checker.shown(body))'"
                    )
                    return checker.wrong
                }
                result = entry
            case .optMap, .optFlatMap: result = .dyn
            }
            if let (filter, type) = filter { checker.condition(filter, type, of: id, result) }
            switch loop.macro {
            case .all, .exists: checker.logical([loop.body], [body])
            case .existsOne: checker.condition(loop.body, body, of: id, .int)
            case .filter: checker.condition(loop.body, body, of: id, result)
            default: break
            }
            return result
        }
    }

    private mutating func optional(
        _ id: AST.NodeID, _ loop: AST.Comprehension, _ range: Type
    ) -> Type {
        let inner = types.fresh()
        if !types.assign(range, to: .optional(inner)) {
            report(
                loop.range, at: id, "cel.type", noOverload("hasValue", [range], isMember: true),
                help: "`\(loop.macro.rawValue)` needs an optional")
        }
        return with(id, [(loop.variable, inner)]) { checker in
            let body = checker.visit(loop.body)
            if loop.macro == .optMap { return .optional(body) }
            let result = Type.optional(checker.types.fresh())
            if !checker.types.assign(body, to: result) {
                checker.report(
                    loop.body, at: id, "cel.type",
                    checker.noOverload("_?_:_", [.bool, body, result], isMember: false),
                    help: "`optFlatMap` needs an optional")
            }
            return result
        }
    }

    private mutating func variables(_ loop: AST.Comprehension, _ range: Type) -> (Type, Type) {
        let two = loop.secondVariable != nil
        switch types.head(range) {
        case .list(let element): return two ? (.int, element) : (element, element)
        case .map(let key, let value): return (key, value)
        case .dyn, .any, .error, .param: return (.dyn, .dyn)
        case let other:
            report(
                loop.range, "cel.type.range",
                "expression of type '\(shown(other))' cannot be range of a comprehension "
                    + "(must be list, map, or dynamic)")
            return (wrong, wrong)
        }
    }

    /// The condition of a macro that chooses by it between two values of a type; by definition it
    /// stands for a conditional.
    private mutating func condition(
        _ id: AST.NodeID, _ type: Type, of macro: AST.NodeID, _ result: Type
    ) {
        if types.assign(type, to: .bool) { return }
        report(
            id, at: macro, "cel.type.condition",
            noOverload("_?_:_", [type, result, result], isMember: false),
            help: "the condition must be bool")
    }
}
