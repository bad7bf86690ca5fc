import JSON

extension PolicyLoad {
    /// The findings as text for people: place, message, the line, a caret, help.
    ///
    /// With `colour` the escape sequences of terminals are added.
    public func rendered(colour: Bool = false) -> String {
        diagnostics.map { finding in
            DiagnosticText(finding: finding, text: texts[finding.file], colour: colour).rendered
        }.joined()
    }

    /// The findings and the files as JSON: `{"files": […], "diagnostics": […]}`.
    public var json: JSONValue {
        .object([
            "files": .array(files.map(Self.json)),
            "diagnostics": .array(diagnostics.map(\.json)),
        ])
    }

    private static func json(_ file: LoadedFile) -> JSONValue {
        .object([
            "path": .string(file.path),
            "role": .string(file.role.rawValue),
            "reference": file.reference.map(JSONValue.string) ?? .null,
            "digest": .string(file.digest),
        ])
    }
}

extension PolicyDiagnostic {
    /// The finding as JSON; lines and columns count from 1.
    public var json: JSONValue {
        .object([
            "severity": .string(severity.rawValue),
            "code": .string(code),
            "message": .string(message),
            "help": help.map(JSONValue.string) ?? .null,
            "file": .string(file),
            "start": Self.json(range.start),
            "end": Self.json(range.end),
        ])
    }

    private static func json(_ place: SourcePosition) -> JSONValue {
        .object(["line": .int(Int64(place.line)), "column": .int(Int64(place.column))])
    }

    /// `file:line:column: error: message [code]`.
    public var headline: String {
        "\(file):\(range.start.line):\(range.start.column): \(severity.rawValue): \(message) [\(code)]"
    }
}

/// Draws one finding.
private struct DiagnosticText {
    let finding: PolicyDiagnostic
    let text: SourceText?
    let colour: Bool

    /// Longer lines are cut on both sides of the place.
    private static let longestLine = 160

    var rendered: String {
        var result = headline + "\n"
        if let text { result += excerpt(of: text) }
        if let help = finding.help { result += "  help: \(help)\n" }
        return result
    }

    private var headline: String {
        guard colour else { return finding.headline }
        let paint = finding.severity == .error ? "\u{1B}[1;31m" : "\u{1B}[1;35m"
        let place = "\(finding.file):\(finding.range.start.line):\(finding.range.start.column):"
        return "\u{1B}[1m\(place)\u{1B}[0m \(paint)\(finding.severity.rawValue):\u{1B}[0m "
            + "\(finding.message) [\(finding.code)]"
    }

    private func excerpt(of text: SourceText) -> String {
        // A tab or a control character would move the caret away from its place.
        var line = text.line(finding.range.start.line).map {
            $0.value < 32 || $0.value == 127 ? " " : $0
        }
        guard !line.isEmpty else { return "" }
        var indent = finding.range.start.column - 1
        let end =
            finding.range.end.line == finding.range.start.line
            ? finding.range.end.column - 1 : line.count
        var width = max(1, min(end, line.count) - indent)
        if line.count > Self.longestLine {
            let from = max(0, min(indent - 40, line.count - Self.longestLine))
            line = Array(line[from..<min(line.count, from + Self.longestLine)])
            indent -= from
            width = max(1, min(width, line.count - indent))
        }
        var shown = String.UnicodeScalarView()
        shown.append(contentsOf: line)
        let caret =
            String(repeating: " ", count: max(indent, 0)) + String(repeating: "^", count: width)
        return "  \(String(shown))\n  \(caret)\n"
    }
}
