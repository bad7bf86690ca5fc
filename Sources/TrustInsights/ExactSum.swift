/// A sum of doubles that is correctly rounded and so the same in any order.
///
/// The running total is kept as doubles that do not overlap (Shewchuk 1997): together they
/// are the exact sum, and only reading `value` rounds, once.
public struct ExactSum: Sendable {
    /// Non-overlapping parts, the smallest first.
    private var parts: [Double] = []
    /// Sums of infinities and of parts that left the range, which need no exactness.
    private var special = 0.0

    /// The empty sum, 0.
    public init() {}

    /// Adds a number. What is not finite, or leaves a double's range, makes the sum so.
    public mutating func add(_ number: Double) {
        guard number.isFinite else {
            special += number
            return
        }
        var carry = number
        var kept = 0
        for index in parts.indices {
            var (large, small) = (carry, parts[index])
            if large.magnitude < small.magnitude { swap(&large, &small) }
            let high = large + small
            guard high.isFinite else {
                special += high
                parts = []
                return
            }
            let low = small - (high - large)
            if low != 0 {
                parts[kept] = low
                kept += 1
            }
            carry = high
        }
        parts.removeSubrange(kept...)
        parts.append(carry)
    }

    /// The sum, rounded once to the nearest double, ties to even.
    public var value: Double {
        if special != 0 || special.isNaN { return special }
        guard var index = parts.indices.last else { return 0 }
        var high = parts[index]
        var low = 0.0
        while index > 0, low == 0 {
            index -= 1
            let large = high
            let small = parts[index]
            high = large + small
            low = small - (high - large)
        }
        // Half way between two doubles: what lies below decides the direction.
        if index > 0, low < 0 && parts[index - 1] < 0 || low > 0 && parts[index - 1] > 0 {
            let doubled = low * 2
            let candidate = high + doubled
            if candidate - high == doubled { high = candidate }
        }
        return high
    }
}
