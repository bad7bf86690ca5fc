import JSON
import Ledger
import Policies
import Time
import TrustInsights

/// One recorded evaluation with all that explains it: what it read, how each rule came to its
/// verdict by the policy as it was then, what filled its windows, and what came after it.
public struct RecordedExplanation: Sendable {
    /// How entries are found.
    public struct Source {
        /// The entry of a number.
        public var entry: (Int64) throws -> LedgerEntry?
        /// The entries under a key, in ledger order.
        public var entries: (EntityKey) throws -> [LedgerEntry]
        /// The entries of policies up to a number, in ledger order.
        public var policies: (Int64) throws -> [LedgerEntry]

        /// A ledger, by how its entries are found.
        public init(
            entry: @escaping (Int64) throws -> LedgerEntry?,
            entries: @escaping (EntityKey) throws -> [LedgerEntry],
            policies: @escaping (Int64) throws -> [LedgerEntry]
        ) {
            self.entry = entry
            self.entries = entries
            self.policies = policies
        }
    }

    /// The evaluation with its report and labels.
    public let state: EvaluationState
    /// The policy as the ledger has it.
    public let policy: TrustPolicy
    /// Its windows.
    public let windows: [WindowContent]
    /// How its rules came to their verdicts.
    public let trace: PolicyTrace

    /// The evaluation of an id, or of one of its insights' ids.
    ///
    /// Throws a `Refusal` where there is none, or it was erased.
    public init(_ id: Identifier, in source: Source, zones: ZoneDatabase) throws {
        guard let entry = try source.entry(id.sequence) else {
            throw Refusal.notFound(.evaluationID(id.text))
        }
        guard entry.envelope.kind == RecordKind.evaluation.rawValue, let tenant = entry.tenant
        else {
            throw Refusal(
                .notFound, "this is the id of an entry of the kind `\(entry.envelope.kind)`")
        }
        try self.init(id, of: tenant, in: source, zones: zones)
    }

    /// The evaluation of a caller's requestID: the last one, if the first was refused.
    public init(request: String, of tenant: Tenant, in source: Source, zones: ZoneDatabase) throws {
        let records = try source.entries(.request(request, of: tenant)).filter {
            $0.isOf(tenant) && $0.envelope.kind == RecordKind.evaluation.rawValue
        }.map { try $0.record(EvaluationRecord.self) }
        guard let record = records.last(where: { ExactText($0.requestID) == ExactText(request) })
        else { throw Refusal.notFound(.requestID(request)) }
        try self.init(record.evaluationID, of: tenant, in: source, zones: zones)
    }

    private init(_ id: Identifier, of tenant: Tenant, in source: Source, zones: ZoneDatabase)
        throws
    {
        state = try EvaluationState.load(
            id, address: .evaluationID(id.text), tenant: tenant, entry: source.entry,
            entries: source.entries)
        let record = state.record
        policy = try Self.policy(
            record.policy,
            source.policies(id.sequence).filter { !$0.payload.isEmpty }.map {
                try $0.record(PoliciesRecord.self)
            }, zones)
        windows = WindowContent.all(
            of: policy, record, earlier: try Self.earlier(record, tenant, source))
        trace = PolicyTrace(record, policy)
    }

    /// The policy as it was recorded, not as some folder has it today.
    private static func policy(
        _ reference: VersionReference, _ records: [PoliciesRecord], _ zones: ZoneDatabase
    ) throws -> TrustPolicy {
        let files = records.flatMap(\.files)
        for case (_, .trust(let policy)) in try RecordedPolicies.compile(files, zones: zones)
        where policy.digest == reference.digest {
            return policy
        }
        throw CorruptEntry(
            detail: "the ledger does not hold the policy \(reference.name)@\(reference.version)")
    }

    /// What the subject had done before, as the windows counted it. A refused request that came
    /// again counts once.
    private static func earlier(
        _ record: EvaluationRecord, _ tenant: Tenant, _ source: Source
    ) throws -> [(event: VelocityEvent, evaluation: Identifier?)] {
        let own = record.evaluationID.sequence
        let records = try source.entries(.subject(record.subject, of: tenant)).filter {
            $0.isOf(tenant) && $0.envelope.kind == RecordKind.evaluation.rawValue
                && $0.envelope.sequence < own && !$0.payload.isEmpty
        }.map { try $0.record(EvaluationRecord.self) }.filter { $0.subject == record.subject }
        return records.enumerated().filter { index, earlier in
            guard earlier.isRefused else { return true }
            let later = records[(index + 1)...] + [record]
            return !later.contains { ExactText($0.requestID) == ExactText(earlier.requestID) }
        }.map { _, earlier in
            (
                VelocityEvent(
                    at: earlier.receivedAt, category: earlier.category,
                    attributes: earlier.attributes), earlier.evaluationID
            )
        }
    }
}
