import JSON
import Ledger
import Policies
import Time
import TrustInsights

/// Performance figures of an app, made from its ledger: of evaluations in a period, with the
/// labels that count today.
public struct PerformanceReport: Sendable {
    /// Whose evaluations, received when, and of which policy and model versions.
    public struct Query: Sendable {
        /// The app and environment.
        public var tenant: Tenant
        /// From this instant on.
        public var since: Instant?
        /// Up to this instant, itself included.
        public var until: Instant?
        /// Only of this category.
        public var category: Policies.Category?

        /// All evaluations of an app in an environment.
        public init(tenant: Tenant) { self.tenant = tenant }
    }

    /// The figures for each policy and model version.
    public private(set) var versions: [(policy: String, model: String, figures: Performance)] = []

    /// Evaluations of the period that were erased and so are missing, of whatever category.
    public private(set) var erased: Int64 = 0

    /// Reads the ledger twice: once for labels, once for evaluations. Memory follows the labels.
    public init(_ query: Query, ledger: any LedgerReader) throws {
        var labels: [Identifier: [Label]] = [:]
        try Self.each(.label, since: query.since, until: nil, query.tenant, ledger) { entry in
            guard !entry.payload.isEmpty else { return }
            let record = try entry.record(LabelRecord.self)
            labels[record.evaluationID, default: []].append(
                record.label(sequence: entry.envelope.sequence))
        }
        try Self.each(.evaluation, since: query.since, until: query.until, query.tenant, ledger) {
            entry in
            guard !entry.payload.isEmpty else {
                erased += 1
                return
            }
            let record = try entry.record(EvaluationRecord.self)
            // Where the insight was refused there is nothing to be right or wrong about.
            guard !record.isRefused, query.category.map({ $0 == record.category }) ?? true else {
                return
            }
            add(record, labels[record.evaluationID]?.current?.label)
        }
        versions.sort { ($0.policy, $0.model) < ($1.policy, $1.model) }
    }

    private mutating func add(_ record: EvaluationRecord, _ label: LabelValue?) {
        let policy = "\(record.policy.name)@\(record.policy.version)"
        let model = record.model.map { "\($0.name)@\($0.version)" } ?? "none"
        let outcome = record.acting.outcome ?? .unknown
        if let index = versions.firstIndex(where: { $0.policy == policy && $0.model == model }) {
            versions[index].figures.add(outcome, label)
        } else {
            var figures = Performance()
            figures.add(outcome, label)
            versions.append((policy, model, figures))
        }
    }

    private static func each(
        _ kind: RecordKind, since: Instant?, until: Instant?, _ tenant: Tenant,
        _ ledger: any LedgerReader, _ body: (LedgerEntry) throws -> Void
    ) throws {
        var query = EntryQuery()
        query.kind = kind
        query.app = tenant.app
        query.environment = tenant.environment.rawValue
        query.since = since
        query.until = until
        query.limit = 1_000
        repeat {
            let page = try ledger.page(query)
            for entry in page.entries { try body(entry) }
            query.cursor = page.next
        } while query.cursor != nil
    }

    /// The report as an answer shows it.
    public var answer: JSONValue {
        [
            "erased": .int(erased),
            "versions": .array(
                versions.map { version in
                    [
                        "policy": .string(version.policy), "model": .string(version.model),
                        "outcomes": Self.rows(version.figures),
                        "high": Self.figures(version.figures.figures(naming: [.high])),
                        "mediumOrHigh": Self.figures(
                            version.figures.figures(naming: [.medium, .high])),
                    ]
                }),
        ]
    }

    private static func rows(_ performance: Performance) -> JSONValue {
        .object(
            JSONObject(
                Outcome.allCases.map { outcome in
                    let row = performance.rows[outcome] ?? Performance.Row()
                    return (
                        outcome.rawValue,
                        [
                            "confirmedFraud": .int(row.fraud),
                            "suspectedFraud": .int(row.suspected),
                            "confirmedLegitimate": .int(row.legitimate),
                            "unlabelled": .int(row.unlabelled), "total": .int(row.total),
                        ]
                    )
                }))
    }

    private static func figures(_ figures: Performance.Figures) -> JSONValue {
        func share(_ value: Double?) -> JSONValue { value.map { .double($0) } ?? .null }
        return [
            "truePositives": .int(figures.truePositives),
            "falsePositives": .int(figures.falsePositives),
            "falseNegatives": .int(figures.falseNegatives),
            "trueNegatives": .int(figures.trueNegatives),
            "n": .int(figures.truePositives + figures.falsePositives),
            "precision": share(figures.precision), "recall": share(figures.recall),
            "coverage": share(figures.coverage),
        ]
    }
}
