import JSON
import Policies
import ReviewPrompts
import Time

/// The states that a command of the review flow left behind, by pseudonym. They stand in the
/// entry of the command, so state and event cannot part, and the latest entry about somebody
/// holds their state.
public struct ReviewStates: Sendable, Equatable {
    /// By subject.
    public var subjects: [String: ReviewSubjectState] = [:]
    /// By device.
    public var devices: [String: ReviewDeviceState] = [:]

    func write(to writer: inout JSONWriter) {
        writer.object("devices") { writer in
            for (name, state) in devices.sorted(by: { $0.key < $1.key }) {
                writer.key(name)
                writer.canonical(state.json)
            }
        }
        writer.object("subjects") { writer in
            for (name, state) in subjects.sorted(by: { $0.key < $1.key }) {
                writer.key(name)
                writer.canonical(state.json)
            }
        }
    }

    init() {}

    init(payload: RecordReader) throws(CorruptEntry) {
        do {
            for member in payload.value["devices"]?.objectValue?.members ?? [] {
                devices[member.key] = try ReviewDeviceState(json: member.value)
            }
            for member in payload.value["subjects"]?.objectValue?.members ?? [] {
                subjects[member.key] = try ReviewSubjectState(json: member.value)
            }
        } catch {
            throw payload.corrupt("states")
        }
    }
}

/// A record of the review flow.
protocol ReviewRecord: Record {
    /// The states it left behind.
    var states: ReviewStates { get }
}

/// A donation and what was decided.
public struct DonationRecord: ReviewRecord, Equatable {
    public static var kind: RecordKind { .donation }

    /// The caller's id of the donation.
    public var idempotencyKey: String
    /// Stands for the whole donation, to tell a retry from another under its key.
    public var action: Pseudonym
    /// What was donated; the subject is the account, if it was merged into one.
    public var donation: ReviewDonation
    /// When it came, by the app's clock.
    public var receivedAt: Instant
    /// The grant, if the answer was to ask.
    public var grant: ReviewGrant?
    /// Every rule's verdict, as it was answered.
    public var verdicts: JSONValue
    /// When a donation of that reason would ask, if nothing else happens.
    public var nextEligibleAt: Instant?
    /// Rules that time alone does not clear.
    public var missing: [String]
    /// Whether it was counted.
    public var isCounted: Bool
    /// Whether it came too late to ask.
    public var isStale: Bool
    /// The policy that acted.
    public var policy: VersionReference
    /// What a policy in shadow made of it.
    public var shadowPolicy: ReviewShadow?
    /// The digest of the configuration and of the zone data.
    public var configuration: String
    /// The states it left behind.
    public var states: ReviewStates

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.member("action", action)
            writer.key("donation")
            writer.canonical(donation.json)
            writer.member("idempotencyKey", idempotencyKey)
        }
        writer.object("result") { writer in
            writer.member("configuration", configuration)
            writer.key("counted")
            writer.bool(isCounted)
            if let grant {
                writer.key("grant")
                writer.canonical(grant.json)
            }
            writer.member("missing", missing)
            writer.member("nextEligibleAt", nextEligibleAt)
            writer.object("policy", policy.write)
            writer.member("receivedAt", receivedAt)
            if let shadowPolicy { writer.object("shadowPolicy", shadowPolicy.write) }
            writer.key("stale")
            writer.bool(isStale)
            writer.object("states", states.write)
            writer.key("verdicts")
            writer.canonical(verdicts)
        }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        let result = try payload.object("result")
        idempotencyKey = try command.string("idempotencyKey")
        action = try command.pseudonym("action")
        do {
            donation = try ReviewDonation(json: command.value["donation"] ?? .null)
            grant = try result.value["grant"].map { try ReviewGrant(json: $0) }
        } catch {
            throw payload.corrupt("donation")
        }
        receivedAt = try result.instant("receivedAt")
        verdicts = result.value["verdicts"] ?? .array([])
        nextEligibleAt = try result.instantIfPresent("nextEligibleAt")
        missing = try result.strings("missing")
        isCounted = result.flag("counted")
        isStale = result.flag("stale")
        policy = try VersionReference(payload: result.object("policy"))
        shadowPolicy = try result.objectIfPresent("shadowPolicy").map(ReviewShadow.init(payload:))
        configuration = try result.string("configuration")
        states = try ReviewStates(payload: result.object("states"))
    }

    init(
        idempotencyKey: String, action: Pseudonym, donation: ReviewDonation,
        decision: ReviewDecision, receivedAt: Instant, policy: VersionReference,
        shadowPolicy: ReviewShadow?, configuration: String, states: ReviewStates
    ) {
        self.idempotencyKey = idempotencyKey
        self.action = action
        self.donation = donation
        self.receivedAt = receivedAt
        if case .ask(let grant) = decision.answer { self.grant = grant }
        verdicts = .array(decision.verdicts.map(\.json))
        nextEligibleAt = decision.nextEligibleAt
        missing = decision.missing
        isCounted = decision.isCounted
        isStale = decision.isStale
        self.policy = policy
        self.shadowPolicy = shadowPolicy
        self.configuration = configuration
        self.states = states
    }
}

/// What became of a grant.
public struct GrantOutcomeRecord: ReviewRecord, Equatable {
    public static var kind: RecordKind { .grantOutcome }

    /// The grant.
    public var grantID: Identifier
    /// `requested` or `notRequested`.
    public var outcome: String
    /// Why it was not requested.
    public var reason: String?
    /// When it came, by the app's clock.
    public var receivedAt: Instant
    /// The states it left behind.
    public var states: ReviewStates

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.member("grantID", grantID)
            writer.member("outcome", outcome)
            writer.member("reason", reason)
        }
        writer.object("result") { writer in
            writer.member("receivedAt", receivedAt)
            writer.object("states", states.write)
        }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        let result = try payload.object("result")
        grantID = try command.identifier("grantID")
        outcome = try command.string("outcome")
        reason = command.stringIfPresent("reason")
        receivedAt = try result.instant("receivedAt")
        states = try ReviewStates(payload: result.object("states"))
    }

    init(
        grantID: Identifier, outcome: String, reason: String?, receivedAt: Instant,
        states: ReviewStates
    ) {
        self.grantID = grantID
        self.outcome = outcome
        self.reason = reason
        self.receivedAt = receivedAt
        self.states = states
    }
}

/// Counters of a person that were reset.
public struct ResetRecord: ReviewRecord, Equatable {
    public static var kind: RecordKind { .reset }

    /// Whose.
    public var subject: Pseudonym
    /// The states it left behind.
    public var states: ReviewStates

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { $0.member("subject", subject.text) }
        writer.object("result") { $0.object("states", states.write) }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        subject = try payload.object("command").pseudonym("subject")
        states = try ReviewStates(payload: payload.object("result").object("states"))
    }

    init(subject: Pseudonym, states: ReviewStates) {
        self.subject = subject
        self.states = states
    }
}

/// An install that became an alias of an account.
public struct MergeRecord: ReviewRecord, Equatable {
    public static var kind: RecordKind { .merge }

    /// The install.
    public var install: Pseudonym
    /// The account.
    public var account: Pseudonym
    /// The states it left behind.
    public var states: ReviewStates

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.object("command") { writer in
            writer.member("account", account)
            writer.member("install", install)
        }
        writer.object("result") { $0.object("states", states.write) }
        writer.endObject()
    }

    public init(payload: RecordReader) throws(CorruptEntry) {
        let command = try payload.object("command")
        install = try command.pseudonym("install")
        account = try command.pseudonym("account")
        states = try ReviewStates(payload: payload.object("result").object("states"))
    }

    init(install: Pseudonym, account: Pseudonym, states: ReviewStates) {
        self.install = install
        self.account = account
        self.states = states
    }
}
