import Engine
import JSON
import Policies
import Time

/// A comparison of what acted with what ran in shadow, as people and programs read it.
enum PolicyCompareText {
    static func pretty(_ report: ShadowReport, _ tenant: Tenant, mature: String?) -> String {
        let beside = names(report.actingPolicies)
        let name = report.source.policy.text
        var lines = Layout.wrapIfLong(
            report.source.isWhole
                ? "\(name) in shadow beside \(beside)" : "\(name) with its shadow rules")
        lines += [
            "\(Figures.counted(report.evaluations, "recorded evaluation")) of "
                + "\(tenant.app)/\(tenant.environment.rawValue)",
            "from \(report.first?.rfc3339 ?? "-") to \(report.last?.rfc3339 ?? "-")", "",
        ]
        lines += table(report) + [""]
        lines += BacktestText.labels(report.rows, total: report.rows.total, mature: mature)
        lines += [
            "",
            "outputs             \(Figures.grouped(report.otherOutput)) differ in friction, steps, "
                + "hold or notify",
        ]
        let examples = BacktestText.examples(report.examples)
        if !examples.isEmpty { lines += [""] + examples }
        return lines.joined(separator: "\n")
    }

    private static func names(_ policies: [String: Int64]) -> String {
        policies.sorted { $0.key < $1.key }
            .map { "\($0.key) (\(Figures.grouped($0.value)))" }.joined(separator: ", ")
    }

    static func pretty(_ report: ReviewShadowReport, _ tenant: Tenant) -> String {
        func row(_ name: String, _ asked: Int64, _ held: Int64) -> String {
            Figures.left(name, 12) + Figures.right(Figures.grouped(asked), 12)
                + Figures.right(Figures.grouped(held), 12)
        }
        let rate = report.newlyAskedRate
        var lines = Layout.wrapIfLong(
            "\(report.policy.text) in shadow beside \(names(report.actingPolicies))")
        lines += [
            "\(Figures.counted(report.donations, "recorded donation")) of "
                + "\(tenant.app)/\(tenant.environment.rawValue)",
            "from \(report.first?.rfc3339 ?? "-") to \(report.last?.rfc3339 ?? "-")", "",
            Figures.left("prompt", 22) + "  in shadow",
            Figures.left("acted", 12) + Figures.right("ask", 12) + Figures.right("hold", 12),
            row("ask", report.asked, report.newlyHeld), row("hold", report.newlyAsked, report.held),
        ]
        if let value = rate.rate, let interval = rate.interval {
            lines += [
                "",
                "newly asked         \(Figures.percent(value)) of those held "
                    + "(\(Figures.tenths(interval.lowerBound * 100))"
                    + "–\(Figures.tenths(interval.upperBound * 100)))",
            ]
        }
        if report.refused > 0 {
            lines.append("not judged          \(Figures.grouped(report.refused))")
        }
        if !report.examples.isEmpty { lines += ["", "entries to look at:"] }
        for example in report.examples {
            let what = example.isAsked ? "newly asked" : "newly held"
            lines.append("  \(Figures.left(what, 12)) \(example.sequence)  \(example.at.rfc3339)")
        }
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

    static func json(
        _ reports: [ShadowReport], _ reviews: [ReviewShadowReport], _ tenant: Tenant
    ) -> JSONValue {
        [
            "app": .string(tenant.app), "environment": .string(tenant.environment.rawValue),
            "comparisons": .array(reports.map(json)), "reviews": .array(reviews.map(json)),
        ]
    }

    private static func json(_ report: ReviewShadowReport) -> JSONValue {
        [
            "policy": .string(report.policy.text), "beside": counts(report.actingPolicies),
            "from": report.first.map { .string($0.rfc3339) } ?? .null,
            "to": report.last.map { .string($0.rfc3339) } ?? .null,
            "donations": .int(report.donations), "asked": .int(report.asked),
            "newlyAsked": .int(report.newlyAsked), "newlyHeld": .int(report.newlyHeld),
            "held": .int(report.held), "notJudged": .int(report.refused),
            "newlyAskedRate": report.newlyAskedRate.rate.map { .double($0) } ?? .null,
            "newlyAskedInterval": report.newlyAskedRate.interval.map {
                [.double($0.lowerBound), .double($0.upperBound)]
            } ?? .null,
            "examples": .array(
                report.examples.map { example in
                    [
                        "sequence": .int(example.sequence),
                        "receivedAt": .string(example.at.rfc3339),
                        "change": example.isAsked ? "newlyAsked" : "newlyHeld",
                    ]
                }),
        ]
    }

    private static func counts(_ counts: [String: Int64]) -> JSONValue {
        .object(JSONObject(counts.sorted { $0.key < $1.key }.map { ($0.key, .int($0.value)) }))
    }

    private static func json(_ report: ShadowReport) -> JSONValue {
        [
            "policy": .string(report.source.policy.text),
            "shadow": report.source.isWhole ? "policy" : "rules",
            "beside": counts(report.actingPolicies),
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
