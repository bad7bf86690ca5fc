import Engine
import JSON
import Ledger
import Server
import Testing

@Suite struct APITests {
    /// Two apps' keys and an operator's.
    private struct Keys: KeyDirectory {
        func principal(for digest: Digest) -> Principal? {
            let tenant = Tenant(app: "transcripts", environment: .sandbox)
            return switch digest {
            case SHA256.hash("evaluator"):
                Principal(keyID: "k1", tenant: tenant, scopes: [.evaluate])
            case SHA256.hash("labeller"):
                Principal(keyID: "k2", tenant: tenant, scopes: [.label])
            case SHA256.hash("operator"):
                Principal(keyID: "k3", tenant: nil, scopes: Set(Scope.allCases))
            default: nil
            }
        }
    }

    /// A server of three routes, all of which answer with what they were given.
    private func start() throws -> HTTPServer {
        var evaluate = Route(
            .post, "/v1/evaluations", name: "evaluate", summary: "Evaluates.",
            access: .app(.evaluate))
        evaluate.query = [.optional("trace", .bool), .optional("limit", .integer(1...100))]
        evaluate.body = .object([
            .required("subject", .id), .optional("amount", .number(0...1000)),
        ])
        evaluate.bodyBytes = 2000
        let apps = Route(
            .get, "/v1/apps/{id}", name: "getApp", summary: "One app.",
            access: .operators(.admin))
        let failing = Route(.get, "/fail", name: "fail", summary: "Fails.", access: .anyone)
        let say: @Sendable (Call, Responder) -> Void = { call, responder in
            var text = call.principal?.keyID ?? "nobody"
            for (name, value) in call.parameters.merging(call.query, uniquingKeysWith: { $1 }) {
                text += " \(name)=\(value)"
            }
            text += " " + call.body.text
            responder.answer(HTTPResponse(status: 200, body: Array(text.utf8)))
        }
        let limits = ServerLimits()
        let api = try API(
            [
                Endpoint(evaluate, handle: say), Endpoint(apps, handle: say),
                Endpoint(failing, handle: refuse),
            ], directory: Keys(), limits: limits, log: Log(level: .error))
        var configuration = HTTPServer.Configuration(
            address: try #require(SocketAddress("127.0.0.1:0")), limits: limits)
        configuration.bodyLimit = api.bodyLimit
        return try HTTPServer(configuration, handler: api.handle)
    }

    private struct Exchange: CustomTestStringConvertible {
        var line: String
        var key: String?
        var body = ""
        var type = "application/json"
        var status: Int
        var part: String

        init(
            _ line: String, _ key: String?, _ body: String = "", type: String = "application/json",
            gives status: Int, _ part: String
        ) {
            (self.line, self.key, self.body) = (line, key, body)
            (self.type, self.status, self.part) = (type, status, part)
        }

        var testDescription: String { "\(line) \(body) \(status)" }
    }

    private static let exchanges = [
        Exchange(
            "POST /v1/evaluations?trace=true", "evaluator", #"{"subject":"a"}"#, gives: 200,
            #"k1 trace=true {"subject":"a"}"#),
        Exchange(
            "POST /v1/evaluations", "evaluator", #"{"subject":"a","amount":null}"#, gives: 200, "k1"
        ),
        Exchange("GET /v1/apps/x%20y", "operator", gives: 200, "k3 id=x y null"),
        // In the order in which a request is checked
        Exchange("GET /nowhere", nil, gives: 404, #""code":"notFound""#),
        Exchange("GET /v1/apps/%ff", nil, gives: 400, #""code":"malformedRequest""#),
        Exchange("DELETE /v1/evaluations", nil, gives: 405, #""allowed":["POST"]"#),
        Exchange("POST /v1/evaluations", nil, "not json", gives: 401, #""code":"unauthenticated""#),
        Exchange("POST /v1/evaluations", "wrong", gives: 401, #""code":"unauthenticated""#),
        Exchange(
            "POST /v1/evaluations", "labeller", "not json", gives: 403,
            #""code":"insufficientScope""#),
        Exchange("POST /v1/evaluations", "operator", gives: 403, #""code":"operatorOnly""#),
        Exchange("GET /v1/apps/x", "evaluator", gives: 403, #""code":"operatorOnly""#),
        Exchange(
            "POST /v1/evaluations?tracee=1", "evaluator", gives: 422,
            #""field":"tracee","allowed":["trace","limit"]"#),
        Exchange(
            "POST /v1/evaluations?trace=1", "evaluator", gives: 422,
            #""field":"trace","value":1,"allowed":[true,false]"#),
        Exchange(
            "POST /v1/evaluations?limit=101", "evaluator", gives: 422, #""code":"invalidValue""#),
        Exchange(
            "POST /v1/evaluations?trace=true&trace=true", "evaluator", gives: 422,
            #""code":"invalidValue""#),
        Exchange(
            "POST /v1/evaluations", "evaluator", "<a/>", type: "text/xml", gives: 415,
            #""code":"unsupportedMediaType""#),
        Exchange("POST /v1/evaluations", "evaluator", gives: 400, #""code":"malformedJSON""#),
        Exchange(
            "POST /v1/evaluations", "evaluator", #"{"subject":"a","subject":"b"}"#, gives: 400,
            #""code":"malformedJSON""#),
        Exchange(
            "POST /v1/evaluations", "evaluator", "{}", gives: 422,
            #""code":"missingField","detail":"'subject' is required.","field":"/subject""#),
        Exchange(
            "POST /v1/evaluations", "evaluator", String(repeating: " ", count: 2001), gives: 413,
            #""code":"bodyTooLarge""#),
        Exchange("GET /fail", nil, gives: 409, #""code":"alreadyReported""#),
    ]

    @Test(arguments: exchanges)
    private func aRequestIsCheckedInOrder(exchange: Exchange) throws {
        let server = try start()
        let client = try RawClient(server)
        let key = exchange.key.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        client.send(
            "\(exchange.line) HTTP/1.1\r\nHost: h\r\n\(key)Content-Type: \(exchange.type)\r\n"
                + "Content-Length: \(exchange.body.utf8.count)\r\n\r\n\(exchange.body)")
        let answer = try client.answer()
        #expect(answer.status == exchange.status)
        #expect(answer.body.contains(exchange.part), "\(answer.body)")
        if answer.status == 405 { #expect(answer.headers["allow"] == "POST") }
        if answer.status == 401 { #expect(answer.headers["www-authenticate"] == "Bearer") }
    }

    @Test(arguments: ["Bearer", "Bearer ", "Basic evaluator", "evaluator", "Bearer a b"])
    func otherHeadersAreNoKey(header: String) throws {
        let authenticator = Authenticator(Keys())
        #expect(throws: Problem.self) {
            _ = try authenticator.principal(header, for: .app(.evaluate))
        }
    }

    @Test func theSchemeMayBeInAnyCase() throws {
        let principal = try Authenticator(Keys()).principal(
            "bEARER  evaluator", for: .app(.evaluate))
        #expect(principal?.keyID == "k1")
    }
}

@Sendable private func refuse(_ call: Call, _ responder: Responder) throws(Problem) {
    throw Problem(.alreadyReported)
}
