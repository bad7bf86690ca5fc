/// Reading and writing the timestamps of RFC 3339, without Foundation and without allocation.
public enum RFC3339 {
    /// Seconds since the epoch at 0001-01-01T00:00:00Z.
    public static let minSeconds: Int64 = -62_135_596_800
    /// Seconds since the epoch at 9999-12-31T23:59:59Z.
    public static let maxSeconds: Int64 = 253_402_300_799

    /// How many decimals of a second are written.
    public enum Fraction: Sendable {
        /// Always three, as in every answer and entry of this project.
        case milliseconds
        /// As few as show all nanoseconds; none for a whole second.
        case shortest
    }

    /// Reads `YYYY-MM-DDThh:mm:ss[.fraction](Z|±hh:mm)`.
    ///
    /// `T` and `Z` may be lower case, as the RFC allows. A leap second (`:60`) is refused, since
    /// the time line here has none. Decimals after the ninth are dropped. Years 0001…9999, both as
    /// written and in UTC.
    /// - Returns: seconds since the epoch and nanoseconds 0…999,999,999; nil if it is anything else.
    public static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> (
        seconds: Int64, nanoseconds: Int32
    )? {
        guard bytes.count >= 20,
            let year = number(bytes, 0, 4), year >= 1, bytes[4] == UInt8(ascii: "-"),
            let month = number(bytes, 5, 2), bytes[7] == UInt8(ascii: "-"),
            let day = number(bytes, 8, 2), bytes[10] | 0x20 == UInt8(ascii: "t"),
            let hour = number(bytes, 11, 2), hour < 24, bytes[13] == UInt8(ascii: ":"),
            let minute = number(bytes, 14, 2), minute < 60, bytes[16] == UInt8(ascii: ":"),
            let second = number(bytes, 17, 2), second < 60,
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        var index = 19
        guard let nanoseconds = fraction(bytes, &index),
            let offset = offset(bytes, index)
        else { return nil }
        let seconds =
            date.daysSinceEpoch * 86_400 + Int64(hour * 3600 + minute * 60 + second - offset)
        guard seconds >= minSeconds, seconds <= maxSeconds else { return nil }
        return (seconds, nanoseconds)
    }

    /// Reads a timestamp from an array of bytes; see ``parse(_:)-(UnsafeBufferPointer<UInt8>)``.
    public static func parse(_ bytes: [UInt8]) -> (seconds: Int64, nanoseconds: Int32)? {
        bytes.withUnsafeBufferPointer { parse($0) }
    }

    /// Reads a timestamp from a text; see ``parse(_:)-(UnsafeBufferPointer<UInt8>)``.
    public static func parse(_ text: some StringProtocol) -> (seconds: Int64, nanoseconds: Int32)? {
        if let result = text.utf8.withContiguousStorageIfAvailable({ parse($0) }) { return result }
        return parse(Array(text.utf8))
    }

    /// Appends the text of a moment in UTC, such as `2026-11-30T12:00:00.000Z`.
    ///
    /// Seconds outside the years 0001…9999 are written as the nearest end of that range;
    /// nanoseconds are taken as 0…999,999,999.
    public static func append(
        seconds: Int64, nanoseconds: Int32, fraction: Fraction, to bytes: inout [UInt8]
    ) {
        // The longest text has 30 bytes; one append of all is several times faster than many.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 30) { text in
            guard let start = text.baseAddress else { return }
            let count = write(
                seconds: seconds, nanoseconds: nanoseconds, fraction: fraction, to: start)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<count]))
        }
    }

    /// Writes the text that ``append(seconds:nanoseconds:fraction:to:)`` appends to memory with
    /// room for 30 bytes, and gives the count.
    static func write(
        seconds: Int64, nanoseconds: Int32, fraction: Fraction, to text: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let moment = CivilDateTime(localSeconds: min(max(seconds, minSeconds), maxSeconds))
        let nanoseconds = Int(min(max(nanoseconds, 0), 999_999_999))
        let (year, month, day) = moment.date.components
        write(year, width: 4, to: text, at: 0)
        text[4] = UInt8(ascii: "-")
        write(month, width: 2, to: text, at: 5)
        text[7] = UInt8(ascii: "-")
        write(day, width: 2, to: text, at: 8)
        text[10] = UInt8(ascii: "T")
        write(moment.hour, width: 2, to: text, at: 11)
        text[13] = UInt8(ascii: ":")
        write(moment.minute, width: 2, to: text, at: 14)
        text[16] = UInt8(ascii: ":")
        write(moment.second, width: 2, to: text, at: 17)
        var end = 19
        var (digits, width) = (nanoseconds / 1_000_000, 3)
        if case .shortest = fraction {
            (digits, width) = (nanoseconds, nanoseconds == 0 ? 0 : 9)
            while width > 0, digits % 10 == 0 { (digits, width) = (digits / 10, width - 1) }
        }
        if width > 0 {
            text[end] = UInt8(ascii: ".")
            write(digits, width: width, to: text, at: end + 1)
            end += 1 + width
        }
        text[end] = UInt8(ascii: "Z")
        return end + 1
    }

    /// Writes a number that is not negative with leading zeros; the caller has left room.
    private static func write(
        _ value: Int, width: Int, to text: UnsafeMutablePointer<UInt8>, at start: Int
    ) {
        var rest = value
        for index in (start..<start + width).reversed() {
            text[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    private static func number(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int
    ) -> Int? {
        var value = 0
        for index in start..<start + count {
            guard isDigit(bytes[index]) else { return nil }
            value = value * 10 + Int(bytes[index] &- UInt8(ascii: "0"))
        }
        return value
    }

    /// The optional fraction; leaves `index` behind it.
    private static func fraction(
        _ bytes: UnsafeBufferPointer<UInt8>, _ index: inout Int
    ) -> Int32? {
        guard bytes[index] == UInt8(ascii: ".") else { return 0 }
        index += 1
        let start = index
        var value: Int32 = 0
        var unit: Int32 = 100_000_000
        while index < bytes.count, isDigit(bytes[index]) {
            value += Int32(bytes[index] &- UInt8(ascii: "0")) * unit
            unit /= 10
            index += 1
        }
        return index > start ? value : nil
    }

    /// The offset that ends the text, in seconds east of UTC.
    private static func offset(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
        guard index < bytes.count else { return nil }
        if bytes[index] | 0x20 == UInt8(ascii: "z") {
            return index + 1 == bytes.count ? 0 : nil
        }
        guard index + 6 == bytes.count,
            bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-"),
            let hours = number(bytes, index + 1, 2), hours < 24,
            bytes[index + 3] == UInt8(ascii: ":"),
            let minutes = number(bytes, index + 4, 2), minutes < 60
        else { return nil }
        let seconds = hours * 3600 + minutes * 60
        return bytes[index] == UInt8(ascii: "-") ? -seconds : seconds
    }
}

/// Appends a number that is not negative in decimal with leading zeros.
func appendPadded(_ value: Int, width: Int, to bytes: inout [UInt8]) {
    var divisor = 1
    for _ in 1..<width { divisor *= 10 }
    while divisor > 0 {
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / divisor % 10))
        divisor /= 10
    }
}

extension Instant {
    /// Reads an RFC 3339 timestamp; what is finer than a millisecond is dropped (towards the past).
    ///
    /// Nil if it is not one; see ``RFC3339``.
    public init?(rfc3339 text: some StringProtocol) {
        guard let (seconds, nanoseconds) = RFC3339.parse(text) else { return nil }
        self.init(milliseconds: seconds * 1000 + Int64(nanoseconds / 1_000_000))
    }

    /// Reads an RFC 3339 timestamp from bytes; what is finer than a millisecond is dropped.
    public init?(rfc3339 bytes: UnsafeBufferPointer<UInt8>) {
        guard let (seconds, nanoseconds) = RFC3339.parse(bytes) else { return nil }
        self.init(milliseconds: seconds * 1000 + Int64(nanoseconds / 1_000_000))
    }

    /// Appends `2026-11-30T12:00:00.000Z`: always UTC, always three decimals, 24 bytes.
    public func appendRFC3339(to bytes: inout [UInt8]) {
        let whole = seconds
        RFC3339.append(
            seconds: whole,
            nanoseconds: Int32(truncatingIfNeeded: milliseconds - whole * 1000) * 1_000_000,
            fraction: .milliseconds, to: &bytes)
    }

    /// Bytes of the text that ``writeRFC3339(to:)`` writes.
    public static let rfc3339Bytes = 24

    /// Writes `2026-11-30T12:00:00.000Z` to memory with room for 30 bytes, and gives the count,
    /// which is always ``rfc3339Bytes``.
    public func writeRFC3339(to text: UnsafeMutablePointer<UInt8>) -> Int {
        let whole = seconds
        return RFC3339.write(
            seconds: whole,
            nanoseconds: Int32(truncatingIfNeeded: milliseconds - whole * 1000) * 1_000_000,
            fraction: .milliseconds, to: text)
    }

    /// `2026-11-30T12:00:00.000Z`: always UTC, always three decimals.
    public var rfc3339: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        appendRFC3339(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Instant: CustomStringConvertible {
    /// The RFC 3339 text.
    public var description: String { rfc3339 }
}
