/// The values a slot can have where a condition holds, as far as simple comparisons say.
enum Domain: Equatable {
    /// One of these strings.
    case strings(Set<String>)
    /// Any string but these.
    case otherStrings(Set<String>)
    /// One of these truth values.
    case bools(Set<Bool>)
    /// Numbers between two bounds.
    case numbers(Interval)

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
    }

    var isEmpty: Bool {
        switch self {
        case .strings(let values): values.isEmpty
        case .otherStrings: false
        case .bools(let values): values.isEmpty
        case .numbers(let interval): interval.isEmpty
        }
    }

    /// What both allow; nil for values of different kinds, which no checked policy compares.
    func intersection(_ other: Domain) -> Domain? {
        switch (self, other) {
        case (.strings(let left), .strings(let right)): .strings(left.intersection(right))
        case (.strings(let left), .otherStrings(let right)),
            (.otherStrings(let right), .strings(let left)):
            .strings(left.subtracting(right))
        case (.otherStrings(let left), .otherStrings(let right)): .otherStrings(left.union(right))
        case (.bools(let left), .bools(let right)): .bools(left.intersection(right))
        case (.numbers(let left), .numbers(let right)): .numbers(left.intersection(right))
        default: nil
        }
    }

    /// Whether everything that `other` allows is allowed here.
    func contains(_ other: Domain) -> Bool { intersection(other) == other || other.isEmpty }

    /// What either allows, where that is again simple.
    func union(_ other: Domain) -> Domain? {
        switch (self, other) {
        case (.strings(let left), .strings(let right)): .strings(left.union(right))
        case (.bools(let left), .bools(let right)): .bools(left.union(right))
        default: nil
        }
    }

    /// What is not allowed here, where that is again simple.
    var complement: Domain? {
        switch self {
        case .strings(let values): .otherStrings(values)
        case .otherStrings(let values): .strings(values)
        case .bools(let values): .bools(Set([true, false]).subtracting(values))
        case .numbers(let interval):
            if interval.low == -.infinity, interval.high != .infinity {
                .numbers(.init(low: interval.high, includesLow: !interval.includesHigh))
            } else if interval.high == .infinity, interval.low != -.infinity {
                .numbers(.init(high: interval.low, includesHigh: !interval.includesLow))
            } else {
                nil
            }
        }
    }
}
