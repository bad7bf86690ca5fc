/// A point in time in CEL: nanosecond precision, years 0001 to 9999 (proleptic Gregorian, UTC).
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Whole seconds since 1970-01-01T00:00:00Z, rounded towards the past.
    public let seconds: Int64
    /// The rest of the second, 0 to 999,999,999, always towards the future.
    public let nanoseconds: Int32

    /// The first second of year 1 and the last of year 9999.
    package static let validSeconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// Nil where the instant lies outside of the years 1 to 9999 or the nanoseconds outside of
    /// their range.
    public init?(seconds: Int64, nanoseconds: Int32 = 0) {
        guard Self.validSeconds.contains(seconds), (0..<1_000_000_000).contains(nanoseconds) else {
            return nil
        }
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// For cells, which the machine fills only after a range check.
    init(unchecked seconds: Int64, _ nanoseconds: Int32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Earlier is less.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

/// A span of time in CEL: a signed count of nanoseconds, about ±292 years.
public struct CELDuration: Sendable, Hashable, Comparable {
    /// The whole span in nanoseconds.
    public let totalNanoseconds: Int64

    /// A span of so many nanoseconds.
    public init(totalNanoseconds: Int64) { self.totalNanoseconds = totalNanoseconds }

    /// Seconds and nanoseconds of one sign; nil where the sum does not fit ±292 years.
    public init?(seconds: Int64, nanoseconds: Int32 = 0) {
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowOfSum) = scaled.addingReportingOverflow(Int64(nanoseconds))
        guard !overflow, !overflowOfSum else { return nil }
        totalNanoseconds = sum
    }

    /// Whole seconds, rounded towards zero.
    public var seconds: Int64 { totalNanoseconds / 1_000_000_000 }
    /// The rest of the second, with the sign of the span.
    public var nanoseconds: Int32 { Int32(totalNanoseconds % 1_000_000_000) }

    /// Shorter is less; negative spans are less than zero.
    public static func < (left: CELDuration, right: CELDuration) -> Bool {
        left.totalNanoseconds < right.totalNanoseconds
    }
}
