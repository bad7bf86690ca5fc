import Foundation
import JSON
import Ledger
import Testing

extension Scenarios {
    /// A person asks to be forgotten, by the real program.
    @Suite struct Erasure {
        private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()

        /// Somebody about whom everything is recorded that can be.
        private static func use(_ client: Client, _ name: String) throws {
            _ = try client.put("/v1/authorizations", Requests.authorization(name))
            for place in 1...3 {
                let body = Requests.evaluation("\(name)-\(place)", subject: name)
                try #require(try client.post("/v1/evaluations", body).status == 201)
            }
            let answers = try [
                client.post("/v1/consumption", Requests.report(requestID: "\(name)-1")),
                client.post("/v1/labels", Requests.label("\(name)-l", requestID: "\(name)-1")),
                client.post(
                    "/v1/review-prompts/donations",
                    Requests.donation("\(name)-d", subject: name, device: "phone-\(name)")),
                client.post(
                    "/v1/review-prompts/merge",
                    ["install": .string("\(name)-install"), "account": .string(name)]),
            ]
            #expect(answers.allSatisfy { $0.status < 300 }, "\(answers.map(\.text))")
        }

        private static func traces(_ client: Client, _ name: String) throws -> [Data] {
            let pseudonym = try #require(
                try client.post("/v1/subjects/pseudonym", ["subject": .string(name)])
                    .string("pseudonym"))
            let bytes = try #require(Hex.decode(pseudonym))
            return [Data("\"\(name)-1\"".utf8), Data(pseudonym.utf8), Data(bytes)]
        }

        private static func found(_ traces: [Data], in service: Service) -> Int {
            let files = Files.all(in: service.data).map { Data(Files.bytes($0)) }
            return traces.count { trace in files.contains { $0.range(of: trace) != nil } }
        }

        private static func list(_ service: Service, to file: String) throws {
            let outcome = try service.command("audit", "list", "-f", "json", "--limit", "1000")
            try Files.write(outcome.output, to: file)
        }

        @Test func aPersonIsErasedAndTheLedgerStillVerifies() throws {
            let service = try Service.started()
            let client = service.client()
            for name in ["needle", "other"] { try Self.use(client, name) }
            let traces = try Self.traces(client, "needle")
            #expect(Self.found(traces, in: service) >= 2)
            let first = try #require(
                try AuditedLedger(client).of(kind: "evaluation").first)
            let evaluation = try #require(first.result["evaluationID"]?.stringValue)
            #expect(try service.command("audit", "checkpoint").status == 0)
            let proof = try service.command("audit", "proof", "\(first.sequence)")
            try #require(proof.status == 0, "\(proof.errors)")

            let answer = try client.post(
                "/v1/subjects/erase", ["subject": "needle", "reason": "request 17"])
            #expect(answer.status == 200, "\(answer.text)")
            #expect(
                answer["erased"] == [
                    "authorization": 1, "consumption": 1, "donation": 1, "evaluation": 3,
                    "grantOutcome": 0, "label": 1, "merge": 1, "reset": 0,
                ])
            #expect(answer["cancelledReports"] == 2)
            #expect(answer["logCleared"] == true)
            #expect(answer["kept"]?["totals"]?["evaluations"] == 3)
            #expect(Self.found(traces, in: service) == 0)

            let gone = try [
                client.get("/v1/evaluations/\(evaluation)"),
                client.post("/v1/consumption", Requests.report(requestID: "needle-2")),
                client.post("/v1/labels", Requests.label("late", requestID: "needle-1")),
                client.post("/v1/evaluations", Requests.evaluation("needle-1", subject: "needle")),
                client.post(
                    "/v1/review-prompts/donations",
                    Requests.donation("needle-d", subject: "needle", device: "phone-needle")),
            ]
            for answer in gone {
                #expect(answer.status == 410 && answer.code == "erased", "\(answer.text)")
            }
            let explained = try service.command("explain", evaluation)
            #expect(explained.status == 1)
            #expect(explained.errors.contains("erased"), "\(explained.errors)")
            #expect(try client.get("/v1/performance").json["erased"] == 3)
            let other = Requests.evaluation("other-1", subject: "other")
            #expect(try client.post("/v1/evaluations", other).status == 200)

            // Again, and somebody who never was.
            for name in ["needle", "nobody"] {
                let nothing = try client.post("/v1/subjects/erase", ["subject": .string(name)])
                #expect(nothing.status == 200)
                #expect(nothing["entries"] == [])
            }

            // A kill, a start, a stop: it stays as it is, and verifies.
            try service.kill()
            #expect(Self.found(traces, in: service) == 0)
            try service.start()
            #expect(try service.stop() == 0)
            #expect(Self.found(traces, in: service) == 0)
            let verified = try service.command("audit", "verify")
            #expect(verified.status == 0, "\(verified.errors)")
            #expect(
                verified.lines.contains("8 without a payload, as erasures in the ledger say"))
            let known = service.data + "/checkpoint.pub"
            let file = service.folder.path + "/proof"
            try Files.write(proof.output, to: file)
            let again = try Program.run([
                "audit", "verify-proof", file, "--vkey", Files.text(known).filter { !$0.isNewline },
            ])
            #expect(again.status == 0, "\(again.errors)")
            let entries = service.folder.path + "/entries"
            try Self.list(service, to: entries)
            let script = Self.root.appending(path: "verify_audit.py").path
            let checked = try Program.run([script, entries], of: "/usr/bin/python3")
            #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
            // Without the erasure the script says what `audit verify` would.
            let lines = Files.text(entries).split(separator: "\n")
            let place = try #require(lines.firstIndex { $0.contains(#""kind":"erasure""#) })
            try Files.write(lines[..<place].joined(separator: "\n") + "\n", to: entries)
            let cut = try Program.run([script, entries], of: "/usr/bin/python3")
            #expect(cut.status == 1)
            #expect(cut.output.contains("no erasure after it names it"))
            let backtest = try service.command(
                "backtest", service.policies + "/transcripts-payments.yaml", "--in",
                service.policies)
            #expect(backtest.errors.contains("left out: 3 erased records"), "\(backtest.errors)")
        }

        @Test func theCommandErasesWithAndWithoutAServer() throws {
            let service = try Service.started()
            let client = service.client()
            for name in ["needle", "other"] { try Self.use(client, name) }
            let tenant = try #require(try AuditedLedger(client).entries.last?.envelope)
            let app = try #require(tenant["app"]?.stringValue)
            func erase(_ name: String, _ more: String...) throws -> Program.Outcome {
                try Program.run(
                    [
                        "subjects", "erase", name, "--app", app, "--environment", "sandbox",
                        "--reason", "asked", "--data", service.data,
                    ] + more)
            }
            let through = try erase("needle")
            #expect(through.status == 0, "\(through.errors)")
            #expect(through.output.contains("3 evaluation"))
            let traces = try Self.traces(client, "other")
            #expect(try service.stop() == 0)
            let alone = try erase("other", "-f", "json")
            #expect(alone.status == 0, "\(alone.errors)")
            let answer = try JSONReader.parse(Array(alone.output.utf8))
            #expect(answer["erased"]?["evaluation"] == 3)
            #expect(answer["logCleared"] == true)
            #expect(Self.found(traces, in: service) == 0)
            #expect(try erase("other").output.contains("nothing is recorded"))
            #expect(try service.command("audit", "verify").status == 0)
            for wrong in [
                ["subjects", "erase", "x", "--data", service.data],
                ["subjects", "erase", "x", "--reason", "r", "--data", service.data],
                ["subjects", "erase", "--app", app, "--environment", "sandbox", "--reason", "r"],
            ] {
                #expect(try Program.run(wrong).status == 2)
            }
        }
    }
}
