/// A change to a file that would remove a finding, exact enough to be made by a machine.
public struct PolicyFix: Sendable, Hashable {
    /// New text for a part of the file.
    public struct Edit: Sendable, Hashable {
        /// What is replaced; empty to insert.
        public let range: SourceRange
        /// What stands there instead.
        public let replacement: String

        package init(range: SourceRange, replacement: String) {
            self.range = range
            self.replacement = replacement
        }
    }

    /// What the change does: ``write `condition` ``.
    public let title: String
    /// The edits, in file order, apart from each other.
    public let edits: [Edit]

    package init(title: String, edits: [Edit]) {
        self.title = title
        self.edits = edits
    }

    /// The change that puts another text in one place.
    package init(_ replacement: String, at range: SourceRange) {
        title = "write `\(replacement)`"
        edits = [Edit(range: range, replacement: replacement)]
    }

    /// The change that a finding's help proposes, ``did you mean `name`?``: there is one near name,
    /// and the wrong one, which the message quotes, stands once in the offending text.
    static func ofNearName(
        _ message: String, _ help: String?, _ range: SourceRange, _ text: SourceText
    ) -> PolicyFix? {
        guard let help, help.hasPrefix("did you mean `"), help.hasSuffix("`?") else { return nil }
        let name = String(help.dropFirst("did you mean `".count).dropLast(2))
        guard !name.isEmpty, !name.contains("`") else { return nil }
        let start = text.index(of: range.start)
        let scalars = Array(text.scalars[start..<max(start, text.index(of: range.end))])
        for word in quotedWords(message).reversed() where word != name {
            let places = occurrences(of: Array(word.unicodeScalars), in: scalars)
            guard places.count == 1 else { continue }
            let first = text.position(at: start + places[0])
            let last = text.position(at: start + places[0] + word.unicodeScalars.count)
            return PolicyFix(name, at: SourceRange(start: first, end: last))
        }
        return nil
    }

    /// What a message has in backticks or single quotes.
    private static func quotedWords(_ message: String) -> [String] {
        ["`", "'"].flatMap { quote -> [String] in
            let parts = message.split(separator: quote, omittingEmptySubsequences: false)
            return parts.indices.filter { $0 % 2 == 1 && $0 < parts.count - 1 }
                .map { String(parts[$0]) }.filter { !$0.isEmpty }
        }
    }

    /// Where a word stands that is no part of a longer one.
    private static func occurrences(of word: [Unicode.Scalar], in text: [Unicode.Scalar]) -> [Int] {
        let isPart = { (index: Int) in
            text.indices.contains(index)
                && (text[index].properties.isAlphabetic || text[index].properties.numericType != nil
                    || text[index] == "_" || text[index] == "-")
        }
        guard !word.isEmpty, text.count >= word.count else { return [] }
        return (0...(text.count - word.count)).filter { start in
            text[start..<start + word.count].elementsEqual(word) && !isPart(start - 1)
                && !isPart(start + word.count)
        }
    }
}
