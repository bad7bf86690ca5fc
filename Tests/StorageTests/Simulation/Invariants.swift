import Engine
import Ledger
import ReviewPrompts
import Time
import TrustInsights

/// What holds of every ledger, recounted from its entries alone.
struct Invariants {
    private typealias Broken = Simulation.Broken

    /// An id of a caller, or of the service, in an app and environment.
    private struct Name: Hashable {
        var tenant: Tenant
        var kind: String
        var id: String
    }

    struct KnownGrant {
        var tenant: Tenant
        var grant: ReviewGrant
        /// Set by a report, by when it came; and by a merge, of which a device hears late.
        var reportedAt: Instant?
        var mayBeReturned = false
        var mayBeSuperseded = false

        func isOpen(at now: Instant) -> Bool {
            reportedAt == nil && !mayBeSuperseded && now <= grant.leaseEndsAt
        }
    }

    private let entries: [LedgerEntry]
    private let root: Digest
    private var seen = Set<Name>()
    private(set) var evaluations: [(tenant: Tenant, id: Identifier)] = []
    private(set) var grants: [KnownGrant] = []
    private var debts: [Tenant: RecountedDebt] = [:]
    private var period = Configuration().debt.period

    init(_ entries: [LedgerEntry], root: Digest) throws {
        self.entries = entries
        self.root = root
    }

    mutating func check() throws {
        try checkTree()
        for entry in entries {
            do {
                try look(at: entry)
            } catch let broken as Broken {
                throw Broken(
                    description: "entry \(entry.envelope.sequence): \(broken.description)")
            }
        }
    }

    /// Every entry hashes as written, and the tree is that of its leaves.
    private func checkTree() throws {
        var tail = LedgerTail()
        var time = Instant.min
        for entry in entries {
            let envelope = entry.envelope
            let again = tail.append(
                kind: envelope.kind, app: envelope.app, environment: envelope.environment,
                actor: envelope.actor, at: envelope.at, salt: entry.salt, payload: entry.payload)
            try Broken.unless(
                again.envelopeBytes == entry.envelopeBytes && again.nodes == entry.nodes,
                "entry \(envelope.sequence) is not as it was written")
            try Broken.unless(envelope.at >= time, "time went back at \(envelope.sequence)")
            time = envelope.at
        }
        try Broken.unless(tail.frontier.root == root, "the root is another")
    }

    private mutating func once(_ tenant: Tenant, _ kind: String, _ id: String) throws {
        let isNew = seen.insert(Name(tenant: tenant, kind: kind, id: id)).inserted
        try Broken.unless(isNew, "the \(kind) \(id) of \(tenant) is there twice")
    }

    private mutating func look(at entry: LedgerEntry) throws {
        let at = entry.envelope.at
        guard let tenant = entry.tenant else {
            if entry.envelope.kind == RecordKind.configuration.rawValue {
                for tenant in Array(debts.keys) { debts[tenant]?.advance(to: at, period) }
                period = try entry.record(ConfigurationRecord.self).configuration.debt.period
            }
            return
        }
        debts[tenant, default: RecountedDebt()].advance(to: at, period)
        switch RecordKind(rawValue: entry.envelope.kind) {
        case .evaluation:
            let record = try entry.record(EvaluationRecord.self)
            try Broken.unless(
                record.evaluationID.sequence == entry.envelope.sequence,
                "the id is of another entry")
            if !record.isRefused { try once(tenant, "evaluation", record.requestID) }
            evaluations.append((tenant, record.evaluationID))
            if let dueAt = record.reportDueAt {
                debts[tenant]?.owed[entry.envelope.sequence] = dueAt
            }
        case .consumption:
            let record = try entry.record(ConsumptionRecord.self)
            try once(tenant, "report", record.evaluationID.text)
            try belongs(record.evaluationID, to: tenant)
            debts[tenant]?.owed[record.evaluationID.sequence] = nil
        case .label:
            let record = try entry.record(LabelRecord.self)
            try once(tenant, "label", record.labelID)
            try belongs(record.evaluationID, to: tenant)
        case .sandboxClock:
            let advance = try entry.record(SandboxClockRecord.self).advance
            debts[tenant].map { debts[tenant]?.ahead = $0.ahead + advance }
            debts[tenant]?.advance(to: at, period)
        case .donation: try look(at: entry.record(DonationRecord.self), tenant)
        case .grantOutcome: try look(at: entry.record(GrantOutcomeRecord.self), tenant)
        case .merge:
            let record = try entry.record(MergeRecord.self)
            for place in grants.indices
            where [record.install.text, record.account.text].contains(grants[place].grant.subject) {
                grants[place].mayBeSuperseded = true
            }
        default: break
        }
    }

    private func belongs(_ id: Identifier, to tenant: Tenant) throws {
        let isThere = evaluations.contains { $0.tenant == tenant && $0.id == id }
        try Broken.unless(isThere, "\(id.text) is no evaluation of \(tenant)")
    }

    // MARK: Review prompts

    /// Of the shipped review policy: three prompts of a device in 365 days.
    private static let cap = (count: 3, window: Duration.days(365))

    private mutating func look(at record: DonationRecord, _ tenant: Tenant) throws {
        try once(tenant, "donation", record.idempotencyKey)
        for state in record.states.subjects.values.map(\.ledger)
            + record.states.devices.values.map(\.ledger)
        {
            try Broken.unless(
                state.open(at: record.receivedAt).count <= 1, "two open grants in one state")
        }
        guard let grant = record.grant else { return }
        try once(tenant, "grant", grant.id)
        let others = grants.filter { $0.tenant == tenant }
        let now = record.receivedAt
        let open = others.first {
            $0.isOpen(at: now)
                && ($0.grant.device == grant.device || $0.grant.subject == grant.subject)
        }
        try Broken.unless(open == nil, "a second open grant, beside \(open?.grant.id ?? "")")
        // What was given back may not count, all else does: silence counts by this policy.
        let counting = others.count {
            $0.grant.device == grant.device && !$0.mayBeReturned
                && now - $0.grant.grantedAt <= Self.cap.window
        }
        try Broken.unless(counting < Self.cap.count, "\(counting) grants before on the device")
        grants.append(KnownGrant(tenant: tenant, grant: grant))
    }

    private mutating func look(at record: GrantOutcomeRecord, _ tenant: Tenant) throws {
        let place = grants.firstIndex {
            $0.tenant == tenant && $0.grant.id == record.grantID.text
        }
        guard let place else { throw Broken(description: "an outcome of no grant of \(tenant)") }
        grants[place].reportedAt = record.receivedAt
        if record.outcome != "requested" { grants[place].mayBeReturned = true }
    }

    // MARK: Debt

    func checkDebt(of tenant: Tenant, _ reply: Reply) throws {
        guard case .debt(let answer) = reply.content else {
            throw Broken(description: "no debt is shown: \(reply.content)")
        }
        var debt = debts[tenant] ?? RecountedDebt()
        debt.forget(at: reply.now, period)
        let overdue = debt.owed.filter { $0.value < reply.now }.keys.sorted()
        let listed = answer.evaluations.map(\.evaluationID.sequence)
        try Broken.unless(
            overdue == listed && answer.count == Int64(overdue.count)
                && reply.debt == answer.count,
            "\(tenant) owes \(answer.count), \(listed); recounted \(overdue)")
    }
}

/// The reports that an app owes in an environment, the plain way.
private struct RecountedDebt {
    /// When they are due, by the number of the evaluation.
    var owed: [Int64: Instant] = [:]
    /// How far the app's clock is ahead of the engine's.
    var ahead = Duration.zero

    mutating func advance(to at: Instant, _ period: Duration) { forget(at: at + ahead, period) }

    /// Lapsed ones stay so, also if the period becomes longer.
    mutating func forget(at now: Instant, _ period: Duration) {
        owed = owed.filter { $0.value >= now - period }
    }
}
