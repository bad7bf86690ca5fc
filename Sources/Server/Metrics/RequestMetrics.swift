/// What is counted of every request: how many by route and status, and how long they took.
public final class RequestMetrics: Sendable {
    private let statuses: [Int]
    private let counters: [[Counter]]
    private let latencies: [Histogram]

    /// Registers the metrics of a route table. Requests that fit no route are counted under one
    /// name: a label made of what a client sends would grow without end.
    public init(_ routes: [Route], registry: MetricsRegistry) {
        let problems = ProblemCode.allCases.map(\.status)
        let statuses = Set(problems + routes.flatMap { $0.answers.map(\.status) } + [0]).sorted()
        self.statuses = statuses
        let names = routes.map { ($0.name, $0.method.name) } + [("none", "none")]
        counters = names.map { name, method in
            statuses.map { status in
                registry.counter(
                    "discern_http_requests_total", "Answers sent, by route and status.",
                    labels: [
                        ("route", name), ("method", method),
                        ("status", status == 0 ? "other" : String(status)),
                    ])
            }
        }
        latencies = names.map { name, _ in
            registry.histogram(
                "discern_http_request_seconds",
                "From the whole request read to its answer handed to the kernel, by route.",
                labels: [("route", name)])
        }
    }

    /// Counts an answer. Without locks.
    public func count(_ observation: HTTPServer.Observation) {
        let route = observation.tag.flatMap { $0 < counters.count - 1 ? $0 : nil }
        let row = route ?? counters.count - 1
        counters[row][statuses.firstIndex(of: observation.status) ?? 0].add()
        latencies[row].observe(nanoseconds: observation.nanoseconds)
    }
}
