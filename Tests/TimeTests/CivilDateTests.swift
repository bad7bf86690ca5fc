import Testing
import Time

@Suite struct CivilDateTests {
    @Test func `every day of two thousand years is found from both sides`() {
        var previous = CivilDate(year: 999, month: 12, day: 31)
        var weekday = previous?.weekday ?? -1
        for year in 1000...2999 {
            var dayOfYear = 0
            for month in 1...12 {
                for day in 1...31 {
                    guard let date = CivilDate(year: year, month: month, day: day) else { continue }
                    dayOfYear += 1
                    weekday = (weekday + 1) % 7
                    guard date.components == (year, month, day), date.dayOfYear == dayOfYear,
                        date.weekday == weekday, let last = previous, date - last == 1
                    else {
                        Issue.record("\(year)-\(month)-\(day)")
                        return
                    }
                    previous = date
                }
            }
            #expect(dayOfYear == (CivilDate.isLeap(year: year) ? 366 : 365))
        }
    }

    @Test(arguments: [
        (1970, 1, 1, 0, 4), (2000, 2, 29, 11_016, 2), (2026, 11, 30, 20_787, 1),
        (1, 1, 1, -719_162, 1), (1969, 12, 31, -1, 3),
    ])
    func `known days`(year: Int, month: Int, day: Int, days: Int64, weekday: Int) throws {
        let date = try #require(CivilDate(year: year, month: month, day: day))
        #expect(date.daysSinceEpoch == days)
        #expect(date.weekday == weekday)
    }

    @Test(arguments: [
        (2025, 2, 29), (2100, 2, 29), (2026, 4, 31), (2026, 0, 1), (2026, 13, 1), (2026, 1, 0),
        (2026, 1, 32), (100_000, 1, 1), (-10_000, 1, 1), (Int.max, 1, 1), (2026, Int.min, 1),
    ])
    func `days that do not exist`(year: Int, month: Int, day: Int) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test func `the ends of the range`() throws {
        let first = try #require(CivilDate(year: -9999, month: 1, day: 1))
        let last = try #require(CivilDate(year: 99_999, month: 12, day: 31))
        #expect(CivilDate(daysSinceEpoch: .min) == first)
        #expect(CivilDate(daysSinceEpoch: .max) == last)
        #expect(first.components == (-9999, 1, 1))
        #expect(last.components == (99_999, 12, 31))
        #expect(first.adding(days: .min) == first)
        #expect(last.adding(days: .max) == last)
        #expect(first.description == "-9999-01-01")
        #expect(last.description == "99999-12-31")
    }

    // The table of 365 days: elapsed days and dates agree in UTC.
    @Test(arguments: [
        ("2023-03-01", "2024-02-29"), ("2024-02-29", "2025-02-28"), ("2024-03-01", "2025-03-01"),
    ])
    func `365 days later`(start: String, end: String) throws {
        let from = try #require(Instant(rfc3339: "\(start)T00:00:00Z"))
        #expect((from + .days(365)).rfc3339 == "\(end)T00:00:00.000Z")
        #expect(ZoneRules.utc.date(at: from).adding(days: 365).description == end)
    }

    @Test func `times of day`() throws {
        let midnight = try #require(CivilDate(year: 1969, month: 12, day: 31))
        let time = CivilDateTime(localSeconds: -1)
        #expect(time.date == midnight)
        #expect((time.hour, time.minute, time.second) == (23, 59, 59))
        #expect(time.localSeconds == -1)
        #expect(CivilDateTime(date: midnight, hour: 24, minute: 0, second: 0) == nil)
        #expect(CivilDateTime(date: midnight, hour: 23, minute: 59, second: 59) == time)
        // Far outside: clamped, not trapped.
        #expect(CivilDateTime(localSeconds: .min).date == CivilDate(daysSinceEpoch: .min))
        #expect(CivilDateTime(localSeconds: .max).date == CivilDate(daysSinceEpoch: .max))
    }
}
