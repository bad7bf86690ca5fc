import Glibc

/// What the loop decides in place: the kinds that rules are made of.
extension Machine {
    /// A comparison of two ints, two doubles, two bools or two strings; nil for anything else.
    @inline(__always)
    static func quickTest(_ operation: Instruction.Operation, _ l: Cell, _ r: Cell) -> Bool? {
        guard l.tag == r.tag else { return nil }
        switch (l.tag, operation) {
        case (.int, .less): return l.asInt < r.asInt
        case (.int, .lessOrEqual): return l.asInt <= r.asInt
        case (.int, .greater): return l.asInt > r.asInt
        case (.int, .greaterOrEqual): return l.asInt >= r.asInt
        // Of doubles every comparison with NaN is false, in Swift as in CEL.
        case (.double, .less): return l.asDouble < r.asDouble
        case (.double, .lessOrEqual): return l.asDouble <= r.asDouble
        case (.double, .greater): return l.asDouble > r.asDouble
        case (.double, .greaterOrEqual): return l.asDouble >= r.asDouble
        case (.int, .equal), (.bool, .equal), (.uint, .equal): return l.bits == r.bits
        case (.int, .notEqual), (.bool, .notEqual), (.uint, .notEqual): return l.bits != r.bits
        // Long strings go where their comparison is paid for.
        case (.string, .equal) where l.length < 256: return l.length == r.length && sameBytes(l, r)
        case (.string, .notEqual) where l.length < 256:
            return l.length != r.length || !sameBytes(l, r)
        default: return nil
        }
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

    /// Equality of the bytes of two cells of one length.
    @inline(__always)
    static func sameBytes(_ l: Cell, _ r: Cell) -> Bool {
        if l.bits == r.bits || l.length == 0 { return true }
        guard let left = l.address, let right = r.address else { return false }
        return memcmp(left, right, l.count) == 0
    }
}
