import Engine
import Policies

/// Coverage as one page of HTML, with nothing outside of it and no scripts.
enum CoverageHTML {
    static func page(_ coverage: [PolicyCoverage]) -> String {
        var body = "<h1>Coverage of policies by their tests</h1>\n" + summary(coverage)
        for policy in coverage { body += section(policy) }
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Coverage of policies</title>
            <style>\(style)</style></head><body>
            \(body)</body></html>

            """
    }

    private static let style = """
        :root { color-scheme: light dark }
        body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem;
          padding: 0 1rem }
        table { border-collapse: collapse; margin: .5rem 0 1rem }
        th, td { text-align: left; padding: .15rem .9rem .15rem 0; border-bottom: 1px solid #8884 }
        td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
        pre { font: 13px/1.5 ui-monospace, monospace; overflow-x: auto; padding: .6rem;
          border: 1px solid #8884; border-radius: 4px }
        pre i { font-style: normal; color: #888; user-select: none }
        .seen { background: #2a82 } .half { background: #e905; text-decoration: underline dotted }
        .dark { background: #d336; text-decoration: underline wavy }
        .low { color: #c22; font-weight: 600 } ul { margin: .2rem 0 1rem }
        """

    private static func summary(_ coverage: [PolicyCoverage]) -> String {
        let head =
            "<table><tr><th>policy<th class=n>tests<th class=n>rules<th class=n>nodes"
            + "<th class=n>branches</tr>\n"
        let rows = coverage.map { policy in
            "<tr><td><a href=\"#p\(escaped(policy.policy))\">\(escaped(policy.policy))</a>"
                + "<td class=n>\(policy.tests)\(cell(policy.rules))\(cell(policy.nodes))"
                + "\(cell(policy.branches))</tr>\n"
        }
        return head
            + rows.joined()
            + "<tr><th>together<td>\(cell(coverage.rules))\(cell(coverage.nodes))"
            + "\(cell(coverage.branches))</tr></table>\n"
            + "<p><span class=seen>seen</span> &nbsp; <span class=half>never true, or never false"
            + "</span> &nbsp; <span class=dark>never evaluated</span> &nbsp; numbers at the left: "
            + "how often a rule matched</p>\n"
    }

    private static func cell(_ share: PolicyCoverage.Share) -> String {
        guard share.total > 0 else { return "<td class=n>–" }
        let isLow = share.covered < share.total
        return "<td class=\"n\(isLow ? " low" : "")\">\(Figures.share(share)) "
            + "<small>\(share.covered)/\(share.total)</small>"
    }

    private static func section(_ policy: PolicyCoverage) -> String {
        let index = "p\(policy.policy)"
        var text = "<h2 id=\"\(escaped(index))\">\(escaped(policy.policy))</h2>\n"
        text += "<p>\(escaped(policy.source.path))</p>\n<table><tr><th>part<th class=n>matched"
        text += "<th class=n>nodes<th class=n>branches</tr>\n"
        for part in policy.parts {
            let indent = String(repeating: "&emsp;", count: part.depth)
            let isLow = part.kind != .variable && part.matched == 0
            let matched = part.kind == .variable ? "" : "\(part.matched)×"
            text +=
                "<tr><td>\(indent)\(escaped(part.name))<td class=\"n\(isLow ? " low" : "")\">"
                + "\(matched)\(cell(part.nodes))\(cell(part.branches))</tr>\n"
        }
        text += "</table>\n" + lacks(policy) + source(policy)
        return text
    }

    private static func lacks(_ policy: PolicyCoverage) -> String {
        let items = policy.parts.flatMap { part in
            CoverageText.lacking(part).map { site in
                let line = site.range.map { "line \($0.start.line): " } ?? ""
                return "<li>\(line)\(CoverageText.words(site, of: part)): "
                    + "<code>\(escaped(site.text))</code> (\(escaped(part.name)))"
            }
        }
        return items.isEmpty ? "" : "<ul>\(items.joined(separator: "\n"))</ul>\n"
    }

    // MARK: The policy's text

    /// What is said of one character: by the innermost expression that it belongs to.
    private struct Paint: Equatable {
        var style: String
        var title: String
    }

    private static func source(_ policy: PolicyCoverage) -> String {
        let lines = CoverageText.lines(of: policy)
        var paints = lines.map { [Paint?](repeating: nil, count: $0.count) }
        var counts: [Int: Int] = [:]
        for part in policy.parts {
            if let line = part.position?.line {
                counts[line] = part.kind == .variable ? part.reached : part.matched
            }
            // Outer expressions come before the inner ones, which paint over them.
            for site in part.sites { paint(site, part, over: &paints) }
        }
        var result = "<pre>"
        for (index, line) in lines.enumerated() {
            let count = counts[index + 1].map { "\($0)×" } ?? ""
            let gutter = Figures.right("\(index + 1)", 4) + Figures.right(count, 6) + "  "
            result += "<i>\(gutter)</i>" + html(line, paints[index]) + "\n"
        }
        return result + "</pre>\n"
    }

    private static func paint(
        _ site: PolicyCoverage.Site, _ part: PolicyCoverage.Part, over paints: inout [[Paint?]]
    ) {
        guard let range = site.range else { return }
        let style =
            switch site.lack {
            case .evaluated?: "dark"
            case nil: "seen"
            default: "half"
            }
        var title = "evaluated \(site.evaluated)×"
        if !site.isNode {
            title += ", passing \(site.wasTrue)×, failing \(site.wasFalse)×"
        } else if site.isCondition {
            title += ", true \(site.wasTrue)×, false \(site.wasFalse)×"
        }
        if site.lack != nil { title += ": " + CoverageText.words(site, of: part) }
        var end = range.end
        if !site.isNode {
            // A limit or reason has only a place where it starts: its line stands for it.
            let line = range.start.line
            guard line <= paints.count else { return }
            end = SourcePosition(line: line, column: paints[line - 1].count + 1)
        }
        for line in range.start.line...max(range.start.line, end.line)
        where line >= 1 && line <= paints.count {
            let first = line == range.start.line ? range.start.column - 1 : 0
            let last = line == end.line ? end.column - 1 : paints[line - 1].count
            for column in max(first, 0)..<max(first, min(last, paints[line - 1].count)) {
                paints[line - 1][column] = Paint(style: style, title: title)
            }
        }
    }

    private static func html(_ line: [Unicode.Scalar], _ paints: [Paint?]) -> String {
        var result = ""
        var start = 0
        while start < line.count {
            var end = start + 1
            while end < line.count, paints[end] == paints[start] { end += 1 }
            var run = String.UnicodeScalarView()
            run.append(contentsOf: line[start..<end])
            let text = escaped(String(run))
            if let paint = paints[start] {
                result +=
                    "<span class=\(paint.style) title=\"\(escaped(paint.title))\">\(text)</span>"
            } else {
                result += text
            }
            start = end
        }
        return result
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
