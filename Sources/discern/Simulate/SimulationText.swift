import Engine
import Policies
import ReviewPrompts
import Time

/// Simulations as people read them: a column for each policy.
struct SimulationText {
    /// Versions and rules that are listed; of the others there is one line.
    private static let rows = 24

    let reports: [SimulationReport]
    let columns: Int

    init(_ reports: [SimulationReport], columns: Int = Layout.columns) {
        self.reports = reports
        self.columns = columns
    }

    static func pretty(_ run: SimulationRun, _ arguments: Arguments) -> String {
        let text = SimulationText(run.reports)
        var lines = text.lines(run)
        if let subject = arguments["timeline"] {
            lines += [""] + TimelineText(run, subject: subject).lines
        }
        return lines.joined(separator: "\n")
    }

    private func lines(_ run: SimulationRun) -> [String] {
        var lines = head(run)
        lines += [""] + [row("", reports.map(\.policy))]
        lines += prompts
        lines += ["", "people"] + people
        lines += ["", row("against the platform's limits", \.promptsAgainstLimits)] + violations
        lines += ["", "prompts by month"] + months
        lines += ["", "prompts by reason"] + counts(\.reasons) { $0 < $1 }
        lines += ["", "prompts by version"] + counts(\.versions, sortedBy: Self.isOlder)
        let held = counts(\.held) { a, b in
            let (left, right) = (total(\.held, a), total(\.held, b))
            return left == right ? a < b : left > right
        }
        if !held.isEmpty { lines += ["", "kept from asking by (several may at once)"] + held }
        return lines + unjudged
    }

    // MARK: Rows

    private var width: Int {
        let most = (columns - labelWidth) / reports.count
        return reports.count > 1 ? most : min(most, max(16, reports[0].policy.count + 2))
    }
    private var labelWidth: Int { min(44, columns / 2) }

    /// A text and a value for each policy.
    private func row(_ label: String, _ values: [String]) -> String {
        Figures.left(Layout.fit(label, labelWidth - 1), labelWidth)
            + values.map { Figures.right(Layout.fit($0, width - 2), width) }.joined()
    }

    private func row(_ label: String, _ value: (SimulationReport) -> Int) -> String {
        row(label, reports.map { Figures.grouped(value($0)) })
    }

    private func head(_ run: SimulationRun) -> [String] {
        let first = reports[0]
        let names = reports.map(\.policy).joined(separator: " beside ")
        var lines = Layout.wrapIfLong(
            "\(names) over \(Figures.counted(first.events, "donation")) of "
                + "\(Self.people(first.people)) on \(Figures.counted(first.devices, "device"))",
            columns: columns)
        if let from = first.first, let to = first.last {
            lines.append("from \(from.rfc3339) to \(to.rfc3339)")
        }
        for simulation in run.simulations where simulation.decidesOnDevice {
            lines += Layout.wrapIfLong(
                "\(simulation.policy.reference) decides on the device, by the device's clock",
                columns: columns)
        }
        return lines
    }

    private static func people(_ count: Int) -> String {
        Figures.grouped(count) + (count == 1 ? " person" : " people")
    }

    private var prompts: [String] {
        var lines = [row("prompts", \.prompts), row("  of which nothing was heard", \.silent)]
        let reasons = Set(reports.flatMap(\.returned.named.keys)).sorted()
        for reason in reasons {
            lines.append(
                row("given back: \(reason.isEmpty ? "no reason" : reason)") {
                    $0.returned.named[reason] ?? 0
                })
        }
        if reports.contains(where: { $0.returned.others > 0 }) {
            lines.append(row("given back: other reasons", \.returned.others))
        }
        lines.append(row("donations counted", \.counted))
        return lines
    }

    private var people: [String] {
        func asked(_ label: String, _ range: ClosedRange<Int>) -> String {
            row(label) { report in
                report.peopleByPrompts.reduce(0) { range.contains($1.key) ? $0 + $1.value : $0 }
            }
        }
        return [
            row("  never asked", \.peopleNeverAsked), asked("  once", 1...1),
            asked("  twice", 2...2), asked("  three times", 3...3),
            asked("  more often", 4...Int.max), row("  at the cap of three", \.peopleAtCap),
        ]
    }

    private var violations: [String] {
        PromptViolation.allCases.map { violation in
            row("  " + violation.words) { $0.violations[violation] ?? 0 }
        }
    }

    private static func isOlder(_ left: String, _ right: String) -> Bool {
        guard let mine = AppVersion(left), let theirs = AppVersion(right) else {
            let isVersion = (AppVersion(left) != nil, AppVersion(right) != nil)
            return isVersion.0 == isVersion.1 ? left < right : isVersion.1
        }
        return mine == theirs ? left < right : mine < theirs
    }

    private func total(_ path: KeyPath<SimulationReport, SimulationReport.Counts>, _ name: String)
        -> Int
    {
        reports.reduce(0) { $0 + ($1[keyPath: path].named[name] ?? 0) }
    }

    private func counts(
        _ path: KeyPath<SimulationReport, SimulationReport.Counts>,
        sortedBy isBefore: (String, String) -> Bool
    ) -> [String] {
        let names = Set(reports.flatMap { $0[keyPath: path].named.keys }).sorted(by: isBefore)
        let shown = names.count <= Self.rows + 1 ? names : Array(names.suffix(Self.rows))
        let listed = Set(shown)
        func others(_ report: SimulationReport) -> Int {
            let counts = report[keyPath: path]
            return counts.named.reduce(counts.others) {
                listed.contains($1.key) ? $0 : $0 + $1.value
            }
        }
        var lines = shown.map { name in
            row("  " + (name.isEmpty ? "(none)" : name)) { $0[keyPath: path].named[name] ?? 0 }
        }
        if reports.contains(where: { others($0) > 0 }) { lines.append(row("  others", others)) }
        return lines
    }

    /// What the policies had no name for, or could not judge.
    private var unjudged: [String] {
        var lines: [String] = []
        for report in reports {
            for (what, counts) in [
                ("has no name for", report.unknownReasons), ("could not judge", report.refused),
            ] where counts.total > 0 {
                let names = counts.named.sorted { $0.key < $1.key }.prefix(20).map {
                    "\($0.key) (\(Figures.grouped($0.value)))"
                }
                let further = counts.named.count - names.count + (counts.others > 0 ? 1 : 0)
                let rest = further > 0 ? ["and more, \(Figures.grouped(counts.total)) in all"] : []
                lines += Layout.beside(
                    "\(report.policy) \(what) ", (names + rest).joined(separator: ", "),
                    columns: columns)
            }
        }
        return lines.isEmpty ? [] : [""] + lines
    }

    // MARK: The chart

    /// A bar for each month and policy, all on one scale.
    private var months: [String] {
        let periods = PromptPeriods(reports)
        let most = max(periods.most, 1)
        let label = 10
        let width = (columns - label) / reports.count
        let room = width - 12
        return periods.rows.map { row in
            let bars = row.prompts.map { count -> String in
                let length = count * room / most
                let bar = String(repeating: "█", count: count > 0 ? max(length, 1) : 0)
                return Figures.left(Figures.right(Figures.grouped(count), 9) + " " + bar, width)
            }
            var line = Figures.left("  " + row.name, label) + bars.joined()
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

extension PromptViolation {
    /// In a few words.
    var words: String {
        switch self {
        case .moreThanThreeIn365Days: "a fourth within 365 days"
        case .versionAskedAgain: "a version asked in again"
        case .notFromAppStore: "not from the App Store"
        }
    }
}

/// Prompts by month without gaps, or by year where there are too many months to show.
struct PromptPeriods {
    /// A month or a year.
    struct Row {
        var name: String
        /// One for each policy.
        var prompts: [Int]
    }

    /// Months that are shown one by one.
    static let longest = 36

    private(set) var rows: [Row] = []
    let isByYear: Bool
    /// The most prompts of a row and policy.
    var most: Int { rows.flatMap(\.prompts).max() ?? 0 }

    init(_ reports: [SimulationReport]) {
        guard let from = reports.first?.first.map(SimulationReport.Month.init),
            let to = reports.first?.last.map(SimulationReport.Month.init)
        else {
            isByYear = false
            return
        }
        let count = (to.year - from.year) * 12 + to.month - from.month + 1
        isByYear = count > Self.longest
        if isByYear {
            let years = Set(reports.flatMap { $0.months.keys.map(\.year) }).sorted()
            rows = years.map { year in
                Row(
                    name: String(year),
                    prompts: reports.map { report in
                        report.months.reduce(0) { $1.key.year == year ? $0 + $1.value : $0 }
                    })
            }
        } else {
            var month = from
            while month <= to {
                rows.append(
                    Row(name: month.description, prompts: reports.map { $0.months[month] ?? 0 }))
                month = month.next
            }
        }
    }
}
