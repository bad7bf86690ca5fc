/// Finds the name that somebody may have meant.
enum EditDistance {
    /// The closest of the candidates, if close enough to be a slip of the keyboard; several that
    /// are equally close.
    static func closest(to name: String, among candidates: some Sequence<String>) -> [String] {
        // Long names are not worth the square time; a slip in one is rare.
        guard name.utf8.count <= 64 else { return [] }
        let wanted = Array(name.utf8)
        var best: (names: [String], distance: Int)?
        for candidate in candidates.sorted() where candidate.utf8.count <= 64 {
            let found = distance(wanted, Array(candidate.utf8))
            guard found <= max(1, wanted.count / 3) else { continue }
            if found < best?.distance ?? .max {
                best = ([candidate], found)
            } else if found == best?.distance, best?.names.contains(candidate) == false {
                best?.names.append(candidate)
            }
        }
        return best?.names ?? []
    }

    /// Insertions, deletions, replacements and swaps of neighbours.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var last = Array(0...right.count)
        for i in 0..<left.count {
            var row = [i + 1]
            for j in 0..<right.count {
                let isSame = left[i] | 0x20 == right[j] | 0x20
                var cost = min(last[j] + (isSame ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    cost = min(cost, before[j - 1] + 1)
                }
                row.append(cost)
            }
            before = last
            last = row
        }
        return last[right.count]
    }
}
