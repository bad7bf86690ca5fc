/// A day and a time of day, without a zone.
public struct CivilDateTime: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The day.
    public let date: CivilDate
    /// Seconds since midnight of the wall clock, 0…86,399.
    public let secondOfDay: Int

    /// The day and time so many seconds after 1970-01-01T00:00:00 of the same wall clock.
    ///
    /// Saturates far outside the years of ``CivilDate``, so that no value can trap.
    public init(localSeconds: Int64) {
        let localSeconds = min(max(localSeconds, -(1 << 53)), 1 << 53)
        let days = floorDivide(localSeconds, 86_400)
        date = CivilDate(daysSinceEpoch: days)
        // The remainder is within one day by construction.
        secondOfDay = Int(localSeconds - days * 86_400)
    }

    /// A day and a time of day; nil unless hour 0…23, minute 0…59, second 0…59.
    public init?(date: CivilDate, hour: Int, minute: Int, second: Int) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        self.date = date
        secondOfDay = hour * 3600 + minute * 60 + second
    }

    /// 0…23.
    public var hour: Int { secondOfDay / 3600 }
    /// 0…59.
    public var minute: Int { secondOfDay / 60 % 60 }
    /// 0…59.
    public var second: Int { secondOfDay % 60 }

    /// Seconds since 1970-01-01T00:00:00 of the same wall clock.
    public var localSeconds: Int64 { date.daysSinceEpoch * 86_400 + Int64(secondOfDay) }

    /// Whether the left wall clock shows less.
    public static func < (left: CivilDateTime, right: CivilDateTime) -> Bool {
        left.localSeconds < right.localSeconds
    }
}

/// Division that rounds towards negative infinity. `divisor` is positive.
func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
}
