import Testing
import Time

/// A small writer of TZif files, so that every field can be spoilt.
struct TZifBytes {
    var version: Character = "2"
    var changes: [(Int64, UInt8)] = []
    var types: [Int32] = [0]
    var leapSeconds = 0
    var rule = ""

    var bytes: [UInt8] {
        var out = header(counts: [0, 0, 0, 0, 1, 1]) + [0, 0, 0, 0, 0, 0] + [0]
        out += header(counts: [0, 0, leapSeconds, changes.count, types.count, 1])
        for (time, _) in changes { out += big(UInt64(bitPattern: time), 8) }
        for (_, type) in changes { out.append(type) }
        for type in types { out += big(UInt64(UInt32(bitPattern: type)), 4) + [0, 0] }
        out.append(0)
        out += [UInt8](repeating: 0, count: leapSeconds * 12)
        return out + Array("\n\(rule)\n".utf8)
    }

    private func header(counts: [Int]) -> [UInt8] {
        Array("TZif\(version)".utf8) + [UInt8](repeating: 0, count: 15)
            + counts.flatMap { big(UInt64($0), 4) }
    }

    private func big(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
    }

    func rules() throws(ZoneError) -> ZoneRules { try ZoneRules(name: "Test/Zone", tzif: bytes) }
}

@Suite struct TZifTests {
    @Test func `a table and a rule`() throws {
        var file = TZifBytes()
        file.types = [3600, -7200]
        file.changes = [(0, 1), (1000, 0)]
        file.rule = "AAA-1BBB,M3.5.0,M10.5.0/3"
        let rules = try file.rules()
        #expect(rules.offset(atSeconds: -1) == 3600)
        #expect(rules.offset(atSeconds: .min) == 3600)
        #expect(rules.offset(atSeconds: 0) == -7200)
        #expect(rules.offset(atSeconds: 999) == -7200)
        #expect(rules.offset(atSeconds: 1000) == 3600)
        let spring = try instant("2026-03-29T01:00:00Z")
        #expect(rules.offset(atSeconds: spring.seconds - 1) == 3600)
        #expect(rules.offset(atSeconds: spring.seconds) == 7200)
        #expect(rules.offset(atSeconds: .max) == 3600)
    }

    @Test(arguments: [
        // rule, month and day of 2026, offset at noon UTC that day
        ("EST5EDT,M3.2.0,M11.1.0", "2026-07-01", -14_400),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-12-01", -18_000),
        ("<+0330>-3:30", "2026-07-01", 12_600),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01", 39_600),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-01", 36_000),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-29", 10_800),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-07-01", -3600),
        // Permanent daylight saving time, as RFC 9636 writes it.
        ("EST5EDT,0/0,J365/25", "2026-01-01", -14_400),
        ("EST5EDT,0/0,J365/25", "2026-07-01", -14_400),
        ("EST5EDT,0/0,J365/25", "2026-12-31", -14_400),
        ("AAA3BBB,J60/0,300/0", "2026-03-01", -7200),
        ("AAA3BBB,J60/0,300/0", "2024-03-01", -7200),
        ("AAA3BBB,J60/0,300/0", "2024-02-29", -10_800),
    ])
    func `yearly rules`(rule: String, day: String, offset: Int) throws {
        let rules = try TZifBytes(rule: rule).rules()
        #expect(rules.offset(atSeconds: try instant("\(day)T12:00:00Z").seconds) == offset)
    }

    @Test(arguments: [
        "EST", "E5", "EST5EDT", "EST5EDT,M3.2.0", "EST5EDT,M13.2.0,M11.1.0",
        "EST5EDT,M3.6.0,M11.1.0", "EST5EDT,M3.2.7,M11.1.0", "EST25", "EST5:60", "<EST5", "<>5",
        "EST5EDT,M3.2.0,M11.1.0x", "EST5EDT,J0,J365", "EST5EDT,366,1", "EST5EDT,M3.2.0/168,M11.1.0",
        "5", ",", "EST5EDT,M3..0,M11.1.0", "EST99999999999999999999", "EST5EDT4,,",
        "\u{0}\u{0}\u{0}5",
    ])
    func `malformed rules are refused`(rule: String) {
        #expect(throws: ZoneError.self) { try TZifBytes(rule: rule).rules() }
    }

    @Test func `malformed files are refused with a reason`() {
        func reason(_ change: (inout TZifBytes) -> Void) -> String? {
            var file = TZifBytes()
            change(&file)
            do {
                _ = try file.rules()
                return nil
            } catch {
                return error.description
            }
        }
        #expect(reason { $0.version = "1" }?.contains("version 1") == true)
        #expect(reason { $0.types = [] }?.contains("0 local time types") == true)
        #expect(reason { $0.types = [26 * 3600] } == nil)
        #expect(reason { $0.types = [26 * 3600 + 1] }?.contains("93601 seconds") == true)
        #expect(reason { $0.types = [.min] }?.contains("-2147483648 seconds") == true)
        #expect(reason { $0.changes = [(5, 1)] }?.contains("local time type 1") == true)
        #expect(reason { $0.changes = [(5, 0), (5, 0)] }?.contains("change 1") == true)
        #expect(reason { $0.leapSeconds = 1 }?.contains("leap seconds") == true)
        #expect(reason { $0.rule = "nonsense" }?.contains("`nonsense`") == true)
        #expect(throws: ZoneError(zone: "x", reason: "larger than 1048576 bytes")) {
            try ZoneRules(
                name: "x", tzif: [UInt8](repeating: 0, count: ZoneRules.maxFileSize + 1))
        }
    }

    @Test func `every cut and every spoilt byte ends in an error or in rules, never in a trap`() {
        var file = TZifBytes()
        file.types = [3600, -7200]
        file.changes = [(0, 1), (1000, 0)]
        file.rule = "AAA-1BBB,M3.5.0,M10.5.0/3"
        let bytes = file.bytes
        for length in 0..<bytes.count {
            #expect(throws: ZoneError.self) {
                try ZoneRules(name: "cut", tzif: Array(bytes[..<length]))
            }
        }
        for index in bytes.indices {
            for value: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                var spoilt = bytes
                spoilt[index] = value
                guard let rules = try? ZoneRules(name: "spoilt", tzif: spoilt) else { continue }
                for moment in [Instant.min, .epoch, .max] {
                    let date = rules.date(at: moment)
                    _ = rules.earliestInstant(of: date.adding(days: 1))
                    _ = rules.earliestInstant(of: CivilDate(daysSinceEpoch: .max))
                }
            }
        }
    }
}
