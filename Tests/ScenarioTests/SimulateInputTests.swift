import Foundation
import Testing

extension Scenarios.Simulations {
    /// What `discern simulate` and `discern presets` say to bad input.
    @Suite struct Input {
        private static let good =
            #"{"receivedAt":"2026-03-01T12:00:00Z","reason":"exportedVideo","subject":"anna","#
            + #""device":"phone","appVersion":"1.0","timeZone":"UTC","attributes":{"minutes":9}}"#

        struct Case: Sendable, CustomTestStringConvertible {
            var name: String
            var line: String
            /// All of these stand in the message.
            var says: [String]
            var testDescription: String { name }

            /// A line in which something stands in the place of something else.
            init(_ name: String, _ old: String, _ new: String, _ says: String...) {
                self.name = name
                line = good.replacing(old, with: new)
                self.says = says
            }
        }

        static let cases: [Case] = [
            Case("no JSON", "{\"rec", "rec", ":2:1: "),
            Case("cut short", "}}", "}", ":2:"),
            Case("no object", good, "[1]", ":2: a line is an object"),
            Case(
                "an unknown member", "\"subject\"", "\"user\"",
                ":2: `user`: there is no such member",
                "allowed: reason, subject, device, appVersion"),
            Case("a member left out", "\"subject\":\"anna\",", "", ":2: `subject`: it is missing"),
            Case(
                "no time", "\"receivedAt\":\"2026-03-01T12:00:00Z\",", "",
                ":2: `occurredAt`: neither it nor `receivedAt`"),
            Case(
                "a member twice", "\"device\"", "\"device\":\"a\",\"device\"",
                ":2: `device`: it stands twice"),
            Case("an empty id", "\"anna\"", "\"\"", ":2: `subject`: it is empty", "1 to 256 bytes"),
            Case(
                "a long id", "\"anna\"", "\"\(String(repeating: "é", count: 129))\"",
                ":2: `subject`: it has 258 bytes", "at most 256 bytes"),
            Case(
                "what a terminal obeys", "\"subject\"", "\"\\u001b[31m\"",
                ":2: `\u{FFFD}[31m`: there is no such member"),
            Case(
                "a control character", "\"anna\"", "\"an\\u0000na\"",
                ":2: `subject`: it has control characters"),
            Case("an id that is no text", "\"anna\"", "7", ":2: `subject`: it is no text: 7"),
            Case(
                "no instant", "2026-03-01T12:00:00Z", "yesterday",
                ":2: `receivedAt`: it is no time: \"yesterday\"", "2026-11-30T12:00:00Z"),
            Case(
                "a day that there is not", "2026-03-01", "2026-02-30",
                ":2: `receivedAt`: it is no time"),
            Case(
                "no zone", "\"UTC\"", "\"Mars/Base\"",
                ":2: `timeZone`: there is no such time zone: \"Mars/Base\"", "Europe/London"),
            Case(
                "a long version", "\"1.0\"", "\"\(String(repeating: "1", count: 65))\"",
                ":2: `appVersion`: it has 65 bytes", "at most 64 bytes"),
            Case(
                "no distribution", "\"timeZone\"", "\"distribution\":\"web\",\"timeZone\"",
                ":2: `distribution`: there is no such name: \"web\"",
                "appStore, testFlight, development"),
            Case(
                "no environment", "\"timeZone\"", "\"environment\":\"staging\",\"timeZone\"",
                ":2: `environment`: there is no such name: \"staging\"", "production, sandbox"),
            Case(
                "no truth", "\"timeZone\"", "\"activeScene\":\"no\",\"timeZone\"",
                ":2: `activeScene`: it is no truth value: \"no\"", "true, false"),
            Case(
                "no outcome", "\"timeZone\"", "\"outcome\":\"shown\",\"timeZone\"",
                ":2: `outcome`: there is no such outcome: \"shown\"",
                "requested, notRequested, silent"),
            Case(
                "a reason without its outcome", "\"timeZone\"",
                "\"outcomeReason\":\"later\",\"timeZone\"",
                ":2: `outcomeReason`: a reason needs"),
            Case(
                "a nested attribute", "\"minutes\":9", "\"minutes\":[9]",
                ":2: `attributes.minutes`: it is no scalar: an array"),
            Case(
                "an attribute twice", "\"minutes\":9", "\"minutes\":9,\"minutes\":8",
                ":2: `attributes.minutes`: it stands twice"),
            Case(
                "attributes that are none", "{\"minutes\":9}", "9",
                ":2: `attributes`: it is no object: 9"),
            Case("a null", "\"anna\"", "null", ":2: `subject`: it is missing"),
            Case(
                "before the one ahead of it", "2026-03-01", "2026-02-01",
                ":2: it came in at 2026-02-01T12:00:00.000Z, before the event ahead of it "
                    + "(2026-03-01T12:00:00.000Z)"),
        ]

        @Test(arguments: cases) func aBadLineIsNamed(_ test: Case) throws {
            try #require(test.line != Self.good, "the case changes nothing")
            let path = try Scenarios.Simulations.file([Self.good, test.line, Self.good])
            let run = try Program.run(["simulate", "transcripts", "--events", path])
            #expect(run.status == 1, "\(run.errors)")
            #expect(run.output.isEmpty, "nothing is told of a part")
            for text in test.says {
                #expect(run.errors.contains(text), "\(text) is missing in: \(run.errors)")
            }
            #expect(run.errors.contains(path + ":2:"))
        }

        @Test func aLineMayBeEmptyOrEndAsOnWindowsButNotTooLong() throws {
            let path = try Scenarios.Simulations.file([
                "", Self.good + "\r", "   ", Self.good,
            ])
            let run = try Program.run(["simulate", "transcripts", "--events", path, "-f", "json"])
            #expect(run.output.contains("\"donations\":2"), "\(run.errors)")
            for (length, status) in [(1 << 16, Int32(0)), ((1 << 16) + 1, 1)] {
                let blanks = String(repeating: " ", count: length - Self.good.utf8.count)
                try Files.write(Self.good + "\n" + Self.good + blanks + "\n", to: path)
                let run = try Program.run(["simulate", "transcripts", "--events", path])
                #expect(run.status == status, "\(length): \(run.errors)")
                #expect(run.errors.contains(":2: a line of more than") == (status == 1))
            }
        }

        /// Words after `simulate`, the status, and what is said. `EVENTS` is a good stream.
        static let calls: [(words: [String], status: Int32, says: String)] = [
            ([], 2, "name a policy, or a preset: apple-limits, gentle, transcripts, treaty"),
            (["gentle", "treaty", "--events", "EVENTS"], 2, "the other is named with --compare"),
            (["gentle"], 2, "name the donations: --events FILE.ndjson or --data DIR"),
            (["gentle", "--events", "EVENTS", "--data", "x"], 2, "exclude each other"),
            (["gentle", "--events", "/nowhere/e"], 1, "--events: /nowhere/e: No such file"),
            (["gentle", "--events", "/"], 1, "/: Is a directory"),
            (["gentle", "--data", "/nowhere"], 1, "there is no database"),
            (["gentle", "--events", "EVENTS", "-f", "xml"], 2, "--format is table or json"),
            (["gentle", "--events", "EVENTS", "-e", "test"], 2, "sandbox or production"),
            (["./nothing.yaml", "--events", "EVENTS"], 1, "./nothing.yaml: No such file"),
            (
                ["polite", "--events", "EVENTS", "-i", "ROOT/Policies"], 2,
                "there are transcripts-review@1"
            ),
            (["gentle", "-c", "polite", "--events", "EVENTS", "-i", "/nowhere"], 2, "no preset"),
            (["ROOT/Presets", "--events", "EVENTS"], 2, "several review policies"),
            (["ROOT/Policies/models", "--events", "EVENTS"], 2, "no review policy"),
            (
                ["ROOT/Fixtures/check/policy.emptyRule.yaml", "--events", "EVENTS"], 3,
                "[policy.emptyRule]"
            ),
            (
                ["gentle", "--events", "EVENTS", "--svg", "/nowhere/a.svg"], 1,
                "/nowhere/a.svg: No such"
            ),
            (
                ["gentle", "--events", "EVENTS", "--decisions", "/dev/full"], 1,
                "/dev/full: No space"
            ),
            (["gentle", "--events", "/dev/null"], 5, "there are no donations"),
            (["gentle", "--events", "EVENTS", "--svg", "EVENTS"], 2, "are one file"),
            (["gentle", "--events", "EVENTS", "-e", "sandbox"], 5, "there are no donations"),
            (
                ["OTHER", "--events", "EVENTS"], 5,
                "it knows none of their reasons: exportedVideo"
            ),
        ]

        @Test(arguments: calls.indices) func aBadCallIsAnswered(_ index: Int) throws {
            let call = Self.calls[index]
            let path = try Scenarios.Simulations.file([Self.good])
            let other = Scenarios.Simulations.path("yaml")
            try Files.write(
                "{kind: reviewPrompt, name: other, version: 1, reasons: {won: {atLeast: 1}}}",
                to: other)
            let words = call.words.map {
                $0.replacing("EVENTS", with: path).replacing("OTHER", with: other)
                    .replacing("ROOT", with: Scenarios.Simulations.root)
            }
            let run = try Program.run(["simulate"] + words)
            #expect(run.status == call.status, "\(words): \(run.errors)")
            #expect(run.errors.contains(call.says), "\(words): \(run.errors)")
            #expect(run.output.isEmpty)
        }

        @Test func namesBelowAFolderAreFound() throws {
            let path = try Scenarios.Simulations.file([Self.good])
            for name in ["transcripts-review", "transcripts-review@1"] {
                let run = try Program.run([
                    "simulate", name, "--events", path, "-i",
                    Scenarios.Simulations.root + "/Policies",
                ])
                #expect(run.status == 0, "\(run.errors)")
                #expect(run.output.hasPrefix("transcripts-review@1 over 1 donation of 1 person"))
            }
        }

        @Test func resultsThatAreLostAreAFailure() throws {
            let path = try Scenarios.Simulations.file([Self.good])
            for words in ["simulate gentle --events '\(path)'", "presets show gentle"] {
                let run = try Program.run(
                    ["-c", "'\(Program.path)' \(words) > /dev/full"], of: "/bin/sh")
                #expect(run.status == 1, "\(words)")
                #expect(run.errors.contains("could not be written"), "\(words)")
            }
        }

        // MARK: Presets

        static let presets = [
            ("apple-limits", "Presets/apple-limits.yaml"), ("gentle", "Presets/gentle.yaml"),
            ("transcripts", "Policies/transcripts-review.yaml"), ("treaty", "Presets/treaty.yaml"),
        ]

        @Test(arguments: presets.indices) func aPresetIsTheFileOfTheRepository(
            _ index: Int
        ) throws {
            let (name, path) = Self.presets[index]
            let run = try Program.run(["presets", "show", name])
            #expect(run.status == 0)
            #expect(run.output == Files.text(Scenarios.Simulations.root + "/" + path))
            let list = try Program.run(["presets", "list"])
            #expect(list.lines.count == Self.presets.count)
            #expect(list.lines.contains { $0.hasPrefix(name + " ") })
        }

        @Test func presetsAreSoundAndTheirTestsPass() throws {
            let folder = Scenarios.Simulations.root + "/Presets"
            let check = try Program.run(["check", folder])
            #expect(check.status == 0, "\(check.errors)")
            let test = try Program.run(["test", folder, "--threshold", "90"])
            #expect(test.status == 0, "\(test.output)\(test.errors)")
        }

        @Test func aPresetThatThereIsNotIsToldOf() throws {
            let run = try Program.run(["presets", "show", "polite"])
            #expect(run.status == 2)
            #expect(run.errors.contains("there are apple-limits, gentle, transcripts, treaty"))
        }
    }
}
