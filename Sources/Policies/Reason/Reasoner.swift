import CEL

/// For which events a condition is true and for which it is false; for all others it fails.
///
/// Both are exact as far as terms are independent of each other. What is not understood is a term
/// of its own that can be true, false or failing, so that whatever holds for all events of this
/// model holds for all events there are.
package struct Truth {
    package var isTrue: Region
    package var isFalse: Region

    static let always = Truth(isTrue: .everything, isFalse: .nothing)
}

/// Reads the conditions of one policy as regions of events.
package struct Reasoner {
    let terms: Terms
    /// The term of each slot that is no variable.
    let slots: [Int]
    private let variables: [Int: Variable]
    private var known: [Int: Truth] = [:]
    private var keys: [Int: String] = [:]

    package init(_ policy: TrustPolicy, _ terms: Terms) {
        self.terms = terms
        slots = terms.declare(policy)
        variables = Dictionary(
            uniqueKeysWithValues: policy.variables.map { (policy.slots.variable($0.index), $0) })
    }

    mutating func truth(of expression: Expression) -> Truth {
        truth(expression.program.ast, expression.program.root)
    }

    /// A text that is the same for the same expression, also of another policy with these terms:
    /// variables are what they stand for.
    mutating func meaning(of expression: Expression?) -> String? {
        guard let program = expression?.program else { return nil }
        return key(program.ast, program.root) ?? program.source
    }

    package mutating func truth(_ ast: AST, _ id: AST.NodeID) -> Truth {
        structured(ast, id) ?? comparison(ast, id) ?? unknown(ast, id)
    }

    // MARK: Logic

    private mutating func structured(_ ast: AST, _ id: AST.NodeID) -> Truth? {
        if case .slot(let slot)? = ast[id].reference, let variable = variables[slot] {
            if case .presence = ast[id].kind { return nil }
            guard ast[id].type == .bool else { return nil }
            if let truth = known[slot] { return truth }
            let truth = self.truth(of: variable.expression)
            known[slot] = truth
            return truth
        }
        if case .bool(let constant)? = Constants.value(ast, id) {
            return constant ? .always : Truth(isTrue: .nothing, isFalse: .everything)
        }
        guard case .call(let function, nil, let parts) = ast[id].kind else { return nil }
        switch function {
        case "!_":
            let inner = truth(ast, parts[0])
            return Truth(isTrue: inner.isFalse, isFalse: inner.isTrue)
        case "_&&_", "_||_":
            var left = truth(ast, parts[0])
            var right = truth(ast, parts[1])
            let isAnd = function == "_&&_"
            if !isAnd { (left, right) = (left.negated, right.negated) }
            guard let isTrue = left.isTrue.intersection(right.isTrue, terms),
                let isFalse = left.isFalse.union(right.isFalse, terms)
            else { return nil }
            let both = Truth(isTrue: isTrue, isFalse: isFalse)
            return isAnd ? both : both.negated
        case "_?_:_":
            let condition = truth(ast, parts[0])
            let (yes, no) = (truth(ast, parts[1]), truth(ast, parts[2]))
            let choose = { [terms] (a: Region, b: Region) -> Region? in
                guard let first = condition.isTrue.intersection(a, terms),
                    let second = condition.isFalse.intersection(b, terms)
                else { return nil }
                return first.union(second, terms)
            }
            guard let isTrue = choose(yes.isTrue, no.isTrue),
                let isFalse = choose(yes.isFalse, no.isFalse)
            else { return nil }
            return Truth(isTrue: isTrue, isFalse: isFalse)
        default: return nil
        }
    }

    // MARK: Comparisons

    private mutating func comparison(_ ast: AST, _ id: AST.NodeID) -> Truth? {
        if case .presence = ast[id].kind {
            guard case .slot(let slot)? = ast[id].reference, slot < slots.count else { return nil }
            let all = terms.universes[slots[slot]]
            var present = all
            present.mayFail = false
            return Truth(
                isTrue: Region(slots[slot], present, in: terms),
                isFalse: Region(
                    slots[slot], ValueSet(values: all.values.none, mayFail: true), in: terms))
        }
        if ast[id].type == .bool, case .slot? = ast[id].reference, let term = term(ast, id) {
            return truth(term, .bools([true]))
        }
        guard case .call(let function, nil, let parts) = ast[id].kind, parts.count == 2 else {
            return nil
        }
        if function == "@in" {
            guard case .list(let elements, let optional) = ast[parts[1]].kind, optional.isEmpty,
                let term = term(ast, parts[0])
            else { return nil }
            return membership(ast, elements, term)
        }
        guard let mirrored = Self.mirrored[function] else { return nil }
        return relation(ast, function, parts[0], parts[1])
            ?? relation(ast, mirrored, parts[1], parts[0])
    }

    private static let mirrored = [
        "_==_": "_==_", "_!=_": "_!=_", "_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_",
    ]

    private mutating func relation(
        _ ast: AST, _ function: String, _ left: AST.NodeID, _ right: AST.NodeID
    ) -> Truth? {
        guard let value = Constants.value(ast, right), Constants.value(ast, left) == nil,
            let term = term(ast, left)
        else { return nil }
        if function == "_!=_" { return equality(term, value)?.negated }
        if function == "_==_" { return equality(term, value) }
        guard case .numbers(let all) = terms.universes[term].values,
            let number = Self.number(value)
        else { return nil }
        let interval: NumberSet.Interval =
            switch function {
            case "_<_": .init(high: number, includesHigh: false)
            case "_<=_": .init(high: number)
            case "_>_": .init(low: number, includesLow: false)
            default: .init(low: number)
            }
        return truth(term, .numbers(NumberSet([interval], isWhole: all.isWhole)))
    }

    private func equality(_ term: Int, _ value: Value) -> Truth? {
        values(equalTo: value, terms.universes[term].values).map { truth(term, $0) }
    }

    private func membership(_ ast: AST, _ elements: [AST.NodeID], _ term: Int) -> Truth? {
        let all = terms.universes[term].values
        var found = all.none
        for element in elements {
            guard let value = Constants.value(ast, element),
                let values = values(equalTo: value, all)
            else { return nil }
            // Unions of kinds with complements: what is in neither, turned around.
            found = found.complement.intersection(values.complement).complement
        }
        return truth(term, found)
    }

    /// The values of a kind that equal a constant; nil where that cannot be said exactly.
    private func values(equalTo value: Value, _ kind: ValueSet.Values) -> ValueSet.Values? {
        switch (kind, value) {
        case (.texts, .string(let text)): return ValueSet.texts([text])
        case (.bools, .bool(let flag)): return .bools([flag])
        case (.numbers(let all), _):
            guard let number = Self.number(value) else { return nil }
            return .numbers(
                NumberSet([.init(low: number, high: number)], isWhole: all.isWhole))
        default: return nil
        }
    }

    /// Whole numbers beyond 2^53 would be rounded, and with them the conclusion.
    private static func number(_ value: Value) -> Double? {
        switch value {
        case .int(let whole): Double(exactly: whole)
        case .uint(let whole): Double(exactly: whole)
        case .double(let double): double.isFinite ? double : nil
        default: nil
        }
    }

    /// True where a term is among the values, false where it is among others.
    private func truth(_ term: Int, _ values: ValueSet.Values) -> Truth {
        Truth(
            isTrue: Region(term, ValueSet(values: values, mayFail: false), in: terms),
            isFalse: Region(term, ValueSet(values: values.complement, mayFail: false), in: terms))
    }

    // MARK: Terms

    /// The term that a part of a condition is: a value, by whatever name, or an expression, of which
    /// nothing is known but that it is the same wherever it stands.
    private mutating func term(_ ast: AST, _ id: AST.NodeID) -> Int? {
        if case .presence = ast[id].kind { return nil }
        if case .slot(let slot)? = ast[id].reference {
            if slot < slots.count {
                return Terms.values(of: ast[id].type) == nil ? nil : slots[slot]
            }
            guard let program = variables[slot]?.expression.program else { return nil }
            return term(program.ast, program.root)
        }
        guard ast[id].type != .bool,
            let values = Terms.values(computedOf: ast[id].type), let key = key(ast, id)
        else { return nil }
        return terms.number("\(ast[id].type) \(key)", ValueSet(values: values, mayFail: true))
    }

    private mutating func unknown(_ ast: AST, _ id: AST.NodeID) -> Truth {
        // A place that cannot be named is like nothing else.
        let key = key(ast, id) ?? "unnamed \(terms.universes.count)"
        let term = terms.number(
            "bool \(key)", ValueSet(values: .bools([true, false]), mayFail: true))
        return truth(term, .bools([true]))
    }

    /// One text for whatever is the same expression: variables are what they stand for, values
    /// have their full names whatever a local variable is called.
    private mutating func key(_ ast: AST, _ id: AST.NodeID) -> String? {
        var pending = [id]
        while let next = pending.popLast() {
            if case .slot(let slot)? = ast[next].reference, keys[slot] == nil,
                let program = variables[slot]?.expression.program
            {
                guard let text = key(program.ast, program.root) else { return nil }
                // Numbered, since variables that name each other twice would double at each step.
                let number = terms.number(
                    "variable \(text)", ValueSet(values: .bools([]), mayFail: true))
                keys[slot] = "$\(number)"
            }
            pending.append(contentsOf: ast.children(of: next))
        }
        return ast.canonicalText(of: id) { [keys, slots] node in
            guard case .slot(let slot)? = ast[node].reference else {
                return Constants.time(ast, node)
            }
            let name = keys[slot] ?? (slot < slots.count ? "#\(slots[slot])" : nil)
            if case .presence = ast[node].kind { return name.map { "has(\($0))" } }
            return name
        }
    }
}

extension Truth {
    var negated: Truth { Truth(isTrue: isFalse, isFalse: isTrue) }
}
