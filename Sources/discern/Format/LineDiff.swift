/// The lines that differ between two texts, as `diff -u` shows them.
enum LineDiff {
    private static let context = 3

    private enum Line {
        case same(String)
        case gone(String)
        case new(String)
    }

    static func unified(_ old: [UInt8], _ new: [UInt8], path: String) -> String {
        let lines = align(split(old), split(new))
        let changed = lines.indices.filter { if case .same = lines[$0] { false } else { true } }
        guard !changed.isEmpty else { return "" }
        var text = "--- \(path)\n+++ \(path) (laid out)\n"
        var index = 0
        while index < changed.count {
            let start = max(0, changed[index] - context)
            var last = changed[index]
            while index < changed.count, changed[index] - last <= 2 * context + 1 {
                last = changed[index]
                index += 1
            }
            text += hunk(lines, start..<min(lines.count, last + context + 1))
        }
        return text
    }

    private static func hunk(_ lines: [Line], _ range: Range<Int>) -> String {
        let count = { (part: ArraySlice<Line>) -> (old: Int, new: Int) in
            part.reduce((0, 0)) { sum, line in
                switch line {
                case .same: (sum.0 + 1, sum.1 + 1)
                case .gone: (sum.0 + 1, sum.1)
                case .new: (sum.0, sum.1 + 1)
                }
            }
        }
        let (before, inside) = (count(lines[..<range.lowerBound]), count(lines[range]))
        let start = { (before: Int, inside: Int) in inside == 0 ? before : before + 1 }
        var text =
            "@@ -\(start(before.old, inside.old)),\(inside.old) "
            + "+\(start(before.new, inside.new)),\(inside.new) @@\n"
        for line in lines[range] {
            switch line {
            case .same(let content): text += " \(content)\n"
            case .gone(let content): text += "-\(content)\n"
            case .new(let content): text += "+\(content)\n"
            }
        }
        return text
    }

    private static func split(_ bytes: [UInt8]) -> [String] {
        var lines = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    /// Both texts in one list, with as many lines in common as the standard library's diff finds.
    private static func align(_ old: [String], _ new: [String]) -> [Line] {
        let difference = new.difference(from: old)
        var gone: Set<Int> = []
        var added: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): gone.insert(offset)
            case .insert(let offset, _, _): added.insert(offset)
            }
        }
        var lines: [Line] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if gone.contains(left) {
                lines.append(.gone(old[left]))
                left += 1
            } else if added.contains(right) {
                lines.append(.new(new[right]))
                right += 1
            } else {
                lines.append(.same(old[left]))
                left += 1
                right += 1
            }
        }
        return lines
    }
}
