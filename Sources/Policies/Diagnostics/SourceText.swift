/// A file as text: lines for rendering and places for marks.
///
/// Lines end in LF or CRLF only. The YAML library also breaks lines at other characters; the reader
/// refuses those, so that its line numbers and an editor's are the same.
package struct SourceText: Sendable {
    package let scalars: [Unicode.Scalar]
    /// The scalar index at which each line starts.
    package let lineStarts: [Int]

    package init(_ text: some StringProtocol) {
        let scalars = Array(text.unicodeScalars)
        var starts = [0]
        for (index, scalar) in scalars.enumerated() where scalar == "\n" {
            starts.append(index + 1)
        }
        self.scalars = scalars
        lineStarts = starts
    }

    package func position(at index: Int) -> SourcePosition {
        let clamped = min(max(index, 0), scalars.count)
        var low = 0
        var high = lineStarts.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if lineStarts[middle] <= clamped { low = middle } else { high = middle - 1 }
        }
        return SourcePosition(line: low + 1, column: clamped - lineStarts[low] + 1)
    }

    /// The scalar index of a place; places outside the text give the nearest index inside.
    package func index(of position: SourcePosition) -> Int {
        guard position.line <= lineStarts.count else { return scalars.count }
        return min(lineStarts[max(position.line, 1) - 1] + position.column - 1, scalars.count)
    }

    /// The line's text without its end; empty for lines that do not exist.
    package func line(_ number: Int) -> [Unicode.Scalar] {
        guard number >= 1, number <= lineStarts.count else { return [] }
        let start = lineStarts[number - 1]
        var end = number < lineStarts.count ? lineStarts[number] - 1 : scalars.count
        if end > start, scalars[end - 1] == "\r" { end -= 1 }
        return Array(scalars[start..<max(start, end)])
    }
}
