import CEL
import JSON

extension PolicyLoad {
    /// The findings as text for people: place, message, the line, a caret, help.
    ///
    /// With `colour` the escape sequences of terminals are added. With `columns` all is broken to
    /// fit a terminal of so many; without, a finding's first line is one line, as editors and
    /// builds read it.
    public func rendered(colour: Bool = false, columns: Int? = nil) -> String {
        diagnostics.map { finding in
            DiagnosticText(
                finding: finding, text: texts[finding.file], colour: colour, columns: columns
            ).rendered
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
            "place": Self.json(place),
            "start": Self.json(range.start),
            "end": Self.json(range.end),
            "fix": fix.map(Self.json) ?? .null,
        ])
    }

    private static func json(_ fix: PolicyFix) -> JSONValue {
        .object([
            "title": .string(fix.title),
            "edits": .array(
                fix.edits.map { edit in
                    .object([
                        "start": json(edit.range.start),
                        "end": json(edit.range.end),
                        "replacement": .string(edit.replacement),
                    ])
                }),
        ])
    }

    private static func json(_ place: SourcePosition) -> JSONValue {
        .object(["line": .int(Int64(place.line)), "column": .int(Int64(place.column))])
    }

    /// `file:line:column: error: message [code]`.
    public var headline: String {
        "\(file):\(place.line):\(place.column): \(severity.rawValue): \(message) [\(code)]"
    }
}

extension PlainPolicy {
    /// A failure as text for people, as findings are: place, message, the line, a caret.
    public func rendered(_ failure: Failure, colour: Bool = false, columns: Int? = nil) -> String {
        let finding = PolicyDiagnostic(
            severity: .error, code: "cel.evaluation.\(failure.error.code)",
            message: failure.error.message, file: source.path, range: failure.range)
        let text = SourceText(String(decoding: source.bytes, as: UTF8.self))
        return DiagnosticText(finding: finding, text: text, colour: colour, columns: columns)
            .rendered
    }
}

/// Draws one finding.
private struct DiagnosticText {
    let finding: PolicyDiagnostic
    let text: SourceText?
    let colour: Bool
    let columns: Int?

    private var width: Int { columns ?? WrappedText.columns }

    var rendered: String {
        var result = (colour ? painted(headline) : headline) + "\n"
        if let text { result += excerpt(of: text) }
        if let help = finding.help {
            let lines = WrappedText.lines(help, behind: "  help: ", columns: width)
            result += lines.joined(separator: "\n") + "\n"
        }
        return result
    }

    private var place: String {
        "\(finding.file):\(finding.place.line):\(finding.place.column):"
    }

    private var severity: String { finding.severity.rawValue + ":" }

    /// A long path leaves no room beside it: then further lines are only moved in.
    private var headline: String {
        guard let columns else { return finding.headline }
        let message = "\(finding.message) [\(finding.code)]"
        let head = "\(place) \(severity) "
        let lines =
            head.count <= columns / 2
            ? WrappedText.lines(message, behind: head, columns: columns)
            : WrappedText.lines(
                "\(severity) \(message)", behind: place + " ", hang: 4, columns: columns)
        return lines.joined(separator: "\n")
    }

    private func painted(_ headline: String) -> String {
        let rest = headline.dropFirst(place.count)
        let gap = rest.prefix { $0 == " " || $0 == "\n" }
        let paint = finding.severity == .error ? "\u{1B}[1;31m" : "\u{1B}[1;35m"
        return "\u{1B}[1m\(place)\u{1B}[0m\(gap)\(paint)\(severity)\u{1B}[0m"
            + rest.dropFirst(gap.count + severity.count)
    }

    private func excerpt(of text: SourceText) -> String {
        let number = finding.place.line
        let line = text.line(number)
        guard !line.isEmpty else { return "" }
        let (start, end) = (finding.range.start, finding.range.end)
        return SourceExcerpt(
            line: line, place: finding.place.column - 1,
            from: start.line == number ? start.column - 1 : start.line < number ? 0 : nil,
            to: end.line == number ? end.column - 1 : nil, columns: width
        ).text
    }
}
