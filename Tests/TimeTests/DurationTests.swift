import Testing
import Time

@Suite struct DurationTests {
    @Test(arguments: [
        ("500ms", 500), ("10s", 10_000), ("15m", 900_000), ("24h", 86_400_000),
        ("7d", 604_800_000), ("365d", 31_536_000_000), ("1h30m", 5_400_000), ("0s", 0),
        ("1d2h3m4s5ms", 93_784_005), ("25d", 2_160_000_000), ("50d", 4_320_000_000),
        ("9223372036854775807ms", Int64.max),
    ])
    func `policy text is read`(text: String, milliseconds: Int64) {
        #expect(Duration(policyText: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "5", "d", "1.5h", "-1h", "+1h", "1 h", "1h1h", "1m1h", "1w", "1M", "1H",
        "9223372036854775808ms", "106751991168d", "1ｄ", "99999999999999999999d", "1h ", "١h",
    ])
    func `policy text is refused`(text: String) {
        #expect(Duration(policyText: text) == nil)
    }

    @Test(arguments: [("+1m", 60_000), ("-10m", -600_000), ("+0s", 0)])
    func `signed text is read`(text: String, milliseconds: Int64) {
        #expect(Duration(signedPolicyText: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: ["1m", "+", "--1m", "+-1m"])
    func `signed text is refused`(text: String) {
        #expect(Duration(signedPolicyText: text) == nil)
    }

    @Test(
        arguments: [
            (0, "PT0S", "0s"), (900_000, "PT15M", "15m"), (500, "PT0.5S", "500ms"),
            (1, "PT0.001S", "1ms"), (10, "PT0.01S", "10ms"), (259_200_000, "PT72H", "3d"),
            (5_400_000, "PT1H30M", "1h30m"), (61_050, "PT1M1.05S", "1m1s50ms"),
            (-900_000, "-PT15M", "-15m"), (Int64.max, "PT2562047788015H12M55.807S", nil),
        ] as [(Int64, String, String?)])
    func `both spellings are written and read back`(
        milliseconds: Int64, iso: String, policy: String?
    ) {
        let duration = Duration(milliseconds: milliseconds)
        #expect(duration.iso8601 == iso)
        #expect(Duration(iso8601: iso) == duration)
        if let policy { #expect(duration.policyText == policy) }
        if milliseconds >= 0 { #expect(Duration(policyText: duration.policyText) == duration) }
    }

    @Test(arguments: [
        "", "P", "PT", "P1D", "PT1", "PT1M1H", "PT1.5M", "PT1.2345S", "PT1.S", "pt1s",
    ])
    func `ISO text is refused`(text: String) {
        #expect(Duration(iso8601: text) == nil)
    }

    @Test func `arithmetic saturates`() {
        let most = Duration(milliseconds: .max)
        let least = Duration(milliseconds: .min)
        #expect(most + .milliseconds(1) == most)
        #expect(least + .milliseconds(-1) == least)
        #expect(least - .milliseconds(1) == least)
        #expect(most - .milliseconds(-1) == most)
        #expect(-least == most)
        #expect(Duration.days(.max) == most)
        #expect(Duration.days(.min) == least)
        #expect(Duration.seconds(-3) * -2 == .seconds(6))
    }
}
