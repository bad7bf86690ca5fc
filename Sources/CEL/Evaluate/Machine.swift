/// Runs programs over the slots of one activation.
///
/// The frame is one block: slots below `frame`, temporaries from it on. No value is counted,
/// boxed or thrown in the loop; errors are cells like any other.
struct Machine: ~Copyable {
    /// Slots grow downwards from here, temporaries upwards.
    private(set) var frame: UnsafeMutablePointer<Cell>
    private var block: UnsafeMutableBufferPointer<Cell>
    private var temporaries: Int
    let slots: [Environment.Slot]
    let limits: Limits
    /// What values made while evaluating point to.
    var arena: Arena
    var cost = 0
    var costLimit = 0
    /// How many lazy slots have been computed: what they hold is kept in the arena.
    private(set) var forced = 0
    private var forcingDepth = 0
    /// Of the current instruction, for errors.
    var node: Int32 = 0
    var trace: [(node: Int32, cell: Cell)] = []
    /// Regular expressions that were not constants, the latest few.
    var regexCache: [(pattern: [UInt8], regex: Regex)] = []

    init(slots: [Environment.Slot], limits: Limits) {
        self.slots = slots
        self.limits = limits
        temporaries = 32
        block = .allocate(capacity: slots.count + temporaries)
        block.initialize(repeating: .absent)
        // A buffer of at least 32 cells has an address.
        frame = block.baseAddress! + slots.count
        arena = Arena(limit: limits.memory)
        rearm()
    }

    deinit { block.deallocate() }

    // MARK: Slots

    func slot(_ slot: Int) -> Cell { frame[-1 - slot] }
    mutating func setSlot(_ slot: Int, _ cell: Cell) { frame[-1 - slot] = cell }

    /// Makes every computed slot compute again.
    mutating func rearm() {
        for (index, slot) in slots.enumerated() where slot.program != nil {
            frame[-1 - index] = Cell(.lazy)
        }
        forced = 0
    }

    private mutating func reserve(_ count: Int) {
        guard count > temporaries else { return }
        let larger = UnsafeMutableBufferPointer<Cell>.allocate(capacity: slots.count + count)
        larger.initialize(repeating: .absent)
        for index in 0..<slots.count { larger[index] = block[index] }
        block.deallocate()
        block = larger
        temporaries = count
        frame = block.baseAddress! + slots.count
    }

    // MARK: Running

    /// Evaluates a program from the top: the result is a value or an error, never a bare slot.
    mutating func evaluate(_ code: Code, costLimit: Int) -> Cell {
        reserve(code.temporaries)
        cost = 0
        self.costLimit = costLimit
        forcingDepth = 0
        guard code.slotsNeeded <= slots.count else { return foreign() }
        let result = run(code)
        // Whatever absorbed it on the way: what cost too much has no result.
        return cost > costLimit ? error(.costLimit, "") : result
    }

    /// Looks into what an operand holds: a value stays, a lazy slot is computed, an absent one is
    /// an error that names it. Errors get the node that reads them.
    mutating func resolve(_ cell: Cell, _ register: Int32, _ code: Code) -> Cell {
        switch cell.tag {
        case .absent:
            var error = Cell(.error, bits: UInt64(clamping: -1 - Int64(register)))
            error.length = UInt32(bitPattern: code.reader(of: register, for: node))
            error.code = EvaluationError.Code.missing.rawValue
            return error
        case .lazy:
            // The other operand of the same step may have computed it meanwhile.
            let now = slot(Int(-1 - register))
            return now.tag == .lazy
                ? force(Int(-1 - register), code) : resolve(now, register, code)
        case .error where register < 0:
            var error = cell
            error.length = UInt32(bitPattern: code.reader(of: register, for: node))
            return error
        default: return cell
        }
    }

    /// A program of another environment would read what is not there.
    private mutating func foreign() -> Cell {
        error(.undeclared, "a variable of another environment")
    }

    /// Nested computing of slots uses the native stack, so it has a limit of its own.
    private static let deepestForcing = 128

    private mutating func force(_ slot: Int, _ code: Code) -> Cell {
        guard slots.indices.contains(slot), let program = slots[slot].program,
            forcingDepth < Self.deepestForcing
        else { return error(.sizeLimit, "computed variables nest too deep") }
        guard program.code.slotsNeeded <= slots.count, program.code.temporaries <= temporaries
        else { return foreign() }
        guard let saved = arena.cells(code.temporaries) else { return outOfMemory() }
        saved.update(from: frame, count: code.temporaries)
        let outer = node
        forcingDepth += 1
        var result = run(program.code)
        forcingDepth -= 1
        node = outer
        frame.update(from: saved, count: code.temporaries)
        forced += 1
        if result.isError {
            // What was given up may work with a higher limit: it is not kept.
            if result.code == EvaluationError.Code.costLimit.rawValue { return result }
            frame[-1 - slot] = result
            result.length = UInt32(
                bitPattern: code.reader(of: Register.slot(slot), for: outer))
        } else {
            frame[-1 - slot] = result
        }
        return result
    }

    /// The whole interpreter: one switch. What is rare is in functions of its own.
    private mutating func run(_ code: Code) -> Cell {
        let frame = self.frame
        guard let first = code.instructions.baseAddress, let pool = code.constants.baseAddress,
            let nodes = code.nodes.baseAddress
        else { return .null }
        let constants = pool - Int(Register.constants)
        var pc = 0
        cost += code.instructions.count
        while true {
            let i = first[pc]
            pc &+= 1
            switch i.operation {
            case .less, .lessOrEqual, .greater, .greaterOrEqual, .equal, .notEqual:
                let l = Self.load(frame, constants, i.a)
                let r = Self.load(frame, constants, i.b)
                guard let holds = Self.quickTest(i.operation, l, r) else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = test(i, l, r, code)
                    continue
                }
                frame[Int(i.dst)] = .bool(holds)
                // The emitter marks a test whose result only the short circuit after it reads.
                if i.count != 0 {
                    pc = holds == (i.count == 2) ? Int(first[pc].b) : pc &+ 1
                }
            case .add, .subtract, .multiply:
                let l = Self.load(frame, constants, i.a)
                let r = Self.load(frame, constants, i.b)
                if let result = Self.quickNumber(i.operation, l, r) {
                    frame[Int(i.dst)] = result
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = binary(i, l, r, code)
                }
            case .divide, .modulo, .isIn, .index:
                node = nodes[pc &- 1]
                frame[Int(i.dst)] = binary(
                    i, Self.load(frame, constants, i.a), Self.load(frame, constants, i.b), code)
            case .move:
                let cell = Self.load(frame, constants, i.a)
                if cell.isValue {
                    frame[Int(i.dst)] = cell
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = resolve(cell, i.a, code)
                }
            case .andShort, .orShort:
                let decides: UInt64 = i.operation == .orShort ? 1 : 0
                var cell = Self.load(frame, constants, i.a)
                if cell.tag != .bool {
                    guard !cell.isValue else { continue }
                    node = nodes[pc &- 1]
                    cell = resolve(cell, i.a, code)
                    frame[Int(i.dst)] = cell
                    if isGivenUp(cell) { return cell }
                    guard cell.tag == .bool else { continue }
                }
                if cell.bits == decides {
                    frame[Int(i.dst)] = cell
                    pc = Int(i.b)
                }
            case .and, .or:
                let l = Self.load(frame, constants, i.a)
                let r = Self.load(frame, constants, i.b)
                if l.tag == .bool, r.tag == .bool {
                    frame[Int(i.dst)] = r
                } else {
                    node = nodes[pc &- 1]
                    let result = logical(i, l, r, code)
                    frame[Int(i.dst)] = result
                    if isGivenUp(result) { return result }
                }
            case .jump: pc = Int(i.b)
            case .branch:
                var cell = Self.load(frame, constants, i.a)
                if cell.tag != .bool {
                    node = nodes[pc &- 1]
                    cell = resolve(cell, i.a, code)
                }
                if cell.tag == .bool {
                    pc = cell.bits != 0 ? pc &+ 1 : Int(i.b)
                } else {
                    frame[Int(i.dst)] = cell.isError ? cell : notBool(cell)
                }
            case .not:
                let cell = Self.load(frame, constants, i.a)
                if cell.tag == .bool {
                    frame[Int(i.dst)] = .bool(cell.bits == 0)
                } else {
                    node = nodes[pc &- 1]
                    let resolved = resolve(cell, i.a, code)
                    frame[Int(i.dst)] =
                        resolved.tag == .bool
                        ? .bool(resolved.bits == 0)
                        : resolved.isError ? resolved : notBool(resolved)
                }
            case .next:
                let list = frame[Int(i.a)]
                let index = Int(truncatingIfNeeded: frame[Int(i.a) + 1].bits)
                guard index < list.count else {
                    pc = Int(i.b)
                    continue
                }
                frame[Int(i.a) + 1] = .int(index + 1)
                // A round takes at most as many steps as the loop has instructions.
                cost += Int(i.b) - pc + 1
                if cost > costLimit {
                    node = nodes[pc &- 1]
                    return error(.costLimit, "")
                }
                advance(i, list, index)
            case .all, .exists:
                var cell = Self.load(frame, constants, i.a)
                if cell.tag != .bool {
                    node = nodes[pc &- 1]
                    cell = value(i.a, code, constants)
                    guard cell.tag == .bool else {
                        accumulate(i, cell)
                        continue
                    }
                }
                guard cell.asBool == (i.operation == .exists) else { continue }
                frame[Int(i.dst)] = cell
                pc = Int(i.b)
            case .finish:
                let cell = Self.load(frame, constants, i.a)
                if cell.isValue { return cell }
                node = nodes[pc &- 1]
                return resolve(cell, i.a, code)
            default:
                node = nodes[pc &- 1]
                pc = perform(i, code, constants, pc)
                if cost > costLimit { return error(.costLimit, "") }
            }
        }
    }

    @inline(__always)
    static func load(
        _ frame: UnsafeMutablePointer<Cell>, _ constants: UnsafeMutablePointer<Cell>,
        _ register: Int32
    ) -> Cell {
        (register >= Register.constants ? constants : frame)[Int(register)]
    }

    @inline(__always)
    private func advance(_ i: Instruction, _ list: Cell, _ index: Int) {
        let cells = list.cells
        let dst = Int(i.dst)
        if list.tag == .map {
            frame[dst] = cells[2 * index]
            frame[dst + 1] = cells[2 * index + 1]
        } else if i.count == 0 {
            frame[dst] = cells[index]
        } else {
            frame[dst] = .int(index)
            frame[dst + 1] = cells[index]
        }
    }

    @inline(__always)
    private func isGivenUp(_ cell: Cell) -> Bool {
        cell.tag == .error && cell.code == EvaluationError.Code.costLimit.rawValue
    }

    // MARK: Rare paths of the loop

    private mutating func test(_ i: Instruction, _ l: Cell, _ r: Cell, _ code: Code) -> Cell {
        let l = resolve(l, i.a, code)
        if l.isError { return l }
        let r = resolve(r, i.b, code)
        if r.isError { return r }
        if i.operation == .equal || i.operation == .notEqual {
            return .bool(areEqual(l, r) == (i.operation == .equal))
        }
        guard let comparable = compare(l, r) else {
            return noOverload(Self.name(of: i.operation), l, r)
        }
        // NaN is in no order with anything: every comparison is false.
        guard let order = comparable else { return .bool(false) }
        switch i.operation {
        case .less: return .bool(order < 0)
        case .lessOrEqual: return .bool(order <= 0)
        case .greater: return .bool(order > 0)
        default: return .bool(order >= 0)
        }
    }

    private mutating func binary(_ i: Instruction, _ l: Cell, _ r: Cell, _ code: Code) -> Cell {
        let l = resolve(l, i.a, code)
        if l.isError { return l }
        let r = resolve(r, i.b, code)
        if r.isError { return r }
        switch i.operation {
        case .add: return add(l, r)
        case .subtract: return subtract(l, r)
        case .multiply: return multiply(l, r)
        case .divide: return divide(l, r)
        case .modulo: return modulo(l, r)
        case .isIn: return contains(l, in: r)
        default: return element(l, r)
        }
    }

    private mutating func logical(_ i: Instruction, _ l: Cell, _ r: Cell, _ code: Code) -> Cell {
        let decides = i.operation == .or
        let l = resolve(l, i.a, code)
        let r = resolve(r, i.b, code)
        if l.tag == .bool, l.asBool == decides { return l }
        if r.tag == .bool, r.asBool == decides { return r }
        if isGivenUp(r) { return r }
        if l.tag == .bool, r.tag == .bool { return .bool(!decides) }
        if l.isError, r.isError { return merged(l, r) }
        if l.isError { return l }
        if r.isError { return r }
        return notBool(l.tag == .bool ? r : l)
    }

    static func name(of operation: Instruction.Operation) -> StaticString {
        switch operation {
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .modulo: "%"
        case .isIn: "in"
        default: "[]"
        }
    }
}
