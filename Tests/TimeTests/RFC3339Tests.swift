import Testing
import Time

@Suite struct RFC3339Tests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0, 0), ("2026-11-30T12:00:00.000Z", 1_796_040_000, 0),
            ("2009-02-13T23:31:30Z", 1_234_567_890, 0),
            ("2009-02-13T23:31:20.123456789Z", 1_234_567_880, 123_456_789),
            ("2009-02-13T23:31:20.1Z", 1_234_567_880, 100_000_000),
            ("2009-02-13T23:31:20.1234567899Z", 1_234_567_880, 123_456_789),
            ("2011-08-18T19:03:37.010+01:00", 1_313_690_617, 10_000_000),
            ("2011-08-18t18:03:37z", 1_313_690_617, 0),
            ("2024-02-29T00:00:00-00:00", 1_709_164_800, 0),
            ("0001-01-01T00:00:00Z", RFC3339.minSeconds, 0),
            ("9999-12-31T23:59:59.999999999Z", RFC3339.maxSeconds, 999_999_999),
            ("1969-12-31T23:59:59.5Z", -1, 500_000_000),
        ] as [(String, Int64, Int32)])
    func `timestamps are read`(text: String, seconds: Int64, nanoseconds: Int32) throws {
        let result = try #require(RFC3339.parse(text))
        #expect(result.seconds == seconds)
        #expect(result.nanoseconds == nanoseconds)
        let bytes = try #require(RFC3339.parse(Array(text.utf8)))
        #expect(bytes == result)
        let part = try #require(RFC3339.parse("x\(text)".dropFirst()))
        #expect(part == result)
    }

    @Test(arguments: [
        "", "2026-11-30", "2026-11-30T12:00:00", "2026-11-30 12:00:00Z", "2026-11-30T12:00Z",
        "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
        "2016-12-31T23:59:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00,5Z",
        "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+01", "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+05:99", "2026-01-01T00:00:00Zx", "2026-01-01T00:00:00.5",
        "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01", "٢026-01-01T00:00:00Z", "+026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.1234567890123456789012345678901234567890",
    ])
    func `anything else is refused`(text: String) {
        #expect(RFC3339.parse(text) == nil)
        #expect(Instant(rfc3339: text) == nil)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (1_796_040_000_007, "2026-11-30T12:00:00.007Z"),
        (Instant.min.milliseconds, "0001-01-01T00:00:00.000Z"),
        (Instant.max.milliseconds, "9999-12-31T23:59:59.999Z"),
    ])
    func `instants are written with three decimals and read back`(milliseconds: Int64, text: String)
    {
        let instant = Instant(milliseconds: milliseconds)
        #expect(instant.rfc3339 == text)
        #expect(Instant(rfc3339: text) == instant)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1, "1970-01-01T00:00:00.000000001Z"),
            (120_000_000, "1970-01-01T00:00:00.12Z"),
            (999_999_999, "1970-01-01T00:00:00.999999999Z"),
        ] as [(Int32, String)])
    func `the shortest fraction is written`(nanoseconds: Int32, text: String) {
        var bytes: [UInt8] = []
        RFC3339.append(seconds: 0, nanoseconds: nanoseconds, fraction: .shortest, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test func `instants saturate`() {
        #expect(Instant(milliseconds: .max) == .max)
        #expect(Instant(milliseconds: .min) == .min)
        #expect(Instant(exactMilliseconds: .max) == nil)
        #expect(Instant.max + .milliseconds(1) == .max)
        #expect(Instant.min - .milliseconds(1) == .min)
        #expect(Instant.epoch + Duration(milliseconds: .min) == .min)
        #expect(Instant.epoch - Duration(milliseconds: .min) == .max)
        #expect(Instant.min - Instant.max < .zero)
    }

    @Test func `every cut of a timestamp is refused without a crash`() {
        let text = Array("2011-08-18T19:03:37.010+01:00".utf8)
        for length in 0..<text.count {
            #expect(RFC3339.parse(Array(text[..<length])) == nil)
        }
    }
}
