import Engine
import Glibc
import Time

extension Arguments {
    /// An option that names a time: `2026-11-30T12:00:00Z`, `2026-11-30`, `2h` for two hours ago,
    /// `today` or `yesterday`. Days begin at midnight in UTC.
    func time(_ name: String) throws(UsageError) -> Instant? {
        guard let text = self[name] else { return nil }
        return try Self.time(text, of: name)
    }

    /// A text that names a time, as an option has it.
    static func time(_ text: String, of name: String) throws(UsageError) -> Instant {
        if let instant = Instant(rfc3339: text) ?? Instant(rfc3339: text + "T00:00:00Z") {
            return instant
        }
        let now = Engine.wallClock()
        if let ago = Duration(policyText: text) { return now - ago }
        let day: Int64 = 86_400_000
        let today = Instant(milliseconds: now.milliseconds / day * day)
        switch text {
        case "now": return now
        case "today": return today
        case "yesterday": return today - .days(1)
        default:
            throw UsageError(
                "--\(name) needs a time such as 2026-11-30T12:00:00Z or 2026-11-30, 2h for two "
                    + "hours ago, today or yesterday, not `\(text)`")
        }
    }

    /// An option that is a span of time: `60d`.
    func span(_ name: String) throws(UsageError) -> Duration? {
        guard let text = self[name] else { return nil }
        guard let span = Duration(policyText: text) else {
            throw UsageError("--\(name) needs a span such as 60d or 12h, not `\(text)`")
        }
        return span
    }
}

/// Measures how long something took.
struct Stopwatch {
    private(set) var nanoseconds: Int64 = 0

    /// Runs something and adds the time it took.
    mutating func time<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        let start = Self.now()
        defer { nanoseconds += Self.now() - start }
        return try body()
    }

    /// How many of so many were done in a second.
    func rate(of count: Int64) -> Int64 {
        Int64(Double(count) * 1e9 / Double(max(nanoseconds, 1)))
    }

    private static func now() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}
