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
                Exit status: 0 compared, 1 the data cannot be read, 2 usage, or that policy did not
                run in shadow, 5 nothing ran in shadow.
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
        let policy = arguments["policy"]
        let (reports, reviews) = try compare(policy, stream, options)
        if let policy, reports.isEmpty, reviews.isEmpty {
            try requireShadow(policy, stream, options, arguments)
        }
        if format == "json" {
            Terminal.print(PolicyCompareText.json(reports, reviews, options.tenant).text)
        } else {
            let texts =
                reports.map {
                    PolicyCompareText.pretty($0, options.tenant, mature: arguments["mature"])
                }
                + reviews.map { PolicyCompareText.pretty($0, options.tenant) }
            if !texts.isEmpty { Terminal.print(texts.joined(separator: "\n\n")) }
        }
        guard reports.isEmpty, reviews.isEmpty else { return ExitStatus.fine }
        Terminal.say(
            "discern policies compare: nothing ran in shadow in the period; "
                + "`discern policies activate NAME@VERSION --shadow` lets a policy do so")
        return ExitStatus.nothingTested
    }
    private static func compare(
        _ policy: String?, _ stream: RecordedStream, _ options: Backtest.Options
    ) throws -> ([ShadowReport], [ReviewShadowReport]) {
        let comparison = ShadowComparison(of: policy, options)
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
        return (comparison.finish(), comparison.finishReviews())
    }

    /// Says what there is instead of a policy that did not run in shadow.
    private static func requireShadow(
        _ policy: String, _ stream: RecordedStream, _ options: Backtest.Options,
        _ arguments: Arguments
    ) throws {
        let (reports, reviews) = try compare(nil, stream, options)
        let names = Set(reports.map(\.source.policy.text) + reviews.map(\.policy.text))
        guard names.isEmpty else {
            throw UsageError(
                "`\(policy)` did not run in shadow in the period; there are "
                    + names.sorted().joined(separator: ", "))
        }
        if case .folder = stream { try PolicyName.requireKnown(policy, arguments) }
    }
}
