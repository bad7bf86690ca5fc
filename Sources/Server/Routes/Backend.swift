import Engine
import JSON
import Time

/// What the routes stand on: the engine, the ledger to read, and the key of pseudonyms.
public struct Backend: Sendable {
    /// Decides and records.
    public var engine: Engine
    /// Reads what is recorded.
    public var ledger: any LedgerReader
    /// Signs checkpoints of what is recorded.
    public var checkpoints: any CheckpointSource
    /// Makes pseudonyms of personal ids, before anything else sees them.
    public var pseudonymizer: Pseudonymizer
    /// Reads the policy files again and hands them to the engine. It may take its time.
    public var reloadPolicies: @Sendable (_ actor: String) -> Reply
    /// Runs the tests that were loaded with a policy; `nil` where there are none. It may take its
    /// time.
    public var testPolicy: @Sendable (_ policy: VersionReference) -> TestEvidence?
    /// Sizes and counts.
    public var limits: ServerLimits
    /// Whether production keys are neither issued nor taken.
    public var isSandboxOnly: Bool

    /// A backend of these parts.
    public init(
        engine: Engine, ledger: any LedgerReader, checkpoints: any CheckpointSource,
        pseudonymizer: Pseudonymizer, limits: ServerLimits, isSandboxOnly: Bool = false,
        reloadPolicies: @escaping @Sendable (_ actor: String) -> Reply,
        testPolicy: @escaping @Sendable (_ policy: VersionReference) -> TestEvidence?
    ) {
        self.engine = engine
        self.ledger = ledger
        self.checkpoints = checkpoints
        self.pseudonymizer = pseudonymizer
        self.limits = limits
        self.isSandboxOnly = isSandboxOnly
        self.reloadPolicies = reloadPolicies
        self.testPolicy = testPolicy
    }

    /// The key's app and environment. Routes that need one let no operator in.
    func tenant(of call: Call) throws(Problem) -> Tenant {
        guard let tenant = call.principal?.tenant else {
            throw Problem(.operatorOnly, detail: "This call needs the key of an app.")
        }
        return tenant
    }

    /// The key's own app and environment, or those that an operator names; `nil` where an operator
    /// names none.
    func tenant(namedIn call: Call) throws(Problem) -> Tenant? {
        let environment = call.body.choice("environment", DataEnvironment.self)
        if let own = call.principal?.tenant {
            guard call.body.text("app") ?? own.app == own.app,
                environment ?? own.environment == own.environment
            else {
                throw Problem(
                    .operatorOnly,
                    detail: "An app's key is good for that app and environment only.",
                    field: "/app")
            }
            return own
        }
        guard let app = call.body.text("app") else {
            guard environment == nil else {
                throw Problem(
                    .missingField, detail: "An environment is one of an app.", field: "/app")
            }
            return nil
        }
        guard let environment else {
            throw Problem(
                .missingField, detail: "Which environment of the app?", field: "/environment",
                allowed: DataEnvironment.allCases.map { .string($0.rawValue) })
        }
        guard engine.directory.registry.apps[app] != nil else {
            throw Problem(
                .notFound, detail: "There is no such app.", field: "/app", value: .string(app))
        }
        return Tenant(app: app, environment: environment)
    }

    /// Hands a command to the engine; what becomes of it is answered when it is on disk.
    func perform(
        _ command: Command, tenant: Tenant?, _ call: Call, _ responder: Responder,
        answer: @escaping @Sendable (Reply) throws(Problem) -> HTTPResponse
    ) throws(Problem) {
        let submission = Submission(
            tenant: tenant, actor: call.principal?.keyID ?? "unknown", command: command)
        let isTaken = engine.submit(submission) { reply in
            // What is answered is made there, and the command dropped there, so that the engine goes on.
            responder.answer(making: {
                withExtendedLifetime(command) { Self.response(to: reply, answer) }
            })
        }
        if !isTaken { throw Self.queueFull }
    }

    static var queueFull: Problem {
        var problem = Problem(.queueFull, detail: "Nothing was recorded; send it again.")
        problem.retryAfterSeconds = 1
        return problem
    }

    static func response(
        to reply: Reply, _ answer: (Reply) throws(Problem) -> HTTPResponse
    ) -> HTTPResponse {
        var response: HTTPResponse
        do throws(Problem) {
            if case .refused(let refusal) = reply.content { throw Problem(refusal) }
            response = try answer(reply)
        } catch {
            response = error.response
        }
        if reply.debt > 0 {
            response.headers.append(HTTPResponse.Header("Discern-Report-Debt", String(reply.debt)))
        }
        return response
    }
}

extension HTTPResponse {
    /// An answer whose body is one object.
    static func object(
        status: Int = 200, capacity: Int = 512, _ body: (inout JSONWriter) -> Void
    ) -> HTTPResponse {
        var writer = JSONWriter(capacity: capacity)
        writer.beginObject()
        body(&writer)
        writer.endObject()
        return HTTPResponse(status: status, body: writer.bytes)
    }

    /// An answer whose body is a value.
    static func json(status: Int = 200, _ value: JSONValue) -> HTTPResponse {
        var writer = JSONWriter()
        writer.value(value)
        return HTTPResponse(status: status, body: writer.bytes)
    }
}

extension Problem {
    /// The engine answered something that the route did not ask for: a fault of ours.
    static let unexpectedReply = Problem(.serverError, detail: "unexpected reply of the engine")
}

/// Members of a body whose shape was checked already.
extension JSONValue {
    /// The text of a member.
    func text(_ name: String) -> String? { self[name]?.stringValue }

    /// The time of a member.
    func instant(_ name: String) -> Instant? { text(name).flatMap { Instant(rfc3339: $0) } }

    /// One of a closed set of names.
    func choice<T: RawRepresentable>(_ name: String, _ type: T.Type = T.self) -> T?
    where T.RawValue == String { text(name).flatMap(T.init(rawValue:)) }
}

extension Shape {
    /// One of the names of a closed set.
    static func names<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> Shape
    where T.RawValue == String { .choice(T.allCases.map(\.rawValue)) }
}
