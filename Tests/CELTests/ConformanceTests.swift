import CELConformance
import Foundation
import JSON
import Testing
import Time

/// Tests of the suite that do not pass, each with its reason. The list can only shrink: a test that
/// passes although it is listed fails the run.
private let knownFailures: [String: String] = [:]

private let folder = ProcessInfo.processInfo.environment["DISCERN_CONFORMANCE"].map { $0 + "/cel" }

@Suite(
    "Conformance with the CEL specification",
    .enabled(if: folder != nil, "set DISCERN_CONFORMANCE to the folder of the suites"))
struct ConformanceTests {
    private func files() throws -> [ConformanceFile] {
        let folder = try #require(folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".json") }.sorted()
        return try names.map { name in
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
            let json = try JSONReader.parse(Array(bytes), limits: JSONLimits(bytes: 64 << 20))
            return try ConformanceFile(name: String(name.dropLast(5)), json)
        }
    }

    /// The zones that the suite names.
    private func zones() -> ZoneDatabase {
        let names = [
            "America/St_Johns", "Asia/Kathmandu", "Australia/Sydney", "US/Central",
            "Europe/London", "America/Los_Angeles", "UTC",
        ]
        var zones: [String: ZoneRules] = [:]
        for name in names {
            let url = URL(fileURLWithPath: "/usr/share/zoneinfo/" + name)
            guard let bytes = try? Data(contentsOf: url) else { continue }
            zones[name] = try? ZoneRules(name: name, tzif: Array(bytes))
        }
        return ZoneDatabase(zones: zones, digest: "system")
    }

    @Test func suite() throws {
        let runner = ConformanceRunner(zones: zones())
        var ran = 0
        for file in try files() {
            for test in file.tests {
                switch runner.run(test) {
                case .skipped: continue
                case .passed:
                    #expect(
                        knownFailures[test.id] == nil, "\(test.id) passes: take it off the list")
                case .failed(let expected, let actual):
                    if knownFailures[test.id] == nil {
                        Issue.record(
                            "\(test.id): \(test.expression): expected \(expected), got \(actual)")
                    }
                }
                ran += 1
            }
        }
        #expect(ran > 0)
    }
}
