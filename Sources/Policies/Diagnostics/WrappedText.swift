/// Text broken into lines, for findings and for everything else that the command line says.
package enum WrappedText {
    /// The columns that text is laid out for where no terminal says how many it has.
    package static let columns = 100

    /// Lines of so many columns, the first behind `head`, the others under the start of the text.
    ///
    /// Broken at blanks only. A word longer than a line, mostly an id or a path, stays whole and
    /// sticks out: it can still be copied, and a terminal breaks it by itself.
    ///
    /// - Parameter hang: by how much further lines are moved in; as far as `head` reaches, if nil.
    ///   With less than that all of the text may stand below a long `head`.
    package static func lines(
        _ text: some StringProtocol, behind head: String = "", hang: Int? = nil,
        columns: Int = columns
    ) -> [String] {
        let indent = String(repeating: " ", count: hang ?? head.count)
        var lines: [String] = []
        for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = lines.isEmpty ? head : indent
            var isEmpty = true
            // However deep the text is moved in, some of it stands on every line.
            let room = max(columns, indent.count + 20)
            for word in part.split(separator: " ", omittingEmptySubsequences: false) {
                let isBelow = lines.isEmpty && indent.count < head.count
                if !isEmpty || isBelow, line.count + (isEmpty ? 0 : 1) + word.count > room {
                    lines.append(trimmed(line))
                    line = indent
                    isEmpty = true
                }
                // A blank where a line was broken is not needed; elsewhere several may be meant.
                if isEmpty, word.isEmpty { continue }
                line += (isEmpty ? "" : " ") + word
                isEmpty = false
            }
            lines.append(trimmed(line))
        }
        return lines
    }

    /// Without blanks at the end.
    private static func trimmed(_ line: String) -> String {
        var line = line[...]
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
