import JSON
import Testing

extension Scenarios {
    /// Reports that are owed and do not come.
    @Suite struct Debt {
        private static let header = "discern-report-debt"

        @Test func debtRefusesThenSuspendsAndReportingLiftsIt() throws {
            let service = try Service.started()
            let client = service.client()
            func evaluate(_ id: String) throws -> Answer {
                try client.post("/v1/evaluations", Requests.evaluation(id, amount: 1, device: 0.1))
            }
            func advance(_ span: String) throws {
                #expect(
                    try client.post("/v1/sandbox/clock", ["advance": .string(span)]).status == 200)
            }
            _ = try client.put("/v1/authorizations", Requests.authorization("acct-42"))
            var ids: [String] = []
            for number in 0..<20 {
                let answer = try evaluate("owed-\(number)")
                #expect(answer.status == 201)
                #expect(answer.headers[Self.header] == nil)
                ids.append(answer.string("evaluationID") ?? "?")
            }
            #expect(try evaluate("owed-0")["replayed"] == true)

            try advance("1h1m")
            let refused = try evaluate("new")
            #expect(refused.status == 429)
            #expect(refused.code == "reportDebt")
            #expect(refused["retryable"] == false)
            #expect(refused.headers["retry-after"] == nil, "waiting does not help")
            #expect(refused.headers[Self.header] == "20")
            #expect(refused["evaluations"] == .array(ids.map { .string($0) }))
            #expect(refused.string("open") == "/v1/consumption/debt")
            let debt = try client.get("/v1/consumption/debt?limit=15")
            #expect(debt["debt"] == 20)
            #expect(debt["evaluations"]?.arrayValue?.count == 15)
            let rest = try client.get(
                "/v1/consumption/debt?cursor=\(debt.string("next") ?? "")")
            #expect(
                rest["evaluations"]?.arrayValue?.compactMap { $0["evaluationID"]?.stringValue }
                    == Array(ids[15...]))

            // A replay asks for nothing new.
            let replay = try evaluate("owed-3")
            #expect(replay.status == 200)
            #expect(replay["replayed"] == true)
            #expect(replay.headers[Self.header] == "20")

            try Self.suspended(service, advance: advance, evaluate: evaluate)
        }

        private static func suspended(
            _ service: Service, advance: (String) throws -> Void,
            evaluate: (String) throws -> Answer
        ) throws {
            let client = service.client()
            try advance("24h")
            let suspended = try evaluate("new")
            #expect(suspended.status == 403)
            #expect(suspended.code == "accessSuspended")
            #expect(suspended["evaluations"]?.arrayValue?.count == 20)
            #expect(try evaluate("owed-19")["replayed"] == true)
            // It is no state of the process.
            let label = try client.post(
                "/v1/labels", Requests.label("l1", requestID: "owed-1"))
            #expect(label.status == 201)

            let report = try client.post(
                "/v1/consumption",
                Requests.report(requestID: "owed-0", "usedUnchangedFriction"))
            #expect(report.status == 201)
            #expect(report["state"] == "reportedLate")
            #expect(report.headers[header] == "19")
            let lifted = try evaluate("new")
            #expect(lifted.status == 201)
            #expect(lifted.headers[header] == "19")
            #expect(try service.stop() == 0)
        }

        @Test func suspensionOutlivesARestart() throws {
            let service = try Service.started()
            _ = try service.client().put(
                "/v1/authorizations", Requests.authorization("acct-42"))
            let client = service.client()
            for number in 0..<20 {
                let body = Requests.evaluation("owed-\(number)", amount: 1, device: 0.1)
                #expect(try client.post("/v1/evaluations", body).status == 201)
            }
            #expect(try client.post("/v1/sandbox/clock", ["advance": "25h2m"]).status == 200)
            try service.kill()
            try service.start()
            let refused = try service.client().post(
                "/v1/evaluations", Requests.evaluation("new"))
            #expect(refused.code == "accessSuspended")
            #expect(refused.headers[Self.header] == "20")
        }
    }
}
