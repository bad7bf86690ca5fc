import Engine
import JSON
import Policies
import Time

/// How well outcomes agree with labels.
struct PerformanceRoutes {
    let backend: Backend

    var endpoints: [Endpoint] { [performance] }

    private var performance: Endpoint {
        var route = Route(
            .get, "/v1/performance", name: "getPerformance",
            summary: "Confusion, precision, recall and coverage, by policy and model version.",
            access: .app(.audit))
        route.query = [
            .optional("since", .instant, "Of evaluations from this instant on."),
            .optional("until", .instant, "Up to this instant, itself included."),
            .optional("category", .names(Policies.Category.self)),
        ]
        route.problems = [.unavailable]
        let background = Background()
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            var query = PerformanceReport.Query(tenant: try backend.tenant(of: call))
            query.since = call.query["since"].flatMap { Instant(rfc3339: $0) }
            query.until = call.query["until"].flatMap { Instant(rfc3339: $0) }
            query.category = call.query["category"].flatMap(Policies.Category.init(rawValue:))
            let asked = query
            try background.answer(responder) {
                do {
                    return .json(try PerformanceReport(asked, ledger: backend.ledger).answer)
                } catch {
                    return Problem(.serverError, detail: "\(error)").response
                }
            }
        }
    }
}
