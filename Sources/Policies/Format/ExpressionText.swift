import CEL

/// Lays out the expressions that stand in a file.
enum ExpressionText {
    /// Beyond this many columns a chain goes onto several lines.
    static let width = 100

    /// The tree of an expression; nil where it does not parse.
    static func parse(_ text: String) -> AST? {
        let result = compile(text)
        return result.diagnostics.contains { $0.severity == .error } ? nil : result.ast
    }

    private static func compile(_ text: String) -> CompileResult {
        var environment = Environment()
        environment.checking = .lenient
        return environment.compile(text)
    }

    /// Why a text cannot be laid out as an expression; nil where it can.
    static func fault(_ text: String) -> String? {
        // Before anything is parsed: a file may hold one of a megabyte.
        guard text.utf8.count <= PolicyLimits.expressionBytes else {
            return "an expression has at most \(PolicyLimits.expressionBytes) bytes"
        }
        return compile(text).diagnostics.first { $0.severity == .error }?.message
    }

    /// Whether two expressions are the same, however instants and spans in them are written.
    static func isSame(_ left: String, _ right: String) -> Bool? {
        guard let left = parse(left), let right = parse(right) else { return nil }
        if left.hasSameMeaning(as: right) { return true }
        let text = { (ast: AST) in
            ast.canonicalText(of: ast.root) { Constants.time(ast, $0) }
        }
        guard let mine = text(left), let theirs = text(right) else { return false }
        return mine == theirs
    }

    /// How a scalar of one line should be written, in its own style of quotes; nil to leave it.
    static func inline(_ scalar: YAMLScalar, _ raw: String) -> String? {
        guard !raw.contains("\n"), let ast = parse(scalar.text) else { return nil }
        var layout = ExpressionLayout()
        layout.normalisesQuotes = scalar.style != .doubleQuoted
        guard let text = ast.formatted(layout), !text.contains("\n") else { return nil }
        switch scalar.style {
        case .plain:
            let isPlain =
                !text.contains(": ") && !text.contains(" #") && !text.hasSuffix(":")
                && !(text.unicodeScalars.first.map {
                    "\"'[]{}#&*!|>%@`,?-".unicodeScalars.contains($0)
                }
                    ?? true)
            // What a plain scalar may hold depends on where it stands; brackets do not change.
            return isPlain || text == scalar.text ? text : nil
        case .singleQuoted: return "'" + text.replacing("'", with: "''") + "'"
        case .doubleQuoted:
            let quote = { (text: String) in
                "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
            }
            return quote(scalar.text) == raw ? quote(text) : nil
        case .literal, .folded: return nil
        }
    }

    /// The lines of an expression below `|` or `>`; nil to leave it.
    static func lines(_ text: String, indent: Int) -> [String]? {
        guard let ast = parse(text), let line = ast.formatted(), !line.contains("\n") else {
            return nil
        }
        if !text.contains("\n"), line.unicodeScalars.count + indent <= width { return [line] }
        var layout = ExpressionLayout()
        layout.outerBreak = "\n"
        guard let broken = ast.formatted(layout) else { return nil }
        let lines = broken.split(separator: "\n").map(String.init)
        // An author's own lines stay where there is nothing to break at.
        return lines.count > 1 || !text.contains("\n") ? lines : nil
    }
}
