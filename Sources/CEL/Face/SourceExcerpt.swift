/// One line of a source with marks below it: a caret at the place of a finding, and the rest of the
/// offending text underlined. Where the text begins at the place, carets run below all of it.
public struct SourceExcerpt: Sendable {
    private var line: [Unicode.Scalar]
    private var marks: [Unicode.Scalar]

    private static let indent: [Unicode.Scalar] = [" ", " "]

    /// A line without its end. Columns count code points from 0. `from` and `to` bound the
    /// offending text on this line: nil `from` where it begins on a later line, nil `to` where it
    /// goes on after this one. What would be wider than `columns` is cut, with `…` at each side
    /// where something is missing, so that the place stays in sight.
    public init(line: [Unicode.Scalar], place: Int, from: Int?, to: Int?, columns: Int = 100) {
        // A control character or a tab would move the marks away from their places.
        self.line = line.map { $0.value < 32 || $0.value == 127 ? " " : $0 }
        let place = max(0, place)
        let end = min(to ?? line.count, line.count)
        let range = from.map { $0..<max($0, end) } ?? 0..<0
        marks = Array(repeating: " ", count: max(place + 1, range.upperBound))
        for index in range { marks[index] = range.lowerBound == place ? "^" : "~" }
        marks[place] = "^"
        cut(to: max(columns - Self.indent.count, 20), place: place)
    }

    private mutating func cut(to width: Int, place: Int) {
        let length = max(line.count, marks.count)
        guard length > width else { return }
        // From the start, if all of the marks are in sight then; else the place with some of what
        // stands before it.
        let first = marks.count < width ? 0 : max(0, min(place - width / 3, length - width))
        let isCut = line.count > first + width
        line = Array(line.dropFirst(first).prefix(width))
        marks = Array(marks.dropFirst(first).prefix(width))
        if first > 0, !line.isEmpty { line[0] = "…" }
        if isCut { line[width - 1] = "…" }
    }

    /// The line and the marks below it, both indented by two blanks and ended.
    public var text: String {
        var text = String.UnicodeScalarView()
        for row in [line, marks] {
            text.append(contentsOf: Self.indent + row + ["\n"])
        }
        return String(text)
    }
}
