import Foundation
import JSON
import Testing

extension Scenarios {
    /// What a person sees in a terminal of 100 columns.
    @Suite struct Terminals {
        private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path

        /// Runs a command in a terminal; no line is wider unless it is one word.
        @discardableResult
        private static func run(_ words: String..., columns: Int = 100) throws -> (
            status: Int32, lines: [String]
        ) {
            let outcome = try Pseudoterminal(columns: UInt16(columns)).run(words)
            for line in outcome.lines where line.count > columns {
                let text = line.trimmingCharacters(in: .whitespaces)
                #expect(!text.contains(" "), "\(words.joined(separator: " ")): \(line)")
            }
            return outcome
        }

        private static func recorded() throws -> TemporaryFolder {
            let folder = try TemporaryFolder()
            let made = try Program.run(
                ["evaluations", folder.path + "/data", "500", "7"],
                of: Program.built("fixture-generator"))
            try #require(made.status == 0, "\(made.errors)")
            return folder
        }

        /// The shipped policies, with the payments policy changed.
        private static func candidate(
            _ change: (String) -> String, tests: (String) -> String = { $0 }
        ) throws -> TemporaryFolder {
            let folder = try TemporaryFolder()
            try Files.copy(root + "/Policies", to: folder.path)
            let path = folder.path + "/transcripts-payments"
            try Files.write(change(Files.text(path + ".yaml")), to: path + ".yaml")
            try Files.write(tests(Files.text(path + "_test.yaml")), to: path + "_test.yaml")
            return folder
        }

        @Test(arguments: [60, 80, 100]) func findingsFit(columns: Int) throws {
            let run = try Self.run("check", Self.root + "/Fixtures/check", columns: columns)
            #expect(run.status == 3)
            #expect(run.lines.contains { $0.hasPrefix("  help: ") })
        }

        @Test func whatIsNotForATerminalIsNotBroken() throws {
            let run = try Program.run(["check", Self.root + "/Fixtures/check"])
            let heads = run.errors.split(separator: "\n").filter { $0.contains(".yaml:") }
            #expect(heads.contains { $0.count > 100 })
            #expect(heads.allSatisfy { $0.hasSuffix("]") })
        }

        @Test func aFailingTestFits() throws {
            let long = "a payment that is much larger than anything this person has ever paid"
            let folder = try Self.candidate(
                { $0 },
                tests: { text in
                    text.replacing("friction: increased", with: "friction: reduced")
                        .replacing(#/name: .*coached.*\n/#, with: "name: \(long), \(long)\n")
                })
            let run = try Self.run("test", folder.path)
            #expect(run.status == 4)
            #expect(run.lines.contains { $0.hasPrefix("FAIL transcripts-payments@") })
        }

        @Test(arguments: [60, 100]) func annotatedTextFits(columns: Int) throws {
            let folder = try Self.candidate { text in
                text.replacing(
                    "velocity.payments1h > 3",
                    with: "velocity.payments1h > 3 || velocity.payments1h == 1000 || "
                        + "velocity.payments1h == 1001 || velocity.payments1h == 1002")
            }
            let path = folder.path + "/transcripts-payments_test.yaml"
            // The table of figures is as wide as it is; the policy's text is cut.
            let run =
                columns == 100
                ? try Self.run("test", path, "--annotate")
                : try Pseudoterminal(columns: UInt16(columns)).run(["test", path, "--annotate"])
            for line in run.lines where line.contains(" | ") { #expect(line.count <= columns) }
            #expect(run.lines.contains { $0.contains("never true") })
            let help = try Self.run("audit", "list", "--help", columns: columns)
            #expect(help.status == 0 && help.lines.allSatisfy { $0.count <= columns })
        }

        @Test func recordedDecisionsFit() throws {
            let folder = try Self.recorded()
            let data = folder.path + "/data"
            let new = try Self.candidate {
                $0.replacing("version: 3", with: "version: 4")
                    .replacing("payments1h > 3", with: "payments1h >= 0")
            }
            let backtest = try Self.run(
                "backtest", new.path, "--policy", "transcripts-payments", "--data", data)
            #expect(backtest.status == 0)
            let example = try #require(backtest.lines.first { $0.hasPrefix("  newly held") })
            let id = try #require(example.split(separator: " ").first { $0.count == 36 })
            let explained = try Self.run("explain", String(id), "--data", data)
            #expect(explained.status == 0)
            #expect(explained.lines.contains { $0.contains("velocity.payments1h") })
            try Self.run(
                "diff", Self.root + "/Policies", new.path, "--data", data)
            let young = try Self.run(
                "backtest", new.path, "--policy", "transcripts-payments", "--data", data,
                "--mature", "900d")
            #expect(young.lines.contains { $0.hasPrefix("All of them are too young") })
        }

        @Test func whatActsFits() throws {
            let folder = try Self.recorded()
            let data = folder.path + "/data"
            let name = "transcripts-payments"
            let long = String(repeating: "because it was asked for ", count: 12)
            let new = try Self.candidate { $0.replacing("version: 3", with: "version: 4") }
            try Self.run("policies", "reload", "--data", data, "-p", new.path)
            let refused = try Self.run(
                "policies", "activate", "\(name)@4", "-m", long, "--data", data, "-p", new.path)
            #expect(refused.status == 5)
            #expect(refused.lines.contains { $0.hasPrefix("  noShadow  ") })
            #expect(refused.lines.contains { $0.contains("(--allow=noShadow)") })
            let acts = try Self.run(
                "policies", "activate", "\(name)@4", "-m", long, "--data", data, "-p", new.path,
                "--allow=noShadow")
            #expect(acts.status == 0)
            for command in ["list", "history"] {
                let run = try Self.run("policies", command, "--data", data)
                #expect(run.status == 0)
                #expect(run.lines.contains { $0.contains("because it was asked for") })
            }
        }

        // MARK: Names that there are not

        @Test func aNameThatThereIsNotGetsTheOnesThatThereAre() throws {
            let folder = try Self.recorded()
            let name = "transcripts-payments"
            func policies(_ words: String...) throws -> Program.Outcome {
                try Program.run(["policies"] + words + ["--data", folder.path + "/data"])
            }
            for words in [["history", "nosuch"], ["compare", "--policy", "nosuch"]] {
                let run = try Program.run(
                    ["policies"] + words + ["--data", folder.path + "/data"])
                #expect(run.status == 2)
                #expect(run.errors.contains("`nosuch`"))
                #expect(run.errors.contains(name), "\(run.errors)")
            }
            let version = try policies("history", name + "@3")
            #expect(version.status == 2 && version.errors.contains("name the policy alone"))
            let unknown = try policies("activate", name + "@9", "-m", "x")
            #expect(unknown.status == 1)
            #expect(unknown.errors.contains("there are \(name)@3"), "\(unknown.errors)")
            #expect(!unknown.errors.contains("/policy"), "no pointers into a request nobody wrote")
        }

        @Test func aServerSaysTheSame() throws {
            let service = try Service.started([])
            let name = "transcripts-payments"
            let unknown = try service.command("policies", "activate", name + "@9", "-m", "x")
            #expect(unknown.status == 1)
            #expect(unknown.errors.contains("`\(name)@9`; there are "), "\(unknown.errors)")
            #expect(unknown.errors.contains("\(name)@3"))
            let history = try service.command("policies", "history", "nosuch")
            #expect(history.status == 2 && history.errors.contains(name))
            let before = try service.command("policies", "history", name, "-f", "json")
            let again = try service.command("policies", "activate", name + "@3", "-m", "x")
            #expect(again.status == 0)
            #expect(again.output.hasPrefix("\(name)@3 already acts since "), "\(again.output)")
            let after = try service.command("policies", "history", name, "-f", "json")
            #expect(before.output == after.output, "nothing was recorded")
            for words in [["reload"], ["activate", name + "@3", "-m", "x"]] {
                let folder = try Program.run(
                    ["policies"] + words + ["--data", service.data, "-p", service.policies])
                #expect(folder.status == 2 && folder.errors.contains("--policies"))
            }
        }

        // MARK: One answer to a mistake

        @Test func anEmptyFolderIsAnsweredInOneWay() throws {
            let folder = try TemporaryFolder()
            let path = folder.path
            let sentence = "there are no policies in \(path)\n"
            for command in [
                ["check", path], ["fmt", path], ["eval", path], ["backtest", path],
                ["bench", path], ["diff", path, path],
            ] {
                let run = try Program.run(command)
                #expect(run.status == 2, "\(command)")
                #expect(run.errors.contains(sentence), "\(command) \(run.errors)")
            }
            let tests = try Program.run(["test", path])
            #expect(tests.status == 5 && tests.errors == "no test ran: " + sentence)
        }

        static let conflicts: [([String], Int32, String)] = [
            (["backtest", "--data", "a", "--stream", "b"], 2, "exclude each other"),
            (["policies", "compare", "--data", "a", "--stream", "b"], 2, "exclude each other"),
            (["diff", "--since", "30d"], 2, "--since is about recorded evaluations"),
            (["test", "--threshold", "99.9"], 2, "a whole number from 0 to 100, not `99.9`"),
            (["test", "--coverage-html", "/nowhere/c.html"], 1, "/nowhere/c.html: No such file"),
            (["test", "--coverage-html", "/dev"], 1, "/dev: Is a directory"),
            (["policies", "nosuch"], 2, "there is no command `nosuch`"),
        ]

        @Test(arguments: conflicts.indices) func optionsThatCannotBeAreRefused(index: Int) throws {
            let (words, status, part) = Self.conflicts[index]
            let policies = Self.root + "/Policies"
            let paths =
                switch words[0] {
                case "diff": [policies, policies]
                case "policies": [String]()
                default: [policies]
                }
            let run = try Program.run(
                words + paths
                    + (words[0] == "backtest" ? ["--policy", "transcripts-payments"] : [])
            )
            #expect(run.status == status, "\(run.errors)")
            #expect(run.errors.contains(part), "\(run.errors)")
            #expect(run.output.isEmpty, "refused before any work")
        }

        @Test(arguments: ["apps", "audit", "cel", "keys", "policies"])
        func aGroupHasItsHelp(group: String) throws {
            for words in [[group, "--help"], [group, "-h"], ["help", group]] {
                let run = try Program.run(words)
                #expect(run.status == 0 && run.errors.isEmpty)
                #expect(run.lines.contains { $0.hasPrefix("  \(group) list") || group == "cel" })
                #expect(run.output.contains("usage: discern \(group) COMMAND"))
            }
        }

        @Test func countsAreGrammar() throws {
            let folder = try Self.candidate { $0 }
            let path = folder.path + "/one"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
            try Files.write("kind: trust\n", to: path + "/p.yaml")
            let check = try Program.run(["check", path])
            #expect(check.output.contains("\n1 file, "), "\(check.output)")
            let fmt = try Program.run(["fmt", "--check", path])
            #expect(fmt.errors == "1 file, 0 to lay out\n")
        }

        @Test func fmtShowsWhatItWouldChangeAndFails() throws {
            let folder = try TemporaryFolder()
            try Files.write("kind:   trust\n", to: folder.path + "/p.yaml")
            let run = try Program.run(["fmt", "--check", "--diff", folder.path])
            #expect(run.status == 3)
            #expect(run.lines.contains("-kind:   trust") && run.lines.contains("+kind: trust"))
            #expect(!run.lines.contains(folder.path + "/p.yaml"), "a patch, and nothing beside it")
            #expect(Files.text(folder.path + "/p.yaml") == "kind:   trust\n")
        }
    }
}
