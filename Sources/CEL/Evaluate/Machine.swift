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
    /// Where a field was found last in a map, for each place of selection (see `Emitter`). Only a
    /// guess: the key that is there now is compared.
    let placesOfFields: UnsafeMutablePointer<UInt32>
    static let places = 256
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
        placesOfFields = .allocate(capacity: Self.places)
        placesOfFields.initialize(repeating: 0, count: Self.places)
        rearm()
    }

    deinit {
        block.deallocate()
        placesOfFields.deallocate()
    }

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
}
