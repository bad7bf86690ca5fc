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

    mutating func report(
        _ range: Range<Int>, _ code: String, _ message: String, help: String? = nil
    ) {
        guard isStrict, diagnostics.count < environment.limits.diagnostics else { return }
        diagnostics.append(Diagnostic(range: range, code: code, message: message, help: help))
    }

    mutating func warn(_ range: Range<Int>, _ code: String, _ message: String) {
        guard isStrict, diagnostics.count < environment.limits.diagnostics else { return }
        diagnostics.append(Diagnostic(.warning, range: range, code: code, message: message))
    }

    /// The type of something wrong: `error` so that nothing else is said about it, or `dyn` where
    /// the evaluation shall find out.
    private var wrong: Type { isStrict ? .error : .dyn }

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
        report(
            ast[id].range, "cel.type", "expected an optional, found \(types.resolve(type))",
            help: "leave out the `?`")
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
                guard let wanted = message.fields[field] else {
                    report(
                        ast[values[index]].range, "cel.undeclared.field",
                        "`\(candidate)` has no field `\(field)`",
                        help: suggestion(field, message.fields.keys))
                    continue
                }
                if !types.assign(found[index], to: wanted) {
                    report(
                        ast[values[index]].range, "cel.type",
                        "field `\(field)` is \(wanted), not \(types.resolve(found[index]))")
                }
            }
            return message.type
        }
        report(ast[id].range, "cel.undeclared.type", "`\(name)` is no type known here")
        return wrong
    }

    // MARK: Names

    /// Full names that a name may stand for, innermost container first.
    func candidates(_ name: String) -> [String] {
        if name.hasPrefix(".") { return [String(name.dropFirst())] }
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
        report(
            ast[id].range, "cel.undeclared", "`\(name)` is not declared",
            help: suggestion(name, names))
        return wrong
    }

    func suggestion(_ name: String, _ candidates: some Sequence<String>) -> String? {
        // What would not be reported needs no search either.
        guard isStrict, diagnostics.count < environment.limits.diagnostics else { return nil }
        return EditDistance.closest(to: name, among: candidates).map { "did you mean `\($0)`?" }
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
        guard let type = fieldType(operandType, field, ast[id].range) else { return wrong }
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
        _ = fieldType(visit(operand), field, ast[id].range)
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
            report(
                ast[id].range, "cel.undeclared.field", "`\(candidate)` has no field `\(field)`",
                help: suggestion(field, siblings))
            return wrong
        }
        return nil
    }

    private mutating func fieldType(_ operand: Type, _ field: String, _ range: Range<Int>) -> Type?
    {
        switch types.head(operand) {
        case .map(let key, let value):
            guard types.assign(.string, to: key) else {
                report(
                    range, "cel.type", "the keys of this map are \(types.resolve(key)), not string")
                return nil
            }
            return value
        case .optional(let wrapped): return fieldType(wrapped, field, range)
        case .object(let object):
            if let found = object.field(field) { return found.type }
            report(
                range, "cel.undeclared.field", "`\(object.name)` has no field `\(field)`",
                help: suggestion(field, object.fields.map(\.name)))
            return nil
        case .param, .dyn, .any, .error: return .dyn
        case let other:
            report(
                range, "cel.type.select", "\(types.resolve(other)) has no fields, so no `\(field)`")
            return nil
        }
    }

    // MARK: Comprehensions

    private mutating func comprehension(_ id: AST.NodeID, _ loop: AST.Comprehension) -> Type {
        let range = visit(loop.range)
        if loop.macro == .optMap || loop.macro == .optFlatMap { return optional(id, loop, range) }
        let (first, second) = variables(loop, range)
        var variables = [(loop.variable, first)]
        if let name = loop.secondVariable { variables.append((name, second)) }
        return with(id, variables) { checker in
            if let filter = loop.filter { checker.condition(filter) }
            switch loop.macro {
            case .all, .exists, .existsOne:
                checker.condition(loop.body)
                return .bool
            case .filter:
                checker.condition(loop.body)
                return .list(first)
            case .sortBy:
                _ = checker.visit(loop.body)
                return .list(first)
            case .map, .transformList: return .list(checker.visit(loop.body))
            case .transformMap: return .map(first, checker.visit(loop.body))
            case .transformMapEntry:
                let body = checker.visit(loop.body)
                let entry = Type.map(checker.types.fresh(), checker.types.fresh())
                if checker.types.assign(body, to: entry) { return entry }
                checker.report(
                    checker.ast[loop.body].range, "cel.type",
                    "`transformMapEntry` needs a map of one entry, not \(checker.types.resolve(body))"
                )
                return checker.wrong
            case .optMap, .optFlatMap: return .dyn
            }
        }
    }

    private mutating func optional(
        _ id: AST.NodeID, _ loop: AST.Comprehension, _ range: Type
    ) -> Type {
        let inner = types.fresh()
        if !types.assign(range, to: .optional(inner)) {
            report(
                ast[loop.range].range, "cel.type",
                "`\(loop.macro.rawValue)` needs an optional, not \(types.resolve(range))")
        }
        return with(id, [(loop.variable, inner)]) { checker in
            let body = checker.visit(loop.body)
            if loop.macro == .optMap { return .optional(body) }
            let result = Type.optional(checker.types.fresh())
            if !checker.types.assign(body, to: result) {
                checker.report(
                    checker.ast[loop.body].range, "cel.type",
                    "`optFlatMap` needs an optional, not \(checker.types.resolve(body))")
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
                ast[loop.range].range, "cel.type.range",
                "`\(loop.macro.rawValue)` goes over a list or map, not \(types.resolve(other))")
            return (wrong, wrong)
        }
    }

    mutating func condition(_ id: AST.NodeID) {
        let type = visit(id)
        if !types.assign(type, to: .bool) {
            report(
                ast[id].range, "cel.type.condition",
                "a condition must be bool, not \(types.resolve(type))")
        }
    }
}
