import Glibc

/// What the loop decides in place: the kinds that rules are made of.
extension Machine {
    /// Which of ``Test``'s orders two values of one kind are in; 0 where this is not decided here.
    @inline(__always)
    static func order(_ l: Cell, _ r: Cell) -> Int {
        guard l.meta == r.meta else { return 0 }
        switch l.tag {
        case .int, .duration: return intOrder(l, r)
        case .double: return doubleOrder(l, r)
        case .bool, .uint:
            return l.bits < r.bits ? Test.less : l.bits == r.bits ? Test.equal : Test.greater
        default: return 0
        }
    }

    @inline(__always)
    static func intOrder(_ l: Cell, _ r: Cell) -> Int {
        l.asInt < r.asInt ? Test.less : l.asInt == r.asInt ? Test.equal : Test.greater
    }

    @inline(__always)
    static func doubleOrder(_ l: Cell, _ r: Cell) -> Int {
        let left = l.asDouble
        let right = r.asDouble
        return left < right
            ? Test.less
            : left == right ? Test.equal : left > right ? Test.greater : Test.unordered
    }

    /// Texts below this many bytes are compared without being paid for.
    static let quickText = 256

    /// Whether two texts are the same; nil where one is no text, or so long that its comparison has
    /// to be paid for.
    @inline(__always)
    static func sameText(_ l: Cell, _ r: Cell) -> Bool? {
        guard l.tag == .string, r.tag == .string, l.length < quickText else { return nil }
        return l.meta == r.meta && sameBytes(l, r)
    }

    /// A sum, difference or product of two ints or two doubles; nil for anything else and where an
    /// int overflows.
    @inline(__always)
    static func quickNumber(_ operation: Instruction.Operation, _ l: Cell, _ r: Cell) -> Cell? {
        if l.tag == .double, r.tag == .double {
            switch operation {
            case .add: return .double(l.asDouble + r.asDouble)
            case .subtract: return .double(l.asDouble - r.asDouble)
            default: return .double(l.asDouble * r.asDouble)
            }
        }
        guard l.tag == .int, r.tag == .int else { return nil }
        let (result, overflow) =
            switch operation {
            case .add: l.asInt.addingReportingOverflow(r.asInt)
            case .subtract: l.asInt.subtractingReportingOverflow(r.asInt)
            default: l.asInt.multipliedReportingOverflow(by: r.asInt)
            }
        return overflow ? nil : .int(result)
    }

    /// Equality of the bytes of two cells of one length. Names and short texts are compared in
    /// two loads that may overlap.
    @inline(__always)
    static func sameBytes(_ l: Cell, _ r: Cell) -> Bool {
        let count = l.count
        guard l.bits != r.bits, let left = l.address, let right = r.address else {
            return l.bits == r.bits || count == 0
        }
        if count > 16 { return memcmp(left, right, count) == 0 }
        if count >= 8 { return same(UInt64.self, left, right, count - 8) }
        if count >= 4 { return same(UInt32.self, left, right, count - 4) }
        if count >= 2 { return same(UInt16.self, left, right, count - 2) }
        return count == 0 || left.load(as: UInt8.self) == right.load(as: UInt8.self)
    }

    /// Whether the first words, and those at an offset, are the same.
    @inline(__always)
    private static func same<Word: FixedWidthInteger & BitwiseCopyable>(
        _ word: Word.Type, _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ offset: Int
    ) -> Bool {
        left.loadUnaligned(as: word) == right.loadUnaligned(as: word)
            && left.loadUnaligned(fromByteOffset: offset, as: word)
                == right.loadUnaligned(fromByteOffset: offset, as: word)
    }
}
