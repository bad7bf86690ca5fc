import CELConformance
import Glibc
import JSON
import Time

/// `discern cel conformance FILE|DIR…`: runs CEL's conformance suite in its JSON form.
func celConformance(arguments: [String]) -> Int32 {
    let paths = arguments.filter { $0 != "--" }
    if let option = paths.first(where: { $0.hasPrefix("--") }) {
        complain("unknown option `\(option)`\nusage: discern cel conformance FILE|DIR…")
        return CELExit.usage
    }
    guard !paths.isEmpty else {
        complain("no file is given\nusage: discern cel conformance FILE|DIR…")
        return CELExit.usage
    }
    var report = ConformanceReport(runner: ConformanceRunner(zones: SystemZones.load()))
    for path in paths {
        let files = Files.isFolder(path) ? Files.list(path, ending: ".json") : [path]
        guard !files.isEmpty else {
            complain("\(path): no .json file in this folder")
            return CELExit.inputOutput
        }
        for file in files where !report.add(file) { return CELExit.inputOutput }
    }
    report.finish()
    return report.failed > 0 ? CELExit.failed : CELExit.ok
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
            complain("\(path): \(String(cString: strerror(errno)))")
            return false
        }
        let name = Files.name(path)
        do {
            let json = try JSONReader.parse(bytes, limits: JSONLimits(bytes: 64 << 20))
            run(try ConformanceFile(name: name, json))
            return true
        } catch let error as JSONError {
            complain("\(path): \(error.message) at offset \(error.offset)")
        } catch {
            complain("\(path): \(error)")
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
                write(
                    "FAIL \(test.id): \(test.expression)\n  expected \(expected)\n"
                        + "  actual   \(actual)\n", to: STDOUT_FILENO)
            case .skipped(let reason):
                counts.skipped += 1
                skipped[reason, default: 0] += 1
            }
        }
        passed += counts.passed
        failed += counts.failed
        let rest = counts.skipped > 0 ? ", \(counts.skipped) skipped" : ""
        write(
            "\(file.name): \(counts.passed) passed, \(counts.failed) failed\(rest)\n",
            to: STDOUT_FILENO)
    }

    func finish() {
        for (need, counts) in byNeed.sorted(by: { $0.key < $1.key }) {
            write(
                "needs \(need): \(counts.passed) passed, \(counts.failed) failed\n",
                to: STDOUT_FILENO)
        }
        for (reason, count) in skipped.sorted(by: { $0.key < $1.key }) {
            write("\(count) skipped: \(reason)\n", to: STDOUT_FILENO)
        }
        write("\(passed) passed, \(failed) failed\n", to: STDOUT_FILENO)
    }
}
