/// What stands on the lines of a file beside its values: comments and nothing.
struct LineFacts {
    private let text: SourceText
    /// For each line, the column behind the last key or value that ends on it.
    private var lastEnd: [Int: Int] = [:]

    init(_ text: SourceText, _ root: YAMLNode) {
        self.text = text
        note(root)
    }

    private mutating func note(_ range: SourceRange) {
        lastEnd[range.end.line] = max(lastEnd[range.end.line] ?? 0, range.end.column)
    }

    private mutating func note(_ node: YAMLNode) {
        switch node.content {
        case .scalar(let scalar):
            if scalar.style != .literal, scalar.style != .folded { note(node.range) }
        case .sequence(let items):
            if isFlow(node) { note(node.range) }
            items.forEach { note($0) }
        case .mapping(let entries):
            if isFlow(node) { note(node.range) }
            for entry in entries {
                note(entry.keyRange)
                note(entry.value)
            }
        }
    }

    func isFlow(_ node: YAMLNode) -> Bool {
        let index = text.index(of: node.range.start)
        return index < text.scalars.count
            && (text.scalars[index] == "{" || text.scalars[index] == "[")
    }

    /// The text of a range, as it stands in the file.
    func raw(_ range: SourceRange) -> String {
        let start = text.index(of: range.start)
        let end = max(start, text.index(of: range.end))
        return String(String.UnicodeScalarView(text.scalars[start..<end].filter { $0 != "\r" }))
    }

    /// A line without its blanks at the end.
    func line(_ number: Int) -> String {
        var scalars = text.line(number)
        while let last = scalars.last, last == " " || last == "\t" { scalars.removeLast() }
        return String(String.UnicodeScalarView(scalars))
    }

    var count: Int { text.lineStarts.count }

    /// The comment behind what a line holds; the whole line if that is all it holds.
    func comment(_ number: Int) -> String? {
        let scalars = Array(line(number).unicodeScalars)
        var index = max(0, (lastEnd[number] ?? 1) - 1)
        while index < scalars.count {
            if scalars[index] == "#", index == 0 || [" ", "\t"].contains(scalars[index - 1]) {
                return String(String.UnicodeScalarView(scalars[index...]))
            }
            index += 1
        }
        return nil
    }

    /// The column, from 1, of the first character that is no blank; nil on an empty line.
    func indentation(_ number: Int) -> Int? {
        text.line(number).firstIndex { $0 != " " && $0 != "\t" }.map { $0 + 1 }
    }
}
