/// The values of an environment's slots for evaluations, and the memory they need.
///
/// Made once and used again: after the first few evaluations no memory is taken from the system.
/// Not for more than one thread at a time.
public struct Activation: ~Copyable {
    private var machine: Machine
    /// What the slots point to: kept until they are cleared, other than results.
    private var inputs: Arena

    /// An activation with all slots absent; computed ones compute themselves when read.
    public init(_ environment: Environment) {
        machine = Machine(slots: environment.slots, limits: environment.limits)
        inputs = Arena(limit: .max / 2)
    }

    /// The number of slots.
    public var slotCount: Int { machine.slots.count }

    /// Makes every slot absent, and every computed slot compute again; memory is kept for reuse.
    public mutating func reset() {
        for index in 0..<slotCount { machine.setSlot(index, .absent) }
        machine.rearm()
        machine.arena.reset()
        inputs.reset()
    }

    /// Makes a slot absent.
    public mutating func clear(_ slot: Int) { store(slot, .absent) }

    /// Sets a slot to a truth value.
    public mutating func set(_ slot: Int, _ value: Bool) { store(slot, .bool(value)) }
    /// Sets a slot to an int.
    public mutating func set(_ slot: Int, _ value: Int64) { store(slot, .int(value)) }
    /// Sets a slot to a uint.
    public mutating func set(_ slot: Int, _ value: UInt64) { store(slot, .uint(value)) }
    /// Sets a slot to a double.
    public mutating func set(_ slot: Int, _ value: Double) { store(slot, .double(value)) }
    /// Sets a slot to a string.
    public mutating func set(_ slot: Int, _ value: String) {
        store(slot, inputs.cell(of: .string(value)))
    }
    /// Sets a slot to a string given as UTF-8, which is copied. The bytes must be valid.
    public mutating func set(_ slot: Int, utf8 bytes: UnsafeRawBufferPointer) {
        store(slot, inputs.bytes(.string, bytes))
    }
    /// Sets a slot to a point in time.
    public mutating func set(_ slot: Int, _ value: Timestamp) { store(slot, .timestamp(value)) }
    /// Sets a slot to a span of time.
    public mutating func set(_ slot: Int, _ value: CELDuration) {
        store(slot, .duration(value.totalNanoseconds))
    }
    /// Sets a slot to any value. One that nests deeper than 500 levels, or a map with two equal
    /// keys or keys of another kind than bool, int, uint and string, makes the slot an error.
    public mutating func set(_ slot: Int, _ value: Value) { store(slot, inputs.cell(of: value)) }

    /// The present value of a slot: nil where it is absent or a computed one has not been read, or
    /// where it would take more memory than an evaluation may use.
    public func value(of slot: Int) -> Value? {
        guard machine.slots.indices.contains(slot) else { return nil }
        let cell = machine.slot(slot)
        var room = machine.limits.memory
        return cell.isValue ? cell.value(room: &room) : nil
    }

    private mutating func store(_ slot: Int, _ cell: Cell?) {
        guard machine.slots.indices.contains(slot) else { return }
        if machine.forced > 0 {
            machine.rearm()
            machine.arena.reset()
        }
        machine.setSlot(slot, cell ?? Self.unusable)
    }

    /// What a slot holds whose value cannot be taken: reading it is an error.
    private static let unusable: Cell = {
        var cell = Cell(.error)
        cell.code = EvaluationError.Code.sizeLimit.rawValue
        return cell
    }()

    /// Bytes of memory in use, for tests: does not grow from one evaluation to the next.
    package var memoryInUse: Int { machine.arena.used + inputs.used }
    /// Bytes of memory taken from the system, for tests: bounded, whatever is evaluated in turn.
    package var memoryReserved: Int { machine.arena.reserved + inputs.reserved }

    // MARK: Evaluation

    mutating func evaluate(_ program: Program, costLimit: Int) -> EvaluationResult {
        let mark = machine.arena.mark
        let wasForced = machine.forced
        machine.trace.removeAll(keepingCapacity: true)
        let cell = machine.evaluate(program.code, costLimit: costLimit)
        var room = machine.limits.memory
        let outcome = outcome(cell, program.code, room: &room)
        // The values of a trace share what is left.
        let trace = machine.trace.map {
            TraceEvent(
                node: AST.NodeID(Int($0.node)),
                outcome: self.outcome($0.cell, program.code, room: &room))
        }
        let cost = machine.cost
        release(mark, wasForced)
        return EvaluationResult(outcome: outcome, cost: cost, trace: trace)
    }

    mutating func evaluateCondition(_ program: Program, costLimit: Int) -> ConditionResult {
        let mark = machine.arena.mark
        let wasForced = machine.forced
        if !machine.trace.isEmpty { machine.trace.removeAll(keepingCapacity: true) }
        let cell = machine.evaluate(program.code, costLimit: costLimit)
        var result = ConditionResult.notMatched
        if cell.tag == .bool {
            if cell.asBool { result = .matched }
        } else {
            let failure = cell.isError ? cell : machine.notBool(cell)
            result = .failed(machine.evaluationError(failure, program.code))
        }
        release(mark, wasForced)
        return result
    }

    private func outcome(_ cell: Cell, _ code: Code, room: inout Int)
        -> Result<Value, EvaluationError>
    {
        if cell.isError { return .failure(machine.evaluationError(cell, code)) }
        if let value = cell.value(room: &room) { return .success(value) }
        return .failure(machine.evaluationError(machine.bare(.sizeLimit), code))
    }

    /// Gives the memory of an evaluation back, unless a computed slot keeps something in it.
    private mutating func release(_ mark: Arena.Mark, _ wasForced: Int) {
        if machine.forced == wasForced { machine.arena.rewind(to: mark) }
    }
}
