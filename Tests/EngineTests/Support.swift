import Engine
import Foundation
import Time

/// A small generator with a seed, so that a failure can be run again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    // MARK: Values of what is recorded

    mutating func flip() -> Bool { Bool.random(using: &self) }

    mutating func maybe<T>(_ make: (inout SeededGenerator) -> T) -> T? {
        flip() ? make(&self) : nil
    }

    mutating func some<T>(of count: ClosedRange<Int>, _ make: (inout SeededGenerator) -> T) -> [T] {
        (0..<Int.random(in: count, using: &self)).map { _ in make(&self) }
    }

    mutating func pick<T>(_ values: [T]) -> T {
        values[Int.random(in: values.indices, using: &self)]
    }

    mutating func instant() -> Instant {
        let wide = flip()
        return Instant(
            milliseconds: Int64.random(
                in: wide
                    ? Instant.min.milliseconds...Instant.max.milliseconds
                    : 1_700_000_000_000...1_900_000_000_000, using: &self))
    }

    mutating func duration() -> Duration {
        .milliseconds(
            pick([
                0, 1, 999, 60_000, 86_400_000,
                Int64.random(in: 0...10_000_000_000_000, using: &self),
            ]))
    }

    /// Text with everything that JSON has to escape, and more bytes than characters.
    mutating func text() -> String {
        let parts = [
            "a", "Z", "7", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "e\u{301}", "€",
            "\u{2028}", "🇳🇱", "\u{10FFFF}", " ", "{", "payload",
        ]
        return some(of: 0...8) { $0.pick(parts) }.joined()
    }

    mutating func double() -> Double {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: pick([0, -0.0, 1, -1, 5, 0.1, 1e16, 1e21, 1e22, 123_456_789_012_345_680])
        case 1: pick([.greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude])
        case 2: Double(Int64.random(in: -1000...1000, using: &self))
        default:
            {
                let number = Double(bitPattern: next())
                return number.isFinite ? number : 0.5
            }()
        }
    }

    mutating func identifier() -> Identifier {
        Identifier(
            at: instant(), sequence: Int64.random(in: 1...1 << 40, using: &self),
            ordinal: UInt16.random(in: 0...0x3FFF, using: &self),
            chance: UInt16.random(in: 0...0xFFF, using: &self))
    }

    mutating func pseudonym() -> Pseudonym {
        Pseudonymizer(key: [1]).subject(
            "\(next())", of: Tenant(app: "a", environment: .sandbox))
    }

    mutating func reference() -> VersionReference {
        VersionReference(
            name: text(), version: Int64.random(in: 1...Int64.max, using: &self), digest: text())
    }
}

/// The policies that ship, and the zones that their tests name.
enum Shipped {
    private static let zoneinfo = "/usr/share/zoneinfo/"
    static let haveZones = FileManager.default.fileExists(atPath: zoneinfo + "Europe/London")

    static func zones() throws -> ZoneDatabase {
        var zones: [String: ZoneRules] = [:]
        for name in ["Europe/London", "Asia/Tokyo", "UTC"] {
            let data = try Data(contentsOf: URL(filePath: zoneinfo + name))
            zones[name] = try ZoneRules(name: name, tzif: Array(data))
        }
        return ZoneDatabase(zones: zones, digest: "")
    }

    static func files() throws -> [(path: String, bytes: [UInt8])] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Policies")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".yaml") }
            .map { ($0, Array(try Data(contentsOf: folder.appending(path: $0)))) }
    }
}
