import JSON
import Ledger
import Policies
import Time
import TrustInsights

/// What the engine keeps in memory as a whole: who may call, what acts, what is owed. A fold
/// over the entries that are about no single person.
///
/// For the engine's thread; others see a ``Directory``.
struct Registry {
    /// What is counted for one app in one environment. A class, so that counting changes it in
    /// place, whoever else looks at it meanwhile.
    final class TenantState {
        /// How far the sandbox clock is ahead.
        var clockAhead = Duration.zero
        var debt = ReportDebt()
        /// The overdue evaluations last named in a refusal.
        var listedDebt: (sequences: [Int64], ids: [JSONValue]) = ([], [])
        /// The UTC day of `evaluationsToday`, in days since the epoch.
        var day: Int64 = 0
        var evaluationsToday: Int64 = 0
        /// How many recorded events each policy judged, in shadow or acting, by its digest.
        var judged: [String: Int64] = [:]

        /// The app's clock when the engine's clock says `at`.
        func now(at: Instant) -> Instant { at + clockAhead }

        /// Brings what time changes up to `at`, the engine's clock.
        func advance(to at: Instant, policy: DebtPolicy) {
            let now = now(at: at)
            debt.advance(to: now, policy: policy)
            let today = now.milliseconds / 86_400_000
            if day != today { (day, evaluationsToday) = (today, 0) }
        }
    }

    /// Apps by id, with their names.
    private(set) var apps: [String: String] = [:]
    /// Keys that are good, by their hash.
    private(set) var keys: [Digest: KeyRecord] = [:]
    /// Ids of all keys ever issued.
    private(set) var keyIDs: Set<String> = []
    private(set) var acting = ActingState()
    /// Every policy and model file ever loaded, in ledger order.
    private(set) var files: [PoliciesRecord.File] = []
    /// The configuration in force.
    private(set) var configuration = Configuration()
    /// What records name: the digest of the configuration and of the zone data.
    private(set) var configurationDigest = ""
    /// Whether a configuration was ever recorded.
    fileprivate(set) var isConfigured = false
    /// Why the latest load of policies failed, and when; empty after one that did not.
    private(set) var loadFaults: (at: Instant, faults: [String])?
    private(set) var tenants: [Tenant: TenantState] = [:]

    // MARK: Asking

    /// The state of an app in an environment, brought up to `at`, the engine's clock.
    mutating func state(of tenant: Tenant, at: Instant) -> TenantState {
        let state = tenants[tenant] ?? TenantState()
        if tenants[tenant] == nil { tenants[tenant] = state }
        state.advance(to: at, policy: configuration.debt)
        return state
    }

    /// How many recorded events of an app in an environment a policy has judged; of all of them
    /// without one.
    func judged(by policy: VersionReference, of tenant: Tenant?) -> Int64 {
        guard let tenant else {
            return tenants.values.reduce(0) { $0 + $1.judged[policy.digest, default: 0] }
        }
        return tenants[tenant]?.judged[policy.digest] ?? 0
    }

    // MARK: Keeping

    /// The state of every app in every environment, as it stands now.
    var tenantSnapshots: [TenantSnapshot] {
        tenants.map { tenant, state in
            TenantSnapshot(
                tenant: tenant, clockAhead: state.clockAhead, debt: state.debt, day: state.day,
                evaluationsToday: state.evaluationsToday, judged: state.judged)
        }
    }

    /// Takes those states for the ones of today.
    mutating func restore(_ snapshots: [TenantSnapshot]) {
        tenants = [:]
        for snapshot in snapshots {
            let state = TenantState()
            state.clockAhead = snapshot.clockAhead
            state.debt = snapshot.debt
            state.day = snapshot.day
            state.evaluationsToday = snapshot.evaluationsToday
            state.judged = snapshot.judged
            tenants[snapshot.tenant] = state
        }
    }

    // MARK: Folding

    mutating func apply(_ record: EvaluationRecord, tenant: Tenant, at: Instant, sequence: Int64) {
        let state = state(of: tenant, at: at)
        state.evaluationsToday += 1
        // What a sandbox key forced is no trial of a policy.
        if record.force == nil {
            state.judged[record.policy.digest, default: 0] += 1
            if let shadow = record.shadowPolicy {
                state.judged[shadow.policy.digest, default: 0] += 1
            }
        }
        guard let dueAt = record.reportDueAt else { return }
        state.debt.completed(sequence: sequence, at: record.completedAt, dueAt: dueAt)
    }

    mutating func apply(_ judges: DonationJudges, tenant: Tenant, at: Instant) {
        let state = state(of: tenant, at: at)
        for digest in judges.digests { state.judged[digest, default: 0] += 1 }
    }

    /// What an entry that was erased counts for, as it did before.
    mutating func apply(_ entry: ErasedEntry, tenant: Tenant, at: Instant) {
        let state = state(of: tenant, at: at)
        for digest in entry.judged { state.judged[digest, default: 0] += 1 }
        if entry.kind == .evaluation {
            state.evaluationsToday += 1
            if let completedAt = entry.completedAt, let dueAt = entry.dueAt {
                state.debt.completed(sequence: entry.sequence, at: completedAt, dueAt: dueAt)
            }
        } else if let evaluation = entry.evaluation, let dueAt = entry.dueAt {
            state.debt.reported(sequence: evaluation, dueAt: dueAt, policy: configuration.debt)
        }
    }

    /// Nobody owes the report of an evaluation that is no more.
    mutating func apply(_ record: ErasureRecord, tenant: Tenant, at: Instant) {
        let state = state(of: tenant, at: at)
        for entry in record.entries where entry.kind == .evaluation {
            guard let dueAt = entry.dueAt else { continue }
            state.debt.reported(
                sequence: entry.sequence, dueAt: dueAt, policy: configuration.debt)
        }
    }

    mutating func apply(_ record: ConsumptionRecord, tenant: Tenant, at: Instant) {
        state(of: tenant, at: at).debt.reported(
            sequence: record.evaluationID.sequence, dueAt: record.dueAt,
            policy: configuration.debt)
    }

    mutating func apply(_ record: SandboxClockRecord, tenant: Tenant, at: Instant) {
        let state = state(of: tenant, at: at)
        state.clockAhead = state.clockAhead + record.advance
        state.advance(to: at, policy: configuration.debt)
    }

    mutating func apply(_ record: AppRecord) { apps[record.app] = record.name }

    mutating func apply(_ record: KeyRecord) {
        keys[record.hash] = record
        keyIDs.insert(record.keyID)
    }

    mutating func apply(_ record: KeyRevocationRecord) {
        keys = keys.filter { $0.value.keyID != record.keyID }
    }

    /// What was owed until `at` is judged by the numbers that held, what comes by the new
    /// ones: whoever asks, and when, changes nothing.
    mutating func apply(_ record: ConfigurationRecord, at: Instant) {
        for state in tenants.values { state.advance(to: at, policy: configuration.debt) }
        configuration = record.configuration
        for state in tenants.values { state.advance(to: at, policy: configuration.debt) }
        configurationDigest = Self.digest(record.configuration, zones: record.zones)
        isConfigured = true
    }

    /// The digest of a configuration with the zone data in use.
    static func digest(_ configuration: Configuration, zones: String) -> String {
        SHA256.hash(configuration.json.canonicalBytes + Array(zones.utf8)).hex
    }

    mutating func apply(_ record: PoliciesRecord, _ stamp: EntryStamp) {
        files += record.files
        for activation in record.activations { acting.apply(activation, tenant: nil, stamp) }
        loadFaults = record.faults.isEmpty ? nil : (stamp.at, record.faults)
    }

    mutating func apply(_ record: ActivationRecord, tenant: Tenant?, _ stamp: EntryStamp) {
        acting.apply(record, tenant: tenant, stamp)
    }

    mutating func apply(_ record: DeactivationRecord, tenant: Tenant?, _ stamp: EntryStamp) {
        acting.apply(record, tenant: tenant, stamp)
    }

    mutating func apply(_ record: RollbackRecord, tenant: Tenant?, _ stamp: EntryStamp) {
        acting.apply(record, tenant: tenant, stamp)
    }
}
