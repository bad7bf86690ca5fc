import Ledger
import Policies
import Time

/// Turns stored entries back into the commands that caused them, one by one from the first.
///
/// Given to an engine on an empty store, each at its own wall clock, they make the same
/// entries again, byte for byte. It is fed in ledger order, since an entry of policies names
/// only what was new: what was there before comes from the entries before it.
public struct Replay {
    /// What an entry was caused by.
    public enum Step: Sendable {
        /// A command, and what the wall clock read when it was taken.
        case command(Submission, wallClock: Instant)
        /// The payload was erased, or the entry is an erasure and says of nobody who: what caused it
        /// is no longer known.
        case erased
    }

    private let zones: ZoneDatabase
    /// The policies recorded so far, and what acts.
    private var registry = Registry()

    /// A replay from the first entry of a ledger on.
    public init(zones: ZoneDatabase) { self.zones = zones }

    /// The command that caused an entry.
    public mutating func step(_ entry: LedgerEntry) throws -> Step {
        guard !entry.payload.isEmpty else { return .erased }
        let sequence = entry.envelope.sequence
        guard let kind = RecordKind(rawValue: entry.envelope.kind) else {
            throw CorruptEntry(
                sequence: sequence, detail: "its kind `\(entry.envelope.kind)` is not known")
        }
        guard entry.salt.count == Submission.saltLength else {
            throw CorruptEntry(
                sequence: sequence, detail: "its salt has \(entry.salt.count) bytes")
        }
        guard let command = try command(of: entry, kind) else { return .erased }
        return .command(
            Submission(
                tenant: entry.tenant, actor: entry.envelope.actor, command: command,
                salt: entry.salt),
            wallClock: entry.envelope.at)
    }

    /// `nil` for an erasure.
    private mutating func command(of entry: LedgerEntry, _ kind: RecordKind) throws -> Command? {
        switch kind {
        case .authorization: .authorize(try entry.record(AuthorizationRecord.self).command)
        case .evaluation: try evaluation(entry)
        case .consumption: .reportConsumption(try entry.record(ConsumptionRecord.self).command)
        case .label: .label(try entry.record(LabelRecord.self).command)
        case .sandboxClock:
            .advanceSandboxClock(try entry.record(SandboxClockRecord.self).advance)
        case .donation: .review(.donate(try donation(entry)))
        case .grantOutcome: .review(try outcome(entry))
        case .erasure: nil
        case .reset: .review(.reset(subject: try entry.record(ResetRecord.self).subject))
        case .merge: .review(try entry.record(MergeRecord.self).command)
        case .app, .key, .keyRevocation, .configuration, .policies, .activation, .deactivation,
            .ledgerFork, .rollback:
            .administer(try administration(of: entry, kind))
        }
    }

    private func evaluation(_ entry: LedgerEntry) throws -> Command {
        guard let tenant = entry.tenant else {
            throw CorruptEntry(sequence: entry.envelope.sequence, detail: "it names no app")
        }
        return .evaluate(try entry.record(EvaluationRecord.self).command(of: tenant))
    }

    private func donation(_ entry: LedgerEntry) throws -> DonateCommand {
        guard let command = try entry.record(DonationRecord.self).command else {
            throw CorruptEntry(
                sequence: entry.envelope.sequence, detail: "its subject or device is no pseudonym")
        }
        return command
    }

    private func outcome(_ entry: LedgerEntry) throws -> ReviewCommand {
        guard let command = try entry.record(GrantOutcomeRecord.self).command else {
            throw CorruptEntry(
                sequence: entry.envelope.sequence, detail: "its outcome is not known")
        }
        return command
    }

    private mutating func administration(of entry: LedgerEntry, _ kind: RecordKind) throws
        -> AdministrationCommand
    {
        let stamp = EntryStamp(
            sequence: entry.envelope.sequence, at: entry.envelope.at, actor: entry.envelope.actor)
        switch kind {
        case .app:
            let record = try entry.record(AppRecord.self)
            return .registerApp(id: record.app, name: record.name)
        case .key: return .issueKey(try entry.record(KeyRecord.self))
        case .keyRevocation:
            return .revokeKey(id: try entry.record(KeyRevocationRecord.self).keyID)
        case .ledgerFork: return .acceptFork(try entry.record(LedgerForkRecord.self))
        case .configuration:
            let record = try entry.record(ConfigurationRecord.self)
            return .configure(record.configuration, zones: record.zones)
        case .policies:
            let record = try entry.record(PoliciesRecord.self)
            let load = try load(record)
            registry.apply(record, stamp)
            return .loadPolicies(load)
        case .deactivation:
            let record = try entry.record(DeactivationRecord.self)
            registry.apply(record, tenant: entry.tenant, stamp)
            return .deactivate(
                policy: record.policy, isShadow: record.isShadow, reason: record.reason)
        case .rollback:
            let record = try entry.record(RollbackRecord.self)
            registry.apply(record, tenant: entry.tenant, stamp)
            return .rollBack(policy: record.policy, reason: record.reason)
        default:
            let record = try entry.record(ActivationRecord.self)
            registry.apply(record, tenant: entry.tenant, stamp)
            return .activate(ActivateCommand(record))
        }
    }

    // MARK: Policies

    /// The load as far as it had an effect: what it added, what it let act, and the acting
    /// versions that kept an added file from acting. What else was in the folder changed
    /// nothing.
    private func load(_ record: PoliciesRecord) throws -> CandidateLoad {
        guard record.faults.isEmpty else { return CandidateLoad(files: [], faults: record.faults) }
        let known = try RecordedPolicies.compile(registry.files + record.files, zones: zones)
        let added = known.suffix(record.files.count)
        let activated = record.activations.map(\.policy)
        let names = Set(added.map(\.candidate.reference.name))
        let acting = registry.acting.facts.filter { $0.key.tenant == nil && !$0.key.isShadow }
            .map(\.value.policy)
        let others = known.dropLast(record.files.count).filter { _, candidate in
            let reference = candidate.reference
            guard candidate.actingKind != nil else { return false }
            if activated.contains(reference) { return true }
            return names.contains(reference.name) && acting.contains(reference)
                && !activated.contains { $0.name == reference.name }
        }
        return CandidateLoad(
            files: Array(added) + Array(others), activates: !record.activations.isEmpty)
    }
}
