import Engine
import Glibc
import JSON
import Policies
import Time

/// `discern diff`: what means something else in another policy.
enum DiffCommand {
    static var command: Command {
        Command(
            name: "diff", summary: "Compare policies by what they mean.", positional: "OLD NEW",
            options: [
                .value("in", "i", "PATH", "where to look up names, and models (Policies)"),
                .value("format", "f", "FORMAT", "pretty (default) or json"),
                DataAccess.option,
                .value("stream", nil, "FILE", "recorded evaluations; - for standard input"),
                .value("app", "a", "APP", "whose evaluations, if there are several apps"),
                .value("environment", "e", "ENV", "sandbox or production, if there are both"),
                .value(
                    "since", nil, "TIME", "evaluations from then on: a time, or 90d (back from now)"
                ),
                .value("until", nil, "TIME", "evaluations up to then"),
                .value("examples", nil, "N", "how many changed decisions to name (5)"),
            ],
            discussion: """
                OLD and NEW are files, folders, or name@version as `discern policies activate`
                takes them.
                Folders are compared policy by policy, model by model, of each name the newest
                version. Reported is what is done differently: rules, conditions, outputs,
                thresholds, windows, attributes, limits. Layout, comments, the order of keys, and
                of rules where it does not matter, are not; nor is a condition written in another
                way that holds for the same events. Of other conditions is said whether they are
                narrower (hold for fewer events), wider, or neither as far as can be shown.
                A model that is not beside its policy is looked for in --in, then, with --data,
                among those that the ledger recorded.

                With --data or --stream both versions judge what was recorded, as `discern
                backtest` does, and the decisions that differ are counted and some named.

                  discern diff payments.yaml payments-new.yaml
                  discern diff transcripts-payments@2 transcripts-payments@3 --in Policies
                  discern diff old/ new/ --stream entries.ndjson

                Exit status: 0 whether there are differences or not, 1 a path that cannot be read,
                2 usage, 3 policies invalid, 5 no evaluation was recorded.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        guard arguments.positional.count == 2 else { throw UsageError("name two: OLD and NEW") }
        guard let old = try side(arguments.positional[0], arguments),
            let new = try side(arguments.positional[1], arguments)
        else { return ExitStatus.invalidPolicies }
        var result = SetComparison(old.entries, new.entries, old.set.models, new.set.models)
        if arguments["stream"] != nil || arguments["data"] != nil {
            try judge(&result, old.set, new.set, arguments)
        } else if let name = ["app", "environment", "since", "until", "examples"]
            .first(where: arguments.isGiven)
        {
            throw UsageError(
                "--\(name) is about recorded evaluations: name them with --data or --stream")
        }
        Terminal.print(format == "json" ? DiffText.json(result).text : DiffText.pretty(result))
        return ExitStatus.fine
    }

    /// The policies that a word on the command line stands for; nil, and said why, if invalid.
    private static func side(_ word: String, _ arguments: Arguments) throws
        -> (entries: [PolicySet.Entry], set: PolicySet)?
    {
        let isPath = access(word, F_OK) == 0
        guard isPath || word.contains("@") else {
            throw Files.Fault(description: "\(word): \(String(cString: strerror(errno)))")
        }
        let path = isPath ? word : arguments["in"] ?? "Policies"
        let set: PolicySet
        let models = ModelPlaces(arguments, readsLedger: arguments["data"] != nil)
        switch try PolicyFiles.load([path], zones: SystemZones.load(), models: models) {
        case .invalid(let report):
            Terminal.say(report)
            return nil
        case .loaded(let loaded): set = loaded
        }
        guard !isPath else {
            // A file brings the models beside it along; it is compared alone.
            let isFile = !Files.isFolder(path)
            return (isFile ? set.entries.filter { $0.source.path == path } : set.entries, set)
        }
        let found = set.entries.filter { $0.policy.reference == word }
        guard !found.isEmpty else {
            let known = set.entries.map(\.policy.reference).joined(separator: ", ")
            throw UsageError("there is no policy `\(word)` in \(path); there are \(known)")
        }
        return (found, set)
    }

    private static func judge(
        _ result: inout SetComparison, _ old: PolicySet, _ new: PolicySet, _ arguments: Arguments
    ) throws {
        let stream = try RecordedStream(arguments)
        let tenant = try stream.tenant(
            app: arguments["app"], environment: arguments["environment"])
        var options = Backtest.Options(tenant: tenant)
        options.since = try arguments.time("since")
        options.until = try arguments.time("until")
        let examples = try arguments.number("examples", in: 0...1_000) ?? 5
        for index in result.pairs.indices {
            guard let before = result.pairs[index].old, let after = result.pairs[index].new,
                case .trust(let mine) = before.policy, case .trust(let theirs) = after.policy,
                !result.pairs[index].changes.isEmpty || result.pairs.count == 1
            else { continue }
            result.pairs[index].decisions = try DecisionComparison.run(
                Backtest(mine, in: old, options), Backtest(theirs, in: new, options), stream,
                tenant, examples: examples)
        }
    }
}

/// Two sets of policies, pair by pair.
struct SetComparison {
    struct Pair {
        var name: String
        var old: PolicySet.Entry?
        var new: PolicySet.Entry?
        var changes: [PolicyChange] = []
        /// What both decide on recorded evaluations, if that was asked for.
        var decisions: DecisionComparison?
    }

    var pairs: [Pair]
    /// Models that are in both sets and differ.
    var models: [(name: String, changes: [PolicyChange])]

    init(
        _ old: [PolicySet.Entry], _ new: [PolicySet.Entry], _ oldModels: [ModelFile],
        _ newModels: [ModelFile]
    ) {
        if old.count == 1, new.count == 1 {
            pairs = [
                Pair(name: new[0].policy.name, old: old[0], new: new[0])
            ]
        } else {
            let (before, after) = (Self.newest(old), Self.newest(new))
            pairs = Set(before.keys).union(after.keys).sorted().map {
                Pair(name: $0, old: before[$0], new: after[$0])
            }
        }
        for index in pairs.indices {
            guard let before = pairs[index].old, let after = pairs[index].new else { continue }
            pairs[index].changes = PolicyComparison(before, after).changes
        }
        models = oldModels.compactMap { mine in
            let newer = newModels.filter { $0.name == mine.name }.max { $0.version < $1.version }
            guard let newer,
                oldModels.filter({ $0.name == mine.name }).allSatisfy({ $0.version <= mine.version }
                )
            else { return nil }
            let changes = PolicyComparison(mine, newer).changes
            return changes.isEmpty ? nil : (mine.name, changes)
        }
    }

    private static func newest(_ entries: [PolicySet.Entry]) -> [String: PolicySet.Entry] {
        Dictionary(entries.map { ($0.policy.name, $0) }) { first, second in
            (first.policy.version ?? 0) >= (second.policy.version ?? 0) ? first : second
        }
    }
}
