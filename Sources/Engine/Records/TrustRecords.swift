import JSON
import Policies
import Time
import TrustInsights

/// A reported authorization.
public struct AuthorizationRecord: Record, Equatable {
    public static var kind: RecordKind { .authorization }

    /// Whose it is.
    public var subject: Pseudonym
    /// For which kind of action.
    public var category: Category
    /// What was reported.
    public var status: AuthorizationStatus
    /// When, by the app's clock.
    public var receivedAt: Instant
    /// The cool-down that held then.
    public var coolDown: Duration

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.member("category", category.rawValue)
            writer.member("status", status.rawValue)
            writer.member("subject", subject)
        }
        writer.object("result") { writer in
            writer.member("coolDown", coolDown.iso8601)
            writer.member("receivedAt", receivedAt)
        }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        let result = try payload.object("result")
        guard let coolDown = Duration(iso8601: try result.string("coolDown")) else {
            throw result.corrupt("coolDown")
        }
        self.init(
            subject: try command.pseudonym("subject"), category: try command.choice("category"),
            status: try command.choice("status"), receivedAt: try result.instant("receivedAt"),
            coolDown: coolDown)
    }

    init(
        subject: Pseudonym, category: Category, status: AuthorizationStatus, receivedAt: Instant,
        coolDown: Duration
    ) {
        self.subject = subject
        self.category = category
        self.status = status
        self.receivedAt = receivedAt
        self.coolDown = coolDown
    }
}

extension AuthorizationRecord {
    /// What its entry is found by.
    package func keys(of tenant: Tenant) -> [EntityKey] { [.authorizations(of: subject, tenant)] }
}

extension ConsumptionRecord {
    /// What its entry is found by.
    package func keys(of tenant: Tenant) -> [EntityKey] {
        [.evaluation(evaluationID, of: tenant), .reports(about: subject, of: tenant)]
    }
}

extension LabelRecord {
    /// What its entry is found by.
    package func keys(of tenant: Tenant) -> [EntityKey] {
        [
            .evaluation(evaluationID, of: tenant), .label(labelID, of: tenant),
            .reports(about: subject, of: tenant),
        ]
    }
}

/// A consumption report.
public struct ConsumptionRecord: Record, Equatable {
    public static var kind: RecordKind { .consumption }

    /// The evaluation it is about.
    public var evaluationID: Identifier
    /// The person it is about.
    public var subject: Pseudonym
    /// What the insight did to the flow.
    public var status: ConsumptionStatus
    /// The insights that were used, as the caller says; `nil` if it does not say.
    public var insightsUsed: [String]?
    /// When it came, by the app's clock.
    public var reportedAt: Instant
    /// Until when it was due.
    public var dueAt: Instant
    /// What is odd about it.
    public var flags: [ConsumptionFlag]

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.member("evaluationID", evaluationID)
            if let insightsUsed { writer.member("insightsUsed", insightsUsed) }
            writer.member("status", status.rawValue)
            writer.member("subject", subject)
        }
        writer.object("result") { writer in
            writer.member("dueAt", dueAt)
            if !flags.isEmpty { writer.member("flags", flags.map(\.rawValue)) }
            writer.member("reportedAt", reportedAt)
        }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        let result = try payload.object("result")
        self.init(
            evaluationID: try command.identifier("evaluationID"),
            subject: try command.pseudonym("subject"), status: try command.choice("status"),
            insightsUsed: command.value["insightsUsed"] == nil
                ? nil : try command.strings("insightsUsed"),
            reportedAt: try result.instant("reportedAt"), dueAt: try result.instant("dueAt"),
            flags: try result.strings("flags").compactMap(ConsumptionFlag.init(rawValue:)))
    }

    init(
        evaluationID: Identifier, subject: Pseudonym, status: ConsumptionStatus,
        insightsUsed: [String]?,
        reportedAt: Instant, dueAt: Instant, flags: [ConsumptionFlag]
    ) {
        self.evaluationID = evaluationID
        self.subject = subject
        self.status = status
        self.insightsUsed = insightsUsed
        self.reportedAt = reportedAt
        self.dueAt = dueAt
        self.flags = flags
    }
}

/// A label of an evaluation.
public struct LabelRecord: Record, Equatable {
    public static var kind: RecordKind { .label }

    /// The evaluation it is about.
    public var evaluationID: Identifier
    /// The person it is about.
    public var subject: Pseudonym
    /// The caller's id of the label.
    public var labelID: String
    /// What turned out to be true.
    public var label: LabelValue
    /// What kind of fraud it was.
    public var category: LabelCategory?
    /// Where the finding comes from.
    public var source: LabelSource
    /// When the finding was made.
    public var occurredAt: Instant
    /// For `retracted`: the label that it takes out.
    public var retracts: String?
    /// When it came, by the app's clock.
    public var receivedAt: Instant

    /// The label as part of an evaluation's history.
    func label(sequence: Int64) -> Label {
        Label(
            labelID: labelID, label: label, category: category, source: source,
            occurredAt: occurredAt, retracts: retracts, sequence: sequence)
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.member("category", category?.rawValue)
            writer.member("evaluationID", evaluationID)
            writer.member("label", label.rawValue)
            writer.member("labelID", labelID)
            writer.member("occurredAt", occurredAt)
            writer.member("retracts", retracts)
            writer.member("source", source.rawValue)
            writer.member("subject", subject)
        }
        writer.object("result") { $0.member("receivedAt", receivedAt) }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        self.init(
            evaluationID: try command.identifier("evaluationID"),
            subject: try command.pseudonym("subject"), labelID: try command.string("labelID"),
            label: try command.choice("label"),
            category: try command.choiceIfPresent("category"),
            source: try command.choice("source"), occurredAt: try command.instant("occurredAt"),
            retracts: command.stringIfPresent("retracts"),
            receivedAt: try payload.object("result").instant("receivedAt"))
    }

    init(
        evaluationID: Identifier, subject: Pseudonym, labelID: String, label: LabelValue,
        category: LabelCategory?,
        source: LabelSource, occurredAt: Instant, retracts: String?, receivedAt: Instant
    ) {
        self.evaluationID = evaluationID
        self.subject = subject
        self.labelID = labelID
        self.label = label
        self.category = category
        self.source = source
        self.occurredAt = occurredAt
        self.retracts = retracts
        self.receivedAt = receivedAt
    }
}

/// A sandbox clock moved ahead.
public struct SandboxClockRecord: Record, Equatable {
    public static var kind: RecordKind { .sandboxClock }

    /// By how much.
    public var advance: Duration

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { $0.member("advance", advance.iso8601) }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        guard let advance = Duration(iso8601: try command.string("advance")) else {
            throw command.corrupt("advance")
        }
        self.init(advance: advance)
    }

    init(advance: Duration) { self.advance = advance }
}
