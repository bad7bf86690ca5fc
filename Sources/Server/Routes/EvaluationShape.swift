import Engine
import JSON
import Policies
import Time
import TrustInsights

/// The body of an evaluation, and from it the command.
enum EvaluationShape {
    static let shape = Shape.object([
        .required("requestID", .id, "The caller's id of the request; a retry repeats it."),
        .required("subject", .id, "The caller's id of the person; stored as a pseudonym only."),
        .required(
            "context",
            .object([
                .required("category", .names(Policies.Category.self), "The kind of action."),
                .optional(
                    "attributes", .map(.scalar, max: PolicyLimits.attributes),
                    "Facts as the acting policy declares them."),
            ])),
        .optional(
            "insights",
            .list(
                .object([
                    .required("kind", .names(InsightKind.self)),
                    .optional("schema", .integer(1...1_000), "1 unless said otherwise."),
                    .optional(
                        "modelVersion", .string(maxBytes: 32),
                        "`current` (the acting one) unless said otherwise."),
                ]), max: TrustLimits.insights),
            "The insights to answer; the current one if left out."),
        .optional(
            "device",
            .object([
                .required("value", .number(0...1), "The device's result."),
                .optional("generatedAt", .instant, "When it was made; required in production."),
                .optional("requestID", .id, "For which request; required in production."),
            ]), "The single value that leaves the device."),
        .optional(
            "force",
            .object(
                [
                    .optional("outcome", .names(Outcome.self)),
                    .optional("evaluationError", .choice(forcible.map(\.rawValue))),
                    .optional("insightError", .names(InsightError.self)),
                ], oneOf: ["outcome", "evaluationError", "insightError"]),
            "Sandbox only: what to answer instead of an honest evaluation."),
    ])

    /// The errors of an evaluation as a whole that can be forced.
    static let forcible: [Refusal.Code] = [
        .contextInvalid, .denied, .notAvailable, .localError, .payloadSecurityError,
        .rateLimitExceeded, .serverError,
    ]

    /// The command of a body that has the shape.
    static func command(_ body: JSONValue, tenant: Tenant, backend: Backend) throws(Problem)
        -> EvaluateCommand
    {
        guard let requestID = body.text("requestID"), let id = body.text("subject"),
            let context = body["context"],
            let category = context.choice("category", Policies.Category.self)
        else { throw Problem(.serverError, detail: "the shape was not checked") }
        let acting = backend.engine.directory.acting(for: tenant, category: category)
        let given = context["attributes"]?.objectValue ?? [:]
        let pseudonymizer = backend.pseudonymizer
        let read: @Sendable (ActingPolicy) -> Result<[RecordedAttribute], Refusal> = { policy in
            Result { () throws(Refusal) in
                try policy.readAttributes(
                    given, at: "/context/attributes", pseudonymizer: pseudonymizer, tenant: tenant)
            }
        }
        return EvaluateCommand(
            tenant: tenant, requestID: requestID,
            subject: backend.pseudonymizer.subject(id, of: tenant),
            action: backend.pseudonymizer.action(action(body), tenant: tenant),
            category: category,
            // Without a policy the engine refuses; here nothing can be read by it.
            attributes: acting.map(read) ?? .success([]),
            policyDigest: acting?.reference.digest ?? "", reread: read, insights: insights(body),
            device: device(body["device"]), force: force(body["force"]))
    }

    /// What a retry must repeat: subject, context and insights, not the device result. A number
    /// is the same number however it is written.
    private static func action(_ body: JSONValue) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        for name in ["context", "insights", "subject"] {
            guard let value = body[name] else { continue }
            writer.key(name)
            writer.plain(value)
        }
        writer.endObject()
        return writer.bytes
    }

    private static func insights(_ body: JSONValue) -> [InsightRequest] {
        (body["insights"]?.arrayValue ?? []).map {
            InsightRequest(
                kind: $0.choice("kind") ?? .isLikelyBeingCoached,
                schema: $0["schema"]?.intValue ?? 1,
                modelVersion: $0.text("modelVersion") ?? "current")
        }
    }

    private static func device(_ body: JSONValue?) -> DeviceResult? {
        guard let body, let value = body["value"]?.doubleValue else { return nil }
        return DeviceResult(
            value: value, generatedAt: body.instant("generatedAt"),
            requestID: body.text("requestID"))
    }

    private static func force(_ body: JSONValue?) -> ForcedResult? {
        if let outcome = body?.choice("outcome", Outcome.self) { return .outcome(outcome) }
        if let code = body?.choice("evaluationError", Refusal.Code.self) {
            return .evaluationError(code)
        }
        return body?.choice("insightError", InsightError.self).map { .insightError($0) }
    }
}

extension JSONWriter {
    /// A value in canonical form with whole doubles as integers, so that 900 and 900.0 are one
    /// number.
    mutating func plain(_ value: JSONValue) {
        switch value {
        case .double(let number):
            if let whole = Int64(exactly: number) { int(whole) } else { double(number) }
        case .array(let elements):
            beginArray()
            for element in elements { plain(element) }
            endArray()
        case .object(let object):
            beginObject()
            for member in object.sorted {
                key(member.key)
                plain(member.value)
            }
            endObject()
        default: self.value(value)
        }
    }
}
