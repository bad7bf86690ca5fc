extension Function {
    /// The operators and functions that every environment has, by name; they have no body here.
    public static let standard: [Function] = Library.functions.map { name, entry in
        Function(name: name, overloads: entry.overloads)
    }.sorted { $0.name < $1.name }

    /// The names of the macros, which look like functions and are none, such as `has` and `map`.
    public static let macros: Set<String> = Set(Parser.loops.keys).union(["has"])
        .union(Parser.celMacros.keys.map { "cel." + $0 })

    /// Each overload as an expression would write it, for people: `int + int → int`,
    /// `string.charAt(int) → string`, `math.abs(int) → int`.
    public var signatures: [String] { overloads.map { $0.signature(name) } }
}

extension Function.Overload {
    fileprivate func signature(_ name: String) -> String {
        let types = parameters.map(Self.short)
        return call(name, types) + " → " + Self.short(result)
    }

    private func call(_ name: String, _ types: [String]) -> String {
        switch (name, types.count) {
        case ("_?_:_", 3): return "\(types[0]) ? \(types[1]) : \(types[2])"
        case ("_[_]", 2): return "\(types[0])[\(types[1])]"
        case ("_[?_]", 2): return "\(types[0])[?\(types[1])]"
        case ("@in", 2): return "\(types[0]) in \(types[1])"
        case (_, 1) where name.hasSuffix("_"): return "\(name.dropLast())\(types[0])"
        case (_, 2) where name.hasPrefix("_"):
            return "\(types[0]) \(name.dropFirst().dropLast()) \(types[1])"
        default: break
        }
        let arguments = types.dropFirst(isMember ? 1 : 0).joined(separator: ", ")
        return (isMember ? types[0] + "." : "") + "\(name)(\(arguments))"
    }

    /// Without the package that the names of the two time types begin with.
    private static func short(_ type: Type) -> String {
        switch type {
        case .timestamp: "timestamp"
        case .duration: "duration"
        default: type.description
        }
    }
}
