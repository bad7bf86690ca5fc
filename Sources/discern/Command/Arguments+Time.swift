import Engine
import Glibc
import Time

extension Arguments {
    /// An option that names a time: `2026-11-30T12:00:00Z`, or `2h` for two hours ago.
    func time(_ name: String) throws(UsageError) -> Instant? {
        guard let text = self[name] else { return nil }
        if let instant = Instant(rfc3339: text) { return instant }
        if let ago = Duration(policyText: text) { return Engine.wallClock() - ago }
        throw UsageError(
            "--\(name) needs a time such as 2026-11-30T12:00:00Z, or 2h for two hours ago, "
                + "not `\(text)`")
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
