import Engine
import JSON
import Policies
import Time
import TrustInsights

/// Authorizations and evaluations.
struct EvaluationRoutes {
    let backend: Backend
    let metrics: EvaluationMetrics

    var endpoints: [Endpoint] { [authorize, evaluate, evaluateBatch, show] }

    private var authorize: Endpoint {
        var route = Route(
            .put, "/v1/authorizations", name: "putAuthorization",
            summary: "Report whether a person lets the app ask for insights of a category.",
            access: .app(.evaluate))
        route.body = .object([
            .required("subject", .id), .required("category", .names(Policies.Category.self)),
            .required("status", .names(AuthorizationStatus.self)),
        ])
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let tenant = try backend.tenant(of: call)
            guard let id = call.body.text("subject"),
                let category = call.body.choice("category", Policies.Category.self),
                let status = call.body.choice("status", AuthorizationStatus.self)
            else { throw .unexpectedReply }
            let command = AuthorizeCommand(
                subject: backend.pseudonymizer.subject(id, of: tenant), category: category,
                status: status)
            try backend.perform(.authorize(command), tenant: tenant, call, responder) {
                reply throws(Problem) in
                guard case .authorization(let status, let endsAt) = reply.content else {
                    throw .unexpectedReply
                }
                return .object { writer in
                    writer.member("category", category.rawValue)
                    writer.member("status", status.rawValue)
                    writer.member("endsAt", endsAt)
                }
            }
        }
    }

    private static let evaluationProblems: [ProblemCode] = [
        .contextInvalid, .requestIDReused, .denied, .notAvailable, .localError,
        .deviceResultExpired, .payloadSecurityError, .clockSkew, .rateLimitExceeded, .reportDebt,
        .accessSuspended, .sandboxOnly, .unavailable,
    ]

    private var evaluate: Endpoint {
        var route = Route(
            .post, "/v1/evaluations", name: "postEvaluation",
            summary: "Judge an action: how much should the app interrupt?",
            access: .app(.evaluate))
        route.query = [.optional("trace", .bool, "Add every rule's verdict.")]
        route.body = EvaluationShape.shape
        route.answers = [(201, "Judged."), (200, "The stored answer to the same request.")]
        route.problems = Self.evaluationProblems
        return Endpoint(route) { [backend, metrics] call, responder throws(Problem) in
            let tenant = try backend.tenant(of: call)
            let command = try EvaluationShape.command(call.body, tenant: tenant, backend: backend)
            let isTraced = call.query["trace"] == "true"
            try backend.perform(.evaluate(command), tenant: tenant, call, responder) {
                reply throws(Problem) in
                try Self.response(to: reply, tenant: tenant, isTraced: isTraced, backend, metrics)
            }
        }
    }

    private static func response(
        to reply: Reply, tenant: Tenant, isTraced: Bool, _ backend: Backend,
        _ metrics: EvaluationMetrics
    ) throws(Problem) -> HTTPResponse {
        guard case .evaluation(let judged, let isReplay, let consumption) = reply.content else {
            throw .unexpectedReply
        }
        if !isReplay { metrics.count(judged.record) }
        if judged.record.isRefused { throw refused(judged.record) }
        var writer = JSONWriter(capacity: 1_024)
        judged.record.writeAnswer(to: &writer, isReplay: isReplay, consumption: consumption) {
            writer in
            guard isTraced,
                let acting = backend.engine.directory.acting(
                    for: tenant, category: judged.record.category),
                acting.reference == judged.record.policy
            else { return }
            writer.key("rules")
            judged.record.writeRules(to: &writer, policy: acting.policy)
        }
        return HTTPResponse(status: isReplay ? 200 : 201, body: writer.bytes)
    }

    /// The person's authorization refused the insight: the answer says so, and still carries
    /// what the app should do, since refusing must not mean less friction.
    private static func refused(_ record: EvaluationRecord) -> Problem {
        let isDenied = [.denied, .deniedRequestable].contains(record.authorization)
        var problem = Problem(
            isDenied ? .denied : .notAvailable,
            detail: "The authorization for \(record.category.rawValue) is "
                + "\(record.authorization.rawValue); the decision was made without an insight.")
        problem.members = [
            ("status", .string(record.authorization.rawValue)),
            ("evaluationID", .string(record.evaluationID.text)),
            ("outcome", "unknown"), ("decision", record.decision.json),
        ]
        // The name is taken by the HTTP status in problem details.
        problem.members[0].key = "authorization"
        return problem
    }

    private var evaluateBatch: Endpoint {
        var route = Route(
            .post, "/v1/evaluations/batch", name: "postEvaluations",
            summary: "Judge up to 1,000 actions; each has its own result.",
            access: .app(.evaluate))
        route.body = .object([
            .required("evaluations", .list(.any, max: EngineLimits.batchItems))
        ])
        route.bodyBytes = backend.limits.batchBodyBytes
        route.answers = [(207, "A result for each item, in order.")]
        return Endpoint(route) { [backend, metrics] call, responder throws(Problem) in
            let tenant = try backend.tenant(of: call)
            let items = call.body["evaluations"]?.arrayValue ?? []
            let batch = Batch(count: items.count, responder: responder)
            var commands: [(index: Int, command: Command)] = []
            for (index, item) in items.enumerated() {
                do throws(Problem) {
                    if let problem = ShapeCheck.problem(item, EvaluationShape.shape) {
                        throw problem
                    }
                    let command = try EvaluationShape.command(
                        item, tenant: tenant, backend: backend)
                    commands.append((index, .evaluate(command)))
                } catch {
                    batch.set(index) { error.response }
                }
            }
            try batch.submit(commands, tenant: tenant, call, backend) { reply throws(Problem) in
                try Self.response(to: reply, tenant: tenant, isTraced: false, backend, metrics)
            }
        }
    }

    private var show: Endpoint {
        var route = Route(
            .get, "/v1/evaluations/{id}", name: "getEvaluation",
            summary: "An evaluation with its report, its labels, and what every rule read.",
            access: .app(.evaluate))
        route.problems = [.notFound, .environmentMismatch, .erased]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let tenant = try backend.tenant(of: call)
            let address = EvaluationAddress.evaluationID(call.parameters["id"] ?? "")
            try backend.perform(.show(address), tenant: tenant, call, responder) {
                reply throws(Problem) in
                guard case .shown(let state) = reply.content else { throw .unexpectedReply }
                var writer = JSONWriter(capacity: 2_048)
                state.writeAnswer(
                    to: &writer, now: reply.now,
                    policy: backend.engine.directory.catalog.acting(state.record.policy))
                return HTTPResponse(status: 200, body: writer.bytes)
            }
        }
    }
}
