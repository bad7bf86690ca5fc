import Engine
import JSON
import Time
import TrustInsights

/// Consumption reports and labels.
struct ReportRoutes {
    let backend: Backend

    var endpoints: [Endpoint] { [reportByPath, report, debt, label, labelBatch] }

    // MARK: Reports

    private static let reportFields: [Field] = [
        .required("status", .names(ConsumptionStatus.self), "What the insight did to the flow."),
        .optional("insightsUsed", .list(.id, max: TrustLimits.insights), "Which insights."),
    ]
    private static let reportProblems: [ProblemCode] = [
        .notFound, .environmentMismatch, .alreadyReported, .reportNotOwed, .erased,
    ]

    private var reportByPath: Endpoint {
        var route = Route(
            .post, "/v1/evaluations/{id}/consumption", name: "postEvaluationConsumption",
            summary: "Report what an insight did to the flow. Mandatory, once.",
            access: .app(.report))
        route.body = .object(Self.reportFields)
        route.answers = [(201, "Taken."), (200, "The same report was taken before.")]
        route.problems = Self.reportProblems
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let address = EvaluationAddress.evaluationID(call.parameters["id"] ?? "")
            try Self.report(address, call, responder, backend)
        }
    }

    private var report: Endpoint {
        var route = Route(
            .post, "/v1/consumption", name: "postConsumption",
            summary: "The same, for a caller that may only know its requestID.",
            access: .app(.report))
        route.body = .object(
            [.optional("evaluationID", .id), .optional("requestID", .id)] + Self.reportFields,
            oneOf: ["evaluationID", "requestID"])
        route.answers = [(201, "Taken."), (200, "The same report was taken before.")]
        route.problems = Self.reportProblems
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            try Self.report(try Self.address(call.body), call, responder, backend)
        }
    }

    /// Which evaluation a body names; its shape says that it is one.
    static func address(_ body: JSONValue) throws(Problem) -> EvaluationAddress {
        if let id = body.text("evaluationID") { return .evaluationID(id) }
        if let id = body.text("insightID") { return .insightID(id) }
        if let id = body.text("requestID") { return .requestID(id) }
        throw .unexpectedReply
    }

    private static func report(
        _ address: EvaluationAddress, _ call: Call, _ responder: Responder, _ backend: Backend
    ) throws(Problem) {
        guard let status = call.body.choice("status", ConsumptionStatus.self) else {
            throw .unexpectedReply
        }
        let command = ReportCommand(
            evaluation: address, status: status,
            insightsUsed: call.body["insightsUsed"]?.arrayValue?.compactMap(\.stringValue))
        let tenant = try backend.tenant(of: call)
        try backend.perform(.reportConsumption(command), tenant: tenant, call, responder) {
            reply throws(Problem) in
            guard case .consumption(let record, let isReplay) = reply.content else {
                throw .unexpectedReply
            }
            return .object(status: isReplay ? 200 : 201) { writer in
                record.writeMembers(to: &writer)
                writer.key("replayed")
                writer.bool(isReplay)
            }
        }
    }

    private var debt: Endpoint {
        var route = Route(
            .get, "/v1/consumption/debt", name: "getReportDebt",
            summary: "The reports that are overdue.", access: .app(.report))
        route.query = [
            .optional("limit", .integer(1...1_000), "How many to list; 100 unless said otherwise."),
            .optional("cursor", .integer(0...Int64.max), "Where the page before ended."),
        ]
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let tenant = try backend.tenant(of: call)
            let command = Command.listDebt(
                after: call.query["cursor"].flatMap { Int64($0) } ?? 0,
                limit: call.query["limit"].flatMap { Int($0) } ?? 100)
            try backend.perform(command, tenant: tenant, call, responder) {
                reply throws(Problem) in
                guard case .debt(let debt) = reply.content else { throw .unexpectedReply }
                return .object { Self.write(debt, to: &$0) }
            }
        }
    }

    private static func write(_ debt: DebtAnswer, to writer: inout JSONWriter) {
        writer.key("debt")
        writer.int(debt.count)
        writer.key("threshold")
        writer.int(debt.threshold)
        writer.member("refusingSince", debt.refusingSince)
        writer.key("evaluations")
        writer.beginArray()
        for record in debt.evaluations {
            writer.beginObject()
            writer.member("evaluationID", record.evaluationID.text)
            writer.member("requestID", record.requestID)
            writer.member("dueAt", record.reportDueAt)
            writer.endObject()
        }
        writer.endArray()
        if let next = debt.next { writer.member("next", String(next)) }
    }

    // MARK: Labels

    private static let labelShape = Shape.object(
        [
            .required("labelID", .id, "The caller's id of the label; a retry repeats it."),
            .optional("evaluationID", .id), .optional("insightID", .id),
            .optional("requestID", .id),
            .required("label", .names(LabelValue.self), "What turned out to be true."),
            .optional("category", .names(LabelCategory.self), "What kind of fraud it was."),
            .required("source", .names(LabelSource.self), "Where the finding comes from."),
            .required("occurredAt", .instant, "When the finding was made."),
            .optional("retracts", .id, "For `retracted`: the label that it takes out."),
        ], oneOf: ["evaluationID", "insightID", "requestID"])

    private static func labelCommand(_ body: JSONValue) throws(Problem) -> LabelCommand {
        if let problem = ShapeCheck.problem(body, labelShape) { throw problem }
        guard let labelID = body.text("labelID"), let label = body.choice("label", LabelValue.self),
            let source = body.choice("source", LabelSource.self),
            let occurredAt = body.instant("occurredAt")
        else { throw .unexpectedReply }
        let retracts = body.text("retracts")
        if label == .retracted, retracts == nil {
            throw Problem(
                .missingField, detail: "A retraction names the label that it takes out.",
                field: "/retracts")
        }
        if label != .retracted, retracts != nil {
            throw Problem(
                .invalidValue, detail: "Only `retracted` takes another label out.",
                field: "/retracts")
        }
        return LabelCommand(
            labelID: labelID, evaluation: try address(body), label: label,
            category: body.choice("category"), source: source, occurredAt: occurredAt,
            retracts: retracts)
    }

    private static let labelProblems: [ProblemCode] = [
        .notFound, .environmentMismatch, .labelIDReused, .labelWindowClosed, .tooManyLabels,
        .clockSkew, .erased,
    ]

    private var label: Endpoint {
        var route = Route(
            .post, "/v1/labels", name: "postLabel",
            summary: "Say what turned out to be true, days or months later.",
            access: .app(.label))
        route.body = Self.labelShape
        route.answers = [(201, "Taken."), (200, "The same label was taken before.")]
        route.problems = Self.labelProblems
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let command = try Self.labelCommand(call.body)
            let tenant = try backend.tenant(of: call)
            try backend.perform(.label(command), tenant: tenant, call, responder) {
                reply throws(Problem) in try Self.response(to: reply)
            }
        }
    }

    private static func response(to reply: Reply) throws(Problem) -> HTTPResponse {
        guard case .label(let record, let status) = reply.content else { throw .unexpectedReply }
        return .object(status: status == .replayed ? 200 : 201) {
            record.writeMembers(to: &$0, status: status)
        }
    }

    private var labelBatch: Endpoint {
        var route = Route(
            .post, "/v1/labels/batch", name: "postLabels",
            summary: "Up to 1,000 labels; each has its own result, or all or none are taken.",
            access: .app(.label))
        route.body = .object([
            .required("labels", .list(.any, max: EngineLimits.batchItems)),
            .optional("atomic", .bool, "All or none."),
        ])
        route.bodyBytes = backend.limits.batchBodyBytes
        route.answers = [(207, "A result for each item, in order."), (201, "All were taken.")]
        route.problems = Self.labelProblems
        return Endpoint(route) { [backend] call, responder throws(Problem) in
            let items = call.body["labels"]?.arrayValue ?? []
            if call.body["atomic"]?.boolValue == true {
                try Self.labelAll(items, call, responder, backend)
                return
            }
            let batch = Batch(count: items.count, responder: responder)
            var commands: [(index: Int, command: Command)] = []
            for (index, item) in items.enumerated() {
                do throws(Problem) {
                    commands.append((index, .label(try Self.labelCommand(item))))
                } catch {
                    batch.set(index) { error.response }
                }
            }
            try batch.submit(commands, tenant: try backend.tenant(of: call), call, backend) {
                reply throws(Problem) in try Self.response(to: reply)
            }
        }
    }

    private static func labelAll(
        _ items: [JSONValue], _ call: Call, _ responder: Responder, _ backend: Backend
    ) throws(Problem) {
        var commands: [LabelCommand] = []
        for (index, item) in items.enumerated() {
            do throws(Problem) {
                commands.append(try labelCommand(item))
            } catch {
                throw error.inItem(index)
            }
        }
        let tenant = try backend.tenant(of: call)
        try backend.perform(.labelAll(commands), tenant: tenant, call, responder) {
            reply throws(Problem) in
            switch reply.content {
            case .refusedAt(let index, let refusal): throw Problem(refusal).inItem(index)
            case .labels(let results):
                return .object(status: 201) { writer in
                    writer.key("results")
                    writer.beginArray()
                    for (record, status) in results {
                        writer.beginObject()
                        record.writeMembers(to: &writer, status: status)
                        writer.endObject()
                    }
                    writer.endArray()
                }
            default: throw .unexpectedReply
            }
        }
    }
}

extension Problem {
    /// The problem of an item of an atomic batch: none of the items was stored.
    fileprivate func inItem(_ index: Int) -> Problem {
        var problem = self
        problem.field = "/labels/\(index)" + (field ?? "")
        problem.members.append(("index", .int(Int64(index))))
        problem.members.append(("stored", .int(0)))
        return problem
    }
}
