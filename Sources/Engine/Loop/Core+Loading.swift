import JSON
import Ledger
import Policies
import Time
import TrustInsights

/// Loading states: from the cache, else folded from the entries that the store has.
extension Core {
    /// What is known of a person: the authorizations, and as much of what came before as any window
    /// reaches back.
    func subject(_ subject: Pseudonym, key: EntityKey, tenant: Tenant) throws -> SubjectState {
        if let state = subjects[key] { return state }
        let state = SubjectState()
        let authorizations = EntityKey.authorizations(of: subject, tenant)
        // Until the index is rewritten, it may lead to entries that were erased.
        for entry in try store.payloads(under: authorizations, after: 0)
        where entry.kind == .authorization && entry.isOf(tenant) && !entry.payload.isEmpty {
            let record = try entry.record(AuthorizationRecord.self)
            if record.subject == subject { state.apply(record) }
        }
        for entry in try store.payloads(under: key, after: try windowStart() - 1)
        where entry.kind == .evaluation && entry.isOf(tenant) && !entry.payload.isEmpty {
            let event = try EvaluationEvent(entry)
            guard event.subject == subject else { continue }
            state.apply(event, request: .request(event.requestID, of: tenant), horizon: horizon)
        }
        subjects[key] = state
        return state
    }

    /// The number of an entry before which no window of any candidate reaches back from now. A
    /// sandbox clock may be ahead, of which events are older by it than their entries.
    private func windowStart() throws -> Int64 {
        if let known = knownWindowStart, known.horizon == horizon, known.until > now {
            return known.sequence
        }
        let sequence = try store.firstSequence(notBefore: now - horizon)
        // Entries leave the windows all the time; a minute's worth too many is no harm.
        knownWindowStart = (sequence, horizon, now + .minutes(1))
        return sequence
    }

    /// The completed evaluation that occupies a requestID.
    func completed(_ requestID: String, key: EntityKey, tenant: Tenant) throws
        -> EvaluationRecord?
    {
        try records(EvaluationRecord.self, under: key, tenant: tenant)
            .first { $0.record.requestID == requestID && !$0.record.isRefused }?.record
    }

    /// The records of a type under a key.
    func records<R: Record>(_ type: R.Type, under key: EntityKey, tenant: Tenant) throws
        -> [(record: R, sequence: Int64)]
    {
        try store.payloads(under: key, after: 0)
            .filter { $0.kind == R.kind && $0.isOf(tenant) }
            .map { (try $0.record(type), $0.sequence) }
    }

    /// The evaluation that a caller names; a terminal refusal if there is none.
    func evaluation(_ address: EvaluationAddress, tenant: Tenant) throws -> ReportableEvaluation {
        switch address {
        case .evaluationID(let text), .insightID(let text):
            guard let id = Identifier(text) else { throw Refusal.notFound(address) }
            return try evaluation(id, tenant: tenant, address: address)
        case .requestID(let text):
            let key = EntityKey.request(text, of: tenant)
            let found = try records(EvaluationRecord.self, under: key, tenant: tenant)
                .filter { $0.record.requestID == text }
            guard let record = found.last(where: { !$0.record.isRefused }) ?? found.last else {
                throw Refusal.notFound(address)
            }
            return try evaluation(record.record.evaluationID, tenant: tenant, address: address)
        }
    }

    /// An evaluation by its own id, or by that of one of its insights.
    func evaluation(_ id: Identifier, tenant: Tenant, address: EvaluationAddress?) throws
        -> ReportableEvaluation
    {
        let address = address ?? .evaluationID(id.text)
        if let state = evaluations[id.sequence], state.has(id) {
            try tenant.check(state.tenant, address)
            return state
        }
        let state = ReportableEvaluation(try load(id, address: address, tenant: tenant))
        evaluations[id.sequence] = state
        return state
    }

    /// The whole of an evaluation that a caller names; a terminal refusal if there is none.
    func shownEvaluation(_ address: EvaluationAddress, tenant: Tenant) throws -> EvaluationState {
        let id = try evaluation(address, tenant: tenant).evaluationID
        return try load(id, address: address, tenant: tenant)
    }

    private func load(_ id: Identifier, address: EvaluationAddress, tenant: Tenant) throws
        -> EvaluationState
    {
        try EvaluationState.load(
            id, address: address, tenant: tenant, entry: store.entry, entries: store.entries)
    }

    /// Overdue evaluations, the oldest first.
    func overdue(of tenant: Tenant, limit: Int, after: Int64 = 0) throws -> [EvaluationRecord] {
        try registry.state(of: tenant, at: now).debt.overdue(limit: limit, after: after).compactMap
        {
            try store.entry($0.sequence)?.record(EvaluationRecord.self)
        }
    }

    /// The ids of the oldest overdue evaluations. Kept from one refusal to the next, since an
    /// app in debt may ask again and again.
    func overdueIDs(of tenant: Tenant) throws -> [JSONValue] {
        let state = registry.state(of: tenant, at: now)
        let sequences = state.debt.overdue(limit: EngineLimits.debtListed).map(\.sequence)
        if sequences != state.listedDebt.sequences {
            let ids = try overdue(of: tenant, limit: EngineLimits.debtListed).map {
                JSONValue.string($0.evaluationID.text)
            }
            state.listedDebt = (sequences, ids)
        }
        return state.listedDebt.ids
    }

    /// What an app owes, a page of it.
    func debt(of tenant: Tenant, after: Int64, limit: Int) throws -> DebtAnswer {
        let debt = registry.state(of: tenant, at: now).debt
        let page = try overdue(of: tenant, limit: limit + 1, after: after)
        return DebtAnswer(
            count: debt.count, threshold: debt.threshold(registry.configuration.debt),
            refusingSince: debt.refusingSince, evaluations: Array(page.prefix(limit)),
            next: page.count > limit ? page[limit - 1].evaluationID.sequence : nil)
    }

    /// The policy that acts for a category, or runs in shadow beside that.
    func acting(for tenant: Tenant, category: Policies.Category, isShadow: Bool = false)
        -> ActingPolicy?
    {
        guard
            // Asked of what acts alone: asking the registry would copy all of it.
            let reference = registry.acting.reference(
                for: tenant, category: category, isShadow: isShadow)
        else { return nil }
        if let known = actingPolicies[reference.digest] { return known }
        let acting = catalog.acting(reference)
        actingPolicies[reference.digest] = acting
        return acting
    }
}

extension EvaluationState {
    /// Folds an evaluation from its entry and those about it, from whatever reads entries.
    static func load(
        _ id: Identifier, address: EvaluationAddress, tenant: Tenant,
        entry: (Int64) throws -> LedgerEntry?, entries: (EntityKey) throws -> [LedgerEntry]
    ) throws -> EvaluationState {
        guard let found = try entry(id.sequence),
            found.envelope.kind == RecordKind.evaluation.rawValue
        else { throw Refusal.notFound(address) }
        guard let owner = found.tenant else { throw Refusal.notFound(address) }
        try tenant.check(owner, address)
        let record = try found.record(EvaluationRecord.self)
        guard record.evaluationID == id.part(0), record.has(id) else {
            throw Refusal.notFound(address)
        }
        var state = EvaluationState(record, tenant: tenant)
        for entry in try entries(.evaluation(record.evaluationID, of: tenant))
        where entry.isOf(tenant) {
            switch RecordKind(rawValue: entry.envelope.kind) {
            case .consumption:
                let report = try entry.record(ConsumptionRecord.self)
                if report.evaluationID == record.evaluationID { state.apply(report) }
            case .label:
                let label = try entry.record(LabelRecord.self)
                if label.evaluationID == record.evaluationID {
                    state.apply(label, sequence: entry.envelope.sequence)
                }
            default: continue
            }
        }
        return state
    }
}

extension EvaluationRecord {
    /// Whether an id is the evaluation's own or that of one of its insights.
    func has(_ id: Identifier) -> Bool { Int(id.ordinal) <= results.count }
}

extension LedgerEntry {
    /// Whether it is an app's in an environment.
    func isOf(_ tenant: Tenant) -> Bool {
        envelope.app == tenant.app && envelope.environment == tenant.environment.rawValue
    }

    /// The payload, read as a record.
    public func record<R: Record>(_ type: R.Type) throws -> R {
        guard !payload.isEmpty else {
            throw Refusal(.erased, "this entry was erased")
        }
        return try R(
            payload: RecordReader(bytes: payload, sequence: envelope.sequence))
    }

    /// Whose data it is; `nil` for the service as a whole.
    public var tenant: Tenant? {
        DataEnvironment(rawValue: envelope.environment).map {
            Tenant(app: envelope.app, environment: $0)
        }
    }
}

extension Tenant {
    /// Refuses what belongs to another app (to this one it does not exist), or to another
    /// environment of the app (it exists, but not here).
    func check(_ owner: Tenant, _ address: EvaluationAddress) throws(Refusal) {
        if owner == self { return }
        guard owner.app == app else { throw Refusal.notFound(address) }
        throw Refusal(
            .environmentMismatch,
            "this evaluation is of the environment \(owner.environment.rawValue), and the key of "
                + environment.rawValue,
            field: "/" + address.field, value: .string(address.text))
    }
}

extension Refusal {
    static func notFound(_ address: EvaluationAddress) -> Refusal {
        Refusal(
            .notFound, "there is no such evaluation", field: "/" + address.field,
            value: .string(address.text))
    }
}
