/// What every policy and model file says first.
struct Header {
    var name: String
    var version: Int
    var description: String

    /// Nil where the name or the version is missing or cannot be used.
    init?(_ fields: Fields) {
        let description = fields.string("description") ?? ""
        let name = fields.requiredString("name").flatMap { text -> String? in
            guard let range = fields["name"]?.range else { return nil }
            return Names.check(text, "the name", at: range, fields.sink) ? text : nil
        }
        let version =
            fields.required("version") == nil
            ? nil : fields.int("version", in: 1...Int(Int32.max))
        guard let name, let version else { return nil }
        self.name = name
        self.version = version
        self.description = description
    }
}

/// What may be a name.
enum Names {
    /// Names of policies, rules and models: letters, digits, `-`, `_` and `.`, a letter first.
    static func check(
        _ text: String, _ what: String, at range: SourceRange, _ sink: DiagnosticSink
    ) -> Bool {
        let isFine = text.utf8.allSatisfy { isWord($0) || $0 == 45 || $0 == 46 }
        return report(text, isFine, what, "letters, digits, `-`, `_` and `.`", range, sink)
    }

    /// Names that expressions use: letters, digits and `_`, a letter first, no word of CEL.
    static func checkIdentifier(
        _ text: String, _ what: String, at range: SourceRange, _ sink: DiagnosticSink
    ) -> Bool {
        guard
            report(text, text.utf8.allSatisfy(isWord), what, "letters, digits and `_`", range, sink)
        else { return false }
        guard !celWords.contains(text) else {
            sink.error(
                .reservedName, "\(what) `\(text)` is a word of the expression language", at: range,
                help: "choose another name")
            return false
        }
        return true
    }

    private static func report(
        _ text: String, _ isFine: Bool, _ what: String, _ allowed: String, _ range: SourceRange,
        _ sink: DiagnosticSink
    ) -> Bool {
        let startsWell = text.utf8.first.map { isWord($0) && !(48...57).contains($0) } ?? false
        guard isFine, startsWell, text.utf8.count <= PolicyLimits.nameBytes else {
            sink.error(
                .badName,
                "\(what) may hold \(allowed), begins with a letter and has at most "
                    + "\(PolicyLimits.nameBytes) characters", at: range)
            return false
        }
        return true
    }

    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, 95: true
        default: false
        }
    }

    private static let celWords: Set<String> = [
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import",
        "in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void",
        "while",
    ]

    /// Names the engine's own values have. A caller's fact called `score` beside the model's would
    /// be read for the other sooner or later.
    static let engineWords: Set<String> = [
        "attributes", "context", "degraded", "device", "insight", "now", "outcome", "score",
        "subject", "variables", "velocity",
    ]
}
