import Foundation
import JSON
import Testing

extension Scenarios {
    /// `discern explain` on evaluations that were recorded by the engine.
    @Suite struct Explaining {
        private static let recorded = Result { try Recorded() }

        private struct Recorded: Sendable {
            static let data = NSTemporaryDirectory() + "discern-explain-\(getpid())"
            /// Payloads of evaluations, in ledger order.
            let evaluations: [JSONValue]
            /// Evaluations with a label.
            let labelled: Set<String>

            init() throws {
                // Nothing that lives as long as the process is taken down at its end.
                atexit { try? FileManager.default.removeItem(atPath: Recorded.data) }
                let made = try Program.run(
                    ["evaluations", Self.data, "900", "11"], of: Program.built("fixture-generator"))
                try #require(made.status == 0, "\(made.errors)")
                evaluations = try Self.payloads("evaluation")
                labelled = Set(
                    try Self.payloads("label").compactMap {
                        $0["command"]?["evaluationID"]?.stringValue
                    })
            }

            private static func payloads(_ kind: String) throws -> [JSONValue] {
                let list = try Program.run(
                    [
                        "audit", "list", "--data", data, "--kind", kind, "-f", "json", "--limit",
                        "1000",
                    ])
                return try list.lines.compactMap {
                    try JSONReader.parse(Array($0.utf8))["payload"]
                }
            }
        }

        private static func explain(_ id: String, _ more: String...) throws -> Program.Outcome {
            try Program.run(["explain", id, "--data", Recorded.data] + more)
        }

        private static func id(_ payload: JSONValue) -> String {
            payload["result"]?["evaluationID"]?.stringValue ?? "?"
        }

        /// The fullest windows, and where a rule failed or met nothing.
        @Test func windowsHoldTheEventsThatMadeTheRecordedValues() throws {
            let recorded = try Self.recorded.get()
            let last = recorded.evaluations.suffix(40)
            var seen = 0
            for payload in last {
                let run = try Self.explain(Self.id(payload), "-f", "json")
                try #require(run.status == 0, "\(run.errors)")
                let answer = try JSONReader.parse(Array(run.output.utf8))
                let windows = answer["windows"]?.arrayValue ?? []
                #expect(windows.map { $0["value"] } == payload["result"]?["velocity"]?.arrayValue)
                for window in windows {
                    #expect(window["recomputed"] == nil)
                    let events = window["events"]?.arrayValue ?? []
                    seen += events.count
                    let start = window["after"]?.stringValue ?? "~"
                    #expect(events.allSatisfy { ($0["at"]?.stringValue ?? "") > start })
                    if window["name"] == "payments1h" {
                        #expect(window["value"]?.intValue == Int64(events.count))
                    }
                    if window["name"] == "spent24h" {
                        let sum = events.reduce(0) { $0 + ($1["value"]?.doubleValue ?? 0) }
                        #expect(abs(sum - (window["value"]?.doubleValue ?? -1)) < 1e-6)
                    }
                }
                let verdicts = answer["trace"]?.arrayValue?.map { $0["verdict"]?.stringValue }
                #expect(verdicts?.count == payload["result"]?["verdicts"]?.stringValue?.count)
            }
            #expect(seen > 0, "some windows held something")
        }

        @Test func aRequestAndAnInsightLeadToTheSame() throws {
            let payload = try #require(try Self.recorded.get().evaluations.last)
            let byID = try Self.explain(Self.id(payload))
            let request = payload["command"]?["requestID"]?.stringValue ?? "?"
            #expect(try Self.explain(request).output == byID.output)
            let json = try JSONReader.parse(
                Array(try Self.explain(request, "-f", "json").output.utf8))
            let insight = json["insights"]?.arrayValue?.first?["insightID"]?.stringValue ?? "?"
            #expect(try Self.explain(insight).output == byID.output)
            for part in [
                "evaluation \(Self.id(payload))", "request \(request)", "as recorded", "decision",
                "outcome", "rules, as the policy lists them", "not evaluated", "afterwards",
            ] { #expect(byID.output.contains(part), "\(part)") }
            #expect(byID.lines.allSatisfy { $0.count <= 100 }, "\(byID.output)")
        }

        @Test func whatCameAfterwardsIsShown() throws {
            let recorded = try Self.recorded.get()
            let id = try #require(recorded.labelled.sorted().first)
            let run = try Self.explain(id)
            #expect(run.output.contains("  labelled    confirmed"), "\(run.output)")
            #expect(run.output.contains("  so it is    confirmed"))
        }

        @Test(arguments: [
            (["nothing-of-that-name"], 1, "has no evaluation of the requestID"),
            (["019c99f8-84b1-7167-8000-000000ffffff"], 1, "there is no such evaluation"),
            (["x", "--app", "nobody"], 1, "no evaluations of that app"),
            ([], 2, "name one evaluation"),
        ])
        func whatIsNotThereIsToldSo(arguments: [String], status: Int32, part: String) throws {
            _ = try Self.recorded.get()
            let run = try Program.run(["explain", "--data", Recorded.data] + arguments)
            #expect(run.status == status)
            #expect(run.errors.contains(part), "\(run.errors)")
            #expect(run.output.isEmpty)
        }

        @Test func aDecisionIsExplainedWhileTheServerRuns() throws {
            let service = try Service.started()
            let client = service.client()
            // Refused once, then let: the second one is the answer.
            _ = try client.send("POST", "/v1/evaluations", Story.printed)
            _ = try client.put("/v1/authorizations", Requests.authorization("acct-42"))
            for number in 1...2 {
                let earlier = Story.printed.replacing("tx-7f3", with: "tx-\(number)")
                #expect(try client.send("POST", "/v1/evaluations", earlier).status == 201)
            }
            let answer = try client.send("POST", "/v1/evaluations", Story.printed)
            let id = try #require(answer.string("evaluationID"))
            _ = try client.post(
                "/v1/evaluations/\(id)/consumption", ["status": "usedIncreasedFriction"])
            // What stands in the folder today does not matter.
            let file = service.policies + "/transcripts-payments.yaml"
            try Files.write(
                Files.text(file).replacing("version: 3", with: "version: 4")
                    .replacing("hold-coached-transfer", with: "renamed"), to: file)
            let run = try service.command("explain", "tx-7f3")
            try #require(run.status == 0, "\(run.errors)")
            for part in [
                "evaluation \(id)", "by hold-coached-transfer: transfer of 900 to a new payee",
                "matched       hold-coached-transfer", "velocity.payments1h = 2",
                "velocity.spent24h = 1800.0", "usedIncreasedFriction",
            ] { #expect(run.output.contains(part), "\(part)\n\(run.output)") }
            #expect(!run.output.contains("erased"))
        }

        @Test func theRecordedPolicyIsUsedWhateverTheFolderSays() throws {
            // No policies are given at all: there is nothing but the ledger.
            let payload = try #require(try Self.recorded.get().evaluations.first)
            let run = try Self.explain(Self.id(payload))
            let digest = payload["result"]?["policy"]?["digest"]?.stringValue ?? "?"
            #expect(run.output.contains("sha256 \(digest.prefix(16))"))
        }
    }
}
