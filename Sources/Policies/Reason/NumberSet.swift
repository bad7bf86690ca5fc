/// Numbers as intervals, ascending and apart from each other, and maybe NaN, which is on no side of
/// any number. Terms that are never NaN leave it out of what they can be.
struct NumberSet: Equatable {
    struct Interval: Equatable {
        var low = -Double.infinity
        var includesLow = true
        var high = Double.infinity
        var includesHigh = true

        var isEmpty: Bool { low > high || (low == high && !(includesLow && includesHigh)) }

        func intersection(_ other: Interval) -> Interval {
            var result = self
            if other.low > low || (other.low == low && !other.includesLow) {
                result.low = other.low
                result.includesLow = other.includesLow
            }
            if other.high < high || (other.high == high && !other.includesHigh) {
                result.high = other.high
                result.includesHigh = other.includesHigh
            }
            return result
        }

        /// The whole numbers in it: `(5, 8)` is `[6, 7]`. Beyond what doubles count exactly,
        /// ends stay as they are.
        var whole: Interval {
            var result = self
            if low.magnitude < 0x1p52 {
                result.low = includesLow ? low.rounded(.up) : low.rounded(.down) + 1
                result.includesLow = true
            }
            if high.magnitude < 0x1p52 {
                result.high = includesHigh ? high.rounded(.down) : high.rounded(.up) - 1
                result.includesHigh = true
            }
            return result
        }
    }

    private(set) var intervals: [Interval]
    /// Whether only whole numbers are meant.
    let isWhole: Bool
    /// Whether NaN is one of them.
    let holdsNaN: Bool

    init(_ intervals: [Interval], isWhole: Bool, holdsNaN: Bool = false) {
        self.isWhole = isWhole
        self.holdsNaN = holdsNaN
        self.intervals =
            (isWhole ? intervals.map(\.whole) : intervals).filter { !$0.isEmpty }
    }

    static func all(isWhole: Bool) -> NumberSet { NumberSet([Interval()], isWhole: isWhole) }

    /// All that a computed double can be.
    static let doubles = NumberSet([Interval()], isWhole: false, holdsNaN: true)

    var isEmpty: Bool { intervals.isEmpty && !holdsNaN }

    func intersection(_ other: NumberSet) -> NumberSet {
        NumberSet(
            intervals.flatMap { mine in other.intervals.map { mine.intersection($0) } },
            isWhole: isWhole, holdsNaN: holdsNaN && other.holdsNaN)
    }

    var complement: NumberSet {
        var gaps: [Interval] = []
        var gap = Interval()
        for interval in intervals {
            gap.high = interval.low
            gap.includesHigh = !interval.includesLow
            gaps.append(gap)
            gap = Interval(low: interval.high, includesLow: !interval.includesHigh)
        }
        return NumberSet(gaps + [gap], isWhole: isWhole, holdsNaN: !holdsNaN)
    }

    func union(_ other: NumberSet) -> NumberSet {
        complement.intersection(other.complement).complement
    }
}
