import JSON

/// The calls that are about the service itself.
public enum ServiceRoutes {
    /// Whether the service is ready. Each reason is a short sentence for an operator.
    public struct Readiness: Sendable {
        /// Why it is not ready; empty when it is.
        public var reasons: [String]
        /// What is wrong although it is: it goes on serving as before.
        public var warnings: [String]

        /// A state of readiness.
        public init(reasons: [String] = [], warnings: [String] = []) {
            self.reasons = reasons
            self.warnings = warnings
        }
    }

    /// `/healthz`, `/readyz`, `/metrics` and `/openapi.json`, the document covering `others` too.
    public static func endpoints(
        besides others: [Route], version: String, metrics: MetricsRegistry,
        readiness: @escaping @Sendable () -> Readiness
    ) -> [Endpoint] {
        let health = route("/healthz", "getHealth", "Whether the process answers.")
        var ready = route("/readyz", "getReadiness", "Whether the service works, and why not.")
        ready.problems = [.notReady]
        var page = route("/metrics", "getMetrics", "All metrics in Prometheus' text format.")
        page.contentType = MetricsRegistry.contentType
        let document = route("/openapi.json", "getOpenAPI", "This document.")

        let table = [health, ready, page, document] + others
        var writer = JSONWriter(capacity: 1 << 16)
        writer.value(OpenAPI(routes: table, version: version).json)
        let openAPI = HTTPResponse(status: 200, body: writer.bytes)
        let alive = HTTPResponse(status: 200, body: Array(#"{"alive":true}"#.utf8))
        return [
            Endpoint(health) { _, responder in responder.answer(alive) },
            Endpoint(ready) { _, responder in responder.answer(state(readiness())) },
            Endpoint(page) { _, responder in responder.answer(text(metrics)) },
            Endpoint(document) { _, responder in responder.answer(openAPI) },
        ]
    }

    private static func route(_ path: PathTemplate, _ name: String, _ summary: String) -> Route {
        Route(.get, path, name: name, summary: summary, access: .anyone)
    }

    private static func state(_ state: Readiness) -> HTTPResponse {
        let warnings = JSONValue.array(state.warnings.map { .string($0) })
        guard let first = state.reasons.first else {
            return .json(["ready": true, "warnings": warnings])
        }
        var problem = Problem(.notReady, detail: first)
        problem.members = [
            ("reasons", .array(state.reasons.map { .string($0) })), ("warnings", warnings),
        ]
        return problem.response
    }

    private static func text(_ metrics: MetricsRegistry) -> HTTPResponse {
        HTTPResponse(
            status: 200, contentType: MetricsRegistry.contentType, body: Array(metrics.text().utf8))
    }
}
