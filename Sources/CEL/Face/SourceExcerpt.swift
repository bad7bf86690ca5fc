/// One line of a source with marks below it: a caret at the place of a finding, and the rest of the
/// offending text underlined. Where the text begins at the place, carets run below all of it.
public struct SourceExcerpt: Sendable {
    private var line: [Unicode.Scalar]
    private var marks: [Unicode.Scalar]

    /// Longer lines are cut on both sides of the place.
    private static let longestLine = 160

    /// A line without its end. Columns count code points from 0. `from` and `to` bound the
    /// offending text on this line: nil `from` where it begins on a later line, nil `to` where it
    /// goes on after this one.
    public init(line: [Unicode.Scalar], place: Int, from: Int?, to: Int?) {
        // A control character or a tab would move the marks away from their places.
        self.line = line.map { $0.value < 32 || $0.value == 127 ? " " : $0 }
        let place = max(0, place)
        let end = min(to ?? line.count, line.count)
        let range = from.map { $0..<max($0, end) } ?? 0..<0
        marks = Array(repeating: " ", count: max(place + 1, range.upperBound))
        for index in range { marks[index] = range.lowerBound == place ? "^" : "~" }
        marks[place] = "^"
        guard line.count > Self.longestLine else { return }
        let first = max(0, min(place - 40, line.count - Self.longestLine))
        self.line = Array(self.line[first..<first + Self.longestLine])
        marks = Array(marks.dropFirst(first).prefix(Self.longestLine + 1))
    }

    /// The line and the marks below it, both indented by two blanks and ended.
    public var text: String {
        var text = String.UnicodeScalarView()
        for row in [line, marks] {
            text.append(contentsOf: [" ", " "] + row + ["\n"])
        }
        return String(text)
    }
}
