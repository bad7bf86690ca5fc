import Engine
import JSON
import Time

/// Who may call, and the sandbox clock.
struct AdministrationRoutes {
    let backend: Backend

    var endpoints: [Endpoint] {
        [apps, registerApp, keys, issueKey, revokeKey, clock]
    }

    // MARK: Apps and keys

    private var apps: Endpoint {
        let route = Route(
            .get, "/v1/apps", name: "getApps", summary: "The registered apps.",
            access: .operators(.admin))
        return Endpoint(route) { [backend] _, responder throws(Problem) in
            let apps = backend.engine.directory.registry.apps.sorted { $0.key < $1.key }
            responder.answer(
                .json([
                    "apps": .array(
                        apps.map { ["app": .string($0.key), "name": .string($0.value)] })
                ]))
        }
    }

    private var registerApp: Endpoint {
        var route = Route(
            .post, "/v1/apps", name: "postApp", summary: "Register an app.",
            access: .operators(.admin))
        route.body = .object([
            .required("app", .string(maxBytes: 64), "Its id."),
            .optional("name", .id, "Its name for people."),
        ])
        route.answers = [(201, "Registered.")]
        route.problems = [.alreadyExists]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let id = call.body.text("app") ?? ""
            let command = AdministrationCommand.registerApp(
                id: id, name: call.body.text("name") ?? id)
            try backend.perform(.administer(command), tenant: nil, call, responder) {
                _ throws(Problem) in .json(status: 201, ["app": .string(id)])
            }
        }
    }

    private var keys: Endpoint {
        let route = Route(
            .get, "/v1/keys", name: "getKeys", summary: "The keys that are good; never their text.",
            access: .operators(.admin))
        return Endpoint(route) { [backend] _, responder throws(Problem) in
            let keys = backend.engine.directory.registry.keys.values.sorted { $0.keyID < $1.keyID }
            responder.answer(.json(["keys": .array(keys.map(\.answer))]))
        }
    }

    private var issueKey: Endpoint {
        var route = Route(
            .post, "/v1/keys", name: "postKey",
            summary: "Issue a key. Its text is in the answer and nowhere else.",
            access: .operators(.admin))
        route.body = .object([
            .optional("app", .string(maxBytes: 64), "Left out for an operator's key."),
            .optional("environment", .names(DataEnvironment.self)),
            .required("scopes", .list(.names(Scope.self), max: Scope.allCases.count)),
            .optional("name", .id, "A note for people."),
        ])
        route.answers = [(201, "Issued.")]
        route.problems = [.notFound, .sandboxOnly]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            var tenant: Tenant?
            if let app = call.body.text("app") {
                guard let environment = call.body.choice("environment", DataEnvironment.self) else {
                    throw Problem(
                        .missingField, detail: "An app's key belongs to an environment.",
                        field: "/environment",
                        allowed: DataEnvironment.allCases.map { .string($0.rawValue) })
                }
                if backend.isSandboxOnly, environment == .production {
                    throw Problem(
                        .sandboxOnly, detail: "This server is for development (--dev).",
                        field: "/environment", allowed: ["sandbox"])
                }
                tenant = Tenant(app: app, environment: environment)
            }
            let scopes = (call.body["scopes"]?.arrayValue ?? [])
                .compactMap { $0.stringValue.flatMap(Scope.init(rawValue:)) }
            guard !scopes.isEmpty else {
                throw Problem(
                    .invalidValue, detail: "A key without scopes can do nothing.",
                    field: "/scopes", allowed: Scope.names.map { .string($0) })
            }
            let (record, secret) = KeyRecord.issue(
                tenant: tenant, scopes: scopes, name: call.body.text("name") ?? "")
            try backend.perform(.administer(.issueKey(record)), tenant: nil, call, responder) {
                _ throws(Problem) in
                guard case .object(var answer) = record.answer else { throw .unexpectedReply }
                answer["key"] = .string(secret)
                return .json(status: 201, .object(answer))
            }
        }
    }

    private var revokeKey: Endpoint {
        var route = Route(
            .post, "/v1/keys/{id}/revoke", name: "revokeKey",
            summary: "Revoke a key. It is refused from this answer on.",
            access: .operators(.admin))
        route.problems = [.notFound]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let command = AdministrationCommand.revokeKey(id: call.parameters["id"] ?? "")
            try backend.perform(.administer(command), tenant: nil, call, responder) {
                _ throws(Problem) in .json(["revoked": true])
            }
        }
    }

    // MARK: Sandbox

    private var clock: Endpoint {
        var route = Route(
            .post, "/v1/sandbox/clock", name: "postSandboxClock",
            summary: "Move this app's sandbox clock ahead.", access: .app(.admin))
        route.body = .object([.required("advance", .duration, "By how much: 24h, 7d.")])
        route.problems = [.sandboxOnly]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let advance = call.body.text("advance").flatMap { Duration(policyText: $0) } ?? .zero
            let tenant = try backend.tenant(of: call)
            try backend.perform(.advanceSandboxClock(advance), tenant: tenant, call, responder) {
                reply throws(Problem) in .json(["now": .string(reply.now.rfc3339)])
            }
        }
    }
}

extension KeyRecord {
    fileprivate var answer: JSONValue {
        var object: JSONObject = ["keyID": .string(keyID), "name": .string(name)]
        if let tenant {
            object["app"] = .string(tenant.app)
            object["environment"] = .string(tenant.environment.rawValue)
        }
        object["scopes"] = .array(scopes.map { .string($0.rawValue) })
        return .object(object)
    }
}
