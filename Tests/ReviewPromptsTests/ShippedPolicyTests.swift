import Foundation
import Policies
import ReviewPrompts
import Testing
import Time

/// The review policy that ships, read from its files and run by its own tests.
@Suite struct ShippedPolicyTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Policies")

    static func load() throws -> PolicySet {
        let names = ["transcripts-review.yaml", "transcripts-review_test.yaml"]
        let files = try names.map { name in
            PolicyLoader.File(
                path: "Policies/" + name,
                bytes: Array(try Data(contentsOf: folder.appending(path: name))))
        }
        let load = PolicyLoader(zones: TestZones.database).load(files)
        #expect(load.diagnostics.isEmpty, "\(load.diagnostics)")
        return try #require(load.set)
    }

    @Test(.enabled(if: TestZones.arePresent))
    func `it passes its own tests`() throws {
        let set = try Self.load()
        let policy = try #require(set.reviewPromptPolicies.first)
        var count = 0
        for case .reviewPrompt(let tests, path: _) in set.tests {
            for result in ReviewPrompts.run(tests, policy: policy, zones: TestZones.database) {
                count += 1
                for failure in result.failures {
                    Issue.record("line \(failure.line): \(result.name): \(failure.message)")
                }
            }
        }
        #expect(count == 15)
    }
}
