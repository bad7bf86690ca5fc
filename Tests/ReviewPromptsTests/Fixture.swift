import Foundation
import Policies
import Testing

/// The policies of `Fixtures/review`, read as the service reads them.
enum Fixture {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/review")

    /// A policy, with some of its text put otherwise; each text must stand in the file once.
    static func policy(_ name: String, _ changes: [String: String] = [:]) throws
        -> ReviewPromptPolicy
    {
        let data = try Data(contentsOf: folder.appending(path: name + ".yaml"))
        var text = String(decoding: data, as: UTF8.self)
        for (old, new) in changes {
            try #require(text.contains(old), "\(name) does not say \(old)")
            text = text.replacing(old, with: new)
        }
        let file = PolicyLoader.File(path: name + ".yaml", bytes: Array(text.utf8))
        let load = PolicyLoader(zones: TestZones.database).load([file])
        try #require(load.diagnostics.isEmpty, "\(load.rendered())")
        return try #require(load.set?.reviewPromptPolicies.first)
    }

    static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(".yaml".count)) }.sorted()
    }
}

extension Story {
    /// A story under a policy of `Fixtures/review`.
    static func of(_ fixture: String, _ changes: [String: String] = [:]) throws -> Story {
        Story(try Fixture.policy(fixture, changes))
    }
}

@Suite struct FixtureTests {
    @Test func everyPolicyIsReadWithoutAComplaint() throws {
        let names = try Fixture.names()
        #expect(names.count > 20)
        for name in names {
            let policy = try Fixture.policy(name)
            #expect(policy.name == name.lowercased())
        }
    }
}
