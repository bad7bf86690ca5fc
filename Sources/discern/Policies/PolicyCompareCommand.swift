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
                run in shadow, 5 nothing was recorded or nothing ran in shadow.
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
        let judged =
            reports.filter(\.source.isWhole).map(\.source.policy.text) + reviews.map(\.policy.text)
        let waiting = try self.waiting(stream, options.tenant, arguments).filter {
            !judged.contains($0.policy)
        }
        if let policy, reports.isEmpty, reviews.isEmpty, waiting.isEmpty {
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
        for (policy, since) in waiting {
            Terminal.say(
                "\(policy) runs in shadow since \(since) and has judged nothing in the period yet")
        }
        guard reports.isEmpty, reviews.isEmpty else { return ExitStatus.fine }
        guard waiting.isEmpty else { return ExitStatus.nothingTested }
        throw NothingTested(
            message: "nothing ran in shadow in the period; "
                + "`discern policies activate NAME@VERSION --shadow` lets a policy do so")
    }

    /// What runs in shadow now for an app, and since when. An exported stream does not say.
    private static func waiting(
        _ stream: RecordedStream, _ tenant: Tenant, _ arguments: Arguments
    ) throws -> [(policy: String, since: String)] {
        guard case .folder = stream else { return [] }
        let rows = try PolicyListCommands.policies(arguments)["acting"]?.arrayValue ?? []
        var found: [String: String] = [:]
        for row in rows where row["shadow"] == true {
            let policy = PolicyListCommands.reference(row)
            let isOfTenant =
                row["app"] == nil
                || row["app"]?.stringValue == tenant.app
                    && row["environment"]?.stringValue == tenant.environment.rawValue
            guard isOfTenant,
                [nil, policy, row["name"]?.stringValue].contains(arguments["policy"])
            else { continue }
            found[policy] = row["since"]?.stringValue ?? ""
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
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
