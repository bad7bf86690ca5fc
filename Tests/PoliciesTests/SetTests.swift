import JSON
import Policies
import Testing

/// Loading files together: all or nothing, in whatever order they come.
@Suite struct SetTests {
    private func file(_ path: String, _ text: String) -> PolicyLoader.File {
        .init(path: path, bytes: Array(text.utf8))
    }

    private func policy(_ name: String, _ version: Int, _ friction: String = "unchanged") -> String
    {
        "{kind: trust, name: \(name), version: \(version), categories: [payment], rule: {match: [{output: {friction: \(friction)}}]}}\n"
    }

    @Test func twoFilesOfOneVersionWithOtherContent() {
        let load = PolicyLoader().load([
            file("b.yaml", policy("a", 1, "increased")), file("a.yaml", policy("a", 1)),
        ])
        #expect(load.set == nil)
        #expect(load.diagnostics.map(\.code) == ["set.sameVersionOtherContent"])
        #expect(load.diagnostics[0].file == "b.yaml")
        #expect(load.diagnostics[0].help?.contains("a.yaml") == true)
    }

    @Test func anotherVersionIsFine() {
        let load = PolicyLoader().load([
            file("b.yaml", policy("a", 2)), file("a.yaml", policy("a", 1)),
        ])
        #expect(load.diagnostics == [])
        #expect(load.set?.policy("a")?.version == 2)
        #expect(load.set?.policy("a@1")?.version == 1)
        #expect(load.set?.policy("a@3") == nil)
    }

    @Test func twoPoliciesForACategoryAreAWarning() {
        let load = PolicyLoader().load([
            file("b.yaml", policy("b", 1)), file("a.yaml", policy("a", 1)),
            file("a2.yaml", policy("a", 2)),
        ])
        #expect(load.set != nil)
        #expect(load.diagnostics.map(\.code) == ["set.categoryTaken"])
        #expect(load.diagnostics[0].file == "b.yaml")
        #expect(load.diagnostics[0].message == "`b` and `a` are both for `payment`")
    }

    @Test func oneBadFileAndThereIsNoSet() {
        let load = PolicyLoader().load([
            file("good.yaml", policy("a", 1)), file("empty.yaml", "# nothing\n"),
        ])
        #expect(load.set == nil)
        #expect(load.files.map(\.path) == ["empty.yaml", "good.yaml"])
        #expect(load.files.map(\.role) == [.unusable, .trust])
        #expect(load.files[1].reference == "a@1")
    }

    @Test func theOrderOfFilesDoesNotMatter() {
        let files = [
            file("c.yaml", policy("c", 1)), file("a.yaml", policy("a", 1, "reduced")),
            file("b.yaml", "kind: nothing\n"), testModel,
        ]
        let forward = PolicyLoader().load(files)
        let backward = PolicyLoader().load(files.reversed())
        #expect(forward.files == backward.files)
        #expect(forward.diagnostics == backward.diagnostics)
    }

    @Test func oneFileGivenTwice() {
        let one = file("a.yaml", policy("a", 1))
        let load = PolicyLoader().load([one, one])
        #expect(load.diagnostics == [])
        #expect(load.files.count == 1)
        let other = PolicyLoader().load([one, file("a.yaml", policy("a", 2))])
        #expect(other.diagnostics.map(\.code) == ["set.sameFileTwice"])
    }

    @Test func theDigestIsOfTheExactBytes() throws {
        let text = policy("a", 1)
        let load = PolicyLoader().load([file("a.yaml", text)])
        let other = PolicyLoader().load([file("a.yaml", text + "# more\n")])
        let digest = try #require(load.set?.trustPolicies.first?.digest)
        #expect(digest.count == 64)
        #expect(load.files[0].digest == digest)
        #expect(other.files[0].digest != digest)
        #expect(load.set?.trustPolicies.first?.source.bytes == Array(text.utf8))
    }

    @Test func drawsFindings() {
        let load = PolicyLoader().load([
            file("p.yaml", "kind: trust\nname: a\nversion: 1\ncategories: [payment]\nrule:\n\tx\n")
        ])
        #expect(load.rendered().hasPrefix("p.yaml:6:1: error: "))

        let typo = PolicyLoader().load([
            file("p.yaml", policy("a", 1).replacing("output:", with: "condtion: 'true', output:"))
        ])
        #expect(
            typo.rendered()
                == """
                p.yaml:1:80: error: a match has no key `condtion` [policy.unknownKey]
                  {kind: trust, name: a, version: 1, categories: [payment], rule: {match: [{condtion: 'true', outpu…
                \(String(repeating: " ", count: 76))^^^^^^^^
                  help: did you mean `condition`?

                """.replacing(":1:80:", with: ":1:75:"))
    }

    @Test func givesFindingsAsJSON() {
        let load = PolicyLoader().load([file("p.yaml", "kind: trsut\n")])
        guard let finding = load.json["diagnostics"]?.arrayValue?.first else {
            Issue.record("no findings")
            return
        }
        #expect(finding["code"]?.stringValue == "policy.unknownKind")
        #expect(finding["file"]?.stringValue == "p.yaml")
        #expect(finding["start"]?["line"]?.intValue == 1)
        #expect(finding["start"]?["column"]?.intValue == 7)
        #expect(finding["help"]?.stringValue == "did you mean `trust`?")
        #expect(load.json["files"]?.arrayValue?.count == 1)
    }
}
