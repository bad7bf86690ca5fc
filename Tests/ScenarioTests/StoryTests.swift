import Foundation
import JSON
import Testing
import Time

extension Scenarios {
    /// One person, from a coached payment to a review prompt, and what the audit says about it.
    @Suite struct Story {
        /// As printed in the documentation of the API.
        static let printed = """
            {"requestID":"tx-7f3","subject":"acct-42","context":{"category":"payment","attributes":{"amount":900.0,"currency":"EUR","newPayee":true}},
             "insights":[{"kind":"isLikelyBeingCoached","schema":1,"modelVersion":"current"}],
             "device":{"value":0.97}}
            """

        @Test func storyFromPaymentToReviewPrompt() throws {
            let service = try Service.started()
            let client = service.client()
            try Self.payment(client)
            try Self.reportAndLabel(client)
            try Self.reviewPrompt(client)
            try Self.audit(service, client)
        }

        private static func payment(_ client: Client) throws {
            let before = try client.send("POST", "/v1/evaluations", printed)
            #expect(before.status == 403)
            #expect(before.code == "notAvailable" || before.code == "denied")
            #expect(before["decision"]?["friction"] != nil, "refusing still says what to do")

            let authorized = try client.put(
                "/v1/authorizations", Requests.authorization("acct-42"))
            #expect(authorized.status == 200)
            #expect(authorized.string("status") == "authorized")

            // The refused one does not occupy the requestID.
            let answer = try client.send("POST", "/v1/evaluations", printed)
            #expect(answer.status == 201)
            #expect(answer["replayed"] == false)
            let insight = answer["insights"]?.arrayValue?.first
            #expect(insight?["outcome"] == "high")
            #expect(insight?["score"]?.doubleValue == 0.91)
            #expect(insight?["degraded"] == false)
            let decision = answer["decision"]
            #expect(decision?["friction"] == "increased")
            #expect(decision?["steps"] == ["warn", "manualReview"])
            #expect(decision?["holdFor"] == "PT15M")
            #expect(decision?["notify"] == ["call-centre"])
            #expect(
                decision?["reasons"] == [
                    [
                        "rule": "hold-coached-transfer",
                        "explanation": "transfer of 900 to a new payee",
                    ]
                ])
            #expect(answer["policy"]?["name"] == "transcripts-payments")
            #expect(answer["policy"]?["version"] == 3)
            #expect(answer["consumption"]?["state"] == "due")

            let again = try client.send("POST", "/v1/evaluations", printed)
            #expect(again.status == 200)
            #expect(again.json == answer.json.with("/replayed", true))
        }

        private static func reportAndLabel(_ client: Client) throws {
            let id = try #require(
                try client.send("POST", "/v1/evaluations", printed).string("evaluationID"))
            let path = "/v1/evaluations/\(id)/consumption"
            let report = try client.post(path, ["status": "usedIncreasedFriction"])
            #expect(report.status == 201)
            #expect(report["state"] == "reported")
            let again = try client.post(
                "/v1/consumption", Requests.report(requestID: "tx-7f3"))
            #expect(again.status == 200)
            #expect(again["replayed"] == true)
            let other = try client.post(path, ["status": "usedReducedFriction"])
            #expect(other.status == 409)
            #expect(other.code == "alreadyReported")

            let label = try client.post(
                "/v1/labels", Requests.label("case-1", requestID: "tx-7f3"))
            #expect(label.status == 201)
            let replayed = try client.post(
                "/v1/labels", Requests.label("case-1", requestID: "tx-7f3"))
            #expect(replayed.status == 200)
            let shown = try client.get("/v1/evaluations/\(id)")
            #expect(shown["consumption"]?["state"] == "reported")
            #expect(shown["labels"]?.arrayValue?.count == 1)
            #expect(shown["currentLabel"]?["label"] == "confirmedFraud")
            #expect(shown["currentLabel"]?["category"] == "vishing")
        }

        private static func reviewPrompt(_ client: Client) throws {
            func donate(_ key: String, _ reason: String = "finishedTranscript") throws -> Answer {
                let isExport = reason == "exportedVideo"
                return try client.post(
                    "/v1/review-prompts/donations",
                    Requests.donation(
                        key, subject: "acct-42", device: "phone-1", reason: reason,
                        version: isExport ? "1.1" : "1.0",
                        attributes: isExport ? ["minutes": 9] : nil))
            }
            let first = try donate("d1")
            #expect(first.status == 201)
            #expect(first["decision"] == "hold")
            #expect(first["missing"] == ["finishedTranscript"])
            let second = try donate("d2")
            #expect(second["decision"] == "hold")
            // One more is enough, from now on.
            #expect(second["missing"] == [])
            #expect(second["nextEligibleAt"] == second["receivedAt"])
            let asked = try donate("d3")
            #expect(asked["decision"] == "ask")
            let grant = try #require(asked["grant"])
            #expect(grant["state"] == "open")
            #expect(grant["shown"] == "unknown")
            let id = try #require(grant["grantID"]?.stringValue)
            let requested = try client.post(
                "/v1/review-prompts/grants/\(id)", ["outcome": "requested"])
            #expect(requested.status == 200)
            #expect(requested["state"] == "requested")

            #expect(try client.post("/v1/sandbox/clock", ["advance": "24h"]).status == 200)
            let held = try donate("d4", "exportedVideo")
            #expect(held["decision"] == "hold")
            let failed = (held["verdicts"]?.arrayValue ?? []).filter { $0["result"] != "pass" }
            #expect(failed.map { $0["rule"] } == ["interval"])
            // Seven days of the calendar, in the person's zone: UTC.
            let granted = try #require(
                grant["grantedAt"]?.stringValue.flatMap { Instant(rfc3339: $0) })
            let day = granted.milliseconds / 86_400_000 + 7
            #expect(
                held.string("nextEligibleAt")
                    == Instant(milliseconds: day * 86_400_000).rfc3339)
        }

        private static func audit(_ service: Service, _ client: Client) throws {
            let expected = [
                "evaluation", "authorization", "evaluation", "consumption", "label",
                "donation", "donation", "donation", "grantOutcome", "sandboxClock", "donation",
            ]
            let own = try AuditedLedger(client)
            #expect(own.entries.map(\.kind) == expected)
            var all = try AuditedLedger(service.client(key: service.operatorKey), pageSize: 3)
            all.verify()
            #expect(all.entries.suffix(expected.count).map(\.kind) == expected)

            let running = try service.command("audit", "list", "--app", "dev", "-f", "json")
            #expect(running.status == 0)
            #expect(try kinds(running) == expected)
            let pretty = try service.command("audit", "list", "--newest", "--limit", "2")
            #expect(pretty.lines.count == 2)
            #expect(pretty.lines.first?.contains("exportedVideo → hold, next ") == true)
            #expect(try service.stop() == 0)
            let stopped = try service.command("audit", "list", "--app", "dev", "-f", "json")
            #expect(stopped.output == running.output)
            let person = try service.command(
                "audit", "list", "--app", "dev", "--environment", "sandbox", "--subject",
                "acct-42", "-f", "json")
            // All but what is about no person.
            #expect(try kinds(person) == expected.filter { $0 != "sandboxClock" })
        }

        private static func kinds(_ outcome: Program.Outcome) throws -> [String] {
            try outcome.lines.map { line in
                try JSONReader.parse(Array(line.utf8))["envelope"]?["kind"]?.stringValue ?? ""
            }
        }
    }
}
