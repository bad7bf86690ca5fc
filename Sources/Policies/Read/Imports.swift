/// Imports of a plain policy: full names of types that may then be written short.
struct Imports {
    let sink: DiagnosticSink

    /// The short names and what they stand for.
    func read(_ fields: Fields) -> [String: String] {
        var abbreviations: [String: String] = [:]
        for item in fields.items("imports") {
            guard let entry = Fields(item, "an import", keys: ["name"], sink: sink),
                let text = entry.requiredString("name"), let node = entry["name"],
                let scalar = node.scalar
            else { continue }
            let name = Self.trimmed(text)
            guard let short = Self.shortName(name) else {
                refuse(
                    "invalid qualified name: \(name), wanted name of the form 'qualified.name'",
                    scalar, node)
                continue
            }
            if let other = abbreviations[short] {
                refuse(
                    "abbreviation collides with existing reference: name=\(name), "
                        + "abbreviation=\(short), existing=\(other)", scalar, node)
                continue
            }
            abbreviations[short] = name
        }
        return abbreviations
    }

    private func refuse(_ message: String, _ scalar: YAMLScalar, _ node: YAMLNode) {
        let map = ScalarMap(scalar, range: node.range, source: sink.text)
        sink.error(
            .badName, "error configuring import: " + message,
            at: map.range(0..<map.text.unicodeScalars.count), place: map.place)
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }

    /// The last part of a name with dots; nil for what is none.
    static func shortName(_ name: String) -> String? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last, !first.isEmpty,
            !last.isEmpty, parts.allSatisfy({ $0.utf8.allSatisfy(Names.isWord) })
        else { return nil }
        return String(last)
    }
}
