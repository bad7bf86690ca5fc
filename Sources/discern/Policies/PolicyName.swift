import JSON

/// A policy on the command line.
enum PolicyName {
    /// The one policy that is named.
    static func only(_ arguments: Arguments) throws -> String {
        guard arguments.positional.count == 1 else { throw UsageError("name one policy") }
        let name = arguments.positional[0]
        try check(name)
        return name
    }

    /// Names of policies are plain; so is what becomes a part of a path.
    static func check(_ name: String) throws(UsageError) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x40, 0x5F: true
            default: false
            }
        }
        guard isPlain, !name.isEmpty, !name.hasPrefix("@") else {
            throw UsageError("`\(name)` is no policy's name")
        }
    }

    /// The one `name@version` that is named.
    static func reference(_ arguments: Arguments) throws -> (name: String, version: Int64) {
        let text = try only(arguments)
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let version = Int64(parts[1]), version > 0 else {
            throw UsageError("name a version: NAME@VERSION, not `\(text)`")
        }
        return (String(parts[0]), version)
    }

    /// Refuses the name of a policy that there never was, and says which there are.
    static func requireKnown(_ name: String, _ arguments: Arguments) throws {
        let answer = try PolicyListCommands.policies(arguments)
        let rows = ["candidates", "acting"].flatMap { answer[$0]?.arrayValue ?? [] }
        let isVersion = name.contains("@")
        let known = rows.map {
            isVersion ? PolicyListCommands.reference($0) : $0["name"]?.stringValue ?? ""
        }
        guard !known.contains(name) else { return }
        let names = Set(known).sorted().joined(separator: ", ")
        throw UsageError(
            "there is no policy `\(name)`; there are \(names.isEmpty ? "none" : names)")
    }
}
