import Foundation
import JSON
import Testing

extension Scenarios {
    /// What a live service says to requests that are wrong: each time a clear and distinct
    /// problem, nothing recorded, and it goes on.
    @Suite struct BadInput {
        /// A service outside development, with keys for both environments.
        private struct Setting {
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
        private struct Case {
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

        // MARK: Tables

        private static var good: JSONValue { Requests.evaluation("x") }

        private static var unreadable: [Case] {
            func broken(_ name: String, _ text: String, _ reason: String? = nil) -> Case {
                Case(name, text: text, gives: 400, "malformedJSON", reason: reason)
            }
            var invalidUTF8 = Case("invalid UTF-8", gives: 400, "malformedJSON")
            invalidUTF8.body =
                Array(#"{"requestID":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
            return [
                broken("no body", ""), broken("cut short", #"{"requestID":"x""#),
                broken("trailing comma", #"{"requestID":"x",}"#),
                broken("two values", "{} {}"), broken("a lone surrogate", #"{"a":"\ud800"}"#),
                broken("a duplicate member", #"{"requestID":"a","requestID":"b"}"#),
                broken("not a number", #"{"device":{"value":NaN}}"#),
                broken("a number out of every range", #"{"device":{"value":1e999}}"#),
                broken(
                    "deep nesting",
                    String(repeating: "[", count: 100_000)
                        + String(repeating: "]", count: 100_000)),
                broken("deep nesting, open", String(repeating: #"{"a":"#, count: 50_000)),
                invalidUTF8,
                Case(
                    "another type of content", text: "<a/>",
                    headers: ["Content-Type": "application/xml"], gives: 415, "unsupportedMediaType"
                ),
            ]
        }

        private static var misshapen: [Case] {
            func bad(
                _ name: String, _ pointer: String, _ value: JSONValue?, _ code: String,
                at field: String? = nil
            ) -> Case {
                Case(
                    name, "POST", "/v1/evaluations", good.with(pointer, value), gives: 422, code,
                    field ?? pointer)
            }
            return [
                Case("an array", "POST", "/v1/evaluations", [], gives: 422, "invalidValue", ""),
                bad("no requestID", "/requestID", nil, "missingField"),
                bad("a null requestID", "/requestID", .null, "missingField"),
                bad("a number as requestID", "/requestID", 7, "invalidValue"),
                bad("an empty requestID", "/requestID", "", "invalidValue"),
                bad("control characters", "/requestID", "a\u{0}b", "invalidValue"),
                bad(
                    "a long subject", "/subject", .string(String(repeating: "s", count: 10_000)),
                    "invalidValue"),
                bad("no category", "/context/category", nil, "missingField"),
                bad("an unknown category", "/context/category", "Payment", "invalidValue"),
                bad("attributes as list", "/context/attributes", [], "invalidValue"),
                bad("an unknown member", "/colour", "red", "unknownField"),
                bad("an unknown member within", "/device/raw", [1, 2], "unknownField"),
                bad("a value above 1", "/device/value", 1.000001, "invalidValue"),
                bad("a value below 0", "/device/value", -0.1, "invalidValue"),
                bad("a huge value", "/device/value", 1e308, "invalidValue"),
                bad("a value as text", "/device/value", "0.97", "invalidValue"),
                bad(
                    "no time", "/device/generatedAt", "2026-02-30T00:00:00Z", "invalidValue"),
                bad(
                    "an insight of another kind", "/insights", [["kind": "isBot"]],
                    "invalidValue", at: "/insights/0/kind"),
                bad(
                    "a schema out of range", "/insights",
                    [
                        [
                            "kind": "isLikelyBeingCoached",
                            "schema": .uint(18_446_744_073_709_551_615),
                        ]
                    ], "invalidValue", at: "/insights/0/schema"),
                bad(
                    "two forced results", "/force", ["outcome": "high", "insightError": "x"],
                    "invalidValue", at: "/force/insightError"),
            ]
        }

        private static var addressed: [Case] {
            let id = "01930000-0000-7000-8000-000000000001"
            return [
                Case("an unknown path", "GET", "/v2/evaluations", gives: 404, "notFound"),
                Case("an unknown path, HEAD", "HEAD", "/v2", gives: 404, "notFound"),
                Case("OPTIONS", "OPTIONS", "/v1/evaluations", gives: 405, "methodNotAllowed"),
                Case("a method nobody has", "BREW", "/v1/labels", gives: 405, "methodNotAllowed"),
                Case("HEAD of a POST", "HEAD", "/v1/evaluations", gives: 405, "methodNotAllowed"),
                Case("DELETE", "DELETE", "/v1/evaluations/\(id)", gives: 405, "methodNotAllowed"),
                Case(
                    "bad percent-encoding", "GET", "/v1/evaluations/%zz", gives: 400,
                    "malformedRequest"),
                Case(
                    "an unknown query item", "GET", "/v1/audit/entries?colour=red", gives: 422,
                    "unknownField", "colour"),
                Case(
                    "a limit out of range", "GET", "/v1/audit/entries?limit=0", gives: 422,
                    "invalidValue", "limit"),
                Case(
                    "a raw id in a URL", "GET", "/v1/audit/entries?subject=acct-42", gives: 422,
                    "invalidValue", "subject"),
                Case("no such evaluation", "GET", "/v1/evaluations/\(id)", gives: 404, "notFound"),
                Case("no id at all", "GET", "/v1/evaluations/nothing", gives: 404, "notFound"),
                Case("no such entry", "GET", "/v1/audit/entries/999999", gives: 404, "notFound"),
                Case("no number", "GET", "/v1/audit/entries/x", gives: 404, "notFound"),
                Case(
                    "a report on nothing", "POST", "/v1/evaluations/\(id)/consumption",
                    ["status": "usedIncreasedFriction"], gives: 404, "notFound"),
                Case(
                    "a report that names nothing", "POST", "/v1/consumption",
                    ["status": "usedIncreasedFriction"], gives: 422, "missingField"),
                Case(
                    "a status nobody knows", "POST", "/v1/consumption",
                    Requests.report(requestID: "taken", "used"), gives: 422, "invalidValue",
                    "/status"),
                Case(
                    "a label on nothing", "POST", "/v1/labels",
                    Requests.label("l", requestID: "nobody"), gives: 404, "notFound", "/requestID"),
                Case(
                    "a misspelt category", "POST", "/v1/labels",
                    Requests.label("l", requestID: "taken").with("/category", "CHARGEBAK"),
                    gives: 422, "invalidValue", "/category"),
                Case(
                    "a label of tomorrow", "POST", "/v1/labels",
                    Requests.label("l", requestID: "taken", at: ahead(minutes: 1_440)), gives: 422,
                    "clockSkew", "/occurredAt"),
                Case(
                    "a grant that is none", "POST", "/v1/review-prompts/grants/\(id)",
                    ["outcome": "requested"], gives: 404, "notFound"),
                Case(
                    "an unknown reason", "POST", "/v1/review-prompts/donations",
                    Requests.donation("k", subject: "s", device: "d", reason: "mood"), gives: 422,
                    "invalidValue", "/reason"),
                Case(
                    "an unknown zone", "POST", "/v1/review-prompts/donations",
                    Requests.donation("k", subject: "s", device: "d")
                        .with("/timeZone", "Mars/Olympus"), gives: 422, "invalidValue", "/timeZone"),
                Case(
                    "a donation of tomorrow", "POST", "/v1/review-prompts/donations",
                    Requests.donation("k", subject: "s", device: "d")
                        .with("/occurredAt", .string(ahead(minutes: 1_440))), gives: 422,
                    "clockSkew",
                    "/occurredAt"),
                Case(
                    "a clock moved by nothing", "POST", "/v1/sandbox/clock", ["advance": "soon"],
                    gives: 422, "invalidValue", "/advance"),
                Case(
                    "a clock moved too far", "POST", "/v1/sandbox/clock",
                    ["advance": "99999999d"], gives: 422, "invalidValue", "/advance"),
                Case(
                    "a clock moved back", "POST", "/v1/sandbox/clock", ["advance": "-1h"],
                    gives: 422,
                    "invalidValue", "/advance"),
            ]
        }

        private static func keys(_ setting: Setting) -> [Case] {
            func with(_ key: String) -> [String: String] { ["Authorization": key] }
            return [
                Case(
                    "no key", "POST", "/v1/evaluations", good, headers: with(""), gives: 401,
                    "unauthenticated"),
                Case(
                    "a foreign key", "POST", "/v1/evaluations", good,
                    headers: with("Bearer sk_sandbox_\(String(repeating: "0", count: 64))"),
                    gives: 401,
                    "unauthenticated"),
                Case(
                    "another scheme", "POST", "/v1/evaluations", good,
                    headers: with("Basic Zm9vOmJhcg=="), gives: 401, "unauthenticated"),
                Case(
                    "no key and a bad body", text: "{", headers: with(""), gives: 401,
                    "unauthenticated"),
                Case(
                    "a missing scope", "POST", "/v1/labels",
                    Requests.label("l", requestID: "taken"),
                    headers: with("Bearer \(setting.evaluateOnly)"), gives: 403, "insufficientScope"
                ),
                Case(
                    "the operator's key", "POST", "/v1/evaluations", good,
                    headers: with("Bearer \(setting.service.operatorKey)"), gives: 403,
                    "operatorOnly"),
                Case(
                    "an app's key for an operator's call", "GET", "/v1/keys", gives: 403,
                    "operatorOnly"),
                Case(
                    "force in production", "POST", "/v1/evaluations",
                    good.with("/force", ["outcome": "high"]),
                    headers: with("Bearer \(setting.production)"), gives: 403, "sandboxOnly",
                    "/force"),
                Case(
                    "the clock of production", "POST", "/v1/sandbox/clock", ["advance": "1h"],
                    headers: with("Bearer \(setting.production)"), gives: 403, "sandboxOnly"),
                Case(
                    "an unbound device result in production", "POST", "/v1/evaluations", good,
                    headers: with("Bearer \(setting.production)"), gives: 422,
                    "payloadSecurityError",
                    "/device/requestID"),
                Case(
                    "a device result without time in production", "POST", "/v1/evaluations",
                    good.with("/device/requestID", "x"),
                    headers: with("Bearer \(setting.production)"), gives: 422, "localError",
                    "/device/generatedAt"),
            ]
        }

        private static var evaluations: [Case] {
            func bad(
                _ name: String, _ pointer: String, _ value: JSONValue?, _ code: String,
                at field: String? = nil, reason: String? = nil
            ) -> Case {
                Case(
                    name, "POST", "/v1/evaluations", good.with(pointer, value), gives: 422, code,
                    field ?? pointer, reason: reason)
            }
            let attributes = "/context/attributes/"
            return [
                bad(
                    "another body under the same requestID", "/requestID", "taken",
                    "requestIDReused"),
                bad(
                    "6 minutes ahead", "/device/generatedAt", .string(ahead(minutes: 6)),
                    "clockSkew"),
                bad(
                    "long ago", "/device/generatedAt", "2020-01-01T00:00:00Z",
                    "deviceResultExpired"),
                bad(
                    "made for another request", "/device/requestID", "other",
                    "payloadSecurityError"),
                bad("no device result", "/device", nil, "localError"),
                bad(
                    "an undeclared attribute", attributes + "shoeSize", 43, "contextInvalid",
                    reason: "unknownAttribute"),
                bad(
                    "a missing attribute", attributes + "currency", nil, "contextInvalid",
                    reason: "missingAttribute"),
                bad(
                    "an attribute of another type", attributes + "amount", "900",
                    "contextInvalid", reason: "invalidAttribute"),
                bad(
                    "an attribute out of range", attributes + "amount", -1.0, "contextInvalid",
                    reason: "invalidAttribute"),
                bad(
                    "an attribute too long", attributes + "currency", "EURO", "contextInvalid",
                    reason: "invalidAttribute"),
                bad(
                    "an attribute within an attribute", attributes + "amount", [1],
                    "invalidValue"),
                bad(
                    "a category without policy", "/context/category", "other", "contextInvalid",
                    reason: "noPolicy"),
                Case(
                    "a forced error", "POST", "/v1/evaluations",
                    good.with("/force", ["evaluationError": "rateLimitExceeded"]), gives: 429,
                    "rateLimitExceeded"),
            ].map { item in
                // Of the one that is taken already, only the amount differs.
                guard item.code == "requestIDReused" else { return item }
                var item = item
                item.body = Requests.evaluation("taken", amount: 901).canonicalBytes
                return item
            }
        }

        private static func ahead(minutes: Double) -> String {
            let formatter = ISO8601DateFormatter()
            return formatter.string(from: Date().addingTimeInterval(minutes * 60))
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
