import Engine
import JSON
import Ledger
import Time

/// The whole service over HTTP: the route table on a transport, with keys, metrics and a log.
public final class Service: Sendable {
    private let server: HTTPServer
    /// What it listens on, with the port it was given.
    public var address: SocketAddress { server.address }

    /// Starts to serve. Requests are accepted from here on.
    public init(
        backend: Backend, address: SocketAddress, threads: Int, version: String, log: Log
    ) throws {
        let metrics = MetricsRegistry()
        let endpoints = Self.endpoints(backend, metrics: metrics)
        let all =
            ServiceRoutes.endpoints(
                besides: endpoints.map(\.route), version: version, metrics: metrics,
                readiness: { Self.readiness(backend) }) + endpoints
        let api = try API(
            all, directory: EngineKeys(backend: backend), limits: backend.limits, log: log)
        let requests = RequestMetrics(all.map(\.route), registry: metrics)
        Self.register(metrics, backend.engine)
        Self.register(metrics, backend.checkpoints)
        var configuration = HTTPServer.Configuration(address: address, limits: backend.limits)
        configuration.threads = threads
        configuration.bodyLimit = { api.bodyLimit($0, $1) }
        let names = all.map(\.route.name)
        configuration.observer = { observation in
            requests.count(observation)
            if log.isOn(.debug) { log.debug("request", Self.line(observation, names)) }
        }
        let server = try HTTPServer(configuration) { api.handle($0, $1) }
        self.server = server
        Self.register(metrics, server)
    }

    private static func register(
        _ metrics: MetricsRegistry, _ checkpoints: any CheckpointSource
    ) {
        metrics.gauge(
            "discern_checkpoint_size", "Entries that the latest signed checkpoint covers."
        ) { Double(checkpoints.latest?.checkpoint.size ?? 0) }
        metrics.gauge(
            "discern_checkpoint_failed", "1 while no checkpoint could be made or exported."
        ) { checkpoints.failure == nil ? 0 : 1 }
    }

    private static func register(_ metrics: MetricsRegistry, _ server: HTTPServer) {
        metrics.gauge("discern_http_connections", "Open connections.") { [weak server] in
            Double(server?.connectionCount ?? 0)
        }
        for (index, overdue) in server.overdueConnections.enumerated() {
            metrics.gauge(
                "discern_http_connections_cut", "Connections cut because a deadline passed.",
                labels: [("waiting", overdue.wait)]
            ) { [weak server] in Double(server?.overdueConnections[index].count ?? 0) }
        }
    }

    /// What the log says of a request: its route's name, never its path, which could hold an id.
    private static func line(
        _ observation: HTTPServer.Observation, _ names: [String]
    ) -> Log.Metadata {
        [
            ("route", .word(observation.tag.map { names[$0] } ?? "none")),
            ("status", .int(Int64(observation.status))),
            ("microseconds", .int(observation.nanoseconds / 1_000)),
        ]
    }

    /// Stops: answers what was accepted, for as long as that takes or the time is over.
    public func stop(drainMilliseconds: Int64) { server.stop(drainMilliseconds: drainMilliseconds) }

    /// The calls of the API, without those about the service itself.
    static func endpoints(_ backend: Backend, metrics: MetricsRegistry) -> [Endpoint] {
        EvaluationRoutes(backend: backend, metrics: EvaluationMetrics(registry: metrics)).endpoints
            + ReportRoutes(backend: backend).endpoints
            + ReviewRoutes(backend: backend).endpoints + AuditRoutes(backend: backend).endpoints
            + ProofRoutes(backend: backend).endpoints
            + PerformanceRoutes(backend: backend).endpoints
            + AdministrationRoutes(backend: backend).endpoints
            + PolicyRoutes(backend: backend).endpoints
            + SubjectRoutes(backend: backend).endpoints
    }

    /// A failed load of policies is a warning only: what acted before goes on acting.
    private static func readiness(_ backend: Backend) -> ServiceRoutes.Readiness {
        let engine = backend.engine
        var readiness = ServiceRoutes.Readiness()
        if let failure = backend.checkpoints.failure {
            readiness.warnings.append("no checkpoint of the ledger could be made: \(failure)")
        }
        if let failure = engine.failure {
            readiness.reasons.append("storing failed: \(failure)")
        }
        let registry = engine.directory.registry
        if registry.activations.isEmpty { readiness.reasons.append("no policy acts") }
        if engine.clockAhead > Engine.clockTolerance {
            readiness.warnings.append(
                "the ledger's time is \(engine.clockAhead.policyText) ahead of this machine's "
                    + "clock, and never goes back: device results look expired until it is caught up"
            )
        }
        if let (at, faults) = registry.loadFaults {
            readiness.warnings.append(
                "the policies did not load at \(at); what acted before goes on acting: "
                    + (faults.first ?? ""))
        }
        return readiness
    }

    private static func register(_ metrics: MetricsRegistry, _ engine: Engine) {
        metrics.gauge("discern_queue_length", "Commands that wait for the engine.") {
            Double(engine.queueLength)
        }
        metrics.gauge(
            "discern_policies_failed", "1 while the latest load of policies has failed."
        ) { engine.directory.registry.loadFaults == nil ? 0 : 1 }
        metrics.gauge(
            "discern_clock_ahead_seconds", "How far the ledger's time is ahead of the wall clock."
        ) { max(0, Double(engine.clockAhead.milliseconds) / 1_000) }
        metrics.gauge("discern_storage_failed", "1 while the latest commit has failed.") {
            engine.failure == nil ? 0 : 1
        }
    }
}

/// Keys as the engine's directory knows them.
private struct EngineKeys: KeyDirectory {
    let backend: Backend

    func principal(for digest: Digest) -> Principal? {
        guard let key = backend.engine.directory.registry.keys[digest] else { return nil }
        // In development no production key is good, wherever it came from.
        if backend.isSandboxOnly, key.tenant?.environment == .production { return nil }
        return Principal(keyID: key.keyID, tenant: key.tenant, scopes: key.scopeSet)
    }
}
