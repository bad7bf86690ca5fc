extension Checker {
    mutating func call(
        _ id: AST.NodeID, _ function: String, _ target: AST.NodeID?, _ arguments: [AST.NodeID]
    ) -> Type {
        let (name, receiver) = named(function, target)
        var given: [Type] = []
        if let receiver { given.append(visit(receiver)) }
        for argument in arguments { given.append(visit(argument)) }
        if name == "_&&_" || name == "_||_" { logical(arguments, given) }
        return result(id, name, given, isMember: receiver != nil)
    }

    // What calls nest through is kept small, and all else out of it: the depth of an expression is
    // limited by what the native stack holds.

    /// The full name of a function, and what it is called on.
    @inline(never)
    private func named(_ function: String, _ target: AST.NodeID?)
        -> (name: String, receiver: AST.NodeID?)
    {
        var name = function
        var receiver = target
        if let target, let prefix = qualifiedName(target) {
            // `math.greatest(1, 2)` looks like a member call but names a function.
            for candidate in candidates(prefix + "." + function)
            where overloads(candidate, isMember: false).isEmpty == false {
                name = candidate
                receiver = nil
                break
            }
        } else if target == nil, !function.hasPrefix("_") {
            name =
                candidates(function).first { !overloads($0, isMember: false).isEmpty } ?? function
            if name.hasPrefix(".") { name.removeFirst() }
        }
        return (name, receiver)
    }

    @inline(never)
    private mutating func result(
        _ id: AST.NodeID, _ name: String, _ given: [Type], isMember: Bool
    ) -> Type {
        let options = overloads(name, isMember: isMember)
        guard !options.isEmpty else {
            reference(id, name, [])
            undeclared(id, name, given, isMember: isMember)
            return environment.checking == .strict ? .error : .dyn
        }
        if name == "math.greatest" || name == "math.least", given.count > 2 {
            return extreme(id, name, options, given)
        }
        return resolve(id, name, options, given, isMember: isMember)
    }

    /// Three or more numbers: their common type, `dyn` if they differ.
    private mutating func extreme(
        _ id: AST.NodeID, _ name: String, _ options: [Function.Overload], _ given: [Type]
    ) -> Type {
        let shown = given.map { types.head($0) }
        let areNumbers = shown.allSatisfy { $0.isDyn || [.int, .uint, .double].contains($0) }
        reference(id, name, areNumbers ? ["\(name)(numbers…)"] : [])
        guard areNumbers else {
            mismatch(id, name, options, given, isMember: false)
            return environment.checking == .strict ? .error : .dyn
        }
        return shown.allSatisfy { $0 == shown[0] } ? shown[0] : .dyn
    }

    func overloads(_ name: String, isMember: Bool) -> [Function.Overload] {
        var found =
            Library.functions[name]?.overloads.filter {
                $0.isMember == isMember
                    && Library.allows(name, $0, in: environment.extensions)
            } ?? []
        for function in environment.functions where function.name == name {
            found += function.overloads.filter { $0.isMember == isMember }
        }
        return found
    }

    private mutating func reference(_ id: AST.NodeID, _ name: String, _ overloads: [String]) {
        ast.nodes[Int(id.index)].reference = .function(name, overloads: overloads)
    }

    private mutating func resolve(
        _ id: AST.NodeID, _ name: String, _ options: [Function.Overload], _ given: [Type],
        isMember: Bool
    ) -> Type {
        var matching: [String] = []
        var result: Type?
        for option in options where option.parameters.count == given.count {
            let signature = types.instantiate(option.parameters + [option.result])
            guard types.assign(given, to: Array(signature.dropLast())) else { continue }
            matching.append(option.id)
            let found = types.resolve(signature[signature.count - 1])
            if let known = result {
                if !known.isDyn, known != found { result = .dyn }
            } else {
                result = found
            }
        }
        reference(id, name, matching)
        if ["_/_", "_%_"].contains(name) { warnOfZero(id) }
        if let result { return result }
        if name != "_&&_", name != "_||_" { mismatch(id, name, options, given, isMember: isMember) }
        return environment.checking == .strict ? .error : .dyn
    }

    /// Division of a variable by a literal zero; of constants it shows when they are folded.
    private mutating func warnOfZero(_ id: AST.NodeID) {
        guard case .call(_, _, let operands) = ast[id].kind, operands.count == 2,
            case .literal(let divisor) = ast[operands[1]].kind, divisor == .int(0),
            types.head(ast[operands[1]].type) != .double
        else { return }
        if case .literal = ast[operands[0]].kind { return }
        warn(ast[id].range, "cel.alwaysFails", "this can only fail: division by zero")
    }

    /// Every operand must be bool; one that is not is reported by itself.
    mutating func logical(_ operands: [AST.NodeID], _ given: [Type]) {
        for (operand, type) in zip(operands, given) where !types.assign(type, to: .bool) {
            mismatch(
                operand, "cel.type.condition", expected: .bool, found: type,
                help: "each operand must be bool")
        }
    }

    private mutating func undeclared(
        _ id: AST.NodeID, _ name: String, _ given: [Type], isMember: Bool
    ) {
        if !overloads(name, isMember: !isMember).isEmpty {
            if given.contains(.error) { return }
            report(
                id, "cel.undeclared.function", noOverload(name, given, isMember: isMember),
                help: isMember ? "call it as `\(name)(…)`" : "call it as `x.\(name)(…)`")
            return
        }
        let known = Library.functions.filter { entry in
            entry.value.overloads.contains { $0.isMember == isMember }
        }.keys.filter { !$0.contains("_") && !$0.hasPrefix("@") }
        let help =
            Library.missing(name, in: environment)
            ?? suggestion(name, Array(known) + environment.functions.map(\.name))
        report(id, "cel.undeclared.function", undeclaredReference(name), help: help)
    }

    func noOverload(_ name: String, _ given: [Type], isMember: Bool) -> String {
        let parameters = given.dropFirst(isMember ? 1 : 0).map(shown).joined(separator: ", ")
        let receiver = isMember ? given.first.map { shown($0) + "." } ?? "" : ""
        return "found no matching overload for '\(name)' applied to '\(receiver)(\(parameters))'"
    }

    private mutating func mismatch(
        _ id: AST.NodeID, _ name: String, _ options: [Function.Overload], _ given: [Type],
        isMember: Bool
    ) {
        // What is wrong with an operand has been said.
        if given.contains(.error) { return }
        report(
            id, "cel.type.overload", noOverload(name, given, isMember: isMember),
            help: help(name, given.map { types.resolve($0, isFinal: true) }, options))
    }

    private func help(_ name: String, _ given: [Type], _ options: [Function.Overload]) -> String? {
        let numbers: [Type] = [.int, .uint, .double]
        if given.count == 2, given[0] != given[1], given.allSatisfy({ numbers.contains($0) }) {
            return given.contains(.double)
                ? "convert one side: `double(x)`, or write the number with a point"
                : "convert one side: `int(x)` or `uint(x)`"
        }
        if name == "!_" { return "the operand must be bool" }
        if name == "_?_:_" {
            return given.first == .bool || given.first?.isDyn == true
                ? "both results must be of one type; `dyn(x)` allows different ones"
                : "the condition must be bool"
        }
        if ["_==_", "_!=_", "@in"].contains(name) { return "`dyn(x)` compares different types" }
        guard Self.operatorSign(name) == nil, options.count <= 4 else { return nil }
        let signatures = options.map { option in
            "("
                + option.parameters.dropFirst(option.isMember ? 1 : 0).map(\.description)
                .joined(separator: ", ") + ")"
        }
        return "it takes " + signatures.joined(separator: " or ")
    }

    static func operatorSign(_ name: String) -> String? {
        switch name {
        case "_?_:_": "?:"
        case "@in": "in"
        case "_[_]", "_[?_]": "[]"
        case _ where name.hasPrefix("_") || name.hasSuffix("_"):
            String(name.drop { $0 == "_" }.prefix { $0 != "_" })
        default: nil
        }
    }
}
