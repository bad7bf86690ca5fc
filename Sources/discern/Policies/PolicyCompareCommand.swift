import Engine
import JSON
import Policies
import Time

/// `discern policies compare`: what acted, against what ran in shadow.
enum PolicyCompareCommand {
    static var command: Command {
        Command(
            name: "policies compare", summary: "Compare what acted with what ran in shadow.",
            options: [
                .value("policy", nil, "NAME", "only this one: a name, or name@version")
            ] + RecordedStream.options,
            discussion: """
                Every evaluation that has two recorded decisions is compared: what acted, and what a
                policy in shadow, or the acting policy with its shadow rules, would have decided.
                Nothing is judged again, nothing is changed, and a server may go on running.
                `newly held` was let through and would have had its friction raised; labels say what
                of it was fraud. What was held has no true outcome, so no rate is made of it.
                Exit status: 0 compared, 5 nothing ran in shadow.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        let stream = try RecordedStream(arguments)
        let options = try Backtest.Options(arguments, stream)
        let comparison = ShadowComparison(of: arguments["policy"], options)
        let progress = Progress("comparing")
        var taken = 0
        try stream.each(of: options.tenant, readsShadows: true) { entry in
            switch entry {
            case .evaluation(let record): comparison.take(record)
            case .label(let record, let sequence): comparison.take(record, sequence: sequence)
            }
            taken += 1
            if taken & 0xFFF == 0 { progress.show("\(Figures.grouped(taken)) entries") }
        }
        progress.end()
        let reports = comparison.finish()
        if format == "json" {
            Terminal.print(json(reports, options.tenant).text)
        } else {
            for (index, report) in reports.enumerated() {
                Terminal.print((index > 0 ? "\n" : "") + pretty(report, options.tenant))
            }
        }
        guard reports.isEmpty else { return ExitStatus.fine }
        Terminal.say(
            "discern policies compare: nothing ran in shadow in the period; "
                + "`discern policies activate NAME@VERSION --shadow` lets a policy do so")
        return ExitStatus.nothingTested
    }

    // MARK: Text

    private static func pretty(_ report: ShadowReport, _ tenant: Tenant) -> String {
        let beside = report.actingPolicies.sorted { $0.key < $1.key }
            .map { "\($0.key) (\(Figures.grouped($0.value)))" }.joined(separator: ", ")
        let name = report.source.policy.text
        var lines = [
            report.source.isWhole
                ? "\(name) in shadow beside \(beside)" : "\(name) with its shadow rules",
            "\(Figures.grouped(report.evaluations)) recorded evaluations of "
                + "\(tenant.app)/\(tenant.environment.rawValue)",
            "from \(report.first?.rfc3339 ?? "-") to \(report.last?.rfc3339 ?? "-")", "",
        ]
        lines += table(report) + [""] + BacktestText.labels(report.rows, total: report.rows.total)
        lines += [
            "",
            "outputs             \(Figures.grouped(report.otherOutput)) differ in friction, steps, "
                + "hold or notify",
        ]
        let examples = BacktestText.examples(report.examples)
        if !examples.isEmpty { lines += [""] + examples }
        return lines.joined(separator: "\n")
    }

    private static func table(_ report: ShadowReport) -> [String] {
        let names = Friction.allCases.map { Figures.right($0.name, 12) }.joined()
        return [
            Figures.left("friction", 22) + "  in shadow", Figures.left("acted", 12) + names,
        ]
            + Friction.allCases.map { acting in
                Figures.left(acting.name, 12)
                    + Friction.allCases.map { shadow in
                        let pair = ShadowReport.Pair(acting: acting, shadow: shadow)
                        return Figures.right(Figures.grouped(report.table[pair] ?? 0), 12)
                    }.joined()
            }
    }

    // MARK: JSON

    private static func json(_ reports: [ShadowReport], _ tenant: Tenant) -> JSONValue {
        [
            "app": .string(tenant.app), "environment": .string(tenant.environment.rawValue),
            "comparisons": .array(reports.map(json)),
        ]
    }

    private static func json(_ report: ShadowReport) -> JSONValue {
        [
            "policy": .string(report.source.policy.text),
            "shadow": report.source.isWhole ? "policy" : "rules",
            "beside": .object(
                JSONObject(
                    report.actingPolicies.sorted { $0.key < $1.key }
                        .map { ($0.key, .int($0.value)) })),
            "from": report.first.map { .string($0.rfc3339) } ?? .null,
            "to": report.last.map { .string($0.rfc3339) } ?? .null,
            "evaluations": .int(report.evaluations),
            "friction": .object(
                JSONObject(
                    Friction.allCases.map { acting in
                        (
                            acting.name,
                            .object(
                                JSONObject(
                                    Friction.allCases.map { shadow in
                                        let pair = ShadowReport.Pair(acting: acting, shadow: shadow)
                                        return (shadow.name, .int(report.table[pair] ?? 0))
                                    }))
                        )
                    })),
            "otherOutput": .int(report.otherOutput),
            "labels": .object(
                JSONObject(
                    BacktestLabel.allCases.map { label in
                        (
                            label.rawValue,
                            BacktestText.row(report.rows[label] ?? BacktestReport.Row(), label)
                        )
                    })),
            "examples": .array(BacktestText.examplesJSON(report.examples)),
        ]
    }
}
