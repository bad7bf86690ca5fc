import Foundation
import JSON
import Testing

extension Scenarios {
    /// `check`, `fmt` and `diff` as a person or a build calls them.
    @Suite struct RuleTools {
        private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path

        private static let good = """
            kind: trust
            name: sample
            version: 1
            categories: [payment]
            attributes:
              amount: {type: double, min: 0}
            rule:
              match:
                - {id: large, condition: attributes.amount > 500.0, output: {friction: increased}}
                - {id: last, output: {friction: unchanged}}

            """

        private static func folder(_ files: [String: String]) throws -> TemporaryFolder {
            let folder = try TemporaryFolder()
            for (name, text) in files { try Files.write(text, to: folder.path + "/" + name) }
            return folder
        }

        static let checks: [(String, [String: String], [String], Int32)] = [
            ("fine", ["p.yaml": good], [], 0),
            ("fine, strictly", ["p.yaml": good], ["--strict"], 0),
            ("an error", ["p.yaml": good.replacing("condition", with: "conditon")], [], 3),
            ("a warning", ["p.yaml": good.replacing("> 500.0", with: ">= 0.0")], [], 0),
            (
                "a warning, strictly", ["p.yaml": good.replacing("> 500.0", with: ">= 0.0")],
                ["--strict"], 3
            ),
            ("an empty file", ["p.yaml": "# nothing\n"], [], 3),
            ("a file and one with nothing in it", ["p.yaml": good, "q.yaml": ""], [], 3),
            (
                "two files of one version", ["p.yaml": good, "q.yaml": good + "description: a\n"],
                [], 3
            ),
            ("an empty folder", [:], [], 2),
            ("a folder without policies", ["readme.txt": "hello"], [], 2),
            ("an unknown format", ["p.yaml": good], ["-f", "xml"], 2),
            (
                "a fault that can be mended",
                ["p.yaml": good.replacing("condition", with: "conditon")], ["--fix"], 0
            ),
        ]

        @Test(arguments: checks) func checkEndsWith(
            _ name: String, _ files: [String: String], _ options: [String], _ status: Int32
        ) throws {
            let folder = try Self.folder(files)
            let outcome = try Program.run(["check", folder.path] + options)
            #expect(outcome.status == status, "\(name): \(outcome.errors)")
            #expect(status == 0 || !outcome.errors.isEmpty, "\(name)")
        }

        private static let tests = """
            policy: sample
            section:
              - name: amounts
                tests:
                  - {name: one, input: {attributes: {amount: 9.0}}, expect: {friction: unchanged}}
                  - {name: one, input: {attributes: {amount: 900.0}}, expect: {friction: increased}}

            """

        private static let card = """
            kind: scorecard
            name: card
            version: 1
            method: points
            inputs:
              - name: device.value
                weight: 1
                bands: [{from: 0.2, points: 0.1}, {from: 0.5, points: 0.4}]
            provenance: {author: the tests}

            """

        private static func expectRefused(
            _ files: [String: String], _ place: String, _ code: String
        ) throws {
            let folder = try folder(files)
            let outcome = try Program.run(["check", folder.path])
            #expect(outcome.status == 3)
            let found = outcome.errors.split(separator: "\n").contains {
                $0.hasPrefix("\(folder.path)/\(place): error: ") && $0.hasSuffix(" [\(code)]")
            }
            #expect(found, "\(outcome.errors)")
        }

        @Test func caseE14_aMisspeltKeyIsNamedWithItsPlaceAndTheNearestOne() throws {
            try Self.expectRefused(
                ["p.yaml": Self.good.replacing("condition", with: "conditon")], "p.yaml:9:19",
                "policy.unknownKey")
        }

        @Test func caseE20_bandsWithAGapAreRefused() throws {
            try Self.expectRefused(["m.yaml": Self.card], "m.yaml:8:20", "model.bandOrder")
        }

        @Test func caseE21_namesOfTheEngineAreReserved() throws {
            try Self.expectRefused(
                ["p.yaml": Self.good.replacing("  amount:", with: "  now:")], "p.yaml:6:3",
                "policy.reservedName")
        }

        @Test func caseE41_aBlockThatIsCutShortIsRefused() throws {
            let cut = Self.good.replacing(
                "{id: large, condition: attributes.amount > 500.0, output: {friction: increased}}",
                with: """
                    condition: >
                            attributes.amount > 500.0 &&
                          attributes.amount < 900.0
                          output: {friction: increased}
                    """)
            try Self.expectRefused(["p.yaml": cut], "p.yaml:12:7", "yaml.syntax")
        }

        @Test func twoTestsOfOneNameAreRefused() throws {
            try Self.expectRefused(
                ["sample.yaml": Self.good, "sample_test.yaml": Self.tests],
                "sample_test.yaml:6:16", "policy.duplicateName")
        }

        /// The other files are looked at all the same.
        @Test func aFileOfAFolderThatCannotBeReadIsAFinding() throws {
            let folder = try Self.folder(["p.yaml": Self.good, "r.yaml": "kind: trust\n"])
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/q.yaml", withDestinationPath: "/nowhere.yaml")
            let outcome = try Program.run(["check", folder.path])
            #expect(outcome.status == 3)
            #expect(
                outcome.errors.contains(
                    "\(folder.path)/q.yaml:1:1: error: the file cannot be read: No such file or "
                        + "directory [policy.unreadable]\n"), "\(outcome.errors)")
            #expect(outcome.errors.contains("r.yaml:1:1: error: a trust policy needs"))
            #expect(outcome.output.contains("p.yaml: trust sample@1\n"))
            let named = try Program.run(["check", folder.path + "/q.yaml"])
            #expect(named.status == 1 && named.errors.contains("q.yaml: No such file"))
            // Whose test it is, may stand in the file that cannot be read.
            try Files.write("policy: simple\n", to: folder.path + "/q_test.yaml")
            let again = try Program.run(["check", folder.path])
            #expect(!again.errors.contains("did you mean"), "\(again.errors)")
            let fmt = try Program.run(["fmt", "--check", folder.path])
            #expect(fmt.status == 3 && fmt.errors.contains("q.yaml: left as it is: No such file"))
        }

        @Test func aPathThatIsNotThereIsAFailure() throws {
            for command in [["check"], ["fmt"], ["diff", "/nowhere.yaml"]] {
                let outcome = try Program.run(command + ["/nowhere.yaml"])
                #expect(outcome.status == 1, "\(command) \(outcome.errors)")
                #expect(outcome.errors.contains("/nowhere.yaml: No such file"), "\(outcome.errors)")
            }
        }

        @Test func fixWritesWhatChecksBetterAndNothingElse() throws {
            let folder = try Self.folder([
                "p.yaml": Self.good.replacing("condition", with: "conditon"),
                "q.yaml": Self.good.replacing("sample", with: "other")
                    .replacing("amount > 500.0", with: "sum > 500.0"),
            ])
            let other = Files.text(folder.path + "/q.yaml")
            let outcome = try Program.run(["check", "--fix", folder.path])
            #expect(outcome.status == 3)
            #expect(Files.text(folder.path + "/p.yaml") == Self.good)
            #expect(Files.text(folder.path + "/q.yaml") == other)
            #expect(outcome.errors.contains("fixed: a match has no key `conditon`"))
            #expect(Files.all(in: folder.path).count == 2)
        }

        @Test func editorsReadRangesAndEdits() throws {
            let folder = try Self.folder([
                "p.yaml": Self.good.replacing("condition", with: "conditon")
            ])
            let outcome = try Program.run(["check", "-f", "json", folder.path])
            let json = try JSONReader.parse(Array(outcome.output.utf8))
            let finding = try #require(json["diagnostics"]?.arrayValue?.first)
            #expect(finding["code"] == "policy.unknownKey")
            #expect(finding["start"] == ["line": 9, "column": 19])
            #expect(finding["end"] == ["line": 9, "column": 27])
            let edit = try #require(finding["fix"]?["edits"]?.arrayValue?.first)
            #expect(edit["replacement"] == "condition" && edit["start"] == finding["start"])
        }

        @Test func fmtLaysOutOnceAndSaysWhat() throws {
            let folder = try Self.folder([
                "p.yaml": Self.good.replacing("> 500.0", with: ">500.0"), "q.yaml": Self.good,
            ])
            let paths = ["p.yaml", "q.yaml"].map { folder.path + "/" + $0 }
            let check = try Program.run(["fmt", "--check", folder.path])
            #expect(check.status == 3 && check.lines == [paths[0]])
            let diff = try Program.run(["fmt", "--diff", folder.path])
            #expect(diff.status == 0)
            #expect(diff.lines.contains { $0.hasPrefix("-") && $0.contains(">500.0") })
            #expect(diff.lines.contains { $0.hasPrefix("+") && $0.contains("> 500.0") })
            #expect(Files.text(paths[0]) != Self.good)
            let written = try Program.run(["fmt", folder.path])
            #expect(written.status == 0 && written.lines == [paths[0]])
            #expect(Files.text(paths[0]) == Self.good)
            #expect(try Program.run(["fmt", "--check", folder.path]).status == 0)
        }

        @Test func fmtLeavesWhatItCannotLayOut() throws {
            let folder = try Self.folder(["p.yaml": "kind: [trust\n"])
            let outcome = try Program.run(["fmt", folder.path])
            #expect(outcome.status == 3 && outcome.errors.contains("left as it is"))
            #expect(Files.text(folder.path + "/p.yaml") == "kind: [trust\n")
        }

        @Test(arguments: [
            ("attributes.amount >", "expected"),
            (String(repeating: "true || ", count: 20_000) + "true", "10000 bytes"),
        ])
        func fmtRefusesWhatIsNoExpression(expression: String, part: String) throws {
            let text = Self.good.replacing("attributes.amount > 500.0", with: "'\(expression)'")
            let folder = try Self.folder(["p.yaml": text])
            let run = try Program.run(["fmt", "--check", folder.path])
            #expect(run.status == 3)
            #expect(run.errors.contains("p.yaml:9: left as it is: "), "\(run.errors.prefix(300))")
            #expect(run.errors.contains(part), "\(run.errors.prefix(300))")
        }

        /// What a run that was killed left is taken over, and what cannot be written is counted.
        @Test func aDraftIsTakenOver() throws {
            let folder = try Self.folder(["p.yaml": Self.good.replacing("> 500.0", with: ">500.0")])
            let path = folder.path + "/p.yaml"
            try Files.write(String(repeating: "x", count: 10_000), to: path + ".discern-draft")
            let run = try Program.run(["fmt", folder.path])
            #expect(run.status == 0 && run.lines == [path], "\(run.errors)")
            #expect(Files.text(path) == Self.good)
            #expect(Files.all(in: folder.path) == [path])
        }

        @Test(.enabled(if: SmallDisk.isPossible, "no file system can be mounted"))
        func fmtOnAFullDiskLeavesTheFile() throws {
            let disk = try SmallDisk(kibibytes: 256)
            let text = Self.good.replacing("> 500.0", with: ">500.0")
            try Files.write(text, to: disk.path + "/p.yaml")
            disk.fill()
            let run = try Program.run(["fmt", disk.path])
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(run.errors.contains("No space left"), "\(run.errors)")
            #expect(run.errors.contains("1 file, 0 laid out, 1 could not be written\n"))
            #expect(Files.text(disk.path + "/p.yaml") == text)
        }

        @Test func fmtSaysWhichExpressionsStayAsTheyAre() throws {
            let commented = Self.good.replacing(
                "attributes.amount > 500.0, output",
                with: "\"attributes.amount>5.0 // five\", output"
            ).replacing("friction: unchanged", with: "friction:   unchanged")
            let folder = try Self.folder(["p.yaml": commented, "q.yaml": Self.good])
            let run = try Program.run(["fmt", folder.path])
            #expect(run.status == 0)
            let told = run.errors.split(separator: "\n").filter { $0.contains("comments") }
            #expect(
                told == [
                    "\(folder.path)/p.yaml: expressions with comments are left as they are: line 9"
                ])
            let text = Files.text(folder.path + "/p.yaml")
            #expect(text.contains("attributes.amount>5.0 // five"))
            #expect(text.contains("friction: unchanged"), "the rest is laid out")
            let expression = try Program.run(["cel", "fmt", "a&&b // both"])
            #expect(expression.output == "a&&b // both\n" && expression.errors.contains("comments"))
        }

        @Test func expressionsAreLaidOut() throws {
            #expect(try Program.run(["cel", "fmt", "a&&(b)"]).output == "a && b\n")
            #expect(try Program.run(["cel", "fmt", "a &&"]).status == 3)
        }

        @Test func diffSaysWhatMeansSomethingElse() throws {
            let folder = try Self.folder([
                "one.yaml": Self.good,
                "two.yaml": Self.good.replacing("version: 1", with: "version: 2")
                    .replacing("> 500.0", with: "> 900.0"),
                "three.yaml": "# Only laid out in another way.\n"
                    + Self.good.replacing("version: 1", with: "version: 3")
                    .replacing("attributes.amount > 500.0", with: "500.0 < attributes.amount"),
            ])
            let path = { folder.path + "/" + $0 }
            let changed = try Program.run(["diff", path("one.yaml"), path("two.yaml")])
            #expect(changed.status == 0)
            #expect(changed.lines.first == "sample@1 → sample@2")
            #expect(changed.output.contains("rule large: condition (narrower"))
            let same = try Program.run(["diff", "sample@1", "sample@3", "--in", folder.path])
            #expect(same.status == 0)
            #expect(same.output == "sample@1 → sample@3: no change of meaning\n")
            let json = try Program.run(["diff", "-f", "json", path("one.yaml"), path("two.yaml")])
            let policies = try JSONReader.parse(Array(json.output.utf8))["policies"]?.arrayValue
            #expect(policies?.first?["changes"]?.arrayValue?.first?["relation"] == "narrower")
            #expect(
                try Program.run(["diff", "sample@1", "sample@9", "--in", folder.path]).status == 2)
        }

        @Test func diffCountsTheDecisionsThatChange() throws {
            let data = try TemporaryFolder()
            let made = try Program.run(
                ["evaluations", data.path + "/data", "2000", "7"],
                of: Program.built("fixture-generator"))
            try #require(made.status == 0, "\(made.errors)")
            let old = Self.root + "/Policies"
            let new = try TemporaryFolder()
            try Files.copy(old, to: new.path)
            let path = new.path + "/transcripts-payments.yaml"
            try Files.write(
                Files.text(path).replacing("version: 3", with: "version: 4")
                    .replacing("payments1h > 3", with: "payments1h >= 0"), to: path)
            let outcome = try Program.run([
                "diff", "-f", "json", "--data", data.path + "/data",
                old + "/transcripts-payments.yaml", path,
            ])
            try #require(outcome.status == 0, "\(outcome.errors)")
            let decisions = try #require(
                try JSONReader.parse(Array(outcome.output.utf8))["policies"]?.arrayValue?
                    .first?["decisions"])
            #expect(decisions["evaluations"]?.intValue ?? 0 > 1_000)
            #expect(decisions["changed"]?.intValue ?? 0 > 0)
            #expect(decisions["examples"]?.arrayValue?.isEmpty == false)
            let same = try Program.run([
                "diff", "-f", "json", "--data", data.path + "/data",
                old + "/transcripts-payments.yaml", old + "/transcripts-payments.yaml",
            ])
            let none = try JSONReader.parse(Array(same.output.utf8))["policies"]?.arrayValue?
                .first?["decisions"]
            #expect(none?["changed"] == 0 && none?["evaluations"] == decisions["evaluations"])
        }
    }
}
