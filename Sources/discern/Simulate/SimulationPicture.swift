import Engine

/// Simulations as a picture (SVG 1.1): prompts by month, and people by how often they were asked.
/// It needs nothing beside it.
struct SimulationPicture {
    private static let width = 920.0
    private static let left = 80.0
    private static let right = 30.0
    private static let panelHeight = 220.0
    /// Blue and orange: told apart by everybody, and on grey paper.
    private static let colours = ["#0b63a5", "#e08a00"]
    private static let ink = "#222222"
    private static let grid = "#dddddd"

    /// The picture.
    let text: String

    init(_ reports: [SimulationReport]) {
        let periods = PromptPeriods(reports)
        let top = 58.0 + 22 * Double(reports.count)
        let second = top + Self.panelHeight + 80
        let height = second + Self.panelHeight + 62
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.number(Self.width))" \
            height="\(Self.number(height))" viewBox="0 0 \(Self.number(Self.width)) \
            \(Self.number(height))" font-family="Helvetica, Arial, sans-serif" font-size="13" \
            fill="\(Self.ink)">
            """,
            "<title>Review prompts: \(Self.escaped(Self.names(reports)))</title>",
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
            Self.label(Self.left, 30, Self.heading(reports), size: 17, weight: "bold"),
        ]
        for (index, report) in reports.enumerated() {
            let y = 44 + 22 * Double(index)
            parts.append(
                Self.bar(Self.left, y, 14, 14, Self.colours[index % Self.colours.count]))
            parts.append(
                Self.label(
                    Self.left + 22, y + 12,
                    Layout.fit(report.policy, 45)
                        + ": \(Figures.counted(report.prompts, "prompt")), "
                        + "\(Figures.grouped(report.promptsAgainstLimits)) against the platform's limits"
                ))
        }
        parts += Self.panel(
            at: top, rows: periods.rows.map { ($0.name, $0.prompts) }, vertical: "prompts",
            horizontal: periods.isByYear ? "year (UTC)" : "month (UTC)")
        parts += Self.panel(
            at: second, rows: Self.people(reports), vertical: "people",
            horizontal: "how often a person was asked")
        text = (parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private static func names(_ reports: [SimulationReport]) -> String {
        reports.map(\.policy).joined(separator: " beside ")
    }

    private static func heading(_ reports: [SimulationReport]) -> String {
        guard let first = reports.first else { return "" }
        return "\(Figures.counted(first.events, "donation")) of \(Figures.grouped(first.people)) "
            + (first.people == 1 ? "person" : "people")
    }

    private static func people(_ reports: [SimulationReport]) -> [(String, [Int])] {
        let most = min(max(reports.compactMap { $0.peopleByPrompts.keys.max() }.max() ?? 0, 3), 6)
        return (0...most).map { prompts in
            let isLast = prompts == most
            let name =
                switch prompts {
                case 0: "never"
                case 1: "once"
                case 2: "twice"
                default: "\(prompts) times" + (isLast && most == 6 ? " or more" : "")
                }
            return (
                name,
                reports.map { report in
                    isLast
                        ? report.peopleByPrompts.reduce(0) {
                            $1.key >= prompts ? $0 + $1.value : $0
                        } : report.peopleByPrompts[prompts] ?? 0
                }
            )
        }
    }

    // MARK: A panel

    /// Bars over names, with an axis of numbers.
    private static func panel(
        at top: Double, rows: [(name: String, values: [Int])], vertical: String, horizontal: String
    ) -> [String] {
        let bottom = top + panelHeight
        let plot = width - left - right
        let step = tick(for: rows.flatMap(\.values).max() ?? 0)
        let ticks = max(1, ((rows.flatMap(\.values).max() ?? 0) + step - 1) / step)
        let scale = panelHeight / Double(ticks * step)
        var parts: [String] = []
        for index in 0...ticks {
            let y = bottom - Double(index * step) * scale
            parts.append(line(left, y, width - right, y, index == 0 ? ink : grid))
            parts.append(
                label(left - 8, y + 4, Figures.grouped(index * step), anchor: "end", size: 12))
        }
        let middle = top + panelHeight / 2
        parts.append(
            "<text transform=\"translate(20 \(number(middle))) rotate(-90)\" "
                + "text-anchor=\"middle\">\(escaped(vertical))</text>")
        let slot = plot / Double(max(rows.count, 1))
        // A name of twelve letters takes some 75 points; every so many have room for theirs.
        let longest = Double(rows.map(\.name.count).max() ?? 0) * 6.6 + 10
        let every = max(1, Int((longest / slot).rounded(.up)))
        for (index, row) in rows.enumerated() {
            let start = left + slot * Double(index)
            let bars = Double(row.values.count)
            let size = min(slot * 0.8 / max(bars, 1), 60)
            let from = start + (slot - size * bars) / 2
            for (place, value) in row.values.enumerated() where value > 0 {
                let tall = max(Double(value) * scale, 1)
                parts.append(
                    bar(
                        from + size * Double(place), bottom - tall, max(size - 1, 0.5), tall,
                        colours[place % colours.count], "\(row.name): \(Figures.grouped(value))"))
            }
            if index % every == 0 {
                parts.append(
                    label(start + slot / 2, bottom + 18, row.name, anchor: "middle", size: 12))
            }
        }
        parts.append(label(left + plot / 2, bottom + 42, horizontal, anchor: "middle"))
        return parts
    }

    /// A round distance between the lines of a grid: four to eight of them.
    private static func tick(for most: Int) -> Int {
        var step = 1
        while true {
            for factor in [1, 2, 5] where step * factor * 7 >= most { return step * factor }
            guard step < Int.max / 100 else { return step }
            step *= 10
        }
    }

    // MARK: Elements

    private static func line(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String
    ) -> String {
        "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" "
            + "y2=\"\(number(y2))\" stroke=\"\(colour)\"/>"
    }

    private static func bar(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String,
        _ title: String? = nil
    ) -> String {
        let start =
            "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" "
            + "height=\"\(number(height))\" fill=\"\(colour)\""
        return title.map { "\(start)><title>\(escaped($0))</title></rect>" } ?? start + "/>"
    }

    private static func label(
        _ x: Double, _ y: Double, _ text: String, anchor: String = "start", size: Int = 13,
        weight: String = "normal"
    ) -> String {
        "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\" "
            + "font-size=\"\(size)\" font-weight=\"\(weight)\">\(escaped(text))</text>"
    }

    /// One digit after the point, which is finer than anybody sees.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let digits = String(tenths.magnitude / 10)
        let rest = tenths.magnitude % 10
        return (tenths < 0 ? "-" : "") + digits + (rest == 0 ? "" : ".\(rest)")
    }

    /// Text that is markup nowhere. Control characters, which XML has no way to write, are left out.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                break
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
