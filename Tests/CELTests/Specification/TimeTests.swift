import CEL
import Foundation
import Testing
import Time

/// Timestamps and durations.
@Suite("Times")
struct TimeTests {
    @Test func timestamps() {
        holds([
            "timestamp('1972-01-01T10:00:20.021-05:00') == timestamp('1972-01-01T15:00:20.021Z')",
            "timestamp('2000-02-29T00:00:00Z') - timestamp('2000-02-28T00:00:00Z') == duration('24h')",
            "string(timestamp('2009-02-13T23:31:30.5+01:00')) == '2009-02-13T22:31:30.5Z'",
            "string(timestamp('9999-12-31T23:59:59.999999999Z')) == '9999-12-31T23:59:59.999999999Z'",
            "timestamp(0) == timestamp('1970-01-01T00:00:00Z')", "int(timestamp(5)) == 5",
            "timestamp('0001-01-01T00:00:00Z') == timestamp(-62135596800)",
            "timestamp(253402300799) == timestamp('9999-12-31T23:59:59Z')",
            "timestamp(timestamp(5)) == timestamp(5)",
            "timestamp('2009-02-13T23:31:30-00:00') == timestamp('2009-02-13T23:31:30+00:00')",
        ])
        fails(
            .invalidArgument,
            [
                "timestamp('')", "timestamp('2009-02-13')", "timestamp('2009-02-13T23:31:30')",
                "timestamp('2009-02-29T00:00:00Z')", "timestamp('2009-13-01T00:00:00Z')",
                "timestamp('2009-01-01T24:00:00Z')", "timestamp('2009-01-01T00:60:00Z')",
                "timestamp('2009-01-01T00:00:60Z')", "timestamp('2009-01-01T00:00:00.Z')",
                "timestamp('2009-01-01 00:00:00 Z')", "timestamp('2009-1-1T00:00:00Z')",
                "timestamp('2009-01-01T00:00:00+24:00')", "timestamp('0000-01-01T00:00:00Z')",
                "timestamp('10000-01-01T00:00:00Z')", "timestamp('0001-01-01T00:00:00+00:01')",
                "timestamp('9999-12-31T23:59:59-00:01')",
            ])
        fails(
            .overflow,
            [
                "timestamp(-62135596801)", "timestamp(253402300800)",
                "timestamp(253402300799) + duration('1s')",
                "timestamp(-62135596800) - duration('1ns')",
                "timestamp(253402300799) - timestamp(-62135596800)",
            ])
    }

    @Test func durations() {
        holds([
            "duration('1h30m') == duration('5400s')", "duration('1.5h') == duration('90m')",
            "duration('1ms') == duration('1000us') && duration('1us') == duration('1000ns')",
            "duration('1µs') == duration('1us')", "duration('-1m') == duration('-60s')",
            "duration('+1s') == duration('1s')", "duration('0') == duration('0s')",
            "string(duration('1h0.001s')) == '3600.001s'", "string(duration('-1.5s')) == '-1.5s'",
            "string(duration('-9223372036.854775808s')) == '-9223372036.854775808s'",
            "duration('9223372036.854775807s') > duration('9223372036s')",
            "duration('-9223372036854775808ns') == duration('-9223372036.854775808s')",
            "duration('-9223372036854775807ns') > duration('-9223372036854775808ns')",
            "duration('1s') + duration('1s') == duration('2s')",
            "duration('1s') - duration('2s') == duration('-1s')",
            "timestamp(1) + duration('1s') == timestamp(2) && duration('1s') + timestamp(1) == timestamp(2)",
            "timestamp(1) - duration('2s') == timestamp(-1)",
            "duration('-90.5s').getMinutes() == -1 && duration('90m').getHours() == 1",
            "duration('3730.5s').getSeconds() == 3730 && duration('1.25s').getMilliseconds() == 250",
        ])
        fails(
            .invalidArgument,
            [
                "duration('')", "duration('1')", "duration('1d')", "duration('s')",
                "duration('1h 1m')",
                "duration('1h-1m')", "duration('--1s')", "duration('1e3s')", "duration('.s')",
                "duration('9223372036854775808ns')", "duration('-9223372036854775809ns')",
                "duration('9223372036.854775808s')", "duration('-9223372036.854775809s')",
                "duration('320000000000s')",
            ])
        fails(
            .overflow,
            [
                "duration('9223372036s') + duration('1s')",
                "duration('-9223372036s') - duration('1s')",
            ])
    }

    @Test func parts() {
        holds([
            "timestamp('2009-02-13T23:31:30.012Z').getFullYear() == 2009",
            "timestamp('2009-02-13T23:31:30Z').getMonth() == 1",
            "timestamp('2009-02-13T23:31:30Z').getDate() == 13",
            "timestamp('2009-02-13T23:31:30Z').getDayOfMonth() == 12",
            "timestamp('2009-02-13T23:31:30Z').getDayOfYear() == 43",
            "timestamp('2000-12-31T00:00:00Z').getDayOfYear() == 365",
            "timestamp('2009-02-13T23:31:30Z').getDayOfWeek() == 5",
            "timestamp('2009-02-15T00:00:00Z').getDayOfWeek() == 0",
            "timestamp('2009-02-13T23:31:30Z').getHours() == 23",
            "timestamp('2009-02-13T23:31:30Z').getMinutes() == 31",
            "timestamp('2009-02-13T23:31:30Z').getSeconds() == 30",
            "timestamp('2009-02-13T23:31:30.012Z').getMilliseconds() == 12",
            "timestamp('1969-12-31T23:59:59.5Z').getMilliseconds() == 500",
            "timestamp('1969-12-31T23:59:59.5Z').getSeconds() == 59",
        ])
    }

    @Test func fixedOffsets() {
        holds([
            "timestamp('2009-02-13T23:31:30Z').getDate('+01:00') == 14",
            "timestamp('2009-02-13T23:31:30Z').getHours('-08:30') == 15",
            "timestamp('2009-02-13T23:31:30Z').getMinutes('-08:30') == 1",
            "timestamp('2009-02-13T23:31:30Z').getHours('02:00') == 1",
            "timestamp('2009-12-31T23:00:00Z').getFullYear('+01:00') == 2010",
            "timestamp('2010-01-01T00:00:00Z').getDayOfYear('-00:01') == 364",
            "timestamp('2009-02-13T23:31:30Z').getHours('UTC') == 23",
        ])
        fails(
            .invalidArgument,
            ["''", "'1:00'", "'+1:00'", "'+25:00'", "'+01:60'", "'Nowhere/Town'"].map {
                "timestamp(0).getHours(\($0))"
            })
    }

    @Test func namedZones() throws {
        var zones: [String: ZoneRules] = [:]
        for name in ["Europe/Paris", "America/St_Johns", "Asia/Kathmandu"] {
            let url = URL(fileURLWithPath: "/usr/share/zoneinfo/" + name)
            zones[name] = try ZoneRules(name: name, tzif: Array(Data(contentsOf: url)))
        }
        let environment = Environment(zones: ZoneDatabase(zones: zones, digest: "test"))
        holds(
            [
                "timestamp('2024-01-15T12:00:00Z').getHours('Europe/Paris') == 13",
                "timestamp('2024-07-15T12:00:00Z').getHours('Europe/Paris') == 14",
                "timestamp('2024-03-31T00:59:59Z').getHours('Europe/Paris') == 1",
                "timestamp('2024-03-31T01:00:00Z').getHours('Europe/Paris') == 3",
                "timestamp('2024-01-15T12:00:00Z').getMinutes('America/St_Johns') == 30",
                "timestamp('2024-01-15T12:00:00Z').getMinutes('Asia/Kathmandu') == 45",
            ], in: environment)
    }
}
