import Engine
import JSON
import Ledger
import Server
import Testing

@Suite struct ServiceRoutesTests {
    private struct NoKeys: KeyDirectory {
        func principal(for digest: Digest) -> Principal? { nil }
    }

    private static func evaluate() -> Route {
        var route = Route(
            .post, "/v1/evaluations/{id}", name: "evaluate", summary: "Evaluates.",
            access: .app(.evaluate))
        route.query = [.optional("trace", .bool, "Every rule's verdict.")]
        route.body = .object([
            .required("subject", .id, "Who."), .optional("count", .integer(1...3)),
        ])
        route.answers = [(201, "Evaluated."), (200, "Replayed.")]
        route.problems = [.denied, .contextInvalid]
        return route
    }

    private func start(reasons: [String] = [], warnings: [String] = []) throws -> HTTPServer {
        let metrics = MetricsRegistry()
        let endpoints = ServiceRoutes.endpoints(
            besides: [Self.evaluate()], version: "1.2.3", metrics: metrics,
            readiness: { .init(reasons: reasons, warnings: warnings) })
        let api = try API(
            endpoints, directory: NoKeys(), limits: ServerLimits(), log: Log(level: .error))
        let counted = RequestMetrics(api.router.routes, registry: metrics)
        var configuration = HTTPServer.Configuration(
            address: try #require(SocketAddress("127.0.0.1:0")))
        configuration.observer = { counted.count($0) }
        return try HTTPServer(configuration, handler: api.handle)
    }

    private func get(_ path: String, from server: HTTPServer) throws -> RawClient.Answer {
        let client = try RawClient(server)
        client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
        return try client.answer()
    }

    @Test func healthAndReadiness() throws {
        let ready = try start()
        #expect(try get("/healthz", from: ready).status == 200)
        #expect(try get("/readyz", from: ready).status == 200)
        let unready = try start(reasons: ["The policies have faults."])
        #expect(try get("/healthz", from: unready).status == 200)
        let answer = try get("/readyz", from: unready)
        #expect(answer.status == 503)
        #expect(answer.body.contains(#""reasons":["The policies have faults."]"#))
        // What is wrong while all goes on is told, and is no reason to send nobody here.
        let warned = try get("/readyz", from: start(warnings: ["Old policies act."]))
        #expect(warned.status == 200)
        #expect(warned.body == #"{"ready":true,"warnings":["Old policies act."]}"#)
    }

    @Test func metricsCountWhatWasAnswered() throws {
        let server = try start()
        _ = try get("/healthz", from: server)
        _ = try get("/nowhere", from: server)
        let answer = try get("/metrics", from: server)
        #expect(answer.headers["content-type"] == MetricsRegistry.contentType)
        #expect(
            answer.body.contains(
                #"discern_http_requests_total{route="getHealth",method="GET",status="200"} 1"#))
        #expect(
            answer.body.contains(
                #"discern_http_requests_total{route="none",method="none",status="404"} 1"#))
    }

    @Test func theDocumentShowsTheTable() throws {
        let answer = try get("/openapi.json", from: try start())
        let document = try JSONReader.parse(Array(answer.body.utf8))
        #expect(document["openapi"] == "3.1.0")
        #expect(document["info"]?["version"] == "1.2.3")
        let paths = document["paths"]?.objectValue?.members.map(\.key)
        #expect(
            paths == ["/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/evaluations/{id}"])
        let post = try #require(document["paths"]?["/v1/evaluations/{id}"]?["post"])
        #expect(post["operationId"] == "evaluate")
        #expect(post["security"] == [["key": ["evaluate"]]])
        #expect(post["parameters"]?.arrayValue?.map { $0["name"] } == ["id", "trace"])
        let schema = post["requestBody"]?["content"]?["application/json"]?["schema"]
        #expect(schema?["required"] == ["subject"])
        #expect(schema?["additionalProperties"] == false)
        #expect(schema?["properties"]?["count"]?["maximum"] == 3)
        let responses = try #require(post["responses"]?.objectValue?.members.map(\.key))
        #expect(responses.prefix(2) == ["201", "200"])
        for status in ["401", "403", "413", "422", "default"] {
            #expect(responses.contains(status), "\(status)")
        }
        let problem = document["components"]?["schemas"]?["Problem"]?["properties"]?["code"]?[
            "enum"]
        #expect(problem?.arrayValue?.count == ProblemCode.allCases.count)
    }

    @Test func everyReferenceResolves() throws {
        let answer = try get("/openapi.json", from: try start())
        let document = try JSONReader.parse(Array(answer.body.utf8))
        var references: [String] = []
        func collect(_ value: JSONValue) {
            for element in value.arrayValue ?? [] { collect(element) }
            for member in value.objectValue?.members ?? [] {
                if member.key == "$ref", let text = member.value.stringValue {
                    references.append(text)
                }
                collect(member.value)
            }
        }
        collect(document)
        #expect(!references.isEmpty)
        for reference in references {
            let target = reference.split(separator: "/").dropFirst().reduce(
                Optional(document)
            ) { value, name in value?[String(name)] }
            #expect(target != nil, "\(reference)")
        }
    }
}
