import CEL
import Time

/// A second evaluator, as simple as can be: a walk of the checked tree over `Value`s. It shares
/// nothing with the machine but the tree, so what both agree on is not a slip of one of them.
struct ReferenceEvaluator {
    /// An error, as far as the two must agree.
    struct Failure: Error, Equatable {
        var code: EvaluationError.Code
        var missing: [String] = []

        init(_ code: EvaluationError.Code, missing: [String] = []) {
            self.code = code
            self.missing = missing
        }
    }

    /// Something that is not written twice, such as the text of a double.
    struct Unsupported: Error {
        var what: String
    }

    typealias Answer = Result<Value, Failure>

    let environment: Environment
    /// The values of the slots; those that are absent are not there.
    let values: [Int: Value]
    private let ast: AST

    init(_ program: Program, environment: Environment, values: [Int: Value]) {
        self.environment = environment
        self.values = values
        ast = program.ast
    }

    /// The value of the whole expression.
    func evaluate() throws -> Answer {
        var walk = self
        return try walk.visit(ast.root)
    }

    static func failure(_ code: EvaluationError.Code) -> Answer { .failure(Failure(code)) }

    // MARK: Nodes

    private mutating func visit(_ id: AST.NodeID) throws -> Answer {
        let node = ast[id]
        if case .presence(let operand, let field) = node.kind {
            return try presence(node, operand, field)
        }
        switch node.reference {
        case .slot(let slot)?: return try read(slot)
        case .object(let path)?: return try object(path)
        case .constant(let value)?: return .success(value)
        case .local?: if let local = try local(id) { return local }
        default: break
        }
        switch node.kind {
        case .literal(let value): return .success(value)
        case .select(let operand, let field, let isOptional):
            return try visit(operand).flatMap {
                Self.select($0, field, isOptional: isOptional)
            }
        case .call(let function, let target, let arguments):
            return try call(node, function, target, arguments)
        case .list(let elements, let optional): return try list(elements, optional)
        case .map(let parts, let optional): return try map(parts, optional)
        case .comprehension(let loop): return try comprehension(id, loop)
        case .bind(let variable, let initial, let body):
            let value = try visit(initial)
            return try with(variable, value) { try $0.visit(body) }
        default: return Self.failure(.undeclared)
        }
    }

    private func read(_ slot: Int) throws -> Answer {
        if let program = environment.slots[slot].program {
            return try ReferenceEvaluator(program, environment: environment, values: values)
                .evaluate()
        }
        if let value = values[slot] { return .success(value) }
        return .failure(Failure(.missing, missing: [environment.slots[slot].path]))
    }

    private func isPresent(_ slot: Int) -> Bool {
        environment.slots[slot].program != nil || values[slot] != nil
    }

    private func object(_ path: String) throws -> Answer {
        var entries: [ValueMap.Entry] = []
        for field in environment.object(path)?.fields ?? [] {
            let full = path + "." + field.name
            let answer: Answer
            if let slot = environment.slot(full) {
                guard isPresent(slot) else { continue }
                answer = try read(slot)
            } else {
                answer = try object(full)
            }
            switch answer {
            case .success(let value): entries.append(.init(key: .string(field.name), value: value))
            case .failure: return answer
            }
        }
        return .success(.map(ValueMap(entries)))
    }

    private func hasAny(_ path: String) -> Bool {
        (environment.object(path)?.fields ?? []).contains { field in
            let full = path + "." + field.name
            return environment.slot(full).map { isPresent($0) } ?? hasAny(full)
        }
    }

    private mutating func presence(_ node: AST.Node, _ operand: AST.NodeID, _ field: String) throws
        -> Answer
    {
        switch node.reference {
        case .slot(let slot)?: return .success(.bool(isPresent(slot)))
        case .object(let path)?: return .success(.bool(hasAny(path)))
        default: return try visit(operand).flatMap { Self.has($0, field) }
        }
    }

    static func select(_ operand: Value, _ field: String, isOptional: Bool) -> Answer {
        switch operand {
        case .map(let map):
            let found = ReferenceLibrary.find(.string(field), in: map)
            if isOptional { return .success(.optional(found)) }
            return found.map { .success($0) } ?? failure(.noSuchKey)
        case .optional(let wrapped):
            return wrapped.map { select($0, field, isOptional: true) } ?? .success(.optional(nil))
        default: return failure(.noSuchField)
        }
    }

    static func has(_ operand: Value, _ field: String) -> Answer {
        switch operand {
        case .map(let map): .success(.bool(ReferenceLibrary.find(.string(field), in: map) != nil))
        case .optional(let wrapped): wrapped.map { has($0, field) } ?? .success(.bool(false))
        default: failure(.noSuchField)
        }
    }

    // MARK: Variables of macros

    /// Names in scope, innermost last: looked up by name, as the specification has it.
    private var scope: [(name: String, value: Answer)] = []

    private func local(_ id: AST.NodeID) throws -> Answer? {
        guard case .identifier(let name) = ast[id].kind else { return nil }
        return scope.last { $0.name == name }?.value
    }

    private mutating func with<T>(
        _ name: String, _ value: Answer, _ body: (inout ReferenceEvaluator) throws -> T
    ) rethrows -> T {
        scope.append((name, value))
        defer { scope.removeLast() }
        return try body(&self)
    }

    // MARK: Collections

    /// What stands at an optional place: the value, nil for none, or an error.
    private static func taken(_ answer: Answer, _ isOptional: Bool) -> Result<Value?, Failure> {
        guard isOptional else { return answer.map { $0 } }
        return answer.flatMap {
            if case .optional(let wrapped) = $0 { return .success(wrapped) }
            return .failure(Failure(.noSuchOverload))
        }
    }

    private mutating func list(_ elements: [AST.NodeID], _ optional: [Int]) throws -> Answer {
        var found: [Value] = []
        for (index, element) in elements.enumerated() {
            switch Self.taken(try visit(element), optional.contains(index)) {
            case .success(let value): if let value { found.append(value) }
            case .failure(let failure): return .failure(failure)
            }
        }
        return .success(.list(found))
    }

    private mutating func map(_ parts: [AST.NodeID], _ optional: [Int]) throws -> Answer {
        var entries: [ValueMap.Entry] = []
        for index in 0..<parts.count / 2 {
            let key = try visit(parts[2 * index])
            let value = Self.taken(try visit(parts[2 * index + 1]), optional.contains(index))
            switch (key, value) {
            case (.failure(let failure), _), (_, .failure(let failure)): return .failure(failure)
            case (.success(let key), .success(let value)):
                if let value { entries.append(.init(key: key, value: value)) }
            }
        }
        return Self.checked(entries)
    }

    static func checked(_ entries: [ValueMap.Entry]) -> Answer {
        for entry in entries {
            switch entry.key {
            case .bool, .int, .uint, .string: break
            default: return failure(.invalidArgument)
            }
        }
        for (index, entry) in entries.enumerated()
        where entries[..<index].contains(where: { ReferenceLibrary.same($0.key, entry.key) }) {
            return failure(.duplicateKey)
        }
        return .success(.map(ValueMap(entries)))
    }

    // MARK: Calls

    private mutating func call(
        _ node: AST.Node, _ function: String, _ target: AST.NodeID?, _ arguments: [AST.NodeID]
    ) throws -> Answer {
        switch function {
        case "_&&_": return try logical(arguments, decides: false)
        case "_||_": return try logical(arguments, decides: true)
        case "_?_:_":
            switch try visit(arguments[0]) {
            case .success(.bool(let holds)): return try visit(arguments[holds ? 1 : 2])
            case .success: return Self.failure(.notBool)
            case .failure(let failure): return .failure(failure)
            }
        default: break
        }
        guard case .function(let name, _)? = node.reference else {
            return Self.failure(.undeclared)
        }
        // `math.abs(x)`: what stands before the point is a part of the name.
        let receiver = name == function ? target : nil
        var given: [Value] = []
        if !ReferenceLibrary.knows(name) { return Self.failure(.undeclared) }
        for id in (receiver.map { [$0] } ?? []) + arguments {
            switch try visit(id) {
            case .success(let value): given.append(value)
            case .failure(let failure): return .failure(failure)
            }
        }
        return try ReferenceLibrary.call(name, given)
    }

    private mutating func logical(_ operands: [AST.NodeID], decides: Bool) throws -> Answer {
        var failure: Failure?
        for operand in operands {
            switch try visit(operand) {
            case .success(.bool(decides)): return .success(.bool(decides))
            case .success(.bool): continue
            case .success:
                failure = failure.map { Self.merged($0, Failure(.notBool)) } ?? Failure(.notBool)
            case .failure(let next): failure = failure.map { Self.merged($0, next) } ?? next
            }
        }
        return failure.map { .failure($0) } ?? .success(.bool(!decides))
    }

    /// The left error, but one of something missing gives way to any other; if both miss something,
    /// all that is missing.
    static func merged(_ left: Failure, _ right: Failure) -> Failure {
        guard left.code == .missing else { return left }
        guard right.code == .missing else { return right }
        return Failure(
            .missing, missing: left.missing + right.missing.filter { !left.missing.contains($0) })
    }

    // MARK: Macros

    private mutating func comprehension(_ id: AST.NodeID, _ loop: AST.Comprehension) throws
        -> Answer
    {
        let range = try visit(loop.range)
        guard case .success(let value) = range else { return range }
        if loop.macro == .optMap || loop.macro == .optFlatMap { return try optional(loop, value) }
        let rounds: [(Value, Value)]
        switch value {
        case .list(let elements):
            rounds = elements.enumerated().map {
                loop.secondVariable == nil ? ($1, $1) : (.int(Int64($0)), $1)
            }
        case .map(let map): rounds = map.entries.map { ($0.key, $0.value) }
        default: return Self.failure(.noSuchOverload)
        }
        var state = LoopState(macro: loop.macro, range: value)
        for (first, second) in rounds {
            let done = try with(loop.variable, .success(first)) { outer in
                try outer.with(loop.secondVariable ?? "@none", .success(second)) { walk in
                    if let filter = loop.filter {
                        switch try walk.visit(filter) {
                        case .success(.bool(true)): break
                        case .success(.bool(false)): return false
                        case .success: return state.end(Self.failure(.notBool))
                        case .failure(let failure): return state.end(.failure(failure))
                        }
                    }
                    return state.step(first, try walk.visit(loop.body))
                }
            }
            if done { break }
        }
        return try state.result()
    }

    private mutating func optional(_ loop: AST.Comprehension, _ value: Value) throws -> Answer {
        guard case .optional(let wrapped) = value else { return Self.failure(.noSuchOverload) }
        guard let wrapped else { return .success(.optional(nil)) }
        let body = try with(loop.variable, .success(wrapped)) { try $0.visit(loop.body) }
        if loop.macro == .optMap { return body.map { .optional($0) } }
        return body.flatMap {
            if case .optional = $0 { return .success($0) }
            return Self.failure(.noSuchOverload)
        }
    }

    /// What a loop has come to.
    private struct LoopState {
        let macro: AST.Comprehension.Macro
        let range: Value
        private var ended: Answer?
        private var failure: Failure?
        private var list: [Value] = []
        private var entries: [ValueMap.Entry] = []
        private var count = 0

        init(macro: AST.Comprehension.Macro, range: Value) {
            self.macro = macro
            self.range = range
        }

        mutating func end(_ answer: Answer) -> Bool {
            ended = answer
            return true
        }

        /// Takes the body of a round in; true where that ends the loop.
        mutating func step(_ first: Value, _ body: Answer) -> Bool {
            switch macro {
            case .all, .exists:
                let decides = macro == .exists
                switch body {
                case .success(.bool(decides)): return end(body)
                case .success(.bool): return false
                case .success: note(Failure(.notBool))
                case .failure(let failure): note(failure)
                }
                return false
            case .existsOne, .filter:
                switch body {
                case .success(.bool(let holds)):
                    if holds {
                        count += 1
                        list.append(first)
                    }
                    return false
                case .success: return end(ReferenceEvaluator.failure(.notBool))
                case .failure: return end(body)
                }
            default: return collect(first, body)
            }
        }

        private mutating func note(_ other: Failure) {
            failure = failure.map { ReferenceEvaluator.merged($0, other) } ?? other
        }

        private mutating func collect(_ first: Value, _ body: Answer) -> Bool {
            guard case .success(let value) = body else { return end(body) }
            switch macro {
            case .transformMap: entries.append(.init(key: first, value: value))
            case .transformMapEntry:
                guard case .map(let map) = value, map.entries.count == 1 else {
                    return end(ReferenceEvaluator.failure(.invalidArgument))
                }
                entries += map.entries
            default: list.append(value)
            }
            return false
        }

        func result() throws -> Answer {
            if let ended { return ended }
            switch macro {
            case .all, .exists:
                return failure.map { .failure($0) } ?? .success(.bool(macro == .all))
            case .existsOne: return .success(.bool(count == 1))
            case .transformMap, .transformMapEntry: return ReferenceEvaluator.checked(entries)
            case .sortBy: return try ReferenceLibrary.sorted(range, by: list)
            default: return .success(.list(list))
            }
        }
    }
}
