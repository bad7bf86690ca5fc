/// What an evaluation costs at least and at most, in the unit of ``Limits/cost``, told without
/// evaluating.
///
/// Holds for every evaluation that is not given up, over slots that hold what they are declared for.
/// Each step that a program has is counted once whether it is taken or not, as the evaluation does,
/// so that the bounds lie close for expressions without macros.
public struct CostEstimate: Sendable, Equatable {
    /// No evaluation costs less.
    public var minimum: Int
    /// No evaluation costs more; nil where that depends on a size for which there is no bound.
    public var maximum: Int?
}

/// The largest that a value of a variable gets, for an estimate.
public indirect enum SizeHint: Sendable, Equatable {
    /// A number, a truth value, a point in time, null: nothing that has a size.
    case scalar
    /// A string or byte sequence of at most so many bytes. A string declared with a longest length
    /// in characters has at most four for each.
    case text(bytes: Int)
    /// A list or map with at most so many elements or entries, each element, key and value being no
    /// larger than the hint within. An optional is a collection of at most one.
    case collection(count: Int, of: SizeHint)
}

extension Program {
    /// What an evaluation of this program costs. What its variables hold is as large as their types
    /// allow, enumerations as their longest value, unless there is a hint for the slot's path.
    public func costEstimate(sizes: [String: SizeHint] = [:]) -> CostEstimate {
        var walk = CostWalk(self, sizes: sizes)
        let found = walk.estimate()
        return CostEstimate(minimum: found.least, maximum: found.most.value)
    }
}

/// An upper bound; nil is "no bound". Sums and products do not overflow but lose their bound.
struct Bound: ExpressibleByIntegerLiteral {
    var value: Int?

    init(_ value: Int?) { self.value = value }
    init(integerLiteral value: Int) { self.value = value }

    static let none = Bound(nil)

    private static func both(
        _ left: Bound, _ right: Bound, _ join: (Int, Int) -> (partialValue: Int, overflow: Bool)
    ) -> Bound {
        guard let l = left.value, let r = right.value else { return .none }
        let (result, overflow) = join(l, r)
        return overflow ? .none : Bound(result)
    }

    static func + (left: Bound, right: Bound) -> Bound {
        both(left, right) { $0.addingReportingOverflow($1) }
    }
    static func += (left: inout Bound, right: Bound) { left = left + right }
    /// Nothing times anything is nothing, even where the other has no bound.
    static func * (left: Bound, right: Bound) -> Bound {
        if left.value == 0 || right.value == 0 { return 0 }
        return both(left, right) { $0.multipliedReportingOverflow(by: $1) }
    }
    static func / (left: Bound, right: Int) -> Bound { Bound(left.value.map { $0 / right }) }

    static func most(_ left: Bound, _ right: Bound) -> Bound {
        both(left, right) { (max($0, $1), false) }
    }
    static func least(_ left: Bound, _ right: Bound) -> Bound {
        guard let l = left.value, let r = right.value else {
            return Bound(left.value ?? right.value)
        }
        return Bound(min(l, r))
    }

    /// How often a number can be halved, rounded up by one at least.
    var bits: Bound { Bound(value.map { Int.bitWidth - $0.leadingZeroBitCount + 1 }) }
}
