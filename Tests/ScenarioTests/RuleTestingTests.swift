import Foundation
import JSON
import Testing

extension Scenarios {
    /// `discern test`, `eval` and `bench` on policies of a folder.
    @Suite struct RuleTesting {
        private static let policy = """
            kind: trust
            name: p
            version: 1
            categories: [payment]
            attributes:
              amount: {type: double}
              code: {type: string}
              age: {type: int, optional: true}
            velocity:
              count1h: {count: evaluations, window: 1h}
            rule:
              strategy: strictest
              variables:
                - {name: large, expression: attributes.amount >= 500.0}
              match:
                - {id: young, condition: attributes.age < 18, output: {friction: increased, steps: [warn]}}
                - {id: large, condition: "variables.large && velocity.count1h > 0", output: {friction: increased, steps: [stepUp]}, explanation: '"code " + attributes.code'}
                - {id: rest, output: {friction: unchanged}}

            """
        private static let passing = """
                  - name: small
                    input: {attributes: {amount: 1.0, code: a, age: 20}}
                    expect: {friction: unchanged, matched: [rest]}

            """
        private static let failing = """
                  - name: wrong
                    input: {attributes: {amount: 600.0, code: a, age: 20}}
                    expect: {friction: increased, matched: [large]}

            """

        private static func folder(_ tests: String?, policy: String = policy) throws
            -> TemporaryFolder
        {
            let folder = try TemporaryFolder()
            try Files.write(policy, to: folder.path + "/p.yaml")
            if let tests {
                try Files.write(
                    "policy: p\nsection:\n  - name: s\n    tests:\n" + tests,
                    to: folder.path + "/p_test.yaml")
            }
            return folder
        }

        private static func test(_ folder: TemporaryFolder, _ more: String...) throws
            -> Program.Outcome
        {
            try Program.run(["test", folder.path] + more)
        }

        @Test func aFailureShowsBothSidesAndTheRulesInvolved() throws {
            let folder = try Self.folder(Self.passing + Self.failing)
            let run = try Self.test(folder)
            #expect(run.status == 4)
            for part in [
                "FAIL p@1 / s / wrong", "p_test.yaml:8",
                "friction: expected increased, got unchanged",
                "matched: expected [large], got [rest]", "not matched   large",
                "variables.large && velocity.count1h > 0", "attributes.amount", "600.0",
                "velocity.count1h", "1 passed, 1 failed",
            ] { #expect(run.output.contains(part), "\(part)") }
            #expect(run.lines.allSatisfy { $0.count <= 100 })
        }

        @Test func caseE43_aFailureWinsOverAllElse() throws {
            let folder = try Self.folder(Self.passing + Self.failing)
            #expect(try Self.test(folder, "--threshold", "100").status == 4)
            #expect(try Self.test(folder, "-r", "small", "--threshold", "100").status == 5)
            #expect(try Self.test(folder, "-r", "p / s / small").status == 0)
        }

        @Test func caseE42_nothingRunIsNoSuccess() throws {
            let none = try Self.test(try Self.folder(Self.passing), "--run", "nothing-matches")
            #expect(none.status == 5)
            #expect(none.errors.contains("no test ran: none of"), "\(none.errors)")
            let without = try Self.test(try Self.folder(nil))
            #expect(without.status == 5)
            #expect(without.errors.contains("no tests beside"), "\(without.errors)")
            let empty = try Self.test(try TemporaryFolder())
            #expect(empty.status == 5)
            #expect(empty.errors.contains("no policies"), "\(empty.errors)")
            let absent = try Program.run(["test", "/nowhere/at/all"])
            #expect(absent.status == 1)
            #expect(absent.errors.contains("/nowhere/at/all"), "\(absent.errors)")
        }

        @Test func twoTestsOfOneNameAreRefusedWithTheirPlace() throws {
            let run = try Self.test(try Self.folder(Self.passing + Self.passing))
            #expect(run.status == 3)
            #expect(run.errors.contains("p_test.yaml:8:15"), "\(run.errors)")
            #expect(run.errors.contains("the test `small` is given twice"))
        }

        @Test func resultsComeInTheOrderOfTheFilesHoweverManyThreadsRun() throws {
            let tests = (0..<60).map { number in
                Self.passing.replacing("small", with: "n\(number)")
            }.joined()
            let folder = try Self.folder(tests)
            let one = try Self.test(folder, "-v", "--jobs", "1", "-c")
            let many = try Self.test(folder, "-v", "--jobs", "8", "-c")
            #expect(one.status == 0 && one.output == many.output)
            #expect(one.lines[0].hasSuffix("n0") && one.lines[59].hasSuffix("n59"))
        }

        @Test func coverageNamesWhatNoTestHasShown() throws {
            let folder = try Self.folder(Self.passing)
            let page = folder.path + "/page.html"
            let run = try Self.test(folder, "--annotate", "--coverage-html", page)
            #expect(run.status == 0)
            #expect(run.lines.filter { !$0.contains(" | ") }.allSatisfy { $0.count <= 100 })
            for part in [
                "^" + String(repeating: "~", count: 18) + " never true", "never matched",
                "line 16: never true: attributes.age < 18", "never evaluated: velocity.count1h > 0",
                "rules 1/3 33.3 %",
            ] { #expect(run.output.contains(part), "\(part)\n\(run.output)") }
            let html = Files.text(page)
            #expect(html.hasPrefix("<!doctype html>") && html.hasSuffix("</html>\n"))
            for part in ["<script", "http:", "https:", "src="] { #expect(!html.contains(part)) }
            #expect(html.contains("class=half") && html.contains("class=dark"))
            #expect(html.contains("condition: <span class="), "the text itself is coloured")
        }

        /// As a folder, as files, and through a folder further up.
        @Test func caseE44_theWayToAPolicyDoesNotCount() throws {
            let policies = Service.shippedPolicies
            let above = try TemporaryFolder()
            try FileManager.default.createSymbolicLink(
                atPath: above.path + "/below", withDestinationPath: policies)
            let ways = [
                [policies], [policies + "/transcripts-payments_test.yaml"], [above.path],
            ]
            let figures = try ways.map { paths in
                let run = try Program.run(
                    ["test", "-r", "transcripts-payments", "-c", "-f", "json"] + paths)
                #expect(run.status == 0, "\(run.errors)")
                let coverage = try JSONReader.parse(Array(run.output.utf8))["coverage"]
                return ["rules", "nodes", "branches"].map { coverage?[$0] }
            }
            #expect(figures[0] == figures[1] && figures[0] == figures[2])
            #expect(figures[0][2]?["percent"] == 100.0)
        }

        @Test func aPipeAmongTheFilesIsNamedAndNotWaitedFor() throws {
            let folder = try TemporaryFolder()
            #expect(mkfifo(folder.path + "/pipe.yaml", 0o600) == 0)
            for command in ["check", "test", "fmt"] {
                let run = try Program.run([command, folder.path])
                #expect(run.status == 3)
                #expect(
                    run.errors.contains(
                        command == "fmt"
                            ? "pipe.yaml: left as it is: neither a file nor a folder\n"
                            : "pipe.yaml:1:1: error: the file cannot be read: neither a file nor a "
                                + "folder [policy.unreadable]\n"), "\(run.errors)")
                let named = try Program.run([command, folder.path + "/pipe.yaml"])
                #expect(named.status == 1)
                #expect(
                    named.errors.contains("pipe.yaml: neither a file nor a folder\n"),
                    "\(named.errors)")
            }
            // What a shell has opened is read.
            try Files.write(Self.policy, to: folder.path + "/p")
            let piped = try Program.run(
                ["-c", "cat '\(folder.path)/p' | '\(Program.path)' check /dev/stdin"],
                of: "/bin/sh")
            #expect(piped.status == 0, "\(piped.errors)")
        }

        @Test func linesMayEndAsOnWindows() throws {
            let folder = try Self.folder(
                Self.passing, policy: Self.policy.replacing("\n", with: "\r\n"))
            let run = try Self.test(folder, "--annotate")
            #expect(run.status == 0, "\(run.errors)")
            #expect(
                run.output.contains(
                    "   18     1× |     - {id: rest, output: {friction: unchanged}}\n"))
        }

        @Test func formatsForOtherProgramsAreWellFormed() throws {
            let folder = try Self.folder(
                Self.passing + Self.failing.replacing("wrong", with: "a<b"))
            let json = try JSONReader.parse(
                Array(try Self.test(folder, "-f", "json", "-c").output.utf8))
            #expect(json["failed"] == 1 && json["passed"] == 1)
            #expect(json["coverage"]?["rules"]?["covered"] == 1)
            let failed = try #require(json["tests"]?.arrayValue?.last)
            #expect(failed["trace"]?.arrayValue?.count == 3)
            let junit = try Self.test(folder, "-f", "junit")
            #expect(junit.status == 4)
            let parser = XMLParserOf(junit.output)
            #expect(parser.elements["testcase"] == 2 && parser.elements["failure"] == 1)
        }

        /// A name is unique within a file; over all files a test is its file and its name.
        @Test func testsOfOneNameAreToldApartByTheirFile() throws {
            let folder = try Self.folder(Self.passing)
            let first = folder.path + "/p_test.yaml"
            let second = folder.path + "/q_test.yaml"
            try Files.write(Files.text(first), to: second)
            let junit = try Self.test(folder, "-f", "junit").output
            for path in [first, second] {
                #expect(
                    junit.contains(
                        "<testcase classname=\"\(path)\" name=\"p@1 / s / small\" "
                            + "file=\"\(path)\" line=\"5\"/>"), "\(junit)")
            }
            let verbose = try Self.test(folder, "-v", "-r", "s / small")
            #expect(verbose.output.contains("2 passed"))
            #expect(verbose.output.contains("\(first):5") && verbose.output.contains("\(second):5"))
            let one = try Program.run(["test", first, "-v"])
            #expect(one.output.contains("1 passed") && !one.output.contains(first))
            // In one file it stays an error.
            try Files.write(Files.text(first) + Self.passing, to: first)
            let twice = try Self.test(folder)
            #expect(twice.status == 3 && twice.errors.contains("policy.duplicateName"))
        }

        @Test func watchRunsAgainWhenAFileChanges() throws {
            let folder = try Self.folder(Self.passing)
            let output = folder.path + "/out"
            let watch = try Spawned(
                ["test", folder.path, "--watch"], output: output, errors: folder.path + "/err")
            defer { watch.signal(SIGKILL) }
            let first = Wait.until {
                Files.text(output).contains("1 passed, 0 failed") ? true : nil
            }
            #expect(first == true)
            // Broken for a moment, as while somebody types.
            try Files.write("policy: [", to: folder.path + "/p_test.yaml")
            let second = Wait.until {
                Files.text(folder.path + "/err").contains("yaml.syntax") ? true : nil
            }
            #expect(second == true)
            try Files.write(
                "policy: p\nsection:\n  - name: s\n    tests:\n" + Self.passing + Self.failing,
                to: folder.path + "/p_test.yaml")
            let third = Wait.until {
                Files.text(output).contains("1 passed, 1 failed") ? true : nil
            }
            #expect(third == true)
            #expect(!Files.text(output).contains("\u{1B}["), "no terminal, nothing to clear")
            #expect(watch.poll() == nil)
        }

        // MARK: eval

        private static func eval(_ folder: TemporaryFolder, _ more: String...) throws
            -> Program.Outcome
        {
            try Program.run(["eval", folder.path] + more)
        }

        @Test func optionsAndJSONMakeOneInput() throws {
            let folder = try Self.folder(nil)
            let run = try Self.eval(
                folder, "-s", "attributes.amount=900", "-s", "attributes.code=007", "-s",
                "attributes.age=20", "--now",
                "2026-11-30T12:00:00Z", "--input",
                #"{"history":[{"at":"-10m"},{"at":"-2h"}],"attributes":{"amount":1}}"#)
            #expect(run.status == 0, "\(run.errors)")
            for part in [
                "friction increased; steps stepUp", "by large: code 007", "attributes.amount 900.0",
                "velocity.count1h = 1", "2026-11-30T11:50:00.000Z", "explained: code 007",
            ] { #expect(run.output.contains(part), "\(part)\n\(run.output)") }
            #expect(run.lines.allSatisfy { $0.count <= 100 })
        }

        @Test func caseE11_whatIsMissingIsNamedAtTheRuleThatReadsIt() throws {
            let folder = try Self.folder(nil)
            let run = try Self.eval(folder, "-s", "attributes.amount=1", "-s", "attributes.code=a")
            #expect(run.output.contains("because a value is missing, and `onMissing` says match"))
            #expect(run.output.contains("missing: attributes.age"))
            let json = try Self.eval(
                folder, "-s", "attributes.amount=1", "-s", "attributes.code=a", "-f", "json")
            let rule = try JSONReader.parse(Array(json.output.utf8))["trace"]?.arrayValue?.first
            #expect(rule?["missing"] == ["attributes.age"])
            #expect(rule?["verdict"] == "matched")
        }

        @Test(arguments: [
            (["--input", "{\"a\":"], "--input is not JSON"),
            (["--input", "[1]"], "--input is an object, not array"),
            (["--input", "/nowhere"], "neither JSON nor a file"),
            (["-s", "amount"], "--set needs NAME=VALUE"),
            (["-s", "attributes.amount=1"], "it lacks attributes.code (string)"),
            (["-s", "attributes.nothing=1"], "/attributes/nothing"),
            (["--device", "7", "-s", "attributes.amount=1"], "/device/value"),
            ([], "there is no input"),
        ])
        func aBadInputIsRefusedWithItsPlace(arguments: [String], part: String) throws {
            let folder = try Self.folder(nil)
            defer { withExtendedLifetime(folder) {} }
            let run = try Program.run(["eval", folder.path] + arguments)
            #expect(run.status == 2)
            #expect(run.errors.contains(part), "\(run.errors)")
            #expect(run.output.isEmpty)
        }

        // MARK: bench

        @Test func benchTimesEachRule() throws {
            let folder = try Self.folder(Self.passing)
            let run = try Program.run(["bench", folder.path, "-m", "1", "-f", "json"])
            #expect(run.status == 0, "\(run.errors)")
            let policy = try JSONReader.parse(Array(run.output.utf8)).arrayValue?.first
            #expect(policy?["inputs"] == 1)
            let rules = policy?["rules"]?.arrayValue ?? []
            #expect(rules.map { $0["rule"] } == ["young", "large"])
            for times in rules.flatMap({ [$0["compile"], $0["evaluate"]] }) + [policy?["judge"]] {
                let least = try #require(times?["minNanoseconds"]?.doubleValue)
                let median = try #require(times?["medianNanoseconds"]?.doubleValue)
                let p99 = try #require(times?["p99Nanoseconds"]?.doubleValue)
                #expect(least <= median && median <= p99)
                #expect((times?["samples"]?.intValue ?? 0) >= 5)
            }
            let pretty = try Program.run(["bench", folder.path, "-m", "1"])
            #expect(pretty.lines.allSatisfy { $0.count <= 100 })
            try FileManager.default.removeItem(atPath: folder.path + "/p_test.yaml")
            let without = try Program.run(["bench", folder.path, "-m", "1"])
            #expect(without.status == 5)
        }
    }
}

/// Counts the elements of an XML document by a reader that knows nothing of the writer: every tag
/// must be closed in order. Enough for a document without comments and CDATA.
private struct XMLParserOf {
    private(set) var elements: [String: Int] = [:]

    init(_ text: String) {
        var open: [String] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("?") { continue }
            let name = String(tag.prefix { $0 != " " && $0 != "/" })
            if tag.hasPrefix("/") {
                guard open.popLast() == String(tag.dropFirst()) else {
                    elements = [:]
                    return
                }
                continue
            }
            elements[name, default: 0] += 1
            if !tag.hasSuffix("/") { open.append(name) }
        }
        if !open.isEmpty { elements = [:] }
    }
}
