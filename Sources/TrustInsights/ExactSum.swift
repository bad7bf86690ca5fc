/// A sum of doubles that is correctly rounded and so the same in any order.
///
/// It is kept as one long fixed-point number that holds any double exactly, the least and
/// the greatest (Kulisch): adding never rounds and never leaves the range, so only reading
/// `value` rounds, once.
public struct ExactSum: Sendable {
    /// Digits of 32 bits of weight 2^(32·index − 1074), not yet carried, so any sign. None
    /// until there is something to add.
    private var digits: [Int64] = []
    /// Numbers added since carries were last settled; 2³⁰ of them fit without.
    private var pending = 0
    /// The digits that may be other than 0.
    private var used = Self.count..<Self.count
    /// The sum of what is not finite, which needs no exactness.
    private var special = 0.0

    /// 2046 + 53 bits for one double, and room for 2⁶³ of them.
    private static let count = 68

    /// The empty sum, 0.
    public init() {}

    /// Adds a number. What is not finite makes the sum so.
    public mutating func add(_ number: Double) {
        guard number.isFinite else {
            special += number
            return
        }
        guard number != 0 else { return }
        if digits.isEmpty { digits = [Int64](repeating: 0, count: Self.count) }
        let exponent = max(Int(number.exponentBitPattern), 1)
        let hidden: UInt64 = number.exponentBitPattern == 0 ? 0 : 1 << 52
        let significand = number.significandBitPattern | hidden
        // The lowest bit has the weight 2^(exponent − 1 − 1074).
        let (index, shift) = (exponent - 1).quotientAndRemainder(dividingBy: 32)
        let low = significand << UInt64(shift)
        let high = shift == 0 ? 0 : significand >> UInt64(64 - shift)
        let sign: Int64 = number < 0 ? -1 : 1
        digits[index] += sign * Int64(low & 0xFFFF_FFFF)
        digits[index + 1] += sign * Int64(low >> 32)
        digits[index + 2] += sign * Int64(high)
        used = min(used.lowerBound, index)..<max(used.isEmpty ? 0 : used.upperBound, index + 3)
        pending += 1
        if pending == 1 << 30 { settle() }
    }

    /// Carries, so that every digit but the highest is in 0..<2³²; that one keeps the sign.
    private mutating func settle() {
        pending = 0
        var index = used.lowerBound
        while index < Self.count - 1, index < used.upperBound || digits[index] != 0 {
            let carry = digits[index] >> 32
            digits[index] &= 0xFFFF_FFFF
            digits[index + 1] += carry
            index += 1
        }
        used = used.lowerBound..<Self.count
    }

    /// The sum, rounded once to the nearest double, ties to even.
    public var value: Double {
        if special != 0 || special.isNaN { return special }
        guard !used.isEmpty else { return 0 }
        var sum = self
        sum.settle()
        let isNegative = sum.digits[Self.count - 1] < 0
        if isNegative {
            for index in sum.used { sum.digits[index].negate() }
            sum.settle()
        }
        let magnitude = sum.magnitude
        return isNegative ? -magnitude : magnitude
    }

    /// The nearest double to what is settled and not negative.
    private var magnitude: Double {
        guard let top = used.last(where: { digits[$0] != 0 }) else { return 0 }
        // 64 bits from the highest set one on; what lies below only decides ties.
        let highest = 63 - digits[top].leadingZeroBitCount
        let lowest = 32 * top + highest - 63
        var bits: UInt64 = 0
        for index in max(0, top - 2)...top {
            let shift = 32 * index - lowest
            let digit = UInt64(digits[index])
            bits |= shift >= 0 ? digit << UInt64(shift) : digit >> UInt64(-shift)
        }
        let cut = 32 * (top - 2) - lowest
        let isCut = cut < 0 && top >= 2 && digits[top - 2] & ((1 << Int64(-cut)) - 1) != 0
        if isCut || used.contains(where: { $0 < top - 2 && digits[$0] != 0 }) { bits |= 1 }
        // Scaling is exact: what would be below the least double has no bits there.
        return Double(sign: .plus, exponent: lowest - 1074, significand: Double(bits))
    }
}
