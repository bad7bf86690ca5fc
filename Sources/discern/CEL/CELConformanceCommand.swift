import CELConformance
import Glibc
import JSON
import Time

extension CELCommands {
    static var conformance: Command {
        Command(
            name: "cel conformance", summary: "Run CEL's conformance suite in its JSON form.",
            positional: "FILE|DIR…",
            discussion: "Prints every failure, and passed and failed per file and in all."
        ) { arguments in
            guard !arguments.positional.isEmpty else { throw UsageError("no file is given") }
            return runSuite(arguments.positional)
        }
    }

    private static func runSuite(_ paths: [String]) -> Int32 {
        var report = ConformanceReport(runner: ConformanceRunner(zones: SystemZones.load()))
        for path in paths {
            let files = Files.isFolder(path) ? Files.list(path, ending: ".json") : [path]
            guard !files.isEmpty else {
                Terminal.say("\(path): no .json file in this folder")
                return ExitStatus.failure
            }
            for file in files where !report.add(file) { return ExitStatus.failure }
        }
        report.finish()
        return report.failed > 0 ? ExitStatus.testsFailed : ExitStatus.fine
    }
}

private struct ConformanceReport {
    let runner: ConformanceRunner
    var passed = 0
    var failed = 0
    var skipped: [String: Int] = [:]
    /// Passed and failed by what tests need.
    var byNeed: [String: (passed: Int, failed: Int)] = [:]

    init(runner: ConformanceRunner) { self.runner = runner }

    mutating func add(_ path: String) -> Bool {
        guard let bytes = Files.read(path) else {
            Terminal.say("\(path): \(String(cString: strerror(errno)))")
            return false
        }
        let name = Files.name(path)
        do {
            let json = try JSONReader.parse(bytes, limits: JSONLimits(bytes: 64 << 20))
            run(try ConformanceFile(name: name, json))
            return true
        } catch let error as JSONError {
            Terminal.say("\(path): \(error.message) at offset \(error.offset)")
        } catch {
            Terminal.say("\(path): \(error)")
        }
        return false
    }

    private mutating func run(_ file: ConformanceFile) {
        var counts = (passed: 0, failed: 0, skipped: 0)
        for test in file.tests {
            let need = test.needs.joined(separator: "+")
            switch runner.run(test) {
            case .passed:
                counts.passed += 1
                byNeed[need, default: (0, 0)].passed += 1
            case .failed(let expected, let actual):
                counts.failed += 1
                byNeed[need, default: (0, 0)].failed += 1
                Terminal.print(
                    "FAIL \(test.id): \(test.expression)\n  expected \(expected)\n"
                        + "  actual   \(actual)")
            case .skipped(let reason):
                counts.skipped += 1
                skipped[reason, default: 0] += 1
            }
        }
        passed += counts.passed
        failed += counts.failed
        let rest = counts.skipped > 0 ? ", \(counts.skipped) skipped" : ""
        Terminal.print("\(file.name): \(counts.passed) passed, \(counts.failed) failed\(rest)")
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
