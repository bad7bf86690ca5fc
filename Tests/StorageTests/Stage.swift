import Engine
import Foundation
import JSON
import Ledger
import Policies
import ReviewPrompts
import Storage
import Testing
import Time
import TrustInsights

/// An engine on a real database of which nothing is left to chance: a clock that only the test
/// moves, a key that is always the same, salts that follow from the place in the story. Two
/// stages that are told the same story have the same ledger, byte for byte.
final class Stage {
    static let sandbox = Tenant(app: "transcripts", environment: .sandbox)
    static let production = Tenant(app: "transcripts", environment: .production)
    static let other = Tenant(app: "other", environment: .sandbox)
    static let tenants = [sandbox, production, other]

    private(set) var folder: TemporaryFolder
    let clock = TestClock(Service.start)
    let pseudonymizer = Pseudonymizer(key: [UInt8](repeating: 7, count: 32))
    private(set) var store: SQLiteStore
    private(set) var engine: Engine
    /// What stands between engine and database.
    private(set) var wrapped: any Store
    private let wrap: (SQLiteStore) -> any Store
    private let generation: Int
    /// Grants by the idempotency key of their donation.
    private(set) var grants: [String: String] = [:]
    /// Evaluations by their requestID.
    private(set) var evaluations: [String: EvaluationRecord] = [:]

    /// A stage; `wrap` may stand between engine and database.
    init(
        folder: TemporaryFolder = TemporaryFolder(), generation: Int = 32_768,
        wrap: @escaping (SQLiteStore) -> any Store = { $0 }
    ) throws {
        self.folder = folder
        self.wrap = wrap
        self.generation = generation
        store = try SQLiteStore(folder: DataFolder(path: folder.path), generation: generation)
        let clock = clock
        wrapped = wrap(store)
        engine = try Engine(store: wrapped, zones: .utc, clock: { clock.now })
    }

    deinit {
        engine.stop()
        store.close()
    }

    /// Goes on with another folder, as it is on disk: what the one so far becomes when it is closed
    /// is of no matter.
    func restart(from copy: TemporaryFolder) throws {
        let discarded = folder
        try restart { folder = copy }
        withExtendedLifetime(discarded) {}
    }

    func restart(while closed: () throws -> Void = {}) throws {
        engine.stop()
        store.close()
        try closed()
        store = try SQLiteStore(folder: DataFolder(path: folder.path), generation: generation)
        let clock = clock
        wrapped = wrap(store)
        engine = try Engine(store: wrapped, zones: .utc, clock: { clock.now })
    }

    /// Performs commands as one batch.
    func perform(_ submissions: [Submission]) -> [Reply] {
        let replies = Guarded<[Int: Reply]>([:])
        let wasTaken = engine.submitAll(submissions) { index, reply in
            replies.signal { $0[index] = reply }
        }
        guard wasTaken,
            let all = replies.wait(for: { $0.count == submissions.count ? $0 : nil })
        else { return [] }
        return submissions.indices.compactMap { all[$0] }
    }

    func remember(_ replies: [Reply]) {
        for reply in replies {
            switch reply.content {
            case .evaluation(let judged, _, _):
                evaluations[judged.record.requestID] = judged.record
            case .review(.donated(let record, _, _)):
                if let grant = record.grant { grants[record.idempotencyKey] = grant.id }
            default: continue
            }
        }
    }

    /// Every entry, as stored.
    func entries() throws -> [LedgerEntry] {
        var entries: [LedgerEntry] = []
        try store.reader.scan(from: 1) {
            entries.append($0)
            return true
        }
        return entries
    }

    // MARK: Commands

    func subject(_ name: String, _ tenant: Tenant = Stage.sandbox) -> Pseudonym {
        pseudonymizer.subject(name, of: tenant)
    }

    func authorize(
        _ name: String, _ status: AuthorizationStatus = .authorized, _ tenant: Tenant
    ) -> Command {
        .authorize(
            AuthorizeCommand(subject: subject(name, tenant), category: .payment, status: status))
    }

    func evaluate(
        _ requestID: String, _ name: String = "anna", _ tenant: Tenant = Stage.sandbox,
        amount: Double = 900, payee: String? = "p", device: Double? = 0.97,
        insights: [InsightRequest] = [], force: ForcedResult? = nil
    ) -> Command {
        let common: JSONObject = [
            "amount": .double(amount), "currency": "EUR", "newPayee": true,
        ]
        let attributes = JSONObject(common.members + (payee.map { [("payee", .string($0))] } ?? []))
        let acting = engine.directory.acting(for: tenant, category: .payment)
        let pseudonymizer = pseudonymizer
        let read = { @Sendable (acting: ActingPolicy) in
            Result { () throws(Refusal) in
                try acting.readAttributes(
                    attributes, at: "/context/attributes", pseudonymizer: pseudonymizer,
                    tenant: tenant)
            }
        }
        return .evaluate(
            EvaluateCommand(
                tenant: tenant, requestID: requestID, subject: subject(name, tenant),
                action: pseudonymizer.action(
                    Array("\(name) \(JSONValue.object(attributes).text) \(insights)".utf8),
                    tenant: tenant),
                category: .payment,
                attributes: acting.map(read)
                    ?? .failure(Refusal(.contextInvalid, "none", reason: "noPolicy")),
                policyDigest: acting?.reference.digest ?? "", reread: read, insights: insights,
                device: device.map {
                    DeviceResult(
                        value: $0, generatedAt: tenant.environment == .production ? clock.now : nil,
                        requestID: requestID)
                },
                force: force))
    }

    func report(
        _ requestID: String, _ status: ConsumptionStatus = .usedIncreasedFriction
    ) -> Command {
        .reportConsumption(ReportCommand(evaluation: .requestID(requestID), status: status))
    }

    func label(
        _ id: String, of requestID: String, _ value: LabelValue = .confirmedFraud,
        retracts: String? = nil
    ) -> LabelCommand {
        LabelCommand(
            labelID: id, evaluation: .requestID(requestID), label: value,
            category: value == .confirmedFraud ? .vishing : nil, source: .customerReport,
            occurredAt: Service.start, retracts: retracts)
    }

    func erase(_ name: String, _ tenant: Tenant = Stage.sandbox, reason: String? = nil) -> Command {
        .erase(EraseCommand(subject: subject(name, tenant), reason: reason))
    }

    func donation(
        _ reason: String, _ name: String, device: String, version: String,
        minutes: Int64? = nil, distribution: ReviewDistribution = .appStore
    ) -> ReviewStatusCommand {
        ReviewStatusCommand(
            reason: reason, subject: subject(name),
            device: pseudonymizer.device(device, of: Self.sandbox), version: version,
            distribution: distribution, zone: "UTC", occurredAt: nil,
            installedAt: Service.start - .days(9),
            attributes: minutes.map { ["minutes": .int($0), "unread": "secret"] } ?? [:])
    }

    func donate(
        _ key: String, _ reason: String, _ name: String = "anna", device: String = "phone",
        version: String = "1.0", minutes: Int64? = nil
    ) -> Command {
        .review(
            .donate(
                DonateCommand(
                    idempotencyKey: key,
                    action: pseudonymizer.action(
                        Array("\(reason) \(name) \(device) \(version)".utf8), tenant: Self.sandbox),
                    donation: donation(
                        reason, name, device: device, version: version, minutes: minutes))))
    }

    // MARK: Policies

    /// Some files of the repository's policies, with what is written in the test.
    static func load(
        _ shipped: [String], _ written: [(path: String, text: String)] = [],
        activates: Bool = false
    ) throws -> CandidateLoad {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Policies")
        let files =
            try shipped.map {
                PolicyLoader.File(
                    path: $0, bytes: Array(try Data(contentsOf: root.appending(path: $0))))
            } + written.map { PolicyLoader.File(path: $0.path, bytes: Array($0.text.utf8)) }
        let load = PolicyLoader(zones: .utc).load(files)
        return CandidateLoad(
            try #require(load.set, "\(load.rendered())"), activates: activates)
    }

    /// The shipped review policy in another version, that needs other counts.
    static func review(_ version: Int, atLeast: Int) throws -> (path: String, text: String) {
        let name = "transcripts-review.yaml"
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Policies/\(name)"), encoding: .utf8)
        return (
            name,
            text.replacing("version: 1\n", with: "version: \(version)\n")
                .replacing("{atLeast: 3}", with: "{atLeast: \(atLeast)}")
        )
    }

    /// The shipped payment policy in another version, with another limit, under the same path
    /// or another.
    static func payments(_ version: Int, limit: Int = 2000, path: String? = nil) throws -> (
        path: String, text: String
    ) {
        let name = "transcripts-payments.yaml"
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Policies/\(name)"), encoding: .utf8)
        return (
            path ?? name,
            text.replacing("version: 3", with: "version: \(version)")
                .replacing("2000.0", with: "\(limit).0")
        )
    }
}
