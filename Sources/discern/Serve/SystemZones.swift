import Glibc
import Ledger
import Time

/// The time zones that this system has installed (Debian's tzdata).
enum SystemZones {
    private static let folder = "/usr/share/zoneinfo"

    /// All zones, with a digest of their names and bytes; only UTC where none are installed.
    static func load() -> ZoneDatabase {
        var files: [(name: String, bytes: [UInt8])] = []
        collect(folder, prefix: "", into: &files)
        files.sort { $0.name < $1.name }
        var zones: [String: ZoneRules] = [:]
        var summary = ""
        for (name, bytes) in files {
            // Other files, such as tables, lie beside the zones.
            guard let rules = try? ZoneRules(name: name, tzif: bytes) else { continue }
            zones[name] = rules
            summary += "\(name) \(SHA256.hash(bytes).hex)\n"
        }
        return zones.isEmpty ? .utc : ZoneDatabase(zones: zones, digest: SHA256.hash(summary).hex)
    }

    private static func collect(
        _ folder: String, prefix: String, into files: inout [(name: String, bytes: [UInt8])]
    ) {
        for path in Files.list(folder, ending: "") {
            let name = String(path.dropFirst(folder.utf8.count + 1))
            // `right` and `posix` hold every zone once more.
            // `localtime` and `posixrules` are this machine's settings under another name.
            let others = ["right", "posix", "localtime", "posixrules"]
            if name.hasPrefix(".") || others.contains(name) { continue }
            if Files.isFolder(path) {
                collect(path, prefix: prefix + name + "/", into: &files)
            } else if let bytes = Files.read(path), bytes.starts(with: "TZif".utf8) {
                files.append((prefix + name, bytes))
            }
        }
    }
}
