import Engine
import JSON

extension Backend {
    /// How often a request is read anew; more changes of policy within one request than that
    /// are answered `unavailable`.
    private static let rereadings = 4

    /// Takes replies to an evaluation: should the acting policy have changed between reading the
    /// body and judging it, the body is read by the new policy and handed in again.
    ///
    /// Replies come after the new policy is published, so the second reading finds it.
    func rereading(
        _ body: JSONValue, tenant: Tenant, actor: String, left: Int = rereadings,
        _ answer: @escaping @Sendable (Reply) -> Void
    ) -> @Sendable (Reply) -> Void {
        { reply in
            guard left > 0, case .refused(let refusal) = reply.content,
                refusal.reason == Refusal.policyChanged,
                let command = try? EvaluationShape.command(body, tenant: tenant, backend: self)
            else {
                answer(reply)
                return
            }
            let isTaken = engine.submit(
                Submission(tenant: tenant, actor: actor, command: .evaluate(command)),
                reply: rereading(body, tenant: tenant, actor: actor, left: left - 1, answer))
            if !isTaken { answer(reply) }
        }
    }
}
