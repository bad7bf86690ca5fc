import Policies
import ReviewPrompts
import Testing

@Suite struct AppVersionTests {
    @Test func `versions in order, each below the next`() throws {
        let texts = [
            "0", "0.1", "1.0-alpha", "1.0-alpha.1", "1.0-alpha.beta", "1.0-beta", "1.0-beta.2",
            "1.0-beta.11", "1.0-rc.1", "1.0", "1.0.1", "1.9", "1.10", "2.0-beta", "2.0", "2.0.0.1",
            "4.6", "4.6.1", "10", "18446744073709551615",
        ]
        let versions = try texts.map { try #require(AppVersion($0), "\($0)") }
        for (index, version) in versions.enumerated() {
            for (other, otherVersion) in versions.enumerated() {
                #expect((version < otherVersion) == (index < other), "\(version) \(otherVersion)")
                #expect((version == otherVersion) == (index == other))
            }
        }
    }

    @Test(arguments: [
        ("2.0", "2.0.0"), ("2", "2.0.0.0"), ("01.2", "1.2"), ("1.0+77", "1.0"),
        ("1.0-beta+1", "1.0.0-beta"), ("0.0", "0"),
    ])
    func `equal versions`(left: String, right: String) {
        #expect(AppVersion(left) == AppVersion(right))
        #expect(AppVersion(left) != nil)
    }

    @Test(arguments: [
        "", " ", "v1", "1.", ".1", "1..2", "1.0 ", "1,0", "-1", "+1", "1.-2", "1.0-", "1.0-.",
        "1.0-a..b",
        "1.0+", "1.0+a b", "unknown", "1.٢", "18446744073709551616", "1.0\u{0}",
        String(repeating: "1", count: 65),
    ])
    func `unreadable versions`(text: String) {
        #expect(AppVersion(text) == nil)
    }

    @Test func `the longest version`() {
        #expect(AppVersion("1." + String(repeating: "0", count: AppVersion.maxLength - 2)) != nil)
    }

    @Test(arguments: [
        ("4.6.1-beta", VersionGrain.full, "4.6.1-beta"), ("4.6.1-beta", .minor, "4.6"),
        ("4.6.1", .major, "4"), ("4.0.1", .minor, "4"), ("4", .minor, "4"), ("0.0.7", .minor, "0"),
    ])
    func `grains`(text: String, grain: VersionGrain, expected: String) throws {
        #expect(try #require(AppVersion(text)).cut(to: grain).description == expected)
    }
}
