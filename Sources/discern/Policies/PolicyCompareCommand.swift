import Engine
import JSON

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
                Donations that a review policy in shadow saw are compared likewise.
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
        let options = try Backtest.Options(
            arguments, stream, kinds: [.evaluation, .donation])
        let comparison = ShadowComparison(of: arguments["policy"], options)
        let progress = Progress("comparing")
        var taken = 0
        try stream.each(of: options.tenant, readsShadows: true) { entry in
            switch entry {
            case .evaluation(let record): comparison.take(record)
            case .label(let record, let sequence): comparison.take(record, sequence: sequence)
            case .donation(let donation): comparison.take(donation)
            }
            taken += 1
            if taken & 0xFFF == 0 { progress.show("\(Figures.grouped(taken)) entries") }
        }
        progress.end()
        let reports = comparison.finish()
        let reviews = comparison.finishReviews()
        if format == "json" {
            Terminal.print(PolicyCompareText.json(reports, reviews, options.tenant).text)
        } else {
            let texts =
                reports.map { PolicyCompareText.pretty($0, options.tenant) }
                + reviews.map { PolicyCompareText.pretty($0, options.tenant) }
            if !texts.isEmpty { Terminal.print(texts.joined(separator: "\n\n")) }
        }
        guard reports.isEmpty, reviews.isEmpty else { return ExitStatus.fine }
        Terminal.say(
            "discern policies compare: nothing ran in shadow in the period; "
                + "`discern policies activate NAME@VERSION --shadow` lets a policy do so")
        return ExitStatus.nothingTested
    }
}
