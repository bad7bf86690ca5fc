import Engine
import JSON
import Policies
import Time

/// `discern bench`: how long policies take.
enum BenchCommand {
    static var command: Command {
        Command(
            name: "bench", summary: "Time policies on the inputs of their tests.",
            positional: "[PATH…]",
            options: [
                .value("policy", nil, "NAME", "only this policy"),
                .value("milliseconds", "m", "N", "how long each measurement takes (200)"),
                .value("format", "f", "FORMAT", "pretty (default) or json"),
            ],
            discussion: """
                load      reading and checking the policy's file and its models
                compile   compiling a rule's expressions
                judge     all rules on one input; of a review-prompt policy one step of a story
                rule      a rule's expressions on one input, with the variables they read

                Each time is of one run on its own, less what looking at the clock takes; inputs
                take turns. `min` is what the machine can do, `p99` what it sometimes does.
                Allocations are counted if the counter is loaded before the program:
                  cc -O2 -shared -fPIC -o count.so Benchmarks/CEL/count.c
                  LD_PRELOAD=./count.so discern bench Policies
                Without a PATH it is the folder Policies.
                Exit status: 0 measured, 2 usage, 3 a file is invalid, 5 there are no inputs.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let format = arguments["format"] ?? "pretty"
        guard ["pretty", "json"].contains(format) else {
            throw UsageError("--format is pretty or json, not `\(format)`")
        }
        let budget = Int64(try arguments.number("milliseconds", in: 1...60_000) ?? 200) * 1_000_000
        let paths = arguments.paths
        let zones = SystemZones.load()
        let set: PolicySet
        switch try PolicyFiles.load(paths, zones: zones) {
        case .invalid(let report):
            Terminal.say(report)
            return ExitStatus.invalidPolicies
        case .loaded(let loaded): set = loaded
        }
        let wanted = set.entries.filter { entry in
            arguments["policy"].map { [entry.policy.name, entry.policy.reference].contains($0) }
                ?? true
        }
        guard !wanted.isEmpty else {
            let names = set.policies.map(\.reference).joined(separator: ", ")
            throw UsageError("no such policy; there are: \(names.isEmpty ? "none" : names)")
        }
        let sampler = Sampler(budget: budget)
        let reports = wanted.map { measure($0, set, zones, sampler) }
        Terminal.print(
            format == "json"
                ? JSONValue.array(reports.map(BenchText.json)).text
                : reports.map(BenchText.pretty).joined(separator: "\n\n"))
        if reports.contains(where: { $0.inputs > 0 }) { return ExitStatus.fine }
        Terminal.say("there are no tests, so there was no input to judge")
        return ExitStatus.nothingTested
    }

    private static func measure(
        _ entry: PolicySet.Entry, _ set: PolicySet, _ zones: ZoneDatabase, _ sampler: Sampler
    ) -> BenchReport {
        let files =
            ([entry.source] + set.models.map(\.source)).map {
                PolicyLoader.File(path: $0.path, bytes: $0.bytes)
            }
        let loader = PolicyLoader(zones: zones)
        var subject = BenchSubject(entry.policy, in: set, zones: zones)
        let count = subject.inputCount
        var report = BenchReport(
            policy: entry.policy.reference, inputs: count,
            load: sampler.sample { _ in
                1
            } body: {
                _ = loader.load(files)
            })
        if count > 0 {
            report.judge = sampler.sample { round in
                subject.prepare(round % count)
                return subject.events(of: round % count)
            } body: {
                subject.judge()
            }
        }
        for rule in subject.rules.indices {
            var row = BenchReport.Rule(name: subject.rules[rule].name)
            if subject.compile(rule) {
                row.compile = sampler.sample { _ in
                    1
                } body: {
                    _ = subject.compile(rule)
                }
            }
            if count > 0 {
                row.evaluate = sampler.sample { round in
                    subject.prepare(round % count)
                    return 1
                } body: {
                    subject.evaluate(rule)
                }
            }
            report.rules.append(row)
        }
        return report
    }
}

/// What was measured of one policy.
struct BenchReport {
    struct Rule {
        var name: String
        var compile: Sampler.Times?
        var evaluate: Sampler.Times?
    }

    var policy: String
    var inputs: Int
    var load: Sampler.Times
    var judge: Sampler.Times?
    var rules: [Rule] = []
}

/// What was measured, as text and JSON.
enum BenchText {
    static func pretty(_ report: BenchReport) -> String {
        var lines = [
            Figures.left(
                Layout.fit(
                    "\(report.policy), \(Figures.counted(report.inputs, "input"))", 42), 44)
                + right("min") + right("median") + right("p99") + Figures.right("allocations", 16)
        ]
        lines.append(row("load", report.load))
        if let judge = report.judge { lines.append(row("judge", judge)) }
        for rule in report.rules {
            if let compile = rule.compile { lines.append(row("compile \(rule.name)", compile)) }
            if let evaluate = rule.evaluate { lines.append(row("rule    \(rule.name)", evaluate)) }
        }
        return lines.joined(separator: "\n")
    }

    private static func row(_ name: String, _ times: Sampler.Times) -> String {
        let allocations = times.allocations.map(Figures.tenths) ?? "not counted"
        return Figures.left(Layout.fit("  " + name, 42), 44) + right(time(times.least))
            + right(time(times.median)) + right(time(times.p99))
            + Figures.right(allocations, 16)
    }

    private static func right(_ text: String) -> String { Figures.right(text, 12) }

    private static func time(_ nanoseconds: Double) -> String {
        if nanoseconds < 1e4 { return "\(Figures.grouped(Int64(nanoseconds.rounded()))) ns" }
        if nanoseconds < 1e7 { return "\(Figures.tenths(nanoseconds / 1e3)) µs" }
        return "\(Figures.tenths(nanoseconds / 1e6)) ms"
    }

    static func json(_ report: BenchReport) -> JSONValue {
        [
            "policy": .string(report.policy), "inputs": .int(Int64(report.inputs)),
            "load": json(report.load), "judge": report.judge.map(json) ?? .null,
            "rules": .array(
                report.rules.map { rule in
                    [
                        "rule": .string(rule.name), "compile": rule.compile.map(json) ?? .null,
                        "evaluate": rule.evaluate.map(json) ?? .null,
                    ]
                }),
        ]
    }

    private static func json(_ times: Sampler.Times) -> JSONValue {
        [
            "samples": .int(Int64(times.samples)), "minNanoseconds": .double(times.least),
            "medianNanoseconds": .double(times.median), "p99Nanoseconds": .double(times.p99),
            "allocations": times.allocations.map { .double($0) } ?? .null,
        ]
    }
}
