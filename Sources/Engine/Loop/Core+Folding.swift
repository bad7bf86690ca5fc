import Ledger
import Policies
import Time

/// Folding the registry from stored entries, at start and after a failed commit.
extension Core {
    /// Takes the registry as it was kept last; gives the number of the entry up to which that goes,
    /// 0 if nothing of use was kept.
    ///
    /// What apps owe and have used up comes from what was kept, all else from the entries about the
    /// service and its apps.
    func foldSnapshot() throws -> Int64 {
        guard let kept = try store.snapshot(), let tenants = TenantSnapshot.decode(kept.bytes),
            let last = try store.entry(kept.through)
        else { return 0 }
        try store.scanService(through: kept.through) { try fold($0) }
        registry.restore(tenants)
        now = max(now, last.envelope.at)
        return kept.through
    }

    func fold(_ entry: LedgerEntry) throws {
        let at = entry.envelope.at
        let stamp = EntryStamp(
            sequence: entry.envelope.sequence, at: at, actor: entry.envelope.actor)
        now = max(now, at)
        guard !entry.payload.isEmpty else { return try foldErased(entry) }
        switch (RecordKind(rawValue: entry.envelope.kind), entry.tenant) {
        case (.evaluation, let tenant?):
            registry.apply(
                try entry.record(EvaluationRecord.self), tenant: tenant, at: at,
                sequence: entry.envelope.sequence)
        case (.consumption, let tenant?):
            registry.apply(try entry.record(ConsumptionRecord.self), tenant: tenant, at: at)
        case (.sandboxClock, let tenant?):
            registry.apply(try entry.record(SandboxClockRecord.self), tenant: tenant, at: at)
        case (.activation, let tenant):
            registry.apply(try entry.record(ActivationRecord.self), tenant: tenant, stamp)
        case (.deactivation, let tenant):
            registry.apply(try entry.record(DeactivationRecord.self), tenant: tenant, stamp)
        case (.rollback, let tenant):
            registry.apply(try entry.record(RollbackRecord.self), tenant: tenant, stamp)
        case (.app, _): registry.apply(try entry.record(AppRecord.self))
        case (.key, _): registry.apply(try entry.record(KeyRecord.self))
        case (.keyRevocation, _): registry.apply(try entry.record(KeyRevocationRecord.self))
        case (.configuration, _):
            registry.apply(try entry.record(ConfigurationRecord.self), at: at)
        case (.policies, _): registry.apply(try entry.record(PoliciesRecord.self), stamp)
        case (.erasure, let tenant?):
            registry.apply(try entry.record(ErasureRecord.self), tenant: tenant, at: at)
        case (.donation, let tenant?):
            registry.apply(
                try DonationJudges(payload: entry.payload, sequence: entry.envelope.sequence),
                tenant: tenant, at: at)
        case (.authorization, _), (.label, _), (.grantOutcome, _), (.merge, _), (.reset, _),
            (.ledgerFork, _):
            break
        case (.evaluation, nil), (.consumption, nil), (.sandboxClock, nil), (.donation, nil),
            (.erasure, nil):
            throw CorruptEntry(sequence: entry.envelope.sequence, detail: "it names no app")
        case (nil, _):
            throw CorruptEntry(
                sequence: entry.envelope.sequence,
                detail: "its kind `\(entry.envelope.kind)` is not known")
        }
    }

    /// Counts what is left of an entry whose payload was erased.
    private func foldErased(_ entry: LedgerEntry) throws {
        let sequence = entry.envelope.sequence
        guard let tenant = entry.tenant, let erased = erased[sequence],
            erased.kind.rawValue == entry.envelope.kind
        else {
            throw CorruptEntry(
                sequence: sequence, detail: "its payload is gone, and no erasure names it")
        }
        registry.apply(erased, tenant: tenant, at: entry.envelope.at)
    }

    /// Compiles every policy and model that was ever recorded: what acts may be none of the
    /// files that are in the folder today.
    func compileRecorded() throws {
        actingPolicies = [:]
        for (_, candidate) in try RecordedPolicies.compile(registry.files, zones: zones) {
            catalog.add(candidate)
        }
        horizon = catalog.horizon
    }
}

extension Candidate {
    /// What of a set can act. Plain policies cannot.
    public static func all(of set: PolicySet) -> [Candidate] {
        set.models.map { .model(Model($0)) }
            + set.policies.compactMap { policy in
                switch policy {
                case .trust(let policy): .trust(policy)
                case .reviewPrompt(let policy): .reviewPrompt(policy)
                case .plain: nil
                }
            }
    }
}
