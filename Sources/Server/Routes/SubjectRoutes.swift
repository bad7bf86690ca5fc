import Engine
import JSON

/// Erasing a person.
struct SubjectRoutes {
    let backend: Backend

    var endpoints: [Endpoint] { [erase] }

    private var erase: Endpoint {
        var route = Route(
            .post, "/v1/subjects/erase", name: "eraseSubject",
            summary: "Erase a person: the subject, and whoever it was merged with.",
            access: .appOrOperators(.admin))
        route.body = .object([
            .required("subject", .id, "Who."),
            .optional("reason", .string(maxBytes: 500), "Why; it is recorded and stays: no names."),
            .optional("app", .string(maxBytes: 64), "Of this app; with an operator's key."),
            .optional("environment", .names(DataEnvironment.self), "Of that app; with `app`."),
        ])
        route.answers = [(200, "Erased; all counts are 0 where nothing was recorded.")]
        route.problems = [.notFound]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            guard let tenant = try backend.tenant(namedIn: call) else {
                throw Problem(
                    .missingField, detail: "A person is known to one app in one environment.",
                    field: "/app")
            }
            let command = EraseCommand(
                subject: backend.pseudonymizer.subject(
                    call.body.text("subject") ?? "", of: tenant),
                reason: call.body.text("reason"))
            try backend.perform(.erase(command), tenant: tenant, call, responder) {
                reply throws(Problem) in
                guard case .erased(let answer) = reply.content else { throw .unexpectedReply }
                return .json(answer.json)
            }
        }
    }
}
