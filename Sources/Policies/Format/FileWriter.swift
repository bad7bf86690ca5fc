/// Writes a file's values again, line by line, with the comments and blank lines around them.
struct FileWriter {
    private let facts: LineFacts
    private let text: SourceText
    private let keys: ExpressionKeys
    private var lines: [String] = []
    /// What is written of the line at hand.
    private var current = ""
    /// The first line of the source whose comment or emptiness is not written yet.
    private var next = 1

    init(text: SourceText, root: YAMLNode, keys: ExpressionKeys) {
        self.text = text
        self.keys = keys
        facts = LineFacts(text, root)
    }

    typealias Refusal = FileFormatter.Refusal

    mutating func write(_ root: YAMLNode) throws(Refusal) -> String {
        try between(upTo: root.range.start.line, indent: 0)
        switch root.content {
        case .mapping(let entries) where !facts.isFlow(root):
            try mapping(entries, indent: 0, isInline: false)
        case .sequence(let items) where !facts.isFlow(root):
            try sequence(items, indent: 0, isInline: false)
        default: try value(root, indent: -2, after: root.range.start.line, isExpression: false)
        }
        try between(upTo: facts.count + 1, indent: 0)
        while lines.last == "" { lines.removeLast() }
        return lines.joined(separator: "\n") + "\n"
    }

    private func blanks(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

    // MARK: Lines

    /// Ends the line at hand, with the comment that stands behind its last part in the source.
    private mutating func end(_ line: Int) {
        if let comment = facts.comment(line) { current += "  " + comment }
        lines.append(current)
        current = ""
        next = line + 1
    }

    /// Writes the comments and blank lines before a line of the source; of several blank lines one.
    private mutating func between(upTo line: Int, indent: Int) throws(Refusal) {
        while next < line {
            try takeLine(indent)
        }
    }

    private mutating func takeLine(_ indent: Int) throws(Refusal) {
        let line = facts.line(next).drop { $0 == " " || $0 == "\t" }
        if line.isEmpty {
            // None at the start of a file, of a block, or after another.
            guard let last = lines.last, !last.isEmpty else { return next += 1 }
            let opensBlock = last.hasSuffix(":") && !last.drop { $0 == " " }.hasPrefix("#")
            if !opensBlock { lines.append("") }
        } else if line.hasPrefix("#") {
            lines.append(blanks(indent) + line)
        } else if line == "---", lines.allSatisfy({ $0.hasPrefix("#") || $0.isEmpty }) {
            lines.append("---")
        } else if line != "-" {
            throw Refusal(line: next, reason: "this cannot be laid out")
        }
        next += 1
    }

    /// Comments behind the last entry of a block belong to it if they stand as far right.
    private mutating func trailing(column: Int, indent: Int) throws(Refusal) {
        var line = next
        var last = next - 1
        while line <= facts.count {
            guard let found = facts.indentation(line) else {
                line += 1
                continue
            }
            guard found >= column, facts.line(line).drop(while: { $0 == " " }).hasPrefix("#") else {
                break
            }
            last = line
            line += 1
        }
        try between(upTo: last + 1, indent: indent)
    }

    // MARK: Blocks

    private mutating func mapping(
        _ entries: [YAMLEntry], indent: Int, isInline: Bool
    ) throws(Refusal) {
        for (index, entry) in entries.enumerated() {
            let line = entry.keyRange.start.line
            if index > 0 || !isInline {
                try between(upTo: line, indent: indent)
                current = blanks(indent)
            }
            guard entry.keyRange.end.line == line else {
                throw Refusal(line: line, reason: "a key of several lines cannot be laid out")
            }
            current += facts.raw(entry.keyRange) + ":"
            try value(
                entry.value, indent: indent, after: line,
                isExpression: keys.isExpression(entry.key))
        }
        try trailing(column: entries.first?.keyRange.start.column ?? 1, indent: indent)
    }

    private mutating func sequence(
        _ items: [YAMLNode], indent: Int, isInline: Bool
    ) throws(Refusal) {
        for (index, item) in items.enumerated() {
            let line = item.range.start.line
            if index > 0 || !isInline {
                try between(upTo: line, indent: indent)
                current = blanks(indent)
            }
            current += "-"
            switch item.content {
            case .mapping(let entries) where !facts.isFlow(item):
                current += " "
                try mapping(entries, indent: indent + 2, isInline: true)
            case .sequence(let inner) where !facts.isFlow(item):
                current += " "
                try sequence(inner, indent: indent + 2, isInline: true)
            default: try value(item, indent: indent, after: line, isExpression: false)
            }
        }
        // The dash of an item stands two columns before it, as a rule.
        try trailing(column: max(1, (items.first?.range.start.column ?? 1) - 2), indent: indent)
    }

    /// The value behind a key or a dash that stands on the line `line` of the source.
    private mutating func value(
        _ node: YAMLNode, indent: Int, after line: Int, isExpression: Bool
    ) throws(Refusal) {
        if !facts.isFlow(node) {
            switch node.content {
            case .mapping(let entries):
                end(line)
                return try mapping(entries, indent: indent + 2, isInline: false)
            case .sequence(let items):
                end(line)
                return try sequence(items, indent: indent + 2, isInline: false)
            case .scalar(let scalar) where scalar.style == .literal || scalar.style == .folded:
                return try block(node, scalar, indent: indent, isExpression: isExpression)
            case .scalar: break
            }
        }
        for number in line..<max(line, node.range.start.line) where facts.comment(number) != nil {
            throw Refusal(line: number, reason: "a comment before a value cannot be laid out")
        }
        let raw = facts.raw(node.range)
        let isOneLine = !raw.contains("\n")
        let written = isOneLine ? flow(node, isExpression: isExpression) : raw
        let parts = written.split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        if let first = parts.first, !first.isEmpty {
            current += (current.isEmpty || current.hasSuffix(" ") ? "" : " ") + trimmed(first)
        }
        if parts.count > 1 {
            lines.append(current)
            let rest = Array(parts.dropFirst())
            let shifted =
                node.scalar == nil
                ? shift(rest, indent)
                : rest.map { line in
                    let content = trimmed(String(line.drop { $0 == " " || $0 == "\t" }))
                    return content.isEmpty ? "" : blanks(indent + 2) + content
                }
            lines += shifted.dropLast()
            current = shifted[shifted.count - 1]
        }
        end(raw.isEmpty ? line : node.range.end.line)
    }

    private func trimmed(_ line: String) -> String {
        var line = Substring(line)
        while line.last == " " || line.last == "\t" { line.removeLast() }
        return String(line)
    }

    /// Lines moved so that the leftmost stands at the indentation of what is below it; a closing
    /// bracket stands where the line with the opening one begins.
    private func shift(_ lines: [String], _ indent: Int) -> [String] {
        let depth = { (line: String) in line.prefix { $0 == " " }.count }
        let filled = lines.filter { !trimmed($0).isEmpty }
        let least = filled.map(depth).min() ?? 0
        let last = lines[lines.count - 1]
        let closes = "]}".contains(last.drop { $0 == " " }.first ?? " ")
        let base = closes && depth(last) == least ? max(0, indent) : indent + 2
        return lines.map { line in
            let content = trimmed(line)
            return content.isEmpty ? "" : blanks(base) + content.dropFirst(least)
        }
    }

    // MARK: Values

    /// A value of one line.
    private func flow(_ node: YAMLNode, isExpression: Bool) -> String {
        let raw = facts.raw(node.range)
        switch node.content {
        case .scalar(let scalar):
            return isExpression ? ExpressionText.inline(scalar, raw) ?? raw : raw
        case .sequence(let items):
            guard facts.isFlow(node) else { return raw }
            return "[" + items.map { flow($0, isExpression: false) }.joined(separator: ", ") + "]"
        case .mapping(let entries):
            guard facts.isFlow(node) else { return raw }
            let parts = entries.map { entry in
                let value = flow(entry.value, isExpression: keys.isExpression(entry.key))
                return facts.raw(entry.keyRange) + ":" + (value.isEmpty ? "" : " " + value)
            }
            return "{" + parts.joined(separator: ", ") + "}"
        }
    }

    /// A value below `|` or `>`.
    private mutating func block(
        _ node: YAMLNode, _ scalar: YAMLScalar, indent: Int, isExpression: Bool
    ) throws(Refusal) {
        let start = node.range.start
        let header = String(
            String.UnicodeScalarView(text.line(start.line).dropFirst(start.column - 1)))
        let mark = header.prefix { $0 != " " && $0 != "#" }
        guard !mark.contains(where: { $0 == "+" || $0.isNumber || $0 == "!" }) else {
            throw Refusal(line: start.line, reason: "`\(mark)` cannot be laid out")
        }
        current += (current.hasSuffix(" ") ? "" : " ") + trimmed(header)
        lines.append(current)
        current = ""
        var last = node.range.end.line
        if node.range.end.column == 1 { last -= 1 }
        while last > start.line, facts.line(last).isEmpty { last -= 1 }
        next = last + 1
        let inner = indent + 2
        let expression =
            isExpression
            ? ExpressionText.lines(
                ScalarMap(scalar, range: node.range, source: text).text, indent: inner) : nil
        if let expression {
            lines += expression.map { blanks(inner) + $0 }
            return
        }
        guard last > start.line else { return }
        // Blanks at the end of such lines are content.
        let content = ((start.line + 1)...last).map {
            String(String.UnicodeScalarView(text.line($0)))
        }
        let depth = { (line: String) in line.prefix { $0 == " " }.count }
        let least = content.filter { depth($0) < $0.count }.map(depth).min() ?? 0
        lines += content.map { line in
            let rest = line.dropFirst(least)
            return rest.isEmpty ? "" : blanks(inner) + rest
        }
    }
}
