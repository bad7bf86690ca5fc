import Time

/// One step of a program: 16 bytes, no references.
///
/// `dst`, `a` and `b` are registers unless said otherwise: a register below zero is a slot
/// (`-1 - slot`), one from `Register.constants` on a constant, anything else a temporary.
/// "Else next" means: if all is well the next instruction, which holds the way out, is skipped.
struct Instruction: BitwiseCopyable {
    enum Operation: UInt8 {
        /// dst = a
        case move
        /// dst = a ⊕ b, with the common kinds decided in place.
        case add, subtract, multiply, divide, modulo
        /// dst = whether the order of a and b is one of those in `count` (see ``Test``). The kinds
        /// after `test` have the variable part in a and a constant in b: an int, bool or span of
        /// time; a double; a string.
        case test, testInt, testDouble, testText
        case not, negate, isIn, index, size
        /// dst = whether a is a key of the constant map b, which stands for a long list.
        case isInSet
        /// The terms of a chain of `&&` (`||`). The first term a becomes dst; the next ones are
        /// taken into it. If one is false (true), so is dst, and b is next.
        case andFirst, orFirst, andNext, orNext
        /// If a is false (true), so is dst, and b is next; dst stays as it is otherwise.
        case andPeek, orPeek
        /// Jump to b.
        case jump
        /// On true skip one, on false jump to b, else dst = the error and next.
        case branch
        /// dst = built-in `b` of `count` arguments from register a on.
        case call
        /// dst = host function `b` of `count` arguments from register a on.
        case host
        /// dst = a matches regular expression `b`.
        case matches
        /// dst = list of `b` elements from register a on.
        case list
        /// dst = map of `b` pairs from register a on.
        case map
        /// Marks the optional in dst as one that a list or map takes in only if present.
        case spread
        /// dst = field (constant b) of a; `count` is where the machine notes its place in a map.
        case select
        /// dst = field (constant b) of a as an optional.
        case selectOptional
        /// dst = whether a has field (constant b); `count` as above.
        case has
        /// dst = whether slot a has a value.
        case present
        /// dst = object `b` as a map; whether any of its slots has a value.
        case object, anyPresent
        /// dst = message `b` with `count` fields from register a on.
        case structure
        /// dst, dst + 1 = state of a loop over a. Skip two if it can be gone over, else dst is the
        /// error and next.
        case loop
        /// The next element of loop a to dst (and dst + 1 if count is not 0), and jump to b; at the
        /// end the next instruction follows.
        case next
        /// Accumulate a into dst; jump to b where that decides.
        case all, exists
        case one
        /// dst = whether exactly one was counted.
        case oneEnd
        /// dst = empty list (map) with room for what loop a goes over.
        case listBegin, mapBegin
        /// Append a to list dst; put key a and value b; put all entries of a, within loop b. Else next.
        case append, put, merge
        /// Make map dst ready for lookups.
        case mapEnd
        /// dst = what loop a goes over, in the order of the keys in list b.
        case sortBy
        /// dst = what is in optional a, then skip two; none or an error: dst is that, and next.
        case unwrap
        /// dst = optional of a; dst = a if that is an optional.
        case wrap, flatten
        /// dst = an error of code `count`.
        case fail
        /// Record the value of register a.
        case trace
        /// The result is a.
        case finish

        @inline(__always) var isOr: Bool { self == .orFirst || self == .orNext || self == .orPeek }
    }

    var operation: Operation
    var count: UInt16 = 0
    var dst: Int32
    var a: Int32
    var b: Int32

    init(_ operation: Operation, dst: Int32 = 0, a: Int32 = 0, b: Int32 = 0, count: Int = 0) {
        self.operation = operation
        self.count = UInt16(clamping: count)
        self.dst = dst
        self.a = a
        self.b = b
    }
}

/// What `count` says in a comparison: which orders of its operands make it true, and who reads it.
enum Test {
    static let less = 1
    static let equal = 2
    static let greater = 4
    /// Neither of them: NaN with anything.
    static let unordered = 8
    static let orders = 15

    /// The instruction after the test is the only one that reads the result, so the test may do its
    /// work: a term of `&&` or `all`, which false decides; one of `||` or `exists`, which true
    /// decides; or a branch.
    static let decidedByFalse = 16
    static let decidedByTrue = 32
    static let branches = 48
    static let readers = 48

    /// The operands stand the other way round than in the source, which errors must not show.
    static let swapped = 64

    /// The orders that make a comparison true whose operands have changed places.
    static func mirrored(_ orders: Int) -> Int {
        orders & (equal | unordered) | (orders & less != 0 ? greater : 0)
            | (orders & greater != 0 ? less : 0)
    }

    /// The operator of a comparison that needs an order.
    static func name(of orders: Int) -> StaticString {
        switch orders {
        case less: "<"
        case less | equal: "<="
        case greater: ">"
        default: ">="
        }
    }
}

/// Where an operand lives.
enum Register {
    /// Registers from here on are constants.
    static let constants: Int32 = 1 << 24
    static func slot(_ slot: Int) -> Int32 { -1 - Int32(truncatingIfNeeded: slot) }
}

/// The parts of a program that do not change once it is emitted.
///
/// `@unchecked Sendable`: everything is written by the emitter before the object is shared and only
/// read afterwards; the memory is freed when the last reference goes.
final class Code: @unchecked Sendable {
    let instructions: UnsafeMutableBufferPointer<Instruction>
    /// The node that each instruction comes from.
    let nodes: UnsafeMutableBufferPointer<Int32>
    /// Source ranges of the nodes, by node.
    let ranges: [Range<Int>]
    let constants: UnsafeMutableBufferPointer<Cell>
    /// Keeps what the constants point to.
    private let arena: Arena
    let regexes: [Regex]
    let hosts: [(name: String, body: Function.Body?)]
    let objects: [ObjectLayout]
    let structures: [StructureLayout]
    /// How many temporaries a run needs, those of the lazy slots that it may force included.
    let temporaries: Int
    /// How many slots an activation must have at least.
    let slotsNeeded: Int
    let zones: ZoneDatabase
    let limits: Limits
    /// The node of each slot that an instruction reads without a step of its own, for errors.
    private let slotReads: [SlotRead: Int32]

    init(_ emitter: consuming Emitter.Output) {
        instructions = .allocate(capacity: emitter.instructions.count)
        _ = instructions.initialize(from: emitter.instructions)
        constants = .allocate(capacity: max(emitter.constants.count, 1))
        _ = constants.initialize(from: emitter.constants)
        nodes = .allocate(capacity: emitter.nodes.count)
        _ = nodes.initialize(from: emitter.nodes)
        ranges = emitter.ranges
        regexes = emitter.regexes
        hosts = emitter.hosts
        objects = emitter.objects
        structures = emitter.structures
        temporaries = emitter.temporaries
        zones = emitter.zones
        slotsNeeded = emitter.slotsNeeded
        limits = emitter.limits
        slotReads = emitter.slotReads
        arena = emitter.takeArena()
    }

    /// The node that reads a slot for the instruction of another node.
    func reader(of register: Int32, for node: Int32) -> Int32 {
        slotReads[SlotRead(node: node, register: register)] ?? node
    }

    deinit {
        instructions.deallocate()
        constants.deallocate()
        nodes.deallocate()
    }
}

/// A slot as an operand of the instruction of a node.
struct SlotRead: Hashable {
    var node: Int32
    var register: Int32
}

/// How an object of the host becomes a map: its fields' names and slots, or nested objects.
struct ObjectLayout: Sendable {
    enum Member: Sendable {
        case slot(Int)
        case object(Int)
    }
    var members: [(name: Int32, member: Member)] = []
}

/// Which message a structure makes, and its fields in the order of the registers.
struct StructureLayout: Sendable {
    var name: String
    var fields: [String]
}
