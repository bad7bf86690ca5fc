/// A moment on the time line, in milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// The range is the years 0001 to 9999 in UTC, so that every instant has an RFC 3339 text.
/// Arithmetic saturates at both ends of it and never traps.
public struct Instant: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Milliseconds since the Unix epoch, within ``min`` and ``max``.
    public let milliseconds: Int64

    /// 0001-01-01T00:00:00.000Z.
    public static let min = Instant(milliseconds: -62_135_596_800_000)
    /// 9999-12-31T23:59:59.999Z.
    public static let max = Instant(milliseconds: 253_402_300_799_999)
    /// 1970-01-01T00:00:00.000Z.
    public static let epoch = Instant(milliseconds: 0)

    /// The instant so many milliseconds after the epoch; outside the range, the nearest end of it.
    @inlinable
    public init(milliseconds: Int64) {
        self.milliseconds = Swift.min(
            Swift.max(milliseconds, -62_135_596_800_000), 253_402_300_799_999)
    }

    /// The instant so many milliseconds after the epoch, or nil outside the range.
    public init?(exactMilliseconds milliseconds: Int64) {
        self.init(milliseconds: milliseconds)
        if self.milliseconds != milliseconds { return nil }
    }

    /// Whole seconds since the epoch, rounded towards the past.
    @inlinable
    public var seconds: Int64 {
        // An arithmetic division that rounds down; the range is far from overflow.
        let quotient = milliseconds / 1000
        return milliseconds % 1000 < 0 ? quotient - 1 : quotient
    }

    /// Whether the left instant is the earlier one.
    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The instant that much later, saturating.
    @inlinable
    public static func + (instant: Instant, span: Duration) -> Instant {
        Instant(milliseconds: saturatingSum(instant.milliseconds, span.milliseconds))
    }

    /// The instant that much earlier, saturating.
    @inlinable
    public static func - (instant: Instant, span: Duration) -> Instant {
        Instant(
            milliseconds: (Duration(milliseconds: instant.milliseconds) - span).milliseconds)
    }

    /// The time from `right` to `left`; negative if `left` is the earlier one. Never overflows.
    @inlinable
    public static func - (left: Instant, right: Instant) -> Duration {
        Duration(milliseconds: left.milliseconds - right.milliseconds)
    }
}
