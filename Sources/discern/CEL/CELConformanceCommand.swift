import CELConformance
import Glibc
import JSON
import Time

extension CELCommands {
    static var conformance: Command {
        Command(
            name: "cel conformance", summary: "Run conformance suites of CEL and CEL policies.",
            positional: "FILE|DIR…",
            discussion: """
                A .json file is a part of CEL's suite in its JSON form. A folder is searched for
                such files and for cases of CEL policies: a case is a folder with `policy.yaml`,
                and `config.yaml` and `tests.yaml` beside it. What a case must give beyond its
                tests (findings with line, column and message, result types) is read from
                `expectations.json` in the folder above.

                Prints every failure, and passed and failed per file or case and in all.
                Exit status: 0 all passed, 4 something failed.
                """
        ) { arguments in
            guard !arguments.positional.isEmpty else { throw UsageError("no file is given") }
            return runSuite(arguments.positional)
        }
    }

    private static func runSuite(_ paths: [String]) -> Int32 {
        var report = ConformanceReport(zones: SystemZones.load())
        for path in paths {
            do {
                if Files.isFolder(path) {
                    let suite = try ConformanceFiles(below: path)
                    suite.files.forEach { report.add($0) }
                    suite.cases.forEach { report.add($0.content, $0.expectations) }
                } else {
                    report.add(try ConformanceFiles.suiteFile(path))
                }
            } catch {
                Terminal.say(error.message)
                return ExitStatus.failure
            }
        }
        report.finish()
        return report.failed > 0 ? ExitStatus.testsFailed : ExitStatus.fine
    }
}

private struct ConformanceReport {
    let runner: ConformanceRunner
    let policyRunner: PolicyConformanceRunner
    var passed = 0
    var failed = 0
    var skipped: [String: Int] = [:]
    /// Passed and failed by what tests need.
    var byNeed: [String: (passed: Int, failed: Int)] = [:]

    init(zones: ZoneDatabase) {
        runner = ConformanceRunner(zones: zones)
        policyRunner = PolicyConformanceRunner(zones: zones)
    }

    mutating func add(_ file: ConformanceFile) {
        let results = file.tests.map { test in
            (
                id: "\(test.id): \(test.expression)", need: test.needs.joined(separator: "+"),
                outcome: runner.run(test)
            )
        }
        count(file.name, results)
    }

    mutating func add(_ policyCase: PolicyCase, _ expectations: PolicyExpectations) {
        let results = policyRunner.run(policyCase, expectations).map {
            (id: $0.id, need: "policy", outcome: $0.outcome)
        }
        count("policy \(policyCase.name)", results)
    }

    private mutating func count(
        _ name: String, _ results: [(id: String, need: String, outcome: ConformanceOutcome)]
    ) {
        var counts = (passed: 0, failed: 0, skipped: 0)
        for (id, need, outcome) in results {
            switch outcome {
            case .passed:
                counts.passed += 1
                byNeed[need, default: (0, 0)].passed += 1
            case .failed(let expected, let actual):
                counts.failed += 1
                byNeed[need, default: (0, 0)].failed += 1
                Terminal.print("FAIL \(id)\n  expected \(expected)\n  actual   \(actual)")
            case .skipped(let reason):
                counts.skipped += 1
                skipped[reason, default: 0] += 1
            }
        }
        passed += counts.passed
        failed += counts.failed
        let rest = counts.skipped > 0 ? ", \(counts.skipped) skipped" : ""
        Terminal.print("\(name): \(counts.passed) passed, \(counts.failed) failed\(rest)")
    }

    func finish() {
        for (need, counts) in byNeed.sorted(by: { $0.key < $1.key }) {
            Terminal.print("needs \(need): \(counts.passed) passed, \(counts.failed) failed")
        }
        for (reason, count) in skipped.sorted(by: { $0.key < $1.key }) {
            Terminal.print("\(count) skipped: \(reason)")
        }
        Terminal.print("\(passed) passed, \(failed) failed")
    }
}
