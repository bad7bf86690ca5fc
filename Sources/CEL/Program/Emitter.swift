import Time

/// The checked tree to a flat program.
struct Emitter {
    let ast: AST
    let environment: Environment
    let traced: Bool
    private(set) var diagnostics: [Diagnostic] = []

    private var instructions: [Instruction] = []
    private var nodes: [Int32] = []
    private var constants: [Cell] = []
    let arenaBox: ArenaBox
    private var regexes: [Regex] = []
    private var regexOfPattern: [String: Int] = [:]
    private var triedRegexes = 0
    private var hosts: [(name: String, body: Function.Body?)] = []
    private var objects: [ObjectLayout] = []
    private var structures: [StructureLayout] = []
    /// Registers of the variables of macros, by their number.
    private var localRegisters: [Int: Int32] = [:]
    private var nextTemporary: Int32 = 0
    private var mostTemporaries: Int32 = 0
    /// The node that instructions added now come from.
    var currentNode: Int32 = 0
    /// Nodes that are the same whenever they are evaluated, and those that could not be folded.
    private var isConstant: [Bool] = []
    private var unfoldable: Set<AST.NodeID> = []
    /// What all foldings together may still cost.
    private var foldingBudget = 1_000_000
    private var readsUnknownLocal = false
    private var slotReads: [SlotRead: Int32] = [:]
    private var slotsNeeded = 0

    /// The memory of the constants; a box since the emitter is copied when it tries a folding.
    final class ArenaBox {
        var arena: Arena
        init(limit: Int) { arena = Arena(limit: limit, chunk: 256) }
    }

    /// What `Code` is made of.
    struct Output {
        var instructions: [Instruction]
        var nodes: [Int32]
        var ranges: [Range<Int>]
        var constants: [Cell]
        var arenaBox: ArenaBox
        var regexes: [Regex]
        var hosts: [(name: String, body: Function.Body?)]
        var objects: [ObjectLayout]
        var structures: [StructureLayout]
        var temporaries: Int
        var zones: ZoneDatabase
        var limits: Limits
        var slotReads: [SlotRead: Int32]
        var slotsNeeded: Int

        /// The memory of the constants; a new empty one takes its place.
        func takeArena() -> Arena {
            var taken = Arena(limit: 0)
            swap(&taken, &arenaBox.arena)
            return taken
        }
    }

    init(ast: AST, environment: Environment, traced: Bool, folds: Bool = true) {
        self.ast = ast
        self.environment = environment
        self.traced = traced
        arenaBox = ArenaBox(limit: environment.limits.memory)
        isConstant =
            folds && ast.nodes.count <= Self.foldingNodes ? Constancy.find(in: ast) : []
    }

    /// The program of a node; nil where the node reads a variable of a macro around it, or the
    /// constants need more memory than allowed.
    mutating func emit(root: AST.NodeID) -> Code? {
        if case .invalid = ast[root].kind { return nil }
        instructions = []
        nodes = []
        let result = operand(root)
        add(Instruction(.finish, a: result))
        guard !readsUnknownLocal else { return nil }
        var temporaries = Int(mostTemporaries)
        for slot in environment.slots {
            if let lazy = slot.program { temporaries = max(temporaries, lazy.code.temporaries) }
        }
        return Code(
            Output(
                instructions: instructions, nodes: nodes, ranges: ast.nodes.map(\.range),
                constants: constants, arenaBox: arenaBox, regexes: regexes, hosts: hosts,
                objects: objects, structures: structures, temporaries: temporaries,
                zones: environment.zones, limits: environment.limits,
                slotReads: slotReads, slotsNeeded: slotsNeeded))
    }

    // MARK: Building blocks

    @discardableResult
    mutating func add(_ instruction: Instruction) -> Int {
        instructions.append(instruction)
        nodes.append(currentNode)
        return instructions.count - 1
    }

    var position: Int32 { Int32(instructions.count) }

    /// If the last instruction is a comparison into `dst`, lets it do the work of the instruction
    /// that is about to follow: nothing can jump between the two.
    mutating func markTest(into dst: Int32, readBy reader: Int) {
        guard let last = instructions.indices.last, instructions[last].dst == dst else { return }
        switch instructions[last].operation {
        case .test, .testInt, .testDouble, .testText:
            instructions[last].count |= UInt16(truncatingIfNeeded: reader)
        default: break
        }
    }

    /// Lets an instruction added before jump to here.
    mutating func land(_ index: Int) { instructions[index].b = position }
    mutating func land(_ indices: [Int]) { for index in indices { land(index) } }

    mutating func temporary(_ count: Int = 1) -> Int32 {
        let register = nextTemporary
        nextTemporary += Int32(count)
        mostTemporaries = max(mostTemporaries, nextTemporary)
        return register
    }

    mutating func constant(_ cell: Cell) -> Int32 {
        constants.append(cell)
        return Register.constants + Int32(constants.count - 1)
    }

    func constant(at register: Int32) -> Cell { constants[Int(register - Register.constants)] }

    mutating func constant(_ value: Value) -> Int32 {
        constant(arenaBox.arena.cell(of: value) ?? Cell(.error))
    }

    mutating func structureIndex(_ layout: StructureLayout) -> Int32 {
        structures.append(layout)
        return Int32(structures.count - 1)
    }

    mutating func fail(_ code: EvaluationError.Code, into dst: Int32, detail: String) {
        add(
            Instruction(
                .fail, dst: dst, a: constant(Value.string(detail)), count: Int(code.rawValue)))
    }

    func register(ofLocal local: Int) -> Int32? { localRegisters[local] }
    mutating func setLocal(_ local: Int, _ register: Int32) { localRegisters[local] = register }

    /// Runs a part of the emission that may take temporaries, and gives them back.
    mutating func scoped<Result>(_ body: (inout Emitter) -> Result) -> Result {
        let saved = nextTemporary
        defer { nextTemporary = saved }
        return body(&self)
    }

    /// The register of a slot; notes that an activation must have it.
    mutating func register(ofSlot slot: Int) -> Int32 {
        slotsNeeded = max(slotsNeeded, slot + 1)
        return Register.slot(slot)
    }

    // MARK: Nodes

    /// The register that holds a node's value; emits what computes it. A value that has no register
    /// of its own goes to `scratch`, or to a new temporary.
    mutating func operand(_ id: AST.NodeID, scratch: Int32? = nil) -> Int32 {
        if let register = direct(id) {
            if register < 0 {
                slotReads[SlotRead(node: currentNode, register: register)] = id.index
            }
            trace(register, id)
            return register
        }
        let dst = scratch ?? temporary()
        emit(id, into: dst)
        return dst
    }

    /// Evaluates a node into a register.
    mutating func emit(_ id: AST.NodeID, into dst: Int32) {
        let outer = currentNode
        currentNode = id.index
        defer { currentNode = outer }
        if let register = direct(id) {
            add(Instruction(.move, dst: dst, a: register))
        } else {
            scoped { $0.compute(id, into: dst) }
        }
        trace(dst, id)
    }

    private mutating func trace(_ register: Int32, _ id: AST.NodeID) {
        guard traced else { return }
        let outer = currentNode
        currentNode = id.index
        add(Instruction(.trace, a: register))
        currentNode = outer
    }

    /// The register of a node that needs no computing: a slot, a local, a constant.
    private mutating func direct(_ id: AST.NodeID) -> Int32? {
        let node = ast[id]
        if case .presence = node.kind { return nil }
        switch node.reference {
        case .slot(let slot)?: return register(ofSlot: slot)
        case .constant(let value)?: return constant(value)
        case .local(let local)?:
            if let register = localRegisters[local] { return register }
            readsUnknownLocal = true
            return constant(Cell.null)
        default: break
        }
        if case .literal(let value) = node.kind { return constant(value) }
        return traced ? nil : folded(id)
    }

    /// Evaluates a constant part once and for all. One that gives an error is left as it is, so that
    /// the error appears when, and only if, the part is evaluated.
    private mutating func folded(_ id: AST.NodeID) -> Int32? {
        guard !isConstant.isEmpty, isConstant[Int(id.index)], !unfoldable.contains(id),
            foldingBudget > 0
        else {
            return nil
        }
        var inner = Emitter(ast: ast, environment: environment, traced: false, folds: false)
        inner.triedRegexes = triedRegexes
        defer { triedRegexes = inner.triedRegexes }
        guard let code = inner.emit(root: id) else { return nil }
        var machine = Machine(slots: [], limits: environment.limits)
        let cell = machine.evaluate(code, costLimit: min(Self.foldingCost, foldingBudget))
        foldingBudget -= min(foldingBudget, machine.cost)
        guard cell.isValue, machine.arena.used <= Self.foldingBytes,
            let copy = arenaBox.arena.copy(cell)
        else {
            // The part is emitted after all, and then reports itself what is wrong in it.
            if cell.isError, !inner.diagnostics.contains(where: { $0.severity == .error }) {
                warnOfFailure(machine.evaluationError(cell, code))
            }
            markUnfoldable(id)
            return nil
        }
        diagnostics += inner.diagnostics
        return constant(copy)
    }

    /// A constant part that can only fail, such as `[1, 2][5]` or `1 / 0`.
    private mutating func warnOfFailure(_ error: EvaluationError) {
        guard environment.checking == .strict, error.code != .costLimit, error.code != .sizeLimit
        else { return }
        diagnostics.append(
            Diagnostic(
                .warning, range: error.range, code: "cel.alwaysFails",
                message: "this can only fail: \(error.message)"))
    }

    /// Folding must not make compiling slow or a program large.
    private static let foldingCost = 100_000
    private static let foldingBytes = 1 << 20
    private static let foldingNodes = 4096

    /// Parts of something that gave an error are not tried again one by one, save for literals:
    /// that would take square time.
    private mutating func markUnfoldable(_ id: AST.NodeID) {
        var pending = [id]
        while let next = pending.popLast() {
            if unfoldable.insert(next).inserted { pending += ast.children(of: next) }
        }
    }

    mutating func host(_ name: String) -> Int32 {
        if let known = hosts.firstIndex(where: { $0.name == name }) { return Int32(known) }
        let function = environment.functions.last { $0.name == name && $0.body != nil }
        hosts.append((name, function?.body))
        return Int32(hosts.count - 1)
    }

    /// The index of a compiled regular expression; nil where it is wrong, which is reported.
    mutating func regex(_ pattern: String, at range: Range<Int>) -> Int32? {
        if let known = regexOfPattern[pattern] { return Int32(known) }
        // Those that are wrong count too: compiling takes as long.
        triedRegexes += 1
        guard triedRegexes <= environment.limits.regexes else {
            diagnostics.append(
                Diagnostic(
                    range: range, code: "cel.limit.regex",
                    message: "more than \(environment.limits.regexes) regular expressions"))
            return nil
        }
        switch Regex.compile(Array(pattern.utf8), limits: environment.limits) {
        case .success(let regex):
            regexOfPattern[pattern] = regexes.count
            regexes.append(regex)
            return Int32(regexes.count - 1)
        case .failure(let fault):
            if environment.checking == .strict {
                diagnostics.append(
                    Diagnostic(
                        range: range, code: "cel.regex",
                        message: "this is no regular expression: \(fault.message)"))
            }
            return nil
        }
    }

    /// The layout of an object of the host, nested ones first.
    mutating func objectLayout(_ path: String) -> Int32 {
        var layout = ObjectLayout()
        for field in environment.objects[path]?.fields ?? [] {
            let full = path + "." + field.name
            let name = constant(Value.string(field.name))
            if let slot = environment.slotOfPath[full] {
                _ = register(ofSlot: slot)
                layout.members.append((name, .slot(slot)))
            } else {
                layout.members.append((name, .object(Int(objectLayout(full)))))
            }
        }
        objects.append(layout)
        return Int32(objects.count - 1)
    }
}
