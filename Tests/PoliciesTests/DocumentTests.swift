import CEL
import Foundation
import Policies
import Testing

/// docs/policy-language.md: its examples load, its expressions hold, its codes are all there are.
@Suite struct DocumentTests {
    private static func document() throws -> String {
        let url = ShippedPolicies.folder.deletingLastPathComponent()
            .appending(path: "docs/policy-language.md")
        return String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }

    /// The blocks that are fenced under that name.
    private static func blocks(_ name: String) throws -> [String] {
        let parts = try document().components(separatedBy: "```\(name)\n").dropFirst()
        return try parts.map { part in
            try #require(part.components(separatedBy: "\n```").first) + "\n"
        }
    }

    @Test func examplesLoadWithoutAFinding() throws {
        var files = [try ShippedPolicies.file("models/coached-scorecard.yaml")]
        let policies = try Self.blocks("yaml policy")
        let tests = try Self.blocks("yaml tests")
        #expect(policies.count == 2 && tests.count == 2)
        for (index, text) in policies.enumerated() {
            files.append(.init(path: "\(index).yaml", bytes: Array(text.utf8)))
        }
        for (index, text) in tests.enumerated() {
            files.append(.init(path: "\(index)_test.yaml", bytes: Array(text.utf8)))
        }
        let load = PolicyLoader().load(files)
        #expect(load.diagnostics.isEmpty, "\(load.rendered())")
        #expect(load.set?.policies.count == 2 && load.set?.tests.count == 2)
    }

    @Test func thePlainExampleLoadsWithItsEnvironment() throws {
        let policy = try #require(Self.blocks("yaml plain").first)
        let environment = try #require(Self.blocks("yaml environment").first)
        let load = plain(policy, config: environment)
        #expect(load.diagnostics.isEmpty, "\(load.rendered())")
        #expect(load.plainPolicy?.resultType == .optional(.string))
    }

    @Test func expressionsHold() throws {
        let lines = try #require(Self.blocks("cel").first).split(separator: "\n")
        #expect(lines.count > 10)
        for line in lines {
            let compiled = Environment().compile(String(line))
            let program = try #require(compiled.program, "\(line): \(compiled.diagnostics)")
            var activation = Activation(Environment())
            #expect(program.evaluate(&activation).value == .bool(true), "\(line)")
        }
    }

    @Test func everyCodeIsExplainedOnce() throws {
        let section = try #require(
            Self.document().components(separatedBy: "## What `check` says").last?
                .components(separatedBy: "\n## ").first)
        let listed = section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
            String($0.dropFirst(3).prefix { $0 != "`" })
        }
        #expect(listed.sorted() == Code.allCases.map(\.rawValue).sorted())
    }
}
