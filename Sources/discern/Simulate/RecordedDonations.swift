import Engine
import JSON
import Ledger
import ReviewPrompts
import Storage
import Time

/// The donations of an app that a data folder has recorded, as events of a stream. Nothing is
/// changed, and a server may go on running.
struct RecordedDonations {
    /// Entries looked at in one piece.
    private static let page = 1_000
    private static let limits = JSONLimits(bytes: 16 << 20, depth: 100)

    let ledger: LedgerFile
    let tenant: Tenant

    /// Hands the donations to `body`, in the order of the ledger, with the numbers of their entries;
    /// says how many were erased.
    ///
    /// What an app would report of a grant is known only of grants that were given: it is taken
    /// from their reports. For a donation that was held, the app is taken to ask.
    func each(_ body: (ReviewEvent, _ sequence: Int64) throws -> Void) throws {
        let reports = try reports()
        let environment: ReviewEnvironment =
            tenant.environment == .production ? .production : .sandbox
        let erased = try ledger.donations(of: tenant) { sequence, payload in
            let record = try DonationRecord(payload: RecordReader(payload, sequence: sequence))
            var event = ReviewEvent(
                donation: record.donation, receivedAt: record.receivedAt, environment: environment)
            if let grant = record.grant {
                event.report = reports[grant.id] ?? .silent
                if case .notRequested("noActiveScene"?) = event.report {
                    event.hasActiveScene = false
                }
            }
            try body(event, sequence)
        }
        if erased > 0 { Terminal.say("left out: \(Figures.counted(erased, "erased record"))") }
        for kind in [RecordKind.merge, .reset] {
            let count = try ledger.tenants(of: kind).first { $0.tenant == tenant }?.entries ?? 0
            if count > 0 { Terminal.say("not played: \(Figures.counted(count, kind.rawValue))") }
        }
    }

    /// What was reported of each grant; of several reports the last that changed it.
    private func reports() throws -> [String: ReviewEvent.Report] {
        var query = EntryQuery()
        query.app = tenant.app
        query.environment = tenant.environment.rawValue
        query.kind = .grantOutcome
        query.limit = Self.page
        var found: [String: ReviewEvent.Report] = [:]
        while true {
            let page = try ledger.page(query)
            for entry in page.entries where !entry.payload.isEmpty {
                let record = try GrantOutcomeRecord(
                    payload: RecordReader(
                        bytes: entry.payload, sequence: entry.envelope.sequence))
                found[record.grantID.text] =
                    record.outcome == "requested"
                    ? .requested : .notRequested(reason: record.reason)
            }
            guard found.count <= SimulationLimits.entities else {
                throw SimulationError.tooManyEntities
            }
            guard let next = page.next else { return found }
            query.cursor = next
        }
    }
}
