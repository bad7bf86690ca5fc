/// A value inside of the evaluator: 16 bytes, copied as such, owning nothing. What it points to
/// lives in the arena of a program (constants) or of an activation (inputs and results).
struct Cell: BitwiseCopyable {
    enum Tag: UInt8 {
        /// A slot without a value.
        case absent
        /// A slot whose program has not run yet.
        case lazy
        /// `code` is the error's code, `length` the node, `bits` the detail (see `Machine+Errors`).
        case error
        case null
        /// `bits` is 0 or 1.
        case bool
        case int
        case uint
        case double
        /// `bits` is the address of `length` bytes of UTF-8.
        case string
        /// `bits` is the address of `length` bytes.
        case bytes
        /// `bits` is the address of `length` cells.
        case list
        /// `bits` is the address of `length` pairs of cells, from `MapLayout.indexed` pairs on
        /// followed by an index of their hashes.
        case map
        /// `bits` is seconds, `length` is nanoseconds.
        case timestamp
        /// `bits` is nanoseconds.
        case duration
        /// The type's runtime name, as a string.
        case type
        /// `bits` is the address of a cell, or 0 for none.
        case optional
        /// `bits` is the address of 4 or 16 bytes, `length` says how many.
        case ip
        /// As `ip`; `extra` is the length of the prefix.
        case cidr
        /// `bits` is the address of two cells: the type's name and a map of the fields that are set.
        case message
    }

    var bits: UInt64
    /// From the lowest byte on: the tag, `code`, two bytes of `extra`, four of `length`. One word,
    /// so that a cell is copied, and kind and length are compared, in one step.
    private(set) var meta: UInt64

    @inline(__always)
    init(_ tag: Tag, bits: UInt64 = 0, length: UInt32 = 0) {
        self.bits = bits
        meta = UInt64(length) << 32 | UInt64(tag.rawValue)
    }

    @inline(__always) var tag: Tag {
        // Only `init` and this setter write the byte, from a tag.
        get { unsafeBitCast(UInt8(truncatingIfNeeded: meta), to: Tag.self) }
        set { meta = meta & ~0xff | UInt64(newValue.rawValue) }
    }
    @inline(__always) var code: UInt8 {
        get { UInt8(truncatingIfNeeded: meta >> 8) }
        set { meta = meta & ~0xff00 | UInt64(newValue) << 8 }
    }
    @inline(__always) var extra: UInt16 {
        get { UInt16(truncatingIfNeeded: meta >> 16) }
        set { meta = meta & ~0xffff_0000 | UInt64(newValue) << 16 }
    }
    @inline(__always) var length: UInt32 {
        get { UInt32(truncatingIfNeeded: meta >> 32) }
        set { meta = meta & 0xffff_ffff | UInt64(newValue) << 32 }
    }

    static let absent = Cell(.absent)
    static let null = Cell(.null)
    static let none = Cell(.optional)

    @inline(__always) static func bool(_ value: Bool) -> Cell { Cell(.bool, bits: value ? 1 : 0) }
    @inline(__always) static func int(_ value: Int64) -> Cell {
        Cell(.int, bits: UInt64(bitPattern: value))
    }
    @inline(__always) static func int(_ value: Int) -> Cell { int(Int64(value)) }
    @inline(__always) static func uint(_ value: UInt64) -> Cell { Cell(.uint, bits: value) }
    @inline(__always) static func double(_ value: Double) -> Cell {
        Cell(.double, bits: value.bitPattern)
    }
    @inline(__always) static func duration(_ nanoseconds: Int64) -> Cell {
        Cell(.duration, bits: UInt64(bitPattern: nanoseconds))
    }
    @inline(__always) static func timestamp(_ value: Timestamp) -> Cell {
        Cell(
            .timestamp, bits: UInt64(bitPattern: value.seconds),
            length: UInt32(bitPattern: value.nanoseconds))
    }

    /// A pointer of a cell: `count` fits 32 bits because the limits on sizes do.
    @inline(__always) init(_ tag: Tag, _ address: UnsafeRawPointer?, count: Int) {
        self.init(
            tag, bits: UInt64(UInt(bitPattern: address)), length: UInt32(truncatingIfNeeded: count))
    }

    @inline(__always) var asBool: Bool { bits != 0 }
    @inline(__always) var asInt: Int64 { Int64(bitPattern: bits) }
    @inline(__always) var asDouble: Double { Double(bitPattern: bits) }
    @inline(__always) var count: Int { Int(length) }
    @inline(__always) var isTrue: Bool { tag == .bool && bits == 1 }
    @inline(__always) var isFalse: Bool { tag == .bool && bits == 0 }
    /// Everything below `null` is no value: an error, or a slot to be looked into.
    @inline(__always) var isValue: Bool { tag.rawValue >= Tag.null.rawValue }
    @inline(__always) var isError: Bool { tag == .error }

    var asTimestamp: Timestamp { Timestamp(unchecked: asInt, Int32(bitPattern: length)) }

    var address: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: UInt(bits)) }

    /// The bytes of a string, byte sequence, type name or network address.
    @inline(__always) var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: address, count: count)
    }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The elements of a list; for a map keys and values by turns,
    /// and for an optional the value in it.
    @inline(__always) var cells: UnsafeBufferPointer<Cell> {
        UnsafeBufferPointer(
            start: address?.assumingMemoryBound(to: Cell.self),
            count: tag == .map ? 2 * count : count)
    }

    /// Whether a list can take a value in as it is: with it the list nests no deeper than before.
    @inline(__always) func takes(_ cell: Cell) -> Bool {
        guard tag == .list, cell.isValue else { return false }
        switch cell.tag {
        case .list, .map, .optional, .message: return max(cell.extra, 1) < extra
        default: return true
        }
    }

    /// Puts one more element behind those of a list, where its memory has room for it.
    @inline(__always) mutating func append(_ cell: Cell) {
        UnsafeMutableRawPointer(bitPattern: UInt(bits))?
            .storeBytes(of: cell, toByteOffset: count * MemoryLayout<Cell>.stride, as: Cell.self)
        meta += 1 << 32
    }

    var numeric: Numeric? {
        switch tag {
        case .int: .int(asInt)
        case .uint: .uint(bits)
        case .double: .double(asDouble)
        default: nil
        }
    }

    /// How deep lists, maps and optionals nest in this value; `extra` keeps it for each of them.
    @inline(__always) var nesting: UInt16 {
        switch tag {
        case .list, .map, .optional, .message: max(extra, 1)
        default: 0
        }
    }

    /// Values that nest deeper than this cannot be made: what walks through them (equality, copies,
    /// conversion) uses the native stack.
    static let deepestNesting: UInt16 = 500

    /// The container with its nesting noted; nil where it is too deep.
    func nested() -> Cell? {
        var deepest: UInt16 = 0
        for cell in cells { deepest = max(deepest, cell.nesting) }
        guard deepest < Self.deepestNesting else { return nil }
        var result = self
        result.extra = deepest + 1
        return result
    }

    /// The value inside of an optional.
    var wrapped: Cell? { address?.load(as: Cell.self) }
}
