import Engine
import JSON
import Policies

/// Coverage as people read it, in 100 columns, and as JSON.
enum CoverageText {
    private typealias Share = PolicyCoverage.Share

    static func pretty(_ coverage: [PolicyCoverage]) -> String {
        var lines: [String] = []
        for policy in coverage {
            lines.append(row(head(policy), "matched", "nodes", "branches"))
            for part in policy.parts { lines += self.lines(part) }
            lines.append(total("together", policy.rules, policy.nodes, policy.branches))
            lines.append("")
        }
        lines.append(total("all policies", coverage.rules, coverage.nodes, coverage.branches))
        return lines.joined(separator: "\n")
    }

    private static func head(_ policy: PolicyCoverage) -> String {
        "\(policy.policy), \(Figures.counted(policy.tests, "test"))"
    }

    private static func lines(_ part: PolicyCoverage.Part) -> [String] {
        let space = String(repeating: " ", count: 2 + part.depth * 2)
        let matched = part.kind == .variable ? "" : "\(part.matched)×"
        var lines = [
            row(space + part.name, matched, fraction(part.nodes), fraction(part.branches))
        ]
        if part.kind != .variable, part.matched == 0 {
            let what =
                switch part.kind {
                case .limit: "never held"
                case .reason: "never passed"
                case .rule, .variable: part.reached == 0 ? "never reached" : "never matched"
                }
            lines.append(space + "    " + what)
        }
        for site in lacking(part) {
            let place = site.range.map { "line \($0.start.line): " } ?? ""
            let text = site.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let lack = words(site, of: part)
            lines.append(Layout.fit("\(space)    \(place)\(lack): \(text)", Layout.columns))
        }
        return lines
    }

    private static func row(_ name: String, _ matched: String, _ nodes: String, _ branches: String)
        -> String
    {
        Figures.left(Layout.fit(name, 56), 58) + Figures.right(matched, 9)
            + Figures.right(nodes, 15) + Figures.right(branches, 15)
    }

    private static func total(_ name: String, _ rules: Share, _ nodes: Share, _ branches: Share)
        -> String
    {
        func text(_ share: Share) -> String {
            share.total == 0 ? "-" : "\(fraction(share)) \(Figures.share(share))"
        }
        return Figures.left(name, 16) + Figures.left("rules " + text(rules), 26)
            + Figures.left("nodes " + text(nodes), 28) + "branches " + text(branches)
    }

    /// Of nothing there is nothing to say.
    private static func fraction(_ share: Share) -> String {
        share.total == 0 ? "-" : "\(share.covered)/\(share.total)"
    }

    /// What is lacking, without what lies inside of something that was never evaluated anyway.
    static func lacking(_ part: PolicyCoverage.Part) -> [PolicyCoverage.Site] {
        var found: [PolicyCoverage.Site] = []
        var dark: SourceRange?
        for site in part.sites {
            guard let lack = site.lack else { continue }
            if let dark, let range = site.range, dark.start <= range.start, range.end <= dark.end {
                continue
            }
            if lack == .evaluated { dark = site.range }
            found.append(site)
        }
        return found
    }

    /// A limit or reason passes or does not; an expression is true or false.
    static func words(_ site: PolicyCoverage.Site, of part: PolicyCoverage.Part) -> String {
        guard !site.isNode else { return site.lack?.rawValue ?? "" }
        return switch site.lack {
        case .evaluated?, .either?: "never judged"
        case .true?: site.text == part.name ? "never passes" : "never met"
        case .false?: site.text == part.name ? "never fails" : "always met"
        case nil: ""
        }
    }

    // MARK: The policy's text

    private struct Mark {
        var column: Int
        var length: Int
        var words: String
    }

    /// The text with counts at its left and marks under what is lacking.
    ///
    /// - Parameter columns: what longer lines are broken to, each part with its marks.
    static func annotated(_ policy: PolicyCoverage, columns: Int? = nil) -> String {
        let source = lines(of: policy)
        // A path may be as long as it likes; what is said of it has a line of its own.
        var lines = [policy.source.path, "  " + head(policy)]
        var counts: [Int: Int] = [:]
        var marks: [Int: [Mark]] = [:]
        for part in policy.parts {
            if let line = part.position?.line {
                counts[line] = part.kind == .variable ? part.reached : part.matched
            }
            for site in lacking(part) {
                guard let range = site.range else { continue }
                let line = range.start.line
                let isOneLine = range.end.line == line
                let width = line <= source.count ? source[line - 1].count : 0
                let end = isOneLine ? range.end.column : width + 1
                marks[line, default: []].append(
                    Mark(
                        column: range.start.column, length: max(end - range.start.column, 1),
                        words: words(site, of: part)))
            }
        }
        for (index, content) in source.enumerated() {
            let count = counts[index + 1].map { "\($0)×" } ?? ""
            let gutter = Figures.right("\(index + 1)", 5) + Figures.right(count, 7) + " | "
            lines += self.lines(
                content, marks[index + 1] ?? [], gutter,
                width: columns.map { $0 - gutter.count } ?? .max)
        }
        return lines.joined(separator: "\n")
    }

    /// A line of the text in parts of so many columns, with the marks below each.
    private static func lines(
        _ content: [Unicode.Scalar], _ marks: [Mark], _ gutter: String, width: Int
    ) -> [String] {
        let space = String(repeating: " ", count: gutter.count - 2) + "| "
        var lines: [String] = []
        var start = 0
        repeat {
            let end = min(content.count, width == .max ? .max : start + width)
            let part = String(String.UnicodeScalarView(content[start..<end]))
            lines.append((start == 0 ? gutter : space) + part)
            for mark in marks {
                let from = max(mark.column - 1, start)
                let to = min(mark.column - 1 + mark.length, end == content.count ? .max : end)
                guard from < to else { continue }
                let arrow =
                    String(repeating: " ", count: from - start)
                    + (from == mark.column - 1 ? "^" : "~")
                    + String(repeating: "~", count: to - from - 1)
                // The words stand where the mark ends.
                let words = to == mark.column - 1 + mark.length ? mark.words : ""
                if words.isEmpty || arrow.count + 1 + words.count <= width {
                    lines.append(space + arrow + (words.isEmpty ? "" : " " + words))
                } else {
                    let indent = max(0, min(from - start, width - words.count))
                    lines += [
                        space + arrow, space + String(repeating: " ", count: indent) + words,
                    ]
                }
            }
            start = end
        } while start < content.count
        return lines
    }

    /// The lines of the policy's file, without their ends.
    static func lines(of policy: PolicyCoverage) -> [[Unicode.Scalar]] {
        let text = SourceText(String(decoding: policy.source.bytes, as: UTF8.self))
        let lines = (1...text.lineStarts.count).map(text.line)
        return lines.last?.isEmpty == true ? lines.dropLast() : lines
    }

    // MARK: JSON

    static func json(_ coverage: [PolicyCoverage]) -> JSONValue {
        [
            "rules": json(coverage.rules), "nodes": json(coverage.nodes),
            "branches": json(coverage.branches), "policies": .array(coverage.map(json)),
        ]
    }

    private static func json(_ share: Share) -> JSONValue {
        [
            "covered": .int(Int64(share.covered)), "total": .int(Int64(share.total)),
            "percent": .double(share.percent),
        ]
    }

    private static func json(_ policy: PolicyCoverage) -> JSONValue {
        [
            "policy": .string(policy.policy), "kind": .string(policy.kind),
            "file": .string(policy.source.path), "tests": .int(Int64(policy.tests)),
            "rules": json(policy.rules), "nodes": json(policy.nodes),
            "branches": json(policy.branches), "parts": .array(policy.parts.map(json)),
        ]
    }

    private static func json(_ part: PolicyCoverage.Part) -> JSONValue {
        var object: JSONObject = [
            "kind": .string(part.kind.rawValue), "name": .string(part.name),
            "reached": .int(Int64(part.reached)), "matched": .int(Int64(part.matched)),
            "nodes": json(part.nodes), "branches": json(part.branches),
            "lacking": .array(lacking(part).map { json($0, part) }),
        ]
        object["line"] = part.position.map { .int(Int64($0.line)) }
        return .object(object)
    }

    private static func json(_ site: PolicyCoverage.Site, _ part: PolicyCoverage.Part)
        -> JSONValue
    {
        var object: JSONObject = [
            "what": .string(words(site, of: part)), "text": .string(site.text),
        ]
        object["line"] = site.range.map { .int(Int64($0.start.line)) }
        object["column"] = site.range.map { .int(Int64($0.start.column)) }
        return .object(object)
    }
}
