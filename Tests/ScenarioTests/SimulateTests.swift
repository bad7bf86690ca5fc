import Foundation
import JSON
import Testing
import Time

extension Scenarios {
    /// `discern simulate` on made-up years and on recorded donations.
    @Suite struct Simulations {
        static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path

        /// Where streams and pictures lie. It goes with the process, since the tests of this suite
        /// run while others of it have files here.
        private static let folder: String = {
            let path = NSTemporaryDirectory() + "discern-simulate-\(getpid())"
            try? FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
            atexit {
                try? FileManager.default.removeItem(
                    atPath: NSTemporaryDirectory() + "discern-simulate-\(getpid())")
            }
            return path
        }()

        /// A path that nothing lies at yet.
        static func path(_ ending: String) -> String {
            folder + "/" + UUID().uuidString + "." + ending
        }

        /// A year of so many people.
        static func year(people: Int, seed: Int = 3) throws -> String {
            let path = path("ndjson")
            let made = try Program.run(
                ["donations", path, String(people), String(seed)],
                of: Program.built("fixture-generator"))
            try #require(made.status == 0, "\(made.errors)")
            return path
        }

        private static func json(_ words: String...) throws -> JSONValue {
            let run = try Program.run(["simulate"] + words + ["-f", "json"])
            try #require(run.status == 0, "\(run.errors)")
            return try JSONReader.parse(Array(run.output.utf8))
        }

        // MARK: The year

        @Test func aYearFollowsFromItsSeedAlone() throws {
            let first = try Self.year(people: 60, seed: 11)
            let again = try Self.year(people: 60, seed: 11)
            let other = try Self.year(people: 60, seed: 12)
            let bytes = Files.bytes(first)
            #expect(bytes.count > 100_000)
            #expect(bytes == Files.bytes(again))
            #expect(bytes != Files.bytes(other))
        }

        @Test func aYearHasWhatMakesPoliciesDiffer() throws {
            let path = try Self.year(people: 1_500)
            var members: [String: Set<String>] = [:]
            var installs: [String: Set<String>] = [:]
            var devices: [String: Set<String>] = [:]
            var (last, late, wrong, withoutScene, withoutVersion) = (Instant.min, 0, 0, 0, 0)
            for line in Files.text(path).split(separator: "\n") {
                let event = try JSONReader.parse(Array(line.utf8))
                for name in ["reason", "appVersion", "distribution", "timeZone", "outcome"] {
                    if let text = event[name]?.stringValue {
                        members[name, default: []].insert(text)
                    }
                }
                let device = try #require(event["device"]?.stringValue)
                devices[try #require(event["subject"]?.stringValue), default: []].insert(device)
                if let text = event["installedAt"]?.stringValue {
                    installs[device, default: []].insert(text)
                }
                let at = try #require(
                    event["receivedAt"]?.stringValue.flatMap { Instant(rfc3339: $0) })
                let occurred = try #require(
                    event["occurredAt"]?.stringValue.flatMap { Instant(rfc3339: $0) })
                #expect(at >= last)
                last = at
                if at - occurred > .minutes(1) { late += 1 }
                if occurred > at { wrong += 1 }
                if event["activeScene"] == false { withoutScene += 1 }
                if event["appVersion"] == nil { withoutVersion += 1 }
            }
            #expect(
                members["reason"] == [
                    "activeDay", "finishedTranscript", "exportedVideo", "transcriptionFailed",
                ])
            #expect((members["appVersion"] ?? []).count > 15)
            #expect((members["timeZone"] ?? []).count == 10)
            #expect(members["distribution"] == ["appStore", "testFlight", "development"])
            #expect(members["outcome"] == ["silent", "notRequested"])
            #expect(devices.values.contains { $0.count == 2 })
            #expect(installs.values.contains { $0.count > 1 })
            #expect([late, wrong, withoutScene, withoutVersion].allSatisfy { $0 > 0 })
        }

        // MARK: Counting

        /// The prompts of one policy, recounted from the decisions without regard to how.
        private struct Recount {
            var prompts: [(device: String, version: String, at: Instant, isFromStore: Bool)] = []
            var months: [String: Int64] = [:]
            var reasons: [String: Int64] = [:]
            var people: [String: Int64] = [:]

            var violations: [String: Int64] {
                var found: [String: Int64] = [
                    "moreThanThreeIn365Days": 0, "versionAskedAgain": 0, "notFromAppStore": 0,
                ]
                for (index, prompt) in prompts.enumerated() {
                    let before = prompts[..<index].filter { $0.device == prompt.device }
                    let year = Instant(
                        milliseconds: prompt.at.milliseconds - 365 * 24 * 3_600 * 1_000)
                    if before.count(where: { $0.at >= year }) >= 3 {
                        found["moreThanThreeIn365Days", default: 0] += 1
                    }
                    // The year spells each version in one way.
                    if before.contains(where: { $0.version == prompt.version }) {
                        found["versionAskedAgain", default: 0] += 1
                    }
                    if !prompt.isFromStore { found["notFromAppStore", default: 0] += 1 }
                }
                return found
            }
        }

        @Test func theReportAgreesWithANaiveRecountOfTheDecisions() throws {
            let path = try Self.year(people: 2_000)
            let decisions = Self.path("ndjson")
            let report = try Self.json(
                "transcripts", "--compare", "treaty", "--events", path, "--decisions", decisions)
            var recounts = [Recount(), Recount()]
            var people: Set<String> = []
            for line in Files.text(decisions).split(separator: "\n") {
                let event = try JSONReader.parse(Array(line.utf8))
                let text = { (name: String) in event[name]?.stringValue ?? "" }
                people.insert(text("subject"))
                for (index, step) in (event["policies"]?.arrayValue ?? []).enumerated()
                where step["result"] == "prompted" {
                    let at = try #require(Instant(rfc3339: text("receivedAt")))
                    recounts[index].prompts.append(
                        (
                            text("device"), text("appVersion"), at,
                            text("distribution") == "appStore"
                        ))
                    recounts[index].months[String(text("receivedAt").prefix(7)), default: 0] += 1
                    recounts[index].reasons[text("reason"), default: 0] += 1
                    recounts[index].people[text("subject"), default: 0] += 1
                }
            }
            let policies = try #require(report["policies"]?.arrayValue)
            try #require(policies.count == 2)
            for (told, recount) in zip(policies, recounts) {
                let name = told["policy"]?.stringValue ?? ""
                func counts(_ member: String) -> [String: Int64] {
                    Dictionary(
                        uniqueKeysWithValues: (told[member]?.objectValue?.members ?? []).map {
                            ($0.key, $0.value.intValue ?? -1)
                        })
                }
                #expect(told["prompts"]?.intValue == Int64(recount.prompts.count), "\(name)")
                #expect(counts("months") == recount.months, "\(name)")
                #expect(counts("reasons") == recount.reasons, "\(name)")
                #expect(counts("violations") == recount.violations, "\(name)")
                let never = people.count - recount.people.count
                #expect(told["peopleNeverAsked"]?.intValue == Int64(never), "\(name)")
                #expect(told["people"]?.intValue == Int64(people.count), "\(name)")
            }
            // The comparison is about something: the one breaks no limit, the other does.
            #expect(recounts[0].violations.values.allSatisfy { $0 == 0 })
            #expect(recounts[1].violations.values.allSatisfy { $0 > 0 })
        }

        @Test(arguments: ["apple-limits", "gentle", "transcripts"])
        func aPolicyWithTheCapsBreaksNoLimit(_ preset: String) throws {
            let path = try Self.year(people: 1_000, seed: 5)
            let report = try Self.json(preset, "--events", path)["policies"]?.arrayValue?.first
            #expect((report?["prompts"]?.intValue ?? 0) > 500)
            let violations = report?["violations"]?.objectValue?.members ?? []
            #expect(violations.count == 3)
            #expect(violations.allSatisfy { $0.value == 0 }, "\(violations)")
        }

        @Test func theSameRunGivesTheSameAnswer() throws {
            let path = try Self.year(people: 300)
            let words = ["simulate", "gentle", "--compare", "treaty", "--events", path]
            let runs = try (0..<2).map { _ in try Program.run(words) }
            #expect(runs[0].output == runs[1].output)
            // Which of the two is named first changes no figure.
            let one = try Self.json("gentle", "--compare", "treaty", "--events", path)
            let other = try Self.json("treaty", "--compare", "gentle", "--events", path)
            #expect(
                one["policies"]?.arrayValue
                    == other["policies"]?.arrayValue.map { Array($0.reversed()) })
            let alone = try Self.json("gentle", "--events", path)
            #expect(alone["policies"]?.arrayValue?.first == one["policies"]?.arrayValue?.first)
        }

        // MARK: One person

        private static let story = [
            ("2026-03-01T12:00:00Z", "finishedTranscript", "1.0", ""),
            ("2026-03-01T12:01:00Z", "finishedTranscript", "1.0", ""),
            ("2026-03-01T12:02:00Z", "finishedTranscript", "1.0", #","activeScene":false"#),
            ("2026-03-01T12:03:00Z", "finishedTranscript", "1.0", ""),
            ("2026-03-02T12:00:00Z", "exportedVideo", "1.1", #","attributes":{"minutes":9}"#),
            ("2026-03-09T12:00:00Z", "exportedVideo", "1.1", #","attributes":{"minutes":4}"#),
        ].map { at, reason, version, more in
            #"{"receivedAt":"\#(at)","reason":"\#(reason)","subject":"anna","device":"phone","#
                + #""appVersion":"\#(version)","timeZone":"Europe/London","#
                + #""installedAt":"2026-01-01T00:00:00Z"\#(more)}"#
        }

        static func file(_ lines: [String]) throws -> String {
            let path = path("ndjson")
            try Files.write(lines.joined(separator: "\n") + "\n", to: path)
            return path
        }

        @Test func aTimelineTellsOfEachEvent() throws {
            let path = try Self.file(Self.story)
            let run = try Program.run(
                [
                    "simulate", "transcripts", "-c", "treaty", "--events", path, "-t", "anna",
                ])
            try #require(run.status == 0, "\(run.errors)")
            let start = try #require(run.lines.firstIndex(of: "timeline of anna"))
            #expect(
                run.lines[start...].joined(separator: "\n") == """
                    timeline of anna
                      2026-03-01T12:00:00.000Z  finishedTranscript  1.0  phone  installed \
                    2026-01-01T00:00:00.000Z
                          transcripts-review@1  hold: finishedTranscript (1, needs at least 3)
                          treaty@1              hold: finishedTranscript (1, needs exactly 3)
                      2026-03-01T12:01:00.000Z  finishedTranscript  1.0  phone
                          transcripts-review@1  hold: finishedTranscript (2, needs at least 3)
                          treaty@1              hold: finishedTranscript (2, needs exactly 3)
                      2026-03-01T12:02:00.000Z  finishedTranscript  1.0  phone  no scene
                          transcripts-review@1  given back: noActiveScene
                          treaty@1              given back: noActiveScene
                      2026-03-01T12:03:00.000Z  finishedTranscript  1.0  phone
                          transcripts-review@1  ASK
                          treaty@1              ASK
                      2026-03-02T12:00:00.000Z  exportedVideo  1.1  phone
                          transcripts-review@1  hold: interval (1 day, needs at least 7 days)
                          treaty@1              hold: interval (tooSoon)
                      2026-03-09T12:00:00.000Z  exportedVideo  1.1  phone
                          transcripts-review@1  hold: exportedVideo (conditionNotMet)
                          treaty@1              ASK
                    """)
            let json = try Self.json("transcripts", "--events", path, "-t", "anna")
            #expect(
                json["timeline"]?.arrayValue?.map { $0["policies"]?.arrayValue?[0]["result"] }
                    == ["held", "held", "givenBack", "prompted", "held", "held"])
            let nobody = try Program.run(
                ["simulate", "transcripts", "--events", path, "-t", "ben"])
            #expect(nobody.status == 5)
            #expect(nobody.errors.contains("no donation of `ben`"))
        }

        @Test func standardInputIsAStreamToo() throws {
            let path = try Self.file(Self.story)
            let run = try Program.run(
                [
                    "-c",
                    "'\(Program.path)' simulate transcripts --events - -f json < '\(path)' && "
                        + "cat '\(path)' | '\(Program.path)' simulate transcripts --events - -f json",
                ], of: "/bin/sh")
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.lines.count == 2 && run.lines[0] == run.lines[1])
            #expect(run.lines.first?.contains("\"donations\":6") == true)
        }

        // MARK: Recorded donations

        @Test func recordedDonationsArePlayedAndLeftAsTheyAre() throws {
            let service = try Service.started()
            let client = service.client()
            for number in 1...4 {
                let answer = try client.post(
                    "/v1/review-prompts/donations",
                    Requests.donation("d\(number)", subject: "anna", device: "phone"))
                try #require(answer.status == 201, "\(answer.text)")
                guard let grant = answer["grant"]?["grantID"]?.stringValue else { continue }
                // The first time there is no scene.
                let outcome: JSONValue =
                    number == 3
                    ? ["outcome": "notRequested", "reason": "noActiveScene"]
                    : ["outcome": "requested"]
                try #require(
                    try client.post("/v1/review-prompts/grants/\(grant)", outcome).status == 200)
            }
            _ = try client.post("/v1/sandbox/clock", ["advance": "240h"])
            let last = try client.post(
                "/v1/review-prompts/donations",
                Requests.donation("d5", subject: "anna", device: "phone", version: "1.1"))
            #expect(last["decision"] == "hold")
            func simulate(_ policy: String, _ more: String...) throws -> JSONValue? {
                let run = try Program.run(
                    ["simulate", policy, "--data", service.data, "-f", "json"] + more)
                try #require(run.status == 0, "\(run.errors)")
                return try JSONReader.parse(Array(run.output.utf8))
            }
            // Beside the running server; its own policy decides as it did.
            let own = try simulate("transcripts", "-t", "anna")
            #expect(
                own?["timeline"]?.arrayValue?.map { $0["policies"]?.arrayValue?[0]["result"] }
                    == ["held", "held", "givenBack", "prompted", "held"])
            try service.stop()
            let before = Files.bytes(service.data + "/discern.db")
            let eager = try simulate("apple-limits")?["policies"]?.arrayValue?.first
            #expect(eager?["donations"]?.intValue == 5)
            #expect(eager?["prompts"]?.intValue == 2)
            #expect(eager?["versions"] == ["1.0": 1, "1.1": 1])
            #expect(Files.bytes(service.data + "/discern.db") == before)
        }

        // MARK: In a terminal

        @Test(arguments: [60, 80, 100]) func tablesFitATerminal(columns: Int) throws {
            let path = try Self.year(people: 80)
            for more in [[], ["-c", "treaty"]] {
                let run = try Pseudoterminal(columns: UInt16(columns)).run(
                    ["simulate", "transcripts", "--events", path, "-t", "person-00003"] + more)
                #expect(run.status == 0)
                #expect(run.lines.contains { $0.contains("█") })
                for line in run.lines { #expect(line.count <= columns, "\(line)") }
            }
            for words in [
                ["simulate", "--help"], ["presets", "list"], ["presets", "show", "-h"],
            ] {
                let run = try Pseudoterminal(columns: UInt16(columns)).run(words)
                #expect(run.status == 0)
                for line in run.lines { #expect(line.count <= columns, "\(line)") }
            }
        }

        @Test func progressIsShownToATerminalAlone() throws {
            let path = try Self.year(people: 400)
            let run = try Program.run(["simulate", "transcripts", "--events", path])
            #expect(run.status == 0)
            #expect(!run.errors.contains("\u{1B}"))
            #expect(run.lines.allSatisfy { $0.count <= 100 })
        }

        // MARK: The picture

        @Test(arguments: [(1, 400), (2, 400), (2, 40)])
        func thePictureIsWellFormedAndNoTextLiesOnAnother(
            _ policies: Int, _ people: Int
        ) throws {
            let path = try Self.year(people: people)
            let svg = Self.path("svg")
            let compare = policies == 2 ? ["-c", "treaty"] : []
            let run = try Program.run(
                ["simulate", "transcripts", "--events", path, "--svg", svg] + compare)
            #expect(run.status == 0, "\(run.errors)")
            let picture = try Picture(svg)
            #expect(picture.overlapping.isEmpty, "\(picture.overlapping)")
            #expect(picture.outside.isEmpty, "\(picture.outside)")
            for text in ["prompts", "people", "month (UTC)", "2025-12", "2026-11", "never"] {
                #expect(picture.texts.contains { $0.text == text }, "\(text)")
            }
            #expect(picture.texts.contains { $0.text.hasPrefix("transcripts-review@1: ") })
            #expect(picture.bars > 12)
        }

        #if !DEBUG
            /// Whoever changes what policies decide makes the figures of the document anew, by the
            /// commands that stand in it.
            @Test func theDocumentShowsWhatItsCommandsGive() throws {
                let path = try Self.year(people: 10_000, seed: 1)
                let svg = Self.path("svg")
                let run = try Program.run([
                    "simulate", "transcripts", "--compare", "treaty", "--events", path, "--svg",
                    svg,
                ])
                #expect(run.status == 0, "\(run.errors)")
                #expect(Files.text(svg) == Files.text(Self.root + "/docs/images/treaty.svg"))
                let document = Files.text(Self.root + "/docs/review-prompts.md")
                let table = try #require(
                    document.split(separator: "```\n").first {
                        $0.hasPrefix("transcripts-review@1")
                    })
                let told = Set(run.output.split(separator: "\n"))
                let shown = table.split(separator: "\n")
                #expect(shown.count > 20)
                for line in shown { #expect(told.contains(line), "\(line)") }
            }
        #endif

        @Test func aPictureOfManyYearsWithALongNameIsReadable() throws {
            let name = "a-long-name-" + String(repeating: "x", count: 48)
            let lines = (0..<60).map { year in
                Self.story[4].replacing("2026-03-02", with: "\(1970 + year)-06-01")
                    .replacing("\"1.1\"", with: "\"1.\(year)\"")
                    .replacing("2026-01-01", with: "1960-01-01")
            }
            let path = try Self.file(lines)
            let policy = Self.path("yaml")
            let shown = try Program.run(["presets", "show", "apple-limits"])
            try Files.write(
                shown.output.replacing("name: apple-limits", with: "name: \(name)"), to: policy)
            let svg = Self.path("svg")
            let run = try Program.run(
                ["simulate", policy, "-c", "transcripts", "--events", path, "--svg", svg])
            #expect(run.status == 0, "\(run.errors)")
            let picture = try Picture(svg)
            #expect(picture.texts.contains { $0.text == "year (UTC)" })
            #expect(picture.overlapping.isEmpty, "\(picture.overlapping)")
            #expect(picture.outside.isEmpty, "\(picture.outside)")
        }
    }
}
