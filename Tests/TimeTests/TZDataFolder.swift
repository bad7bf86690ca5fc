import Foundation
import Testing
import Time

/// The system's time-zone files; the module itself never reads any.
enum TZDataFolder {
    static let path = "/usr/share/zoneinfo"
    static var isPresent: Bool { FileManager.default.fileExists(atPath: path + "/Europe/London") }

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }

    static func rules(_ name: String) throws -> ZoneRules {
        try ZoneRules(name: name, tzif: bytes(name))
    }

    /// Every zone of the IANA list that the package installs.
    static func names() throws -> [String] {
        let table = try String(contentsOfFile: path + "/tzdata.zi", encoding: .utf8)
        return table.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            switch fields.first {
            case "Z": return String(fields[1])
            case "L": return String(fields[2])
            default: return nil
            }
        }
    }
}

func instant(_ text: String) throws -> Instant {
    try #require(Instant(rfc3339: text), "\(text)")
}
