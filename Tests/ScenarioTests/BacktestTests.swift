import Foundation
import JSON
import Testing

extension Scenarios {
    /// `discern backtest` on evaluations that were recorded by the engine.
    @Suite struct Backtests {
        /// One folder for all tests: recording takes seconds, and no test may change it.
        private static let recorded = Result { try Recorded() }

        private struct Recorded: Sendable {
            static let data = NSTemporaryDirectory() + "discern-backtest-\(getpid())"
            let count: Int

            init() throws {
                #if DEBUG
                    count = 6_000
                #else
                    count = 100_000
                #endif
                // Nothing that lives as long as the process is taken down at its end.
                atexit { try? FileManager.default.removeItem(atPath: Recorded.data) }
                let made = try Program.run(
                    ["evaluations", Self.data, String(count), "7"],
                    of: Program.built("fixture-generator"))
                try #require(made.status == 0, "\(made.errors)")
            }

            var data: String { Self.data }
            var bytes: Data? { FileManager.default.contents(atPath: data + "/discern.db") }
        }

        /// A folder with the shipped payments policy and its model, changed.
        private static func candidate(
            policy: (String) -> String, model: (String) -> String = { $0 }
        ) throws -> TemporaryFolder {
            let folder = try TemporaryFolder()
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            func copy(_ name: String, _ change: (String) -> String) throws {
                let text = try String(
                    contentsOf: root.appending(path: "Policies/" + name), encoding: .utf8)
                let changed = change(text)
                let target = URL(fileURLWithPath: folder.path).appending(path: name)
                try FileManager.default.createDirectory(
                    at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
                try changed.write(to: target, atomically: true, encoding: .utf8)
            }
            try copy("transcripts-payments.yaml") {
                policy($0.replacing("version: 3", with: "version: 4"))
            }
            try copy("models/coached-scorecard.yaml", model)
            return folder
        }

        private static func backtest(_ folder: TemporaryFolder, _ more: String...) throws
            -> JSONValue
        {
            let data = try recorded.get().data
            let run = try Program.run(
                ["backtest", folder.path, "--data", data, "-f", "json"] + more)
            try #require(run.status == 0, "\(run.errors)")
            return try JSONReader.parse(Array(run.output.utf8))
        }

        private static let hasPython = FileManager.default.isExecutableFile(
            atPath: "/usr/bin/python3")

        @Test(.enabled(if: hasPython, "there is no /usr/bin/python3"), arguments: [true, false])
        func aChangedThresholdAgreesWithAnIndependentRecount(isLate: Bool) throws {
            let recorded = try Self.recorded.get()
            let before = recorded.bytes
            let candidate = try Self.candidate { $0.replacing("high: 0.80", with: "high: 0.70") }
            let since = isLate ? ["2026-01-15T00:00:00Z"] : []
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent()
            let recount = try Program.run(
                [root.path + "/recount_backtest.py", recorded.data, "0.45", "0.70", "40"] + since,
                of: "/usr/bin/python3")
            try #require(recount.status == 0, "\(recount.errors)")
            let expected = try JSONReader.parse(Array(recount.output.utf8))
            let options = ["--mature", "40d"] + since.flatMap { ["--since", $0] }
            let run = try Program.run(
                ["backtest", candidate.path, "--data", recorded.data, "-f", "json"] + options)
            try #require(run.status == 0, "\(run.errors)")
            let labels = try JSONReader.parse(Array(run.output.utf8))["labels"]
            var newlyHeld: Int64 = 0
            for (name, row) in expected.objectValue?.members ?? [] {
                for (column, count) in row.objectValue?.members ?? [] {
                    #expect(labels?[name]?[column] == count, "\(name), \(column)")
                }
                newlyHeld += row["newlyHeld"]?.intValue ?? 0
            }
            #expect(newlyHeld > 0, "the change must change something")
            #expect(recorded.bytes == before, "the database is as it was")
        }

        @Test func thePolicyThatActedChangesNothing() throws {
            let report = try Self.backtest(try Self.candidate { $0 })
            #expect(report["judged"]?.intValue == Int64(try Self.recorded.get().count))
            #expect(report["otherOutput"] == 0)
            #expect(report["otherOutcome"] == 0)
            #expect(report["scoredAnew"] == 0)
        }

        @Test func anotherModelScoresAnew() throws {
            let candidate = try Self.candidate {
                $0.replacing("version: 2, medium", with: "version: 3, medium")
            } model: {
                $0.replacing("version: 2", with: "version: 3")
                    .replacing("weight: 7", with: "weight: 2")
            }
            let report = try Self.backtest(candidate)
            let authorized = try #require(report["scoredAnew"]?.intValue)
            let judged = try #require(report["judged"]?.intValue)
            // Three people in a hundred refused the insight: there is nothing to score.
            #expect(authorized > judged * 9 / 10 && authorized < judged)
            #expect(report["otherOutcome"] != 0)
            #expect(report["scoredWithout"]?["attributes.accountAgeDays"] != nil)
        }

        @Test func whatWasNotRecordedIsNamed() throws {
            let candidate = try Self.candidate {
                $0.replacing(
                    "  payee: {", with: "  channel: {type: string}\n  payee: {"
                ).replacing(
                    "attributes.amount >= 500.0",
                    with: "attributes.amount >= 500.0 && attributes.channel == \"web\"")
            }
            let run = try Program.run(
                [
                    "backtest", candidate.path, "--data", Self.recorded.get().data, "-f", "json",
                ])
            #expect(run.status == 5 && run.errors.contains("nothing was tested"), "\(run.errors)")
            let report = try JSONReader.parse(Array(run.output.utf8))
            #expect(report["judged"] == 0)
            #expect(
                report["notJudged"]?["attributes.channel was not recorded"]
                    == report["evaluations"])
        }

        @Test func caseT24_aRuleBehindAnotherWouldMatch() throws {
            let folder = try TemporaryFolder()
            let data = try Self.recorded.get().data
            let text = """
                kind: trust
                name: shadowed
                version: 1
                categories: [payment]
                attributes: {amount: {type: double, optional: true}}
                model: {name: m, version: 1, medium: 0.4, high: 0.8}
                rule:
                  match:
                    - {id: R1, condition: 'insight.outcome in ["medium", "high"]', output: {friction: increased, steps: [manualReview]}}
                    - {id: R2, condition: 'insight.outcome == "high"', output: {friction: increased, steps: [stepUp]}}
                    - {id: rest, output: {friction: unchanged}}
                """
            let model = """
                kind: scorecard
                name: m
                version: 1
                inputs: [{name: device.value, weight: 1}]
                provenance: {author: a test}
                """
            try text.write(toFile: folder.path + "/p.yaml", atomically: true, encoding: .utf8)
            try model.write(toFile: folder.path + "/m.yaml", atomically: true, encoding: .utf8)
            let run = try Program.run(
                ["backtest", folder.path, "--data", data, "-f", "json"])
            let rules = try JSONReader.parse(Array(run.output.utf8))["rules"]?.arrayValue ?? []
            #expect(rules.map { $0["id"] } == ["R1", "R2", "rest"])
            #expect(rules[1]["matched"] == 0)
            #expect((rules[1]["wouldMatch"]?.intValue ?? 0) > 0)
            // A rule without a condition would match whenever another did instead.
            #expect(rules[2]["wouldMatch"] == rules[0]["matched"])
        }

        @Test func aPeriodWithoutEvaluationsIsNoTest() throws {
            let candidate = try Self.candidate { $0 }
            let data = try Self.recorded.get().data
            let run = try Program.run(
                ["backtest", candidate.path, "--data", data, "--since", "2027-01-01T00:00:00Z"])
            #expect(run.status == 5)
            #expect(run.errors.contains("nothing was tested"))
            let count = try Self.recorded.get().count
            let number = count.formatted(.number.locale(Locale(identifier: "en_US")))
            #expect(
                run.errors.contains("; there are \(number) evaluations, from 202"), "\(run.errors)")
            #expect(run.output.isEmpty)
        }

        @Test func nothingRecordedIsNoTest() throws {
            let folder = try TemporaryFolder()
            try Files.write("", to: folder.path + "/empty.ndjson")
            let candidate = try Self.candidate { $0 }
            for words in [["backtest", candidate.path], ["policies", "compare"]] {
                let run = try Program.run(words + ["--stream", folder.path + "/empty.ndjson"])
                #expect(run.status == 5 && run.output.isEmpty)
                #expect(run.errors.contains("there are no recorded evaluations"), "\(run.errors)")
            }
        }

        @Test(arguments: [
            (["--since", "1d", "--until", "2d"], "--until is before --since"),
            (["--environment", "foo"], "sandbox or production, not `foo`"),
        ])
        func whatCannotBeMeantIsUsage(options: [String], part: String) throws {
            let candidate = try Self.candidate { $0 }
            let data = try Self.recorded.get().data
            let run = try Program.run(["backtest", candidate.path, "--data", data] + options)
            #expect(run.status == 2)
            #expect(run.errors.contains(part), "\(run.errors)")
        }

        @Test func caseT27_anInvalidPolicyIsRefusedWithItsPlace() throws {
            let candidate = try Self.candidate {
                $0.replacing("attributes.amount >= 500.0", with: "attributes.amount >= true")
            }
            let data = try Self.recorded.get().data
            let run = try Program.run(["backtest", candidate.path, "--data", data])
            #expect(run.status == 3)
            #expect(run.errors.contains("transcripts-payments.yaml:"))
            #expect(run.output.isEmpty, "no report of zero matches")
        }

        @Test func aStreamGivesWhatTheFolderGives() throws {
            let data = try Self.recorded.get().data
            let folder = try TemporaryFolder()
            let stream = folder.path + "/stream.ndjson"
            try #require(FileManager.default.createFile(atPath: stream, contents: nil))
            let file = try #require(FileHandle(forWritingAtPath: stream))
            var cursor: [String] = []
            for _ in 0..<4 {
                let page = try Program.run(
                    ["audit", "list", "--data", data, "-f", "json", "--limit", "1000"] + cursor
                        + ["--kind", "evaluation"])
                file.write(Data(page.output.utf8))
                let next = try #require(page.errors.split(separator: " ").last)
                cursor = ["--cursor", next.trimmingCharacters(in: .whitespacesAndNewlines)]
            }
            try file.close()
            let candidate = try Self.candidate { $0 }
            let run = try Program.run(
                ["backtest", candidate.path, "--stream", stream, "-f", "json"])
            try #require(run.status == 0, "\(run.errors)")
            let report = try JSONReader.parse(Array(run.output.utf8))
            #expect(report["judged"] == 4000)
            #expect(report["otherOutput"] == 0)
            // Through a pipe, which can be read only once.
            let piped = try Program.run(
                [
                    "-c",
                    "cat '\(stream)' | '\(Program.path)' backtest '\(candidate.path)' "
                        + "--stream - -f json",
                ], of: "/bin/sh")
            #expect(piped.output == run.output, "\(piped.errors)")
            // In another order, or twice, windows would see other things.
            let lines = try String(contentsOfFile: stream, encoding: .utf8).split(separator: "\n")
            for (odd, line) in [(lines.reversed(), 2), (lines + lines, lines.count + 1)] {
                try odd.joined(separator: "\n").write(
                    toFile: stream, atomically: true, encoding: .utf8)
                let refused = try Program.run(["backtest", candidate.path, "--stream", stream])
                #expect(refused.status == 1)
                #expect(refused.errors.contains("\(stream):\(line): entry "), "\(refused.errors)")
            }
        }

        /// What a caller would be refused for is not judged, and so looks not harmless.
        @Test(arguments: [
            (
                "amount: {type: double, min: 0}", "amount: {type: double, min: 100000}",
                ">= 100000.0"
            ),
            (
                "currency: {type: string, maxLength: 3}", "currency: {type: string, values: [USD]}",
                "USD"
            ),
        ])
        func whatTheCandidateWouldRefuseIsNotJudged(from: String, to: String, allowed: String)
            throws
        {
            let candidate = try Self.candidate { $0.replacing(from, with: to) }
            let data = try Self.recorded.get().data
            let run = try Program.run(["backtest", candidate.path, "--data", data])
            #expect(run.output.contains("would be refused: \(allowed)"), "\(run.output)")
            #expect(run.output.contains("not judged"))
        }

        @Test func resultsThatCannotBeWrittenAreAFailure() throws {
            let data = try Self.recorded.get().data
            let candidate = try Self.candidate { $0 }
            for words in ["version", "audit list --data '\(data)'", "check '\(candidate.path)'"] {
                let run = try Program.run(
                    ["-c", "'\(Program.path)' \(words) > /dev/full"], of: "/bin/sh")
                #expect(run.status == 1, "\(words)")
                #expect(run.errors.contains("could not be written"), "\(words): \(run.errors)")
            }
            // Whoever reads only the beginning is no fault.
            let run = try Program.run(
                ["-c", "'\(Program.path)' audit list --data '\(data)' | head -n 1 > /dev/null"],
                of: "/bin/sh")
            #expect(!run.errors.contains("could not be written"), "\(run.errors)")
        }

        @Test(arguments: [
            ("{\"envelope\":", ":1:"), ("[1,2]\n", ":1: not an entry"),
            ("{\"a\":1}\n", ":1: not an entry"),
            (
                #"{"envelope":{"kind":"evaluation","app":"a","environment":"sandbox","sequence":1},"payload":{"command":{}}}"#,
                "`command`"
            ),
        ])
        func aLineThatIsNoEntryIsNamed(line: String, part: String) throws {
            let folder = try TemporaryFolder()
            let stream = folder.path + "/stream.ndjson"
            try line.write(toFile: stream, atomically: true, encoding: .utf8)
            let candidate = try Self.candidate { $0 }
            let run = try Program.run(["backtest", candidate.path, "--stream", stream])
            #expect(run.status == 1)
            #expect(run.errors.contains(stream) && run.errors.contains(part), "\(run.errors)")
        }
    }
}
