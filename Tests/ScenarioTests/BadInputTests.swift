import Foundation
import JSON
import Testing

extension Scenarios {
    /// What a live service says to requests that are wrong: each time a clear and distinct
    /// problem, nothing recorded, and it goes on.
    @Suite struct BadInput {
        /// A service outside development, with keys for both environments.
        struct Setting {
            var service: Service
            var sandbox: String
            var production: String
            var evaluateOnly: String

            init() throws {
                service = try Service([])
                // So that there is a category on which no policy acts.
                for file in Files.all(in: service.policies)
                where file.contains("transcripts-export") {
                    try FileManager.default.removeItem(atPath: file)
                }
                // Before the server's first start there is a first writer already.
                let app = try service.command("apps", "create", "shop", "--name", "The shop")
                try #require(app.status == 0, "\(app.errors)")
                sandbox = try Self.key(service, "sandbox", scopes: nil)
                try service.start()
                // And while it runs, through it.
                production = try Self.key(service, "production", scopes: nil)
                evaluateOnly = try Self.key(service, "sandbox", scopes: "evaluate")
                for key in [sandbox, production] {
                    let client = service.client(key: key)
                    let answer = try client.put(
                        "/v1/authorizations", Requests.authorization("acct-42"))
                    try #require(answer.status == 200)
                }
            }

            static func key(_ service: Service, _ environment: String, scopes: String?) throws
                -> String
            {
                let more = scopes.map { ["--scopes", $0] } ?? []
                let outcome = try Program.run(
                    ["keys", "create", "--app", "shop", "--environment", environment]
                        + more + ["--data", service.data])
                try #require(outcome.status == 0, "\(outcome.errors)")
                return try #require(outcome.lines.first)
            }

            var entryCount: Int {
                get throws {
                    try AuditedLedger(service.client(key: service.operatorKey)).entries.count
                }
            }
        }

        /// What is sent and what is to come back.
        struct Case {
            var name: String
            var method = "POST"
            var target = "/v1/evaluations"
            var body: [UInt8]?
            var headers: [String: String] = [:]
            var status: Int
            var code: String
            var field: String?
            var reason: String?

            init(
                _ name: String, _ method: String = "POST", _ target: String = "/v1/evaluations",
                _ body: JSONValue? = nil, text: String? = nil, headers: [String: String] = [:],
                gives status: Int, _ code: String, _ field: String? = nil, reason: String? = nil
            ) {
                self.name = name
                self.method = method
                self.target = target
                self.body = text.map { Array($0.utf8) } ?? body?.canonicalBytes
                self.headers = headers
                self.status = status
                self.code = code
                self.field = field
                self.reason = reason
            }
        }

        @Test func everyBadRequestHasItsOwnAnswer() throws {
            let setting = try Setting()
            let first = try setting.service.client(key: setting.sandbox).post(
                "/v1/evaluations", Requests.evaluation("taken"))
            #expect(first.status == 201)
            let before = try setting.entryCount
            let client = setting.service.client(key: setting.sandbox)
            var cases = Self.unreadable + Self.misshapen + Self.addressed
            cases += Self.keys(setting) + Self.evaluations
            for item in cases { try Self.check(item, client) }
            try Self.oversized(client)
            #expect(try setting.entryCount == before, "a refused request left an entry")
            #expect(setting.service.isRunning)
            #expect(try client.get("/healthz").status == 200)
            #expect(try client.get("/readyz").status == 200)
            // What was refused did not occupy its requestID.
            let retried = try client.post("/v1/evaluations", Requests.evaluation("x"))
            #expect(retried.status == 201)
        }

        private static func check(_ item: Case, _ client: Client) throws {
            let answer = try client.send(
                item.method, item.target, item.body, headers: item.headers)
            try problem(answer, item.name, item.status, item.code)
            if item.method == "HEAD" { return }
            if let field = item.field {
                #expect(answer.string("field") == field, "\(item.name): \(answer.text)")
            }
            if let reason = item.reason {
                #expect(answer.string("reason") == reason, "\(item.name): \(answer.text)")
            }
        }

        /// A problem in the documented shape.
        private static func problem(
            _ answer: Answer, _ name: String, _ status: Int, _ code: String
        ) throws {
            #expect(answer.status == status, "\(name): \(answer.text)")
            #expect(answer.headers["content-type"] == "application/problem+json", "\(name)")
            guard !answer.body.isEmpty else { return }
            #expect(answer.code == code, "\(name): \(answer.text)")
            #expect(answer.string("type") == "urn:discern:problem:\(code)", "\(name)")
            #expect(answer["status"]?.intValue == Int64(status), "\(name)")
            #expect(answer.string("title")?.isEmpty == false, "\(name)")
            #expect(answer["retryable"]?.boolValue != nil, "\(name)")
        }

        /// Larger than any call takes; also without a length told before.
        private static func oversized(_ client: Client) throws {
            let text = "{\"requestID\":\"" + String(repeating: "x", count: 2 << 20) + "\"}"
            let large = try client.send("POST", "/v1/evaluations", text)
            try problem(large, "a large body", 413, "bodyTooLarge")
            let path = "/" + String(repeating: "p", count: 12_000)
            let long = try client.send("GET", path)
            try problem(long, "a long target", 414, "targetTooLong")
            let many = Dictionary(uniqueKeysWithValues: (0..<100).map { ("X-H\($0)", "v") })
            let headers = try client.send("GET", "/healthz", nil as String?, headers: many)
            try problem(headers, "many headers", 431, "headersTooLarge")
            #expect(try client.get("/healthz").status == 200)
        }

        // MARK: Two environments, and batches

        @Test func environmentsNeverMix() throws {
            let setting = try Setting()
            let sandbox = setting.service.client(key: setting.sandbox)
            let production = setting.service.client(key: setting.production)
            let judged = try sandbox.post("/v1/evaluations", Requests.evaluation("x"))
            let id = try #require(judged.string("evaluationID"))
            let before = try setting.entryCount
            let label = Requests.label("l", requestID: "x").with("/requestID", nil)
                .with("/evaluationID", .string(id))
            for answer in [
                try production.post("/v1/labels", label),
                try production.post(
                    "/v1/evaluations/\(id)/consumption", ["status": "usedIncreasedFriction"]),
                try production.get("/v1/evaluations/\(id)"),
            ] { try Self.problem(answer, "other environment", 409, "environmentMismatch") }
            // By requestID there is simply none.
            let byRequest = try production.post(
                "/v1/labels", Requests.label("l", requestID: "x"))
            try Self.problem(byRequest, "other environment", 404, "notFound")
            #expect(try setting.entryCount == before)
            #expect(try AuditedLedger(production).of(kind: "evaluation").isEmpty)
        }

        @Test func batchesTellTheTruthAboutEachItem() throws {
            let setting = try Setting()
            let client = setting.service.client(key: setting.sandbox)
            for id in ["a", "b"] {
                _ = try client.post("/v1/evaluations", Requests.evaluation(id))
            }
            let good = [
                Requests.label("l1", requestID: "a"), Requests.label("l2", requestID: "b"),
            ]
            let bad = Requests.label("l3", requestID: "a").with("/label", "fraud")
            let nobody = Requests.label("l4", requestID: "nobody")
            var before = try setting.entryCount

            // All or none: none.
            let atomic = try client.post(
                "/v1/labels/batch",
                ["atomic": true, "labels": .array([good[0], good[1], bad])])
            try Self.problem(atomic, "atomic", 422, "invalidValue")
            #expect(atomic.string("field") == "/labels/2/label")
            #expect(atomic["index"] == 2)
            #expect(atomic["stored"] == 0)
            let late = try client.post(
                "/v1/labels/batch", ["atomic": true, "labels": .array([good[0], nobody])])
            try Self.problem(late, "atomic", 404, "notFound")
            #expect(late["index"] == 1)
            #expect(try setting.entryCount == before)

            let mixed = try client.post(
                "/v1/labels/batch",
                ["labels": .array([good[0], bad, nobody, good[1], good[0]])])
            #expect(mixed.status == 207)
            let results = mixed["results"]?.arrayValue ?? []
            #expect(results.compactMap { $0["index"]?.intValue } == [0, 1, 2, 3, 4])
            #expect(results.compactMap { $0["status"]?.intValue } == [201, 422, 404, 201, 200])
            #expect(results.dropFirst().first?["problem"]?["field"] == "/label")
            #expect(try setting.entryCount == before + 2)
            before = try setting.entryCount

            let evaluations = try client.post(
                "/v1/evaluations/batch",
                [
                    "evaluations": .array([
                        Requests.evaluation("c"), Requests.evaluation("d").with("/device/value", 2),
                        7, Requests.evaluation("a"), Requests.evaluation("c"),
                    ])
                ])
            #expect(evaluations.status == 207)
            #expect(
                (evaluations["results"]?.arrayValue ?? []).compactMap { $0["status"]?.intValue }
                    == [201, 422, 422, 200, 200])
            #expect(try setting.entryCount == before + 1)
            let empty = try client.post("/v1/evaluations/batch", ["evaluations": []])
            #expect(empty.status == 207)
            #expect(empty["results"] == [])
            let many = JSONValue.array(Array(repeating: 7, count: 1_001))
            let tooMany = try client.post("/v1/evaluations/batch", ["evaluations": many])
            try Self.problem(tooMany, "1,001 items", 422, "invalidValue")
        }
    }
}
