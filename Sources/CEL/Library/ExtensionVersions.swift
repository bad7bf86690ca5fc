/// The extensions of CEL by name and version, for environments that allow only some of them.
extension Library {
    /// The extension that a function belongs to and the first version that has it; nil for what is
    /// always there.
    private static func home(_ name: String, _ overload: Function.Overload) -> (
        extension: String, since: Int
    )? {
        switch name {
        case "charAt", "indexOf", "lastIndexOf", "lowerAscii", "upperAscii", "replace", "split",
            "join", "substring", "trim":
            return ("strings", 0)
        case "format", "strings.quote": return ("strings", 1)
        case "reverse": return overload.parameters.first == .string ? ("strings", 3) : ("lists", 2)
        case "slice": return ("lists", 0)
        case "flatten": return ("lists", 1)
        case "distinct", "sort", "lists.range": return ("lists", 2)
        case "math.greatest", "math.least": return ("math", 0)
        case "math.sqrt": return ("math", 2)
        default: break
        }
        switch name.split(separator: ".").first {
        case "math": return ("math", 1)
        case "sets": return ("sets", 0)
        case "regex": return ("regex", 0)
        case "base64": return ("encoders", 0)
        default: break
        }
        let isOfNetwork = network.contains { $0.name == name }
        return isOfNetwork ? ("network", 0) : nil
    }

    /// Whether an environment allows an overload of the library.
    static func allows(_ name: String, _ overload: Function.Overload, in extensions: [String: Int]?)
        -> Bool
    {
        guard let extensions, let home = home(name, overload) else { return true }
        return extensions[home.extension].map { $0 >= home.since } ?? false
    }

    /// What an environment would have to list for a function of the library to be there; nil where
    /// nothing is missing, or there is no such function.
    static func missing(_ name: String, in environment: Environment) -> String? {
        guard environment.extensions != nil, let overload = functions[name]?.overloads.first,
            let home = home(name, overload)
        else { return nil }
        return "it belongs to version \(home.since) of the extension `\(home.extension)`, "
            + "which is not enabled"
    }
}
