/// Gives every node a type and every name a meaning.
///
/// With `lenient` checking it reports nothing: what has no meaning keeps no reference and becomes
/// an error value when it is evaluated.
struct Checker {
    var ast: AST
    let environment: Environment
    private(set) var diagnostics: [Diagnostic] = []
    var types = Substitution()
    /// The variables of the macros around the node being checked, innermost last.
    private var scope: [(name: String, local: Int, type: Type)] = []
    /// Where in the scope each name stands, innermost last: a block can have very many.
    private var places: [String: [Int]] = [:]
    private var locals = 0

    init(ast: AST, environment: Environment) {
        self.ast = ast
        self.environment = environment
    }

    private var isStrict: Bool { environment.checking == .strict }

    mutating func check() {
        _ = visit(ast.root)
        for index in ast.nodes.indices {
            ast.nodes[index].type = types.resolve(ast.nodes[index].type, isFinal: true)
        }
    }

    // MARK: Reports

    /// Reports a node. Messages are those of other implementations of CEL, word for word; what
    /// helps beyond them goes into `help`.
    mutating func report(
        _ id: AST.NodeID, at place: AST.NodeID? = nil, _ code: String, _ message: String,
        help: String? = nil
    ) {
        guard isStrict, diagnostics.count < environment.limits.diagnostics else { return }
        diagnostics.append(
            Diagnostic(
                range: ast[id].range, place: ast[place ?? id].place, code: code, message: message,
                help: help))
    }

    func undeclaredReference(_ name: String) -> String {
        "undeclared reference to '\(name)' (in container '\(environment.container)')"
    }

    /// The type a value has and the one it should have.
    mutating func mismatch(
        _ id: AST.NodeID, _ code: String, expected: Type, found: Type, help: String? = nil
    ) {
        report(
            id, code,
            "expected type '\(shown(expected))' but found '\(shown(found))'", help: help)
    }

    /// A type as messages write it.
    func shown(_ type: Type) -> String { types.resolve(type, isFinal: true).checkedName }

    mutating func warn(_ range: Range<Int>, _ code: String, _ message: String) {
        guard isStrict, diagnostics.count < environment.limits.diagnostics else { return }
        diagnostics.append(Diagnostic(.warning, range: range, code: code, message: message))
    }

    /// The type of something wrong: `error` so that nothing else is said about it, or `dyn` where
    /// the evaluation shall find out.
    var wrong: Type { isStrict ? .error : .dyn }

    // MARK: Nodes

    mutating func visit(_ id: AST.NodeID) -> Type {
        let node = ast[id]
        let type: Type
        switch node.kind {
        case .literal(let value): type = Self.type(of: value)
        case .identifier(let name): type = identifier(id, name)
        case .select(let operand, let field, let isOptional):
            type = select(id, operand, field, isOptional: isOptional)
        case .presence(let operand, let field): type = presence(id, operand, field)
        case .call(let function, let target, let arguments):
            type = call(id, function, target, arguments)
        case .list(let elements, let optional): type = list(elements, Set(optional))
        case .map(let parts, let optional): type = map(parts, Set(optional))
        case .structure(let name, let fields, let values, let optional):
            type = structure(id, name, fields, values, Set(optional))
        case .comprehension(let loop): type = comprehension(id, loop)
        case .bind(let variable, let initial, let body):
            let initialType = visit(initial)
            type = with(id, [(variable, initialType)]) { $0.visit(body) }
        case .block(let bindings, let body): type = block(id, bindings, body)
        case .invalid: type = .error
        }
        let limited = types.limited(type)
        ast.nodes[Int(id.index)].type = limited
        return limited
    }

    static func type(of literal: Value) -> Type {
        switch literal {
        case .bool: .bool
        case .int: .int
        case .uint: .uint
        case .double: .double
        case .string: .string
        case .bytes: .bytes
        case .null: .null
        default: .dyn
        }
    }

    mutating func with(
        _ id: AST.NodeID, _ variables: [(String, Type)], _ body: (inout Checker) -> Type
    ) -> Type {
        ast.nodes[Int(id.index)].firstLocal = locals
        for (name, type) in variables {
            enter(name, locals, type)
            locals += 1
        }
        defer { leave(variables.count) }
        return body(&self)
    }

    private mutating func enter(_ name: String, _ local: Int, _ type: Type) {
        places[name, default: []].append(scope.count)
        scope.append((name, local, type))
    }

    private mutating func leave(_ count: Int) {
        for _ in 0..<count { places[scope.removeLast().name]?.removeLast() }
    }

    private mutating func block(
        _ id: AST.NodeID, _ bindings: [AST.NodeID], _ body: AST.NodeID
    ) -> Type {
        let first = locals
        locals += bindings.count
        ast.nodes[Int(id.index)].firstLocal = first
        for (index, binding) in bindings.enumerated() {
            let type = visit(binding)
            enter("@index\(index)", first + index, type)
        }
        defer { leave(bindings.count) }
        return visit(body)
    }

    private mutating func list(_ elements: [AST.NodeID], _ optional: Set<Int>) -> Type {
        .list(joined(elements.enumerated().map { ($1, optional.contains($0)) }))
    }

    private mutating func joined(_ nodes: [(id: AST.NodeID, isOptional: Bool)]) -> Type {
        var joined: Type?
        for (id, isOptional) in nodes {
            var type = visit(id)
            if isOptional { type = unwrapped(type, id) }
            joined = joined.map { types.join($0, type) } ?? type
        }
        return joined ?? types.fresh()
    }

    /// The type inside of an optional, for `[?x]` and `{?k: x}`.
    private mutating func unwrapped(_ type: Type, _ id: AST.NodeID) -> Type {
        let inner = types.fresh()
        if types.assign(type, to: .optional(inner)) { return inner }
        mismatch(
            id, "cel.type", expected: .optional(type), found: type, help: "leave out the `?`")
        return wrong
    }

    private mutating func map(_ parts: [AST.NodeID], _ optional: Set<Int>) -> Type {
        var keys: [(AST.NodeID, Bool)] = []
        var values: [(AST.NodeID, Bool)] = []
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            keys.append((parts[index], false))
            values.append((parts[index + 1], optional.contains(index / 2)))
        }
        let key = joined(keys)
        return .map(key, joined(values))
    }

    private mutating func structure(
        _ id: AST.NodeID, _ name: String, _ fields: [String], _ values: [AST.NodeID],
        _ optional: Set<Int>
    ) -> Type {
        var found: [Type] = []
        for (index, value) in values.enumerated() {
            let type = visit(value)
            found.append(optional.contains(index) ? unwrapped(type, value) : type)
        }
        for candidate in candidates(name) {
            guard let message = WellKnown.messages[candidate] else { continue }
            ast.nodes[Int(id.index)].reference = .function(candidate, overloads: [])
            for (index, field) in fields.enumerated() {
                if fields[..<index].contains(field) {
                    report(
                        values[index], "cel.type.duplicateField",
                        "field `\(field)` is given twice")
                }
                guard let wanted = message.fields[field] else {
                    report(
                        values[index], "cel.undeclared.field", "undefined field '\(field)'",
                        help: suggestion(field, message.fields.keys))
                    continue
                }
                if !types.assign(found[index], to: wanted) {
                    report(
                        values[index], "cel.type",
                        "expected type of field '\(field)' is '\(shown(wanted))' but provided "
                            + "type is '\(shown(found[index]))'")
                }
            }
            return message.type
        }
        report(id, "cel.undeclared.type", undeclaredReference(name))
        return wrong
    }

    // MARK: Names

    /// Full names that a name may stand for, innermost container first.
    func candidates(_ name: String) -> [String] {
        if name.hasPrefix(".") { return [String(name.dropFirst())] }
        if let first = name.split(separator: ".").first,
            let full = environment.abbreviations[String(first)]
        {
            return [full + name.dropFirst(first.count)]
        }
        guard !environment.container.isEmpty else { return [name] }
        var containers = environment.container.split(separator: ".")
        var names: [String] = []
        while !containers.isEmpty {
            names.append(containers.joined(separator: ".") + "." + name)
            containers.removeLast()
        }
        return names + [name]
    }

    private func local(_ name: String) -> (local: Int, type: Type)? {
        guard let place = places[name]?.last else { return nil }
        return (scope[place].local, scope[place].type)
    }

    /// The dotted name that a node spells, unless it starts at a variable of a macro.
    func qualifiedName(_ id: AST.NodeID) -> String? {
        var parts: [String] = []
        var next = id
        while true {
            switch ast[next].kind {
            case .identifier(let name):
                guard local(name) == nil, !name.hasPrefix("@") else { return nil }
                return ([name] + parts.reversed()).joined(separator: ".")
            case .select(let operand, let field, false):
                parts.append(field)
                next = operand
            default: return nil
            }
        }
    }

    /// What a full or relative name means: a variable, an object, a type, an enum's value.
    private func lookUp(_ name: String) -> (reference: AST.Reference, type: Type)? {
        for candidate in candidates(name) {
            if let slot = environment.slotOfPath[candidate] {
                return (.slot(slot), environment.slots[slot].type)
            }
            if let object = environment.objects[candidate] {
                return (.object(candidate), .object(object))
            }
            if let type = WellKnown.typeNames[candidate] {
                return (.constant(.type(type)), .type(type))
            }
            if let value = WellKnown.enumValues[candidate] { return (.constant(value), .int) }
        }
        return nil
    }

    private mutating func identifier(_ id: AST.NodeID, _ name: String) -> Type {
        if let (local, type) = local(name) {
            ast.nodes[Int(id.index)].reference = .local(local)
            return type
        }
        if let (reference, type) = lookUp(name) {
            ast.nodes[Int(id.index)].reference = reference
            return type
        }
        let names =
            scope.map(\.name) + environment.slots.map { String($0.path.prefix { $0 != "." }) }
        report(id, "cel.undeclared", undeclaredReference(name), help: suggestion(name, names))
        return wrong
    }

    func suggestion(_ name: String, _ candidates: some Sequence<String>) -> String? {
        // What would not be reported needs no search either.
        guard isStrict, diagnostics.count < environment.limits.diagnostics else { return nil }
        let near = EditDistance.closest(to: name, among: candidates).prefix(3).map { "`\($0)`" }
        return near.isEmpty ? nil : "did you mean \(near.joined(separator: " or "))?"
    }

    // MARK: Selection

    private mutating func select(
        _ id: AST.NodeID, _ operand: AST.NodeID, _ field: String, isOptional: Bool
    ) -> Type {
        if !isOptional, let name = qualifiedName(id), let (reference, type) = lookUp(name) {
            ast.nodes[Int(id.index)].reference = reference
            return type
        }
        if let type = undeclaredField(id, operand, field) { return type }
        let operandType = visit(operand)
        guard let type = fieldType(operandType, field, id) else { return wrong }
        if case .optional = types.head(operandType) { return .optional(type) }
        return isOptional ? .optional(type) : type
    }

    private mutating func presence(_ id: AST.NodeID, _ operand: AST.NodeID, _ field: String)
        -> Type
    {
        if let prefix = qualifiedName(operand) {
            switch lookUp(prefix + "." + field)?.reference {
            case .slot(let slot)?: ast.nodes[Int(id.index)].reference = .slot(slot)
            case .object(let path)?: ast.nodes[Int(id.index)].reference = .object(path)
            default: break
            }
            if ast[id].reference != nil { return .bool }
        }
        if undeclaredField(id, operand, field) != nil { return .bool }
        _ = fieldType(visit(operand), field, id)
        return .bool
    }

    /// Reports a field that a declared object, or a group of dotted variables, does not have.
    private mutating func undeclaredField(
        _ id: AST.NodeID, _ operand: AST.NodeID, _ field: String
    ) -> Type? {
        guard isStrict, let prefix = qualifiedName(operand), lookUp(prefix) == nil else {
            return nil
        }
        for candidate in candidates(prefix) where environment.prefixes.contains(candidate) {
            let start = candidate + "."
            let siblings = environment.slots.filter { $0.path.hasPrefix(start) }
                .map { String($0.path.dropFirst(start.count).prefix { $0 != "." }) }
            // A longer dotted name may still begin with this one.
            if siblings.contains(field) { return nil }
            // To the language the prefix is no variable at all; people think of it as one.
            let near = suggestion(field, siblings).map { "; " + $0 } ?? ""
            report(
                id, at: root(of: operand), "cel.undeclared.field",
                undeclaredReference(String(prefix.prefix { $0 != "." })),
                help: "`\(candidate)` has no field `\(field)`" + near)
            return wrong
        }
        return nil
    }

    private func root(of id: AST.NodeID) -> AST.NodeID {
        var id = id
        while case .select(let operand, _, _) = ast[id].kind { id = operand }
        return id
    }

    private mutating func fieldType(_ operand: Type, _ field: String, _ id: AST.NodeID) -> Type? {
        switch types.head(operand) {
        case .map(let key, let value):
            guard types.assign(.string, to: key) else {
                report(
                    id, "cel.type", "the keys of this map are '\(shown(key))', not 'string'")
                return nil
            }
            return value
        case .optional(let wrapped): return fieldType(wrapped, field, id)
        case .object(let object):
            if let found = object.field(field) { return found.type }
            report(
                id, "cel.undeclared.field", "undefined field '\(field)'",
                help: suggestion(field, object.fields.map(\.name)))
            return nil
        case .param, .dyn, .any, .error: return .dyn
        case .abstract(let name, []) where WellKnown.messages[name] != nil:
            let fields = WellKnown.messages[name]?.fields ?? [:]
            if let found = fields[field] { return found }
            report(
                id, "cel.undeclared.field", "undefined field '\(field)'",
                help: suggestion(field, fields.keys))
            return nil
        case let other:
            report(
                id, "cel.type.select",
                "type '\(shown(other))' does not support field selection")
            return nil
        }
    }
}
