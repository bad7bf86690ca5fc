/// Text that fits the width of a terminal.
enum Layout {
    /// The columns that results are laid out for.
    static let columns = 100

    /// Text cut to so many columns, with `…` where something is missing.
    static func fit(_ text: String, _ width: Int) -> String {
        guard text.count > width else { return text }
        return String(text.prefix(max(width - 1, 0))) + "…"
    }

    /// Text in lines of so many columns, broken at blanks where there are any.
    static func wrap(_ text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: true) {
            var rest = word[...]
            if !line.isEmpty, line.count + 1 + rest.count > width {
                lines.append(line)
                line = ""
            }
            while rest.count > width {
                lines.append(String(rest.prefix(width)))
                rest = rest.dropFirst(width)
            }
            line += (line.isEmpty ? "" : " ") + rest
        }
        return line.isEmpty && !lines.isEmpty ? lines : lines + [line]
    }

    /// `head` and wrapped text beside it.
    static func beside(_ head: String, _ text: String, columns: Int = columns) -> [String] {
        let indent = String(repeating: " ", count: head.count)
        return wrap(text, max(columns - head.count, 20)).enumerated().map {
            ($0.offset == 0 ? head : indent) + $0.element
        }
    }

    /// A line, broken where it is too long; what follows is moved in.
    static func wrapIfLong(_ line: String) -> [String] {
        guard line.count > columns else { return [line] }
        let indent = line.prefix { $0 == " " }
        return beside(indent + "  ", String(line.dropFirst(indent.count)))
    }

    /// Text on the left, a value at a column; a longer text pushes nothing out of the lines.
    static func row(_ text: String, _ value: String, at column: Int = 64) -> [String] {
        let room = columns - column - 2
        let shown = fit(value, room)
        guard text.count > column else { return [Figures.left(text, column) + "  " + shown] }
        // The value stands on the last line, where it is looked for.
        let indent = text.prefix { $0 == " " }
        let lines = beside(
            String(indent), String(text.dropFirst(indent.count)), columns: column)
        return lines.dropLast() + [Figures.left(lines.last ?? "", column) + "  " + shown]
    }
}
