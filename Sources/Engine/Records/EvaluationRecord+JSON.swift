import JSON
import Policies
import Time
import TrustInsights

extension EvaluationRecord {
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command", writeCommand)
        writer.object("result", writeResult)
        writer.endObject()
    }

    private func writeCommand(to writer: inout JSONWriter) {
        writer.member("action", action)
        writer.object("attributes") { writer in
            for attribute in attributes {
                writer.key(attribute.name)
                attribute.value.write(to: &writer)
            }
        }
        writer.member("category", category.rawValue)
        if let device {
            writer.object("device") { writer in
                writer.member("generatedAt", device.generatedAt)
                writer.member("requestID", device.requestID)
                writer.key("value")
                writer.double(device.value)
            }
        }
        if let force { writer.object("force", force.write) }
        if !insights.isEmpty {
            writer.key("insights")
            writer.beginArray()
            for insight in insights {
                writer.beginObject()
                writer.member("kind", insight.kind.rawValue)
                writer.member("modelVersion", insight.modelVersion)
                writer.key("schema")
                writer.int(insight.schema)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.member("requestID", requestID)
        writer.member("subject", subject)
    }

    private func writeResult(to writer: inout JSONWriter) {
        writer.object("acting") { acting.writeMembers(to: &$0) }
        writer.member("authorization", authorization.rawValue)
        writer.member("authorizationEndsAt", authorizationEndsAt)
        writer.member("completedAt", completedAt)
        writer.member("configuration", configuration)
        writer.object("decision", decision.writeRecord)
        writer.member("evaluationID", evaluationID)
        if insightWasRead {
            writer.key("insightWasRead")
            writer.bool(true)
        }
        writer.member("labelDeadline", labelDeadline)
        if let model { writer.object("model", model.write) }
        writer.member("newestModelVersion", newestModelVersion)
        writer.object("policy", policy.write)
        writer.member("receivedAt", receivedAt)
        writer.member("reportDueAt", reportDueAt)
        // The results asked for are left out where they are the acting one alone.
        if results != [acting] {
            writer.key("results")
            writer.beginArray()
            for result in results {
                writer.beginObject()
                result.writeMembers(to: &writer)
                writer.endObject()
            }
            writer.endArray()
        }
        if let shadowDecision { writer.object("shadowDecision", shadowDecision.writeRecord) }
        if let shadowPolicy { writer.object("shadowPolicy", shadowPolicy.write) }
        writer.key("velocity")
        writer.beginArray()
        for value in velocity {
            switch value {
            case .count(let count): writer.int(count)
            case .sum(let sum): writer.double(sum)
            }
        }
        writer.endArray()
        writer.member("verdicts", verdicts)
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        let result = try payload.object("result")
        requestID = try command.string("requestID")
        subject = try command.pseudonym("subject")
        action = try command.pseudonym("action")
        category = try command.choice("category")
        attributes = try RecordedAttribute.read(command.object("attributes"))
        insights = try command.objects("insights").map { insight throws(CorruptEntry) in
            try InsightRequest(
                kind: insight.choice("kind"), schema: insight.int("schema"),
                modelVersion: insight.string("modelVersion"))
        }
        device = try command.objectIfPresent("device").map { device throws(CorruptEntry) in
            try DeviceResult(
                value: device.double("value"), generatedAt: device.instantIfPresent("generatedAt"),
                requestID: device.stringIfPresent("requestID"))
        }
        force = try command.objectIfPresent("force").map(ForcedResult.init(payload:))

        evaluationID = try result.identifier("evaluationID")
        receivedAt = try result.instant("receivedAt")
        completedAt = try result.instant("completedAt")
        authorization = try result.choice("authorization")
        authorizationEndsAt = try result.instantIfPresent("authorizationEndsAt")
        let acting = try InsightResult(payload: result.object("acting"))
        self.acting = acting
        results =
            result.value["results"] == nil
            ? [acting] : try result.objects("results").map(InsightResult.init(payload:))
        newestModelVersion = try result.string("newestModelVersion")
        velocity =
            result.value["velocity"]?.arrayValue?.map { value in
                if case .double(let sum) = value { .sum(sum) } else { .count(value.intValue ?? 0) }
            } ?? []
        verdicts = try result.string("verdicts").utf8.compactMap(Verdict.init(rawValue:))
        decision = try Decision(payload: result.object("decision"))
        shadowDecision = try result.objectIfPresent("shadowDecision").map(Decision.init(payload:))
        shadowPolicy = try result.objectIfPresent("shadowPolicy").map(
            ShadowJudgement.init(payload:))
        insightWasRead = result.flag("insightWasRead")
        policy = try VersionReference(payload: result.object("policy"))
        model = try result.objectIfPresent("model").map(VersionReference.init(payload:))
        configuration = try result.string("configuration")
        reportDueAt = try result.instantIfPresent("reportDueAt")
        labelDeadline = try result.instant("labelDeadline")
    }
}

extension JSONWriter {
    /// A member that is an array of steps, in their fixed order.
    mutating func member(_ name: StaticString, _ steps: StepSet) {
        key(name)
        beginArray()
        for step in Step.allCases where steps.contains(step) { string(step.name) }
        endArray()
    }

    /// A member that is one letter for each verdict.
    mutating func member(_ name: StaticString, _ verdicts: [Verdict]) {
        key(name)
        string(room: verdicts.count) { memory in
            for (index, verdict) in verdicts.enumerated() { memory[index] = verdict.rawValue }
            return verdicts.count
        }
    }
}

extension RecordedValue {
    /// Integers stay integers and doubles keep their point, so the type survives; a time or
    /// a digest is an object that says so.
    func write(to writer: inout JSONWriter) {
        switch self {
        case .value(.bool(let flag)): writer.bool(flag)
        case .value(.int(let number)): writer.int(number)
        case .value(.double(let number)): writer.double(number)
        case .value(.string(let text)): writer.string(text)
        case .value(.timestamp(let instant)):
            writer.beginObject()
            writer.member("timestamp", instant)
            writer.endObject()
        case .digest(let digest):
            writer.beginObject()
            writer.member("digest", digest)
            writer.endObject()
        }
    }

    init?(_ json: JSONValue) {
        switch json {
        case .bool(let flag): self = .value(.bool(flag))
        case .int(let number): self = .value(.int(number))
        case .double(let number): self = .value(.double(number))
        case .string(let text): self = .value(.string(text))
        case .object(let object):
            if let digest = object["digest"]?.stringValue {
                self = .digest(digest)
            } else if let text = object["timestamp"]?.stringValue, let at = Instant(rfc3339: text) {
                self = .value(.timestamp(at))
            } else {
                return nil
            }
        default: return nil
        }
    }
}

extension RecordedAttribute {
    static func read(_ reader: RecordReader) throws(CorruptEntry) -> [RecordedAttribute] {
        var attributes: [RecordedAttribute] = []
        for member in reader.value.objectValue?.members ?? [] {
            guard let value = RecordedValue(member.value) else { throw reader.corrupt(member.key) }
            attributes.append(RecordedAttribute(name: member.key, value: value))
        }
        return attributes
    }
}

extension InsightResult {
    func writeMembers(to writer: inout JSONWriter) {
        if !contributions.isEmpty {
            writer.object("contributions") { writer in
                for contribution in contributions {
                    writer.key(contribution.input)
                    writer.double(contribution.value)
                }
            }
        }
        writer.member("degraded", degraded)
        writer.member("error", error?.rawValue)
        if !missing.isEmpty { writer.member("missing", missing) }
        writer.member("modelVersion", modelVersion)
        writer.member("outcome", outcome?.rawValue)
        if let score {
            writer.key("score")
            writer.double(score)
        }
    }

    init(payload: RecordReader) throws(CorruptEntry) {
        self.init(
            outcome: try payload.choiceIfPresent("outcome"),
            score: payload.value["score"]?.doubleValue,
            modelVersion: try payload.string("modelVersion"),
            degraded: payload.stringIfPresent("degraded"),
            error: try payload.choiceIfPresent("error"),
            contributions: payload.value["contributions"]?.objectValue?.members.map {
                Contribution(input: $0.key, value: $0.value.doubleValue ?? 0)
            } ?? [], missing: try payload.strings("missing"))
    }
}

extension ForcedResult {
    func write(to writer: inout JSONWriter) {
        switch self {
        case .evaluationError(let code): writer.member("evaluationError", code.rawValue)
        case .insightError(let error): writer.member("insightError", error.rawValue)
        case .outcome(let outcome): writer.member("outcome", outcome.rawValue)
        }
    }

    init(payload: RecordReader) throws(CorruptEntry) {
        if let code: Refusal.Code = try payload.choiceIfPresent("evaluationError") {
            self = .evaluationError(code)
        } else if let error: InsightError = try payload.choiceIfPresent("insightError") {
            self = .insightError(error)
        } else {
            self = .outcome(try payload.choice("outcome"))
        }
    }
}

extension ShadowJudgement {
    func write(to writer: inout JSONWriter) {
        writer.object("decision", decision.writeRecord)
        writer.member("outcome", outcome.rawValue)
        writer.object("policy", policy.write)
        if let score {
            writer.key("score")
            writer.double(score)
        }
        writer.member("verdicts", verdicts)
    }

    init(payload: RecordReader) throws(CorruptEntry) {
        self.init(
            policy: try VersionReference(payload: payload.object("policy")),
            outcome: try payload.choice("outcome"), score: payload.value["score"]?.doubleValue,
            verdicts: try payload.string("verdicts").utf8.compactMap(Verdict.init(rawValue:)),
            decision: try Decision(payload: payload.object("decision")))
    }

    /// The parts of a whole judgement by that policy.
    init(_ record: EvaluationRecord) {
        self.init(
            policy: record.policy, outcome: record.acting.outcome ?? .unknown,
            score: record.acting.score, verdicts: record.verdicts, decision: record.decision)
    }
}

extension VersionReference {
    func write(to writer: inout JSONWriter) {
        writer.member("digest", digest)
        writer.member("name", name)
        writer.key("version")
        writer.int(version)
    }

    init(payload: RecordReader) throws(CorruptEntry) {
        self.init(
            name: try payload.string("name"), version: try payload.int("version"),
            digest: try payload.string("digest"))
    }
}

extension Decision {
    func writeRecord(to writer: inout JSONWriter) {
        writer.member("friction", output.friction.name)
        if let hold = output.holdFor { writer.member("holdFor", hold.iso8601) }
        if !output.notify.isEmpty { writer.member("notify", output.notify) }
        writer.key("reasons")
        writer.beginArray()
        for reason in reasons {
            writer.beginObject()
            writer.member("explanation", reason.explanation)
            writer.member("note", reason.note)
            writer.member("rule", reason.rule)
            writer.endObject()
        }
        writer.endArray()
        if !output.steps.isEmpty { writer.member("steps", output.steps) }
    }

    init(payload: RecordReader) throws(CorruptEntry) {
        guard let friction = Friction(name: try payload.string("friction")) else {
            throw payload.corrupt("friction")
        }
        self.init(
            output: DecisionOutput(
                friction: friction,
                steps: StepSet(try payload.strings("steps").compactMap(Step.init)),
                holdFor: payload.stringIfPresent("holdFor").flatMap { Duration(iso8601: $0) },
                notify: try payload.strings("notify")),
            reasons: try payload.objects("reasons").map { reason throws(CorruptEntry) in
                Reason(
                    rule: try reason.string("rule"),
                    explanation: reason.stringIfPresent("explanation"),
                    note: reason.stringIfPresent("note"))
            })
    }
}
