import Engine
import JSON
import Ledger
import Policies
import Storage
import Synchronization
import Time
import TrustInsights

/// A store whose commits are made rarely: what is generated needs no protection against a loss of
/// power, and waiting for the disk after each payment would take an hour.
final class RareCommits: Store {
    private let store: SQLiteStore
    private let pending = Mutex(0)

    init(_ store: SQLiteStore) { self.store = store }

    func commit() throws {
        let isDue = pending.withLock { count in
            guard count >= 4_096 else { return false }
            count = 0
            return true
        }
        if isDue { try store.commit() }
    }

    func finish() throws {
        try store.commit()
        store.close()
    }

    func tail() throws -> LedgerTail { try store.tail() }
    func append(_ entry: LedgerEntry, keys: [EntityKey]) throws {
        try store.append(entry, keys: keys)
        pending.withLock { $0 += 1 }
    }
    func probe() throws {}
    func rollback() { store.rollback() }
    func entry(_ sequence: Int64) throws -> LedgerEntry? { try store.entry(sequence) }
    func entries(under key: EntityKey, after sequence: Int64) throws -> [LedgerEntry] {
        try store.entries(under: key, after: sequence)
    }
    func payloads(under key: EntityKey, after sequence: Int64) throws -> [StoredPayload] {
        try store.payloads(under: key, after: sequence)
    }
    func firstSequence(notBefore instant: Instant) throws -> Int64 {
        try store.firstSequence(notBefore: instant)
    }
    func scanService(through sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws {
        try store.scanService(through: sequence, body)
    }
    func sequences(under key: EntityKey) throws -> [Int64] { try store.sequences(under: key) }
    func erase(_ sequence: Int64, removing keys: Set<EntityKey>) throws {
        try store.erase(sequence, removing: keys)
    }
    func clearErased() -> Bool { store.clearErased() }
    func scanErasures(after sequence: Int64, _ body: (LedgerEntry) throws -> Void) throws {
        try store.scanErasures(after: sequence, body)
    }
    func keep(_ snapshot: LedgerSnapshot) { store.keep(snapshot) }
    func snapshot() throws -> (through: Int64, bytes: [UInt8])? { try store.snapshot() }
    func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws {
        try store.scan(from: sequence, body)
    }
}

/// The clock of what is generated.
final class GeneratorClock: Sendable {
    private let instant = Mutex(Story.start)
    var now: Instant {
        get { instant.withLock { $0 } }
        set { instant.withLock { $0 = newValue } }
    }
}

/// Has the engine judge a story, as if it were happening, and records it in a data folder.
final class Recording {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let tenant = Tenant(app: "transcripts", environment: .production)
    private let store: RareCommits
    private let engine: Engine
    private let pseudonymizer: Pseudonymizer
    private var chance: Chance
    /// Labels that will be found, by the day from the start of the story.
    private var labels: [Int: [LabelCommand]] = [:]
    private(set) var labelled = 0

    init(folder: String, policies: PolicySet, chance: Chance) throws {
        let data = try DataFolder(path: folder)
        pseudonymizer = Pseudonymizer(key: data.pseudonymKey)
        store = RareCommits(try SQLiteStore(folder: data))
        self.chance = chance
        let time = GeneratorClock()
        self.time = time
        engine = try Engine(store: store, zones: .utc, clock: { time.now })
        try administer(.registerApp(id: Self.tenant.app, name: "Transcripts"))
        // Reports are left out of the story, so their lack must stop nobody.
        var configuration = Configuration()
        configuration.debt.warnOnly = true
        try administer(.configure(configuration, zones: "none"))
        try administer(.loadPolicies(CandidateLoad(policies, activates: true)))
    }

    private let time: GeneratorClock

    func record(_ story: Story, progress: (Int) -> Void) throws {
        for person in 0..<story.people {
            try perform(
                .authorize(
                    AuthorizeCommand(
                        subject: subject(person), category: .payment,
                        status: chance.happens(0.97) ? .authorized : .denied)))
        }
        for (number, payment) in story.payments.enumerated() {
            try bring(until: payment.at)
            time.now = max(time.now, payment.at)
            try judge(payment, number)
            progress(number + 1)
        }
        // What is found in the four weeks after the last payment.
        try bring(until: Story.start + .days(Int64(Story.days + 28)))
    }

    func finish() throws {
        engine.stop()
        try store.finish()
    }

    private func judge(_ payment: Payment, _ number: Int) throws {
        guard let acting = engine.directory.acting(for: Self.tenant, category: .payment) else {
            throw Failure(description: "no policy acts for payments")
        }
        var attributes: JSONObject = [
            "amount": .double(payment.amount), "currency": .string(payment.currency),
            "newPayee": .bool(payment.isNewPayee), "payee": .string(payment.payee),
        ]
        if let age = payment.accountAgeDays {
            attributes = JSONObject(attributes.members + [("accountAgeDays", .int(age))])
        }
        let read = try acting.readAttributes(
            attributes, at: "", pseudonymizer: pseudonymizer, tenant: Self.tenant)
        let requestID = "payment-\(number)"
        let reply = try perform(
            .evaluate(
                EvaluateCommand(
                    tenant: Self.tenant, requestID: requestID, subject: subject(payment.person),
                    action: pseudonymizer.action(Array(requestID.utf8), tenant: Self.tenant),
                    category: .payment, attributes: .success(read),
                    policyDigest: acting.reference.digest,
                    device: DeviceResult(
                        value: payment.device, generatedAt: time.now, requestID: requestID))))
        guard case .evaluation(let judged, _, _) = reply.content else {
            throw Failure(description: "payment \(number) was not judged: \(reply.content)")
        }
        foresee(payment, judged.record, requestID)
    }

    // MARK: Labels

    /// Decides what will be found out about a payment, and when.
    private func foresee(_ payment: Payment, _ record: EvaluationRecord, _ requestID: String) {
        let wasHeld = record.decision.output.friction == .increased
        let kind = chance.unit()
        if payment.isCoached {
            if kind < (wasHeld ? 0.6 : 0.7) {
                label(
                    requestID, .confirmedFraud, at: payment.at,
                    days: wasHeld ? 0...2 : 2...40,
                    source: wasHeld ? .manualReview : .customerReport)
            } else if kind < 0.85 {
                label(requestID, .suspectedFraud, at: payment.at, days: 1...20, source: .partner)
            }
        } else if kind < (wasHeld ? 0.3 : 0.02) {
            label(
                requestID, .confirmedLegitimate, at: payment.at, days: 0...5,
                source: .manualReview)
        } else if kind > 0.9995 {
            // A mistaken report, taken back later.
            label(requestID, .confirmedFraud, at: payment.at, days: 1...3, source: .customerReport)
            label(
                requestID, .retracted, at: payment.at, days: 5...9, source: .manualReview,
                retracts: "\(requestID)/confirmedFraud")
        }
    }

    private func label(
        _ requestID: String, _ value: LabelValue, at: Instant, days: ClosedRange<Double>,
        source: LabelSource, retracts: String? = nil
    ) {
        let found = at + .milliseconds(Int64(chance.between(days) * 86_400_000) + 60_000)
        let day = Int((found - Story.start).milliseconds / 86_400_000) + 1
        labels[day, default: []].append(
            LabelCommand(
                labelID: "\(requestID)/\(value.rawValue)", evaluation: .requestID(requestID),
                label: value, category: value == .confirmedFraud ? .vishing : nil, source: source,
                occurredAt: found, retracts: retracts))
    }

    /// Brings the labels that were found before an instant, at the beginning of each day.
    private func bring(until instant: Instant) throws {
        let today = Int((instant - Story.start).milliseconds / 86_400_000)
        for day in labels.keys.filter({ $0 <= today }).sorted() {
            time.now = max(time.now, Story.start + .days(Int64(day)))
            for command in labels.removeValue(forKey: day) ?? [] {
                try perform(.label(command))
                labelled += 1
            }
        }
    }

    // MARK: Commands

    private func subject(_ person: Int) -> Pseudonym {
        pseudonymizer.subject("person \(person)", of: Self.tenant)
    }

    @discardableResult
    private func perform(_ command: Command) throws -> Reply {
        try checked(
            engine.perform(
                Submission(tenant: Self.tenant, actor: "generator", command: command)))
    }

    private func administer(_ command: AdministrationCommand) throws {
        _ = try checked(
            engine.perform(
                Submission(tenant: nil, actor: "generator", command: .administer(command))))
    }

    private func checked(_ reply: Reply) throws -> Reply {
        if case .refused(let refusal) = reply.content {
            throw Failure(description: "\(refusal.code.rawValue): \(refusal.detail)")
        }
        return reply
    }
}
