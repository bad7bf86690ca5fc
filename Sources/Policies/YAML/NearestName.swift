/// Finds what somebody probably meant to write.
package enum NearestName {
    /// The nearest of the known names, if near enough to be a slip: a third of the name's length in
    /// changed letters, at least one. Several that are equally near.
    private static func nearest(_ name: String, among known: some Sequence<String>) -> [String] {
        let letters = Array(name.lowercased().unicodeScalars.prefix(64))
        var best: (names: [String], distance: Int)?
        for candidate in known {
            let other = Array(candidate.lowercased().unicodeScalars)
            let distance = self.distance(letters, other)
            if distance < (best?.distance ?? .max) {
                best = ([candidate], distance)
            } else if distance == best?.distance, best?.names.contains(candidate) == false {
                best?.names.append(candidate)
            }
        }
        guard let best, best.distance <= max(1, letters.count / 3) else { return [] }
        return best.names
    }

    /// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var before: [Int] = []
        var previous = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(
                    previous[column + 1] + 1, current[column] + 1,
                    previous[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    cost = min(cost, before[column - 1] + 1)
                }
                current.append(cost)
            }
            before = previous
            previous = current
        }
        return previous[right.count]
    }

    /// `did you mean …?`; nil where nothing is near.
    package static func question(_ name: String, among known: some Sequence<String>) -> String? {
        let near = nearest(name, among: known).prefix(3).map { "`\($0)`" }
        return near.isEmpty ? nil : "did you mean \(near.joined(separator: " or "))?"
    }

    /// `did you mean …?`, else the list of what is known.
    package static func help(_ name: String, among known: [String], what: String) -> String {
        if let question = question(name, among: known) { return question }
        guard !known.isEmpty else { return "there are no \(what) here" }
        let listed = known.prefix(30).map { "`\($0)`" }.joined(separator: ", ")
        return "known \(what): " + listed + (known.count > 30 ? ", …" : "")
    }
}
