import Engine
import Glibc
import JSON
import Policies
import Time

/// `discern test`: runs the tests that lie beside policies.
enum TestCommand {
    static var command: Command {
        Command(
            name: "test", summary: "Run the tests beside policies.", positional: "[PATH…]",
            options: [
                .value(
                    "run", "r", "TEXT", "only tests whose `policy / section / name` contains it"),
                .flag("coverage", "c", "say what of each rule the tests have not seen"),
                .flag(
                    "annotate", nil, "with it the policies' text, marked where tests are lacking"),
                .value("coverage-html", nil, "FILE", "write that as one page of HTML"),
                .value(
                    "threshold", nil, "N", "end with 5 if less than N percent of branches are seen"),
                .flag("watch", "w", "run again whenever a file changes, until interrupted"),
                .value("jobs", "j", "N", "how many tests at a time (as many as processors)"),
                .value("format", "f", "FORMAT", "pretty (default), json or junit"),
                .flag("verbose", "v", "name the tests that pass as well"),
            ],
            discussion: """
                A failing test shows what was expected and what came, and of the rules involved
                every sub-expression with its value. A test is known by its file and its name,
                `policy / section / name`, which is unique in the file; --run looks at the name
                alone. To run the tests of one file, name it as PATH, with its policy's file
                unless it is called after that: payments_test.yaml after payments.yaml.

                Coverage counts, in the checked expressions, not in the text:
                  rules     a rule that matched, a limit that held, a reason that passed
                  nodes     sub-expressions that were evaluated
                  branches  conditions seen true and seen false: whole conditions, the operands of
                            &&, || and !, the choice of ?:, limits and reasons

                  discern test Policies --coverage --threshold 95
                  discern test Policies -r payments --annotate

                Without a PATH it is the folder Policies.
                Exit status: 0 all passed, 1 a path that cannot be read or written, 2 usage, 3 a
                file is invalid, 4 a test failed, 5 no test ran or too few branches were seen.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let options = try TestOptions(arguments)
        guard arguments.has("watch") else { return try once(options) }
        return TestWatch(paths: options.paths).run { try once(options) }
    }

    private static func once(_ options: TestOptions) throws -> Int32 {
        if let path = options.html { try Files.requireWritable(path) }
        let zones = SystemZones.load()
        let set: PolicySet
        switch try PolicyFiles.load(options.paths, zones: zones, orNothing: true) {
        case .invalid(let report):
            Terminal.say(report)
            return ExitStatus.invalidPolicies
        case .loaded(let loaded): set = loaded
        }
        let suite = PolicyTestSuite(set, zones: zones, measures: options.measures) {
            options.matches(policy: $0, section: $1, name: $2)
        }
        var report = suite.report(
            Parallel.map(suite.count, threads: options.jobs) { suite.run($0) })
        // What was not asked for is not lacking.
        if options.text != nil { report.coverage.removeAll { $0.tests == 0 } }
        switch options.format {
        case "json": Terminal.print(TestReport.json(report, showsCoverage: options.measures).text)
        case "junit": Terminal.print(TestReport.junit(report.results))
        default: pretty(report, options)
        }
        if let path = options.html {
            try Files.write(CoverageHTML.page(report.coverage), to: path)
            Terminal.say("coverage written to \(path)")
        }
        return status(report, set, options)
    }

    private static func pretty(_ report: PolicyTestReport, _ options: TestOptions) {
        Terminal.print(TestReport.pretty(report.results, isVerbose: options.isVerbose))
        guard options.measures, !report.results.isEmpty else { return }
        if options.annotates {
            for policy in report.coverage {
                Terminal.print(
                    "\n"
                        + CoverageText.annotated(
                            policy, columns: Terminal.columns(of: STDOUT_FILENO)))
            }
        }
        Terminal.print("\n" + CoverageText.pretty(report.coverage))
    }

    /// A failure wins over everything else that may be said.
    private static func status(
        _ report: PolicyTestReport, _ set: PolicySet, _ options: TestOptions
    ) -> Int32 {
        if report.hasFailed { return ExitStatus.testsFailed }
        if report.results.isEmpty {
            if let text = options.text, !set.tests.isEmpty {
                Terminal.say("no test ran: none of `policy / section / name` contains `\(text)`")
            } else if set.policies.isEmpty {
                Terminal.say("no test ran: \(PolicyFiles.nothing(in: options.paths))")
            } else {
                let places = options.paths.joined(separator: ", ")
                Terminal.say("no test ran: there are no tests beside the policies in \(places)")
            }
            return ExitStatus.nothingTested
        }
        guard let threshold = options.threshold else { return ExitStatus.fine }
        let branches = report.coverage.branches
        guard branches.percent < Double(threshold) else { return ExitStatus.fine }
        Terminal.say(
            "\(branches.covered) of \(branches.total) branches are seen, "
                + "\(Figures.share(branches)): below \(threshold) %")
        return ExitStatus.nothingTested
    }
}

/// What `discern test` was asked for.
struct TestOptions {
    let paths: [String]
    let format: String
    let text: String?
    let annotates: Bool
    let html: String?
    let threshold: Int?
    let jobs: Int?
    let isVerbose: Bool
    let measures: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        format = arguments["format"] ?? "pretty"
        guard ["pretty", "json", "junit"].contains(format) else {
            throw UsageError("--format is pretty, json or junit, not `\(format)`")
        }
        paths = arguments.paths
        text = arguments["run"]
        annotates = arguments.has("annotate")
        html = arguments["coverage-html"]
        threshold = try arguments.number("threshold", in: 0...100)
        jobs = try arguments.number("jobs", in: 1...256)
        isVerbose = arguments.has("verbose")
        measures = arguments.has("coverage") || annotates || html != nil || threshold != nil
    }

    /// With the policy's version, as results name it, or without.
    func matches(policy: String, section: String, name: String) -> Bool {
        guard let text else { return true }
        return [policy, String(policy.prefix { $0 != "@" })].contains {
            "\($0) / \(section) / \(name)".contains(text)
        }
    }
}

extension PolicyFiles {
    /// What reading and checking gave.
    enum Loaded {
        case loaded(PolicySet)
        case invalid(report: String)
    }

    /// Reads and checks what lies below paths, with the models that are found in other places.
    ///
    /// - Parameter orNothing: whether having found no files is good enough.
    static func load(
        _ paths: [String], zones: ZoneDatabase, models: ModelPlaces? = nil, orNothing: Bool = false
    ) throws -> Loaded {
        var found = try read(paths).get()
        guard orNothing || !found.files.isEmpty else { throw UsageError(nothing(in: paths)) }
        var loader = PolicyLoader(zones: zones)
        if let models {
            try models.complete(&found)
            loader.modelHelp = models.help
        }
        let load = loader.load(found.files)
        guard let set = load.set else {
            return .invalid(report: load.rendered(columns: Terminal.columns(of: STDERR_FILENO)))
        }
        return .loaded(set)
    }
}

extension PolicyFiles.Problem: CustomStringConvertible {
    var description: String { "\(path): \(message)" }
}
