import Engine
import Glibc
import JSON
import Policies
import Storage
import Time

/// `discern backtest`: what a candidate policy would have decided on recorded evaluations.
enum BacktestCommand {
    static var command: Command {
        Command(
            name: "backtest", summary: "Judge recorded evaluations by a candidate policy.",
            positional: "[PATH…]",
            options: [
                .value("policy", nil, "NAME", "the candidate: a name, or name@version"),
                .value(
                    "in", "i", "PATH",
                    "where to look for a model that is not beside its policy (Policies)"),
            ] + RecordedStream.options,
            discussion: """
                Velocity windows hold what a subject had done before each evaluation, from the
                longest window before --since on; labels only sort what was found. The recorded
                score is used where the candidate names the model that gave it; else the
                candidate's model scores anew. A model that is neither in the paths nor beside the
                policy is looked for in --in, then among those that the data folder's ledger
                recorded.
                Nothing is changed, and a server may go on running.
                A stream is what `discern audit export` prints: an entry a line.
                Without a PATH it is the folder Policies.
                Exit status: 0 judged, 1 a path or a data folder that cannot be read, or no such
                app in it, 2 usage, 3 the candidate is invalid, 5 nothing that was recorded in the
                period could be judged.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        let paths = arguments.paths
        let set: PolicySet
        let models = ModelPlaces(arguments, readsLedger: arguments["stream"] == nil)
        switch try PolicyFiles.load(paths, zones: SystemZones.load(), models: models) {
        case .invalid(let report):
            Terminal.say(report)
            return ExitStatus.invalidPolicies
        case .loaded(let loaded): set = loaded
        }
        let policy = try candidate(arguments["policy"], of: set)
        let stream = try RecordedStream(arguments)
        let options = try Backtest.Options(arguments, stream)
        let tenant = options.tenant
        let report = try run(Backtest(policy, in: set, options), stream, tenant)
        guard report.evaluations > 0 else {
            throw NothingTested(message: nothing(report, policy))
        }
        Terminal.print(
            format == "json"
                ? BacktestText.json(report, tenant: tenant).text
                : BacktestText.pretty(report, tenant: tenant, mature: arguments["mature"]))
        guard report.judged > 0 else {
            throw NothingTested(
                message: "none of \(Figures.counted(report.evaluations, "evaluation")) could be "
                    + "judged: nothing was tested")
        }
        return ExitStatus.fine
    }

    /// What is said where the period has no evaluation: whether another has.
    private static func nothing(_ report: BacktestReport, _ policy: TrustPolicy) -> String {
        let categories = names(policy.categories.map(\.rawValue))
        guard let first = report.firstRecorded, let last = report.lastRecorded else {
            return "no evaluation of \(categories) was recorded: nothing was tested"
        }
        let count = Figures.counted(report.recorded, "evaluation")
        return "no evaluation of \(categories) was recorded in the period: nothing was tested; "
            + (report.recorded == 1
                ? "there is \(count), of \(first.rfc3339)"
                : "there are \(count), from \(first.rfc3339) to \(last.rfc3339)")
    }

    /// Reads and judges by turns, with an eye on how long each takes.
    private static func run(_ backtest: Backtest, _ stream: RecordedStream, _ tenant: Tenant) throws
        -> BacktestReport
    {
        var judging = Stopwatch()
        var whole = Stopwatch()
        var taken = 0
        let progress = Progress("judging")
        let report = try whole.time {
            try stream.each(of: tenant) { entry in
                switch entry {
                case .evaluation(let record): judging.time { backtest.take(record) }
                case .label(let record, let sequence): backtest.take(record, sequence: sequence)
                case .donation: break
                }
                taken += 1
                if taken & 0xFFF == 0 { progress.show("\(Figures.grouped(taken)) entries") }
            }
            return backtest.finish()
        }
        progress.end()
        Terminal.say(
            "\(Figures.counted(report.evaluations, "evaluation")) in "
                + "\(Figures.tenths(Double(whole.nanoseconds) / 1e9)) s: "
                + "\(Figures.grouped(whole.rate(of: report.evaluations))) a second; judging alone "
                + "\(Figures.grouped(judging.rate(of: report.evaluations))) a second")
        return report
    }

    private static func candidate(_ name: String?, of set: PolicySet) throws -> TrustPolicy {
        let all = set.policies.compactMap { policy -> TrustPolicy? in
            if case .trust(let trust) = policy { trust } else { nil }
        }
        guard let name else {
            guard all.count == 1 else {
                throw UsageError(
                    all.isEmpty
                        ? "there is no trust policy among the files"
                        : "--policy is one of \(names(all.map(\.reference)))")
            }
            return all[0]
        }
        let found = all.filter { $0.reference == name || $0.name == name }
        guard let policy = found.max(by: { $0.version < $1.version }) else {
            throw UsageError(
                "there is no trust policy `\(name)`; there are \(names(all.map(\.reference)))")
        }
        return policy
    }

    private static func names(_ names: [String]) -> String { names.joined(separator: ", ") }
}
