/// A span of elapsed time in whole milliseconds.
///
/// It shadows `Swift.Duration` on purpose: this project counts in milliseconds everywhere, and a
/// type with attoseconds would only invite rounding. A day is always 24 hours here; days of a
/// calendar are ``ZoneRules/calendarDays(from:to:)``.
///
/// Any `Int64` is a valid value. Arithmetic saturates at both ends, so it never traps.
public struct Duration: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The length in milliseconds; negative when it points into the past.
    public let milliseconds: Int64

    /// A span of so many milliseconds.
    @inlinable
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// No time at all.
    public static let zero = Duration(milliseconds: 0)

    /// A span of so many milliseconds.
    public static func milliseconds(_ count: Int64) -> Duration {
        Duration(milliseconds: count)
    }

    /// A span of so many seconds; saturates.
    public static func seconds(_ count: Int64) -> Duration {
        Duration(milliseconds: 1000) * count
    }

    /// A span of so many minutes; saturates.
    public static func minutes(_ count: Int64) -> Duration {
        Duration(milliseconds: 60_000) * count
    }

    /// A span of so many hours; saturates.
    public static func hours(_ count: Int64) -> Duration {
        Duration(milliseconds: 3_600_000) * count
    }

    /// A span of so many times 24 hours; saturates.
    public static func days(_ count: Int64) -> Duration {
        Duration(milliseconds: 86_400_000) * count
    }

    /// Whether the left span is the shorter one, negative spans being below zero.
    @inlinable
    public static func < (left: Duration, right: Duration) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The sum, saturating.
    @inlinable
    public static func + (left: Duration, right: Duration) -> Duration {
        Duration(milliseconds: saturatingSum(left.milliseconds, right.milliseconds))
    }

    /// The difference, saturating.
    @inlinable
    public static func - (left: Duration, right: Duration) -> Duration {
        let (value, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
        if !overflow { return Duration(milliseconds: value) }
        return Duration(milliseconds: left.milliseconds < 0 ? .min : .max)
    }

    /// The product, saturating.
    public static func * (left: Duration, count: Int64) -> Duration {
        let (value, overflow) = left.milliseconds.multipliedReportingOverflow(by: count)
        if !overflow { return Duration(milliseconds: value) }
        return Duration(milliseconds: (left.milliseconds < 0) == (count < 0) ? .max : .min)
    }

    /// The same length pointing the other way, saturating.
    public static prefix func - (value: Duration) -> Duration { .zero - value }
}

/// Adds without trapping: an overflow gives the nearest end of the range.
@inlinable
func saturatingSum(_ left: Int64, _ right: Int64) -> Int64 {
    let (value, overflow) = left.addingReportingOverflow(right)
    if !overflow { return value }
    return left < 0 ? .min : .max
}
