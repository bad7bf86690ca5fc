/// Goes over a tree as an evaluation would, with shapes for values.
///
/// The steps are those of the emitted program: all of them once, those of a loop once more for each
/// round. What is added are the elements and bytes that each node reads or makes, by the rules that
/// the machine charges by. A part that was folded costs nothing then, and here still adds to the
/// upper bound, which stays one.
struct CostWalk {
    struct Cost {
        var least = 0
        var most: Bound = 0
    }

    let ast: AST
    let environment: Environment
    let limits: Limits
    let sizes: [String: SizeHint]
    private let code: Code
    private let root: AST.NodeID
    /// What one round of a macro costs in steps, by node.
    private let rounds: [Int32: Int]
    private var locals: [Int: Shape] = [:]
    /// Computed variables: what each costs when it is first read, and what it holds.
    private var computed: [Int: (most: Bound, shape: Shape)] = [:]
    private var least = 0

    init(_ program: Program, sizes: [String: SizeHint]) {
        ast = program.ast
        environment = program.environment
        code = program.code
        root = program.root
        limits = program.code.limits
        rounds = program.code.roundCosts
        self.sizes = sizes
    }

    mutating func estimate() -> Cost {
        let steps = code.instructions.count
        let (most, _) = visit(root, isCertain: true)
        let ofComputed = computed.values.reduce(Bound(0)) { $0 + $1.most }
        return Cost(least: steps + least, most: most + ofComputed + Bound(steps))
    }

    // MARK: Nodes

    /// The most that the node adds, and its value. `isCertain` says whether it is evaluated whenever
    /// the program is; only that can raise the lower bound.
    mutating func visit(_ id: AST.NodeID, isCertain: Bool) -> (most: Bound, shape: Shape) {
        let node = ast[id]
        if case .object(let path)? = node.reference { return object(path, of: node) }
        if case .presence(let operand, let field) = node.kind {
            if node.reference != nil { return (0, .scalar) }
            let most = visit(operand, isCertain: isCertain).most
            return (most + Bound(field.utf8.count / 16), .scalar)
        }
        switch node.reference {
        case .slot(let slot)?: return (0, value(of: slot))
        case .constant(let value)?: return (0, Self.shape(of: value))
        case .local(let local)?: return (0, locals[local] ?? .unknown)
        default: break
        }
        switch node.kind {
        case .literal(let value): return (0, Self.shape(of: value))
        case .identifier, .invalid, .presence: return (0, .scalar)
        case .select(let operand, let field, let isOptional):
            let (most, shape) = visit(operand, isCertain: isCertain)
            return (
                most + Bound(field.utf8.count / 16),
                isOptional ? .optional(shape.member.or(shape.member.member)) : shape.selected
            )
        case .call(let function, let target, let arguments):
            return call(node, function, target, arguments, isCertain: isCertain)
        case .list(let elements, let optional): return list(elements, optional, isCertain)
        case .map(let parts, _): return map(parts, isCertain)
        case .structure(_, _, let values, _): return structure(values, isCertain)
        case .comprehension(let loop):
            return comprehension(id, loop, node.firstLocal, isCertain: isCertain)
        case .bind(_, let initial, let body):
            let (most, shape) = visit(initial, isCertain: isCertain)
            locals[node.firstLocal] = shape
            let (ofBody, result) = visit(body, isCertain: isCertain)
            return (most + ofBody, result)
        case .block(let bindings, let body):
            var most: Bound = 0
            for (index, binding) in bindings.enumerated() {
                let (ofBinding, shape) = visit(binding, isCertain: isCertain)
                most += ofBinding
                locals[node.firstLocal + index] = shape
            }
            let (ofBody, result) = visit(body, isCertain: isCertain)
            return (most + ofBody, result)
        }
    }

    static func shape(of literal: Value) -> Shape {
        switch literal {
        case .string(let text): .text(Bound(text.utf8.count))
        case .bytes(let bytes): .text(Bound(bytes.count))
        case .type: .text(64)
        case .list, .map, .optional, .opaque: .unknown
        default: .scalar
        }
    }

    @inline(never)
    private mutating func value(of slot: Int) -> Shape {
        let declared = environment.slots[slot]
        if let program = declared.program {
            if let known = computed[slot] { return known.shape }
            computed[slot] = (.none, .unknown)
            var inner = CostWalk(program, sizes: sizes)
            let (most, shape) = inner.visit(program.root, isCertain: false)
            computed[slot] = (most + Bound(program.code.instructions.count), shape)
            // Those that it reads are computed once too, whoever reads them first.
            computed.merge(inner.computed) { own, _ in own }
            return shape
        }
        if let hint = sizes[declared.path] { return .hinted(hint) }
        if let values = declared.values { return .text(Bound(values.map(\.utf8.count).max() ?? 0)) }
        return .of(declared.type)
    }

    @inline(never)
    private mutating func object(_ path: String, of node: AST.Node) -> (most: Bound, shape: Shape) {
        if case .presence = node.kind { return (0, .scalar) }
        return wholeObject(path)
    }

    private mutating func wholeObject(_ path: String) -> (most: Bound, shape: Shape) {
        let fields = environment.objects[path]?.fields ?? []
        var most = Bound(3 * fields.count)
        var member = Shape.scalar
        for field in fields {
            let full = path + "." + field.name
            most += Bound(field.name.utf8.count / 16)
            member = member.or(.text(Bound(field.name.utf8.count)))
            if let slot = environment.slotOfPath[full] {
                member = member.or(value(of: slot))
            } else {
                let (inner, shape) = wholeObject(full)
                most += inner
                member = member.or(shape)
            }
        }
        return (most, .collection(Bound(fields.count), of: member))
    }

    // MARK: Collections

    @inline(never)
    private mutating func list(_ elements: [AST.NodeID], _ optional: [Int], _ isCertain: Bool)
        -> (most: Bound, shape: Shape)
    {
        var most = Bound(elements.count)
        var member = Shape.scalar
        for (index, element) in elements.enumerated() {
            let (cost, shape) = visit(element, isCertain: isCertain)
            most += cost
            member = member.or(optional.contains(index) ? shape.member : shape)
        }
        return (most, .collection(Bound(elements.count), of: member))
    }

    @inline(never)
    private mutating func map(_ parts: [AST.NodeID], _ isCertain: Bool) -> (
        most: Bound, shape: Shape
    ) {
        var most = Bound(3 * parts.count / 2)
        var member = Shape.scalar
        for (index, part) in parts.enumerated() {
            let (cost, shape) = visit(part, isCertain: isCertain)
            most += cost
            if index % 2 == 0 { most += shape.bytes / 16 }
            // A value may be one that was taken out of an optional.
            member = member.or(shape).or(shape.member)
        }
        return (most, .collection(Bound(parts.count / 2), of: member))
    }

    /// Messages that hold JSON are copied.
    @inline(never)
    private mutating func structure(_ values: [AST.NodeID], _ isCertain: Bool)
        -> (most: Bound, shape: Shape)
    {
        var most: Bound = 0
        var whole = Shape.scalar
        for value in values {
            let (cost, shape) = visit(value, isCertain: isCertain)
            most += cost + shape.nodes * 4 + shape.weight
            whole = whole.or(shape).or(shape.member)
        }
        return (most + 1, whole)
    }

    // MARK: Macros

    @inline(never)
    private mutating func comprehension(
        _ id: AST.NodeID, _ loop: AST.Comprehension, _ firstLocal: Int, isCertain: Bool
    ) -> (most: Bound, shape: Shape) {
        let (ofRange, range) = visit(loop.range, isCertain: isCertain)
        locals[firstLocal] = range.member
        if loop.secondVariable != nil { locals[firstLocal + 1] = range.member }
        if loop.macro == .optMap || loop.macro == .optFlatMap {
            let (ofBody, body) = visit(loop.body, isCertain: false)
            return (ofRange + ofBody, loop.macro == .optMap ? .optional(body) : body)
        }
        let steps = rounds[id.index] ?? 0
        // One round is certain where there is an element and nothing that could fail before.
        let hasRound = isCertain && isSafeList(loop.range)
        if hasRound { least += steps }
        var ofRound = Bound(steps)
        if let filter = loop.filter { ofRound += visit(filter, isCertain: hasRound).most }
        let (ofBody, body) = visit(loop.body, isCertain: hasRound && loop.filter == nil)
        ofRound += ofBody
        return Self.result(loop.macro, ofRange + range.count * ofRound, range, body)
    }

    /// What the rounds of a macro make, apart from it: its frame nests as deep as the tree does.
    @inline(never)
    private static func result(
        _ macro: AST.Comprehension.Macro, _ most: Bound, _ range: Shape, _ body: Shape
    ) -> (most: Bound, shape: Shape) {
        let count = range.count
        switch macro {
        case .all, .exists, .existsOne: return (most, .scalar)
        case .filter: return (most + count, .collection(count, of: range.member))
        case .map, .transformList: return (most + count, .collection(count, of: body))
        case .transformMap:
            return (
                most + count * 3 + count * (range.member.bytes / 16),
                .collection(count, of: range.member.or(body))
            )
        case .transformMapEntry:
            // Entries are copied once, and again each time that the map has to move to twice the room.
            let entries = count * body.count
            return (
                most + count * 2 + entries * 11 + entries * (body.member.bytes / 16),
                .collection(entries, of: body.member)
            )
        case .sortBy:
            return (most + count + sorting(count, body), range)
        case .optMap, .optFlatMap: return (most, .unknown)
        }
    }

    /// A list literal with an element, whose elements cannot fail.
    private func isSafeList(_ id: AST.NodeID) -> Bool {
        guard case .list(let elements, let optional) = ast[id].kind else { return false }
        return elements.count > optional.count && optional.isEmpty
            && elements.allSatisfy { if case .literal = ast[$0].kind { true } else { false } }
    }

    /// Checking, comparing and copying of elements that are sorted by such keys.
    static func sorting(_ count: Bound, _ key: Shape) -> Bound {
        let comparisons = count * (count.bits * 2) + count
        return count * count.bits + comparisons * (key.bytes / 16) + count
    }
}

extension Code {
    /// What `next` adds for a round, by the node of the macro (see `Machine.run`).
    var roundCosts: [Int32: Int] {
        var costs: [Int32: Int] = [:]
        for (index, instruction) in instructions.enumerated() where instruction.operation == .next {
            costs[nodes[index]] = index + 2 - Int(instruction.b)
        }
        return costs
    }
}
