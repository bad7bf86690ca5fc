extension Parser {
    /// The macros of a receiver, by name and number of arguments.
    static let loops: [String: [Int: AST.Comprehension.Macro]] = [
        "all": [2: .all, 3: .all],
        "exists": [2: .exists, 3: .exists],
        "exists_one": [2: .existsOne, 3: .existsOne],
        "existsOne": [2: .existsOne, 3: .existsOne],
        "map": [2: .map, 3: .map],
        "filter": [2: .filter],
        "transformList": [3: .transformList, 4: .transformList],
        "transformMap": [3: .transformMap, 4: .transformMap],
        "transformMapEntry": [3: .transformMapEntry, 4: .transformMapEntry],
        "sortBy": [2: .sortBy],
        "optMap": [2: .optMap],
        "optFlatMap": [2: .optFlatMap],
    ]

    /// The node of a macro call; nil where it is an ordinary call.
    mutating func expandMacro(
        _ name: String, at nameRange: Range<Int>, opening: Token, target: AST.NodeID?,
        arguments: [AST.NodeID], range: Range<Int>
    ) -> AST.NodeID? {
        guard let target else {
            guard name == "has" || name == ".has" else { return nil }
            return presence(arguments, nameRange, opening, range)
        }
        if case .identifier("cel") = ast[target].kind {
            return celMacro(name, nameRange, opening, arguments, range)
        }
        guard let macro = Self.loops[name]?[arguments.count] else { return nil }
        let twoVariables =
            [.transformList, .transformMap, .transformMapEntry].contains(macro)
            || (arguments.count == 3 && [.all, .exists, .existsOne].contains(macro))
        if let extensions {
            if twoVariables, extensions["two-var-comprehensions"] == nil { return nil }
            if macro == .sortBy, extensions["lists"].map({ $0 < 2 }) ?? true { return nil }
        }
        guard let first = variable(arguments[0], of: name) else { return add(.invalid, range) }
        var second: String?
        if twoVariables {
            guard let given = variable(arguments[1], of: name) else { return add(.invalid, range) }
            if given == first {
                report(
                    ast[arguments[1]].range, "cel.macro.variable",
                    "both variables of `\(name)` have the name `\(given)`")
                return add(.invalid, range)
            }
            second = given
        }
        let rest = arguments.dropFirst(twoVariables ? 2 : 1)
        let loop = AST.Comprehension(
            macro: macro, range: target, variable: first, secondVariable: second,
            filter: rest.count == 2 ? rest.first : nil, body: rest[rest.endIndex - 1])
        return add(.comprehension(loop), range, at: opening)
    }

    private mutating func presence(
        _ arguments: [AST.NodeID], _ nameRange: Range<Int>, _ opening: Token, _ range: Range<Int>
    ) -> AST.NodeID {
        if arguments.count == 1, case .select(let operand, let field, _) = ast[arguments[0]].kind {
            return add(.presence(operand: operand, field: field), range, at: opening)
        }
        if arguments.count == 1, case .invalid = ast[arguments[0]].kind {
            return add(.invalid, range)
        }
        report(
            arguments.first.map { ast[$0].range } ?? nameRange, "cel.macro.has",
            "`has` takes one field selection", help: "write `has(a.b)`")
        return add(.invalid, range)
    }

    private mutating func variable(_ id: AST.NodeID, of macro: String) -> String? {
        if case .identifier(let name) = ast[id].kind, !name.hasPrefix(".") { return name }
        if case .invalid = ast[id].kind { return nil }
        report(
            ast[id].range, "cel.macro.variable",
            "`\(macro)` needs a plain name for its variable, not `\(ast.text(of: id))`")
        return nil
    }

    /// The macros of `cel`, by name and number of arguments.
    static let celMacros = ["bind": 3, "block": 2, "index": 1, "iterVar": 2, "accuVar": 2]

    private mutating func celMacro(
        _ name: String, _ nameRange: Range<Int>, _ opening: Token, _ arguments: [AST.NodeID],
        _ range: Range<Int>
    ) -> AST.NodeID? {
        guard let wanted = Self.celMacros[name] else { return nil }
        switch (name, arguments.count == wanted ? wanted : 0) {
        case ("bind", 3):
            guard let variable = variable(arguments[0], of: "cel.bind") else {
                return add(.invalid, range)
            }
            return add(
                .bind(variable: variable, initial: arguments[1], body: arguments[2]), range,
                at: opening)
        case ("block", 2):
            guard case .list(let bindings, let optional) = ast[arguments[0]].kind,
                optional.isEmpty
            else { break }
            return add(.block(bindings: bindings, body: arguments[1]), range)
        case ("index", 1):
            guard case .literal(.int(let index)) = ast[arguments[0]].kind, index >= 0 else { break }
            return add(.identifier("@index\(index)"), range)
        case ("iterVar", 2), ("accuVar", 2):
            guard case .literal(.int(let depth)) = ast[arguments[0]].kind,
                case .literal(.int(let index)) = ast[arguments[1]].kind
            else { break }
            return add(.identifier("@\(name):\(depth):\(index)"), range)
        default: break
        }
        report(nameRange, "cel.macro.arguments", "`cel.\(name)` cannot take these arguments")
        return add(.invalid, range)
    }
}
