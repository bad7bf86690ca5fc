import Glibc
import Policies

/// Text that fits the width of a terminal.
enum Layout {
    /// The columns that results are laid out for: those of the terminal that shows them.
    static let columns = Terminal.columns(of: STDOUT_FILENO) ?? WrappedText.columns

    /// Text cut to so many columns, with `…` where something is missing.
    static func fit(_ text: String, _ width: Int) -> String {
        guard text.count > width else { return text }
        return String(text.prefix(max(width - 1, 0))) + "…"
    }

    /// `head` and wrapped text beside it.
    static func beside(_ head: String, _ text: String, columns: Int = columns) -> [String] {
        WrappedText.lines(text, behind: head, columns: columns)
    }

    /// A line, broken where it is too long; what follows is moved in.
    static func wrapIfLong(_ line: String, columns: Int = columns) -> [String] {
        guard line.count > columns else { return [line] }
        let indent = line.prefix { $0 == " " }
        return WrappedText.lines(
            line.dropFirst(indent.count), behind: String(indent), hang: indent.count + 2,
            columns: columns)
    }

    /// Text behind `head` on the left, a value at a column; a longer text pushes nothing out of
    /// the lines.
    static func row(_ head: String, _ text: String, _ value: String, at column: Int = columns - 36)
        -> [String]
    {
        let shown = fit(value, columns - column - 2)
        let lines = beside(head, text, columns: column)
        // The value stands on the last line, where it is looked for.
        guard let last = lines.last, last.count <= column else {
            return lines + [Figures.left("", column) + "  " + shown]
        }
        return lines.dropLast() + [Figures.left(last, column) + "  " + shown]
    }

    /// Rows in columns as wide as they need to be. Where a row is too long, the last column is
    /// broken, or stands below the others if they leave it little room.
    static func table(_ cells: [[String]], indent: Int = 2, columns: Int = columns) -> [String] {
        let count = cells.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            cells.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
        let space = String(repeating: " ", count: indent)
        let before = indent + widths.dropLast().reduce(0) { $0 + $1 + 2 }
        let isBelow = before + (widths.last ?? 0) > columns && before > columns / 2
        return cells.flatMap { row -> [String] in
            let head =
                space + zip(row, widths).dropLast().map { Figures.left($0, $1) + "  " }.joined()
            let last = row.last ?? ""
            guard isBelow else { return beside(head, last, columns: columns) }
            return wrapIfLong(head.trimmedEnd, columns: columns)
                + beside(space + "    ", last, columns: columns)
        }
    }
}

extension String {
    /// Without blanks at the end.
    fileprivate var trimmedEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
