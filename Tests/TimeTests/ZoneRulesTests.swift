import Foundation
import Testing
import Time

@Suite(.enabled(if: TZDataFolder.isPresent, "needs the package tzdata"))
struct ZoneRulesTests {
    struct DayVector: Sendable, CustomTestStringConvertible {
        var zone, last, now: String
        var days: Int64
        var elapsed: Time.Duration
        var testDescription: String { "\(zone) \(last)" }
    }

    static let dayVectors: [DayVector] = [
        .init(
            zone: "America/New_York", last: "2025-03-08T23:30:00-05:00",
            now: "2025-03-15T00:15:00-04:00", days: 7,
            elapsed: .days(5) + .hours(23) + .minutes(45)),
        .init(
            zone: "America/New_York", last: "2025-10-27T00:05:00-04:00",
            now: "2025-11-02T23:55:00-05:00", days: 6, elapsed: .days(7) + .minutes(50)),
        .init(
            zone: "Europe/London", last: "2025-03-29T12:00:00Z", now: "2025-04-05T12:00:00+01:00",
            days: 7, elapsed: .days(6) + .hours(23)),
        .init(
            zone: "Asia/Tokyo", last: "2026-05-01T14:00:00Z", now: "2026-05-08T06:00:00Z", days: 7,
            elapsed: .days(6) + .hours(16)),
        .init(
            zone: "UTC", last: "2026-05-01T14:00:00Z", now: "2026-05-08T06:00:00Z", days: 7,
            elapsed: .days(6) + .hours(16)),
        .init(
            zone: "America/Los_Angeles", last: "2026-05-01T14:00:00Z", now: "2026-05-08T06:00:00Z",
            days: 6, elapsed: .days(6) + .hours(16)),
        .init(
            zone: "UTC", last: "2026-01-01T15:00:00Z", now: "2026-01-08T08:00:00Z", days: 7,
            elapsed: .days(6) + .hours(17)),
        .init(
            zone: "UTC", last: "2026-01-10T00:00:00Z", now: "2026-01-01T00:00:00Z", days: -9,
            elapsed: .days(-9)),
        .init(
            zone: "UTC", last: "2026-01-02T12:00:00Z", now: "2026-01-02T01:00:00Z", days: 0,
            elapsed: .hours(-11)),
        .init(
            zone: "Pacific/Apia", last: "2011-12-29T12:00:00-10:00",
            now: "2011-12-31T12:00:00+14:00", days: 2, elapsed: .days(1)),
        .init(
            zone: "UTC", last: "2022-09-27T00:00:00Z", now: "2022-10-28T00:00:00Z", days: 31,
            elapsed: .days(31)),
    ]

    @Test(arguments: dayVectors)
    func `days and clocks`(vector: DayVector) throws {
        let zone = try vector.zone == "UTC" ? ZoneRules.utc : TZDataFolder.rules(vector.zone)
        let (last, now) = (try instant(vector.last), try instant(vector.now))
        #expect(zone.calendarDays(from: last, to: now) == vector.days)
        #expect(now - last == vector.elapsed)
    }

    @Test(arguments: [
        ("Asia/Beirut", 2025, 3, 30, "2025-03-29T22:00:00.000Z"),  // 01:00 local, midnight is not
        ("Asia/Beirut", 2025, 3, 31, "2025-03-30T21:00:00.000Z"),
        ("Asia/Beirut", 2060, 3, 28, "2060-03-27T22:00:00.000Z"),  // from the yearly rule
        ("Pacific/Apia", 2011, 12, 29, "2011-12-29T10:00:00.000Z"),
        ("Pacific/Apia", 2011, 12, 30, "2011-12-30T10:00:00.000Z"),  // skipped: the 31st begins
        ("Pacific/Apia", 2011, 12, 31, "2011-12-30T10:00:00.000Z"),
        ("Europe/London", 2026, 3, 8, "2026-03-08T00:00:00.000Z"),
        ("Europe/London", 2026, 7, 1, "2026-06-30T23:00:00.000Z"),
        ("America/New_York", 2025, 3, 9, "2025-03-09T05:00:00.000Z"),
        ("America/Sao_Paulo", 2018, 11, 4, "2018-11-04T03:00:00.000Z"),
        // Midnight comes twice in Havana when the clock goes back at 01:00; the first one counts.
        ("America/Havana", 2024, 11, 3, "2024-11-03T04:00:00.000Z"),
    ])
    func `start of a local day`(zone: String, year: Int, month: Int, day: Int, expected: String)
        throws
    {
        let rules = try TZDataFolder.rules(zone)
        let date = try #require(CivilDate(year: year, month: month, day: day))
        #expect(rules.earliestInstant(of: date)?.rfc3339 == expected)
    }

    @Test func `a date that is left and entered again`() throws {
        // São Paulo went from 00:00 back to 23:00 of the day before on 2018-02-18, so the 18th
        // began at 03:00 UTC only; the instant of the change still shows the 17th.
        let rules = try TZDataFolder.rules("America/Sao_Paulo")
        let date = try #require(CivilDate(year: 2018, month: 2, day: 18))
        let change = try instant("2018-02-18T02:00:00Z")
        #expect(rules.date(at: change).day == 17)
        #expect(rules.earliestInstant(of: date)?.rfc3339 == "2018-02-18T03:00:00.000Z")
        // In Newfoundland the clock went back at 00:01, so one minute of the new day came first.
        let newfoundland = try TZDataFolder.rules("America/St_Johns")
        let second = try #require(CivilDate(year: 2010, month: 11, day: 7))
        let first = try #require(newfoundland.earliestInstant(of: second))
        #expect(first.rfc3339 == "2010-11-07T02:30:00.000Z")
        let again = newfoundland.earliestInstant(of: second, notBefore: first + .minutes(1))
        #expect(again?.rfc3339 == "2010-11-07T03:30:00.000Z")
    }

    @Test func `the earliest instant of a day is true on both sides in every zone`() throws {
        for name in try TZDataFolder.names() {
            let rules = try TZDataFolder.rules(name)
            for year in [1900, 1945, 1994, 2011, 2018, 2025, 2037, 2038, 2090, 2400] {
                for day in stride(from: 1, through: 360, by: 13) {
                    let newYear = try #require(CivilDate(year: year, month: 1, day: 1))
                    let date = newYear.adding(days: Int64(day))
                    let start = try #require(rules.earliestInstant(of: date))
                    guard rules.date(at: start) >= date,
                        rules.date(at: start - .milliseconds(1)) < date
                    else {
                        Issue.record("\(name) \(date): \(start)")
                        return
                    }
                }
            }
        }
    }

    @Test func `offsets agree with the system's C library`() throws {
        // The C library reads the same files by code of its own.
        for name in try TZDataFolder.names() {
            let rules = try TZDataFolder.rules(name)
            setenv("TZ", name, 1)
            tzset()
            for step in 0..<900 {
                let seconds = Int64(-2_208_988_800) + Int64(step) * 6_500_003
                var time = time_t(seconds)
                var parts = tm()
                localtime_r(&time, &parts)
                let local = rules.local(atSeconds: seconds)
                guard rules.offset(atSeconds: seconds) == parts.tm_gmtoff,
                    local.hour == Int(parts.tm_hour), local.minute == Int(parts.tm_min),
                    local.second == Int(parts.tm_sec), local.date.weekday == Int(parts.tm_wday),
                    local.date.dayOfYear == Int(parts.tm_yday) + 1
                else {
                    Issue.record("\(name) at \(seconds): \(rules.offset(atSeconds: seconds))")
                    break
                }
            }
        }
        setenv("TZ", "UTC", 1)
        tzset()
    }

    @Test(arguments: [
        ("+05:30", 19_800), ("-08:00", -28_800), ("02:00", 7200), ("-00:00", 0), ("UTC", 0),
        ("+23:59", 86_340),
    ])
    func `fixed offsets`(name: String, offset: Int) {
        #expect(ZoneDatabase.utc[name]?.offset(atSeconds: 0) == offset)
    }

    @Test(arguments: [
        "+05:99", "+24:00", "+5:30", "", "+0530", "Mars/Olympus", "utc", "+05:3٠", "++1:00",
    ])
    func `names that are no zone`(name: String) {
        #expect(ZoneDatabase.utc[name] == nil)
    }

    @Test func `a database finds its zones and names its data`() throws {
        let zones = ["Europe/London": try TZDataFolder.rules("Europe/London")]
        let database = ZoneDatabase(zones: zones, digest: "abc")
        #expect(database["Europe/London"]?.name == "Europe/London")
        #expect(database["Europe/Paris"] == nil)
        #expect(database["UTC"] === ZoneRules.utc)
        #expect(database.names == ["Europe/London"])
        #expect(database.digest == "abc")
    }
}
