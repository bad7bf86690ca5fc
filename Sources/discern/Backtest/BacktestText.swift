import Engine
import JSON
import Policies
import Time

/// A backtest's report as people read it, in 100 columns.
enum BacktestText {
    /// - Parameter mature: how old evaluations must be to be in a rate, as it was asked for.
    static func pretty(_ report: BacktestReport, tenant: Tenant, mature: String?) -> String {
        var lines =
            head(report, tenant) + [""]
            + labels(report.rows, total: report.total, mature: mature) + [""] + cost(report)
        if !report.unjudged.isEmpty || !report.missingInputs.isEmpty {
            lines += [""] + lacking(report)
        }
        lines += [""] + rules(report)
        let found = examples(report.examples)
        if !found.isEmpty { lines += [""] + found }
        return lines.joined(separator: "\n")
    }

    private static func head(_ report: BacktestReport, _ tenant: Tenant) -> [String] {
        let recorded = report.recordedPolicies.sorted { $0.key < $1.key }
        let policies = recorded.map { "\($0.key) (\(Figures.grouped($0.value)))" }
        return Layout.wrapIfLong(
            "\(report.policy) over \(Figures.counted(report.judged, "recorded evaluation")) of "
                + "\(tenant.app)/\(tenant.environment.rawValue)")
            + ["from \(report.first?.rfc3339 ?? "-") to \(report.last?.rfc3339 ?? "-")"]
            + Layout.beside("recorded under ", policies.joined(separator: ", "))
    }

    private static let names: [(label: BacktestLabel, name: String)] = [
        (.fraud, "fraud"), (.suspected, "suspected"), (.legitimate, "legitimate"),
        (.unlabelled, "unlabelled"), (.tooYoung, "too young"),
    ]

    /// Counts by label, of what was let through and of what was held.
    static func labels(
        _ rows: [BacktestLabel: BacktestReport.Row], total: BacktestReport.Row, mature: String?
    ) -> [String] {
        var lines = [
            Figures.left("", 12) + Figures.left("  let through then", 46) + "  held then",
            row("label", "n", "newly held", "rate (95 %)", "n", "newly let through"),
        ]
        for (label, name) in names {
            guard let row = rows[label], row.total > 0 else { continue }
            lines.append(text(name, row, rate: label == .tooYoung ? "in no rate" : rate(row)))
        }
        lines.append(text("all", total, rate: ""))
        if let mature, total.total > 0, rows[.tooYoung]?.total == total.total {
            lines += [""]
            lines += Layout.beside(
                "",
                "All of them are too young: none is \(mature) older than the last entry, so there is "
                    + "nothing to make a rate of. A shorter --mature leaves some.")
        }
        return lines
    }

    private static func text(_ name: String, _ row: BacktestReport.Row, rate: String) -> String {
        self.row(
            name, Figures.grouped(row.letThroughThen), Figures.grouped(row.newlyHeld), rate,
            Figures.grouped(row.heldThen), Figures.grouped(row.newlyLetThrough))
    }

    private static func row(
        _ name: String, _ n: String, _ held: String, _ rate: String, _ heldN: String,
        _ through: String
    ) -> String {
        Figures.left(name, 12) + Figures.right(n, 11) + Figures.right(held, 12)
            + Figures.right(rate, 23) + Figures.right(heldN, 12) + Figures.right(through, 19)
    }

    private static func rate(_ row: BacktestReport.Row) -> String {
        let rate = row.newlyHeldRate
        guard let value = rate.rate, let interval = rate.interval else { return "-" }
        return "\(Figures.percent(value)) (\(Figures.tenths(interval.lowerBound * 100))"
            + "–\(Figures.tenths(interval.upperBound * 100)))"
    }

    private static func cost(_ report: BacktestReport) -> [String] {
        let then = report.peopleInterruptedThen
        let now = report.peopleInterruptedNow
        let more = Figures.grouped(report.moreFraudHeld)
        let cost =
            report.peoplePerFraud.map {
                "\(Figures.tenths($0)) people more interrupted for each of \(more) frauds more held"
            } ?? "none: \(more) frauds more are held"
        return [
            "people interrupted  \(Figures.grouped(then)) then, \(Figures.grouped(now)) now",
            "friction cost       \(cost)",
            "outcomes            \(Figures.grouped(report.otherOutcome)) differ, "
                + "\(Figures.grouped(report.rescored)) were scored anew",
            "outputs             \(Figures.grouped(report.otherOutput)) differ in friction, steps, "
                + "hold or notify",
        ].flatMap { Layout.wrapIfLong($0) }
    }

    private static func lacking(_ report: BacktestReport) -> [String] {
        var lines: [String] = []
        for (why, count) in report.unjudged.sorted(by: { $0.key < $1.key }) {
            lines += Layout.beside("not judged          ", "\(Figures.grouped(count)): \(why)")
        }
        for (input, count) in report.missingInputs.sorted(by: { $0.key < $1.key }) {
            lines += Layout.beside("scored without      ", "\(Figures.grouped(count)): \(input)")
        }
        return lines
    }

    private static func rules(_ report: BacktestReport) -> [String] {
        let width = max(30, min(52, report.rules.map(\.id.count).max() ?? 0))
        var lines = [
            Figures.left("rule", width) + Figures.right("matched", 12)
                + Figures.right("would match", 14) + Figures.right("failed", 10)
        ]
        for rule in report.rules {
            // A longer name has a line of its own.
            if rule.id.count > width { lines.append(rule.id) }
            lines.append(
                Figures.left(rule.id.count > width ? "" : rule.id, width)
                    + Figures.right(Figures.grouped(rule.matched), 12)
                    + Figures.right(Figures.grouped(rule.wouldMatch), 14)
                    + Figures.right(Figures.grouped(rule.failed), 10)
                    + (rule.mode == .shadow ? "  shadow" : ""))
        }
        return lines
    }

    /// Evaluations to look at.
    static func examples(
        _ examples: [BacktestReport.ExampleKind: [BacktestReport.Example]]
    ) -> [String] {
        var lines: [String] = []
        for isHeld in [true, false] {
            for (label, name) in names {
                let kind = BacktestReport.ExampleKind(label: label, isHeld: isHeld)
                for example in examples[kind] ?? [] {
                    let what = (isHeld ? "newly held, " : "newly let through, ") + name
                    lines.append(
                        "  \(Figures.left(what, 30)) \(example.evaluation.text)  "
                            + example.at.rfc3339)
                }
            }
        }
        return lines.isEmpty ? [] : ["to open with `discern explain ID`:"] + lines
    }

    // MARK: JSON

    static func json(_ report: BacktestReport, tenant: Tenant) -> JSONValue {
        func counts(_ counts: [String: Int64]) -> JSONValue {
            .object(
                JSONObject(counts.sorted { $0.key < $1.key }.map { ($0.key, .int($0.value)) }))
        }
        return [
            "policy": .string(report.policy), "app": .string(tenant.app),
            "environment": .string(tenant.environment.rawValue),
            "from": report.first.map { .string($0.rfc3339) } ?? .null,
            "to": report.last.map { .string($0.rfc3339) } ?? .null,
            "evaluations": .int(report.evaluations), "judged": .int(report.judged),
            "recordedPolicies": counts(report.recordedPolicies),
            "notJudged": counts(report.unjudged), "scoredAnew": .int(report.rescored),
            "scoredWithout": counts(report.missingInputs),
            "otherOutcome": .int(report.otherOutcome), "otherOutput": .int(report.otherOutput),
            "labels": .object(
                JSONObject(
                    BacktestLabel.allCases.map { ($0.rawValue, row(report.row($0), $0)) })),
            "peopleInterruptedThen": .int(Int64(report.peopleInterruptedThen)),
            "peopleInterruptedNow": .int(Int64(report.peopleInterruptedNow)),
            "moreFraudHeld": .int(report.moreFraudHeld),
            "peoplePerFraud": report.peoplePerFraud.map { .double($0) } ?? .null,
            "rules": .array(
                report.rules.map { rule in
                    [
                        "id": .string(rule.id), "mode": .string(rule.mode.rawValue),
                        "matched": .int(rule.matched), "wouldMatch": .int(rule.wouldMatch),
                        "failed": .int(rule.failed),
                    ]
                }),
            "examples": .array(examplesJSON(report.examples)),
        ]
    }

    /// The counts of a label, with the rate that they give.
    static func row(_ row: BacktestReport.Row, _ label: BacktestLabel) -> JSONValue {
        let rate = label == .tooYoung ? nil : row.newlyHeldRate
        return [
            "letThrough": .int(row.letThrough), "newlyHeld": .int(row.newlyHeld),
            "newlyLetThrough": .int(row.newlyLetThrough), "held": .int(row.held),
            "newlyHeldRate": rate?.rate.map { .double($0) } ?? .null,
            "newlyHeldInterval": rate?.interval.map {
                [.double($0.lowerBound), .double($0.upperBound)]
            } ?? .null,
        ]
    }

    /// Evaluations to look at.
    static func examplesJSON(
        _ examples: [BacktestReport.ExampleKind: [BacktestReport.Example]]
    ) -> [JSONValue] {
        [true, false].flatMap { isHeld in
            BacktestLabel.allCases.flatMap { label -> [JSONValue] in
                let kind = BacktestReport.ExampleKind(label: label, isHeld: isHeld)
                return (examples[kind] ?? []).map { example in
                    [
                        "evaluationID": .string(example.evaluation.text),
                        "receivedAt": .string(example.at.rfc3339),
                        "label": .string(label.rawValue),
                        "change": .string(isHeld ? "newlyHeld" : "newlyLetThrough"),
                    ]
                }
            }
        }
    }
}
