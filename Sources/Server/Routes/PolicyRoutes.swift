import Engine
import JSON
import Policies

/// Candidates, what acts, and how that changes.
struct PolicyRoutes {
    let backend: Backend

    var endpoints: [Endpoint] { [list, history, reload, activate, deactivate, rollBack] }

    // MARK: Looking

    private var list: Endpoint {
        let route = Route(
            .get, "/v1/policies", name: "getPolicies",
            summary: "Candidates, and what acts where, since when, by whom and why.",
            access: .appOrOperators(.admin))
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            responder.answer(
                .json(backend.engine.directory.policiesAnswer(for: call.principal?.tenant)))
        }
    }

    private var history: Endpoint {
        var route = Route(
            .get, "/v1/policies/history", name: "getPolicyHistory",
            summary: "What began and ceased to act, the newest first.",
            access: .appOrOperators(.admin))
        route.query = [
            .optional("name", .id, "Only of this policy."),
            .optional("limit", .integer(1...1_000), "How many at most; 100 if left out."),
        ]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let answer = backend.engine.directory.historyAnswer(
                for: call.principal?.tenant, name: call.query["name"],
                limit: call.query["limit"].flatMap { Int($0) } ?? 100)
            responder.answer(.json(answer))
        }
    }

    // MARK: Changing

    private var reload: Endpoint {
        var route = Route(
            .post, "/v1/policies/reload", name: "reloadPolicies",
            summary: "Read the policy files and their tests again: all or nothing.",
            access: .appOrOperators(.admin))
        route.problems = [.policyInvalid, .policyConflict]
        let background = Background()
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let actor = call.principal?.keyID ?? "unknown"
            try background.answer(responder) {
                Backend.response(to: backend.reloadPolicies(actor)) { reply throws(Problem) in
                    guard case .administered(.loaded(let added, let activated)) = reply.content
                    else { throw .unexpectedReply }
                    return .json([
                        "added": .array(added.map { .string($0) }),
                        "activated": .array(activated.map { .string($0) }),
                    ])
                }
            }
        }
    }

    /// What the three calls that change what acts have in common.
    private static let common: [Field] = [
        .required("reason", .string(maxBytes: 500), "Why; it is recorded."),
        .optional("app", .string(maxBytes: 64), "Only for this app; with an operator's key."),
        .optional("environment", .names(DataEnvironment.self), "Of that app; with `app`."),
    ]

    private var activate: Endpoint {
        var route = Route(
            .post, "/v1/policies/{name}/activate", name: "activatePolicy",
            summary: "Let a version of a policy act, or run in shadow, if no guard refuses.",
            access: .appOrOperators(.admin))
        route.body = .object(
            [
                .required("version", .integer(1...Int64(Int32.max))),
                .optional("shadow", .bool, "Only run it beside the acting one; asks no guard."),
                .optional(
                    "allow", .list(.names(PolicyGuard.self), max: PolicyGuard.allCases.count),
                    "Guards to override, by name; it is recorded."),
            ] + Self.common)
        route.problems = [.notFound, .policyGuarded]
        // Tests take their time: the server's threads must not wait for them.
        let background = Background()
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let tenant = try backend.tenant(namedIn: call)
            let reference =
                "\(call.parameters["name"] ?? "")@\(call.body["version"]?.intValue ?? 0)"
            let allow = (call.body["allow"]?.arrayValue ?? [])
                .compactMap { $0.stringValue.flatMap(PolicyGuard.init(rawValue:)) }
            let actor = call.principal?.keyID ?? "unknown"
            try background.answer(responder) {
                let candidate = backend.engine.directory.catalog.policy(named: reference)
                let command = ActivateCommand(
                    reference: reference, isShadow: call.body["shadow"]?.boolValue ?? false,
                    reason: call.body.text("reason") ?? "", allow: allow,
                    tests: candidate.flatMap { backend.testPolicy($0.reference) })
                let reply = backend.engine.perform(
                    Submission(
                        tenant: tenant, actor: actor, command: .administer(.activate(command))))
                return Backend.response(to: reply) { reply throws(Problem) in
                    guard case .administered(.activated(let record)) = reply.content else {
                        throw .unexpectedReply
                    }
                    return .json(record.answer)
                }
            }
        }
    }

    private var deactivate: Endpoint {
        var route = Route(
            .post, "/v1/policies/{name}/deactivate", name: "deactivatePolicy",
            summary: "Take a policy away from where it acts, or out of shadow.",
            access: .appOrOperators(.admin))
        route.body = .object(
            [
                .optional("version", .integer(1...Int64(Int32.max)), "Only this version."),
                .optional("shadow", .bool, "Take it out of shadow."),
            ] + Self.common)
        route.problems = [.notFound]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let name = call.parameters["name"] ?? ""
            let command = AdministrationCommand.deactivate(
                policy: call.body["version"]?.intValue.map { "\(name)@\($0)" } ?? name,
                isShadow: call.body["shadow"]?.boolValue ?? false,
                reason: call.body.text("reason") ?? "")
            try backend.perform(
                .administer(command), tenant: try backend.tenant(namedIn: call), call, responder
            ) { reply throws(Problem) in
                guard case .administered(.deactivated(let record)) = reply.content else {
                    throw .unexpectedReply
                }
                return .json(record.answer)
            }
        }
    }

    private var rollBack: Endpoint {
        var route = Route(
            .post, "/v1/policies/{name}/rollback", name: "rollBackPolicy",
            summary: "Let what acted before the policy's latest activation act again.",
            access: .appOrOperators(.admin))
        route.body = .object(Self.common)
        route.problems = [.notFound]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let command = AdministrationCommand.rollBack(
                policy: call.parameters["name"] ?? "", reason: call.body.text("reason") ?? "")
            try backend.perform(
                .administer(command), tenant: try backend.tenant(namedIn: call), call, responder
            ) { reply throws(Problem) in
                guard case .administered(.rolledBack(let record)) = reply.content else {
                    throw .unexpectedReply
                }
                return .json(record.answer)
            }
        }
    }
}
