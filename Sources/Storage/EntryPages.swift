import CSQLite
import Engine
import Ledger
import Time

extension Reading {
    /// A page of entries.
    func page(_ query: EntryQuery, sequences: (EntityKey) throws -> [Int64]) throws -> EntryPage {
        var page = EntryPage()
        let plan = AuditPlan(query)
        let range = try range(plan, query)
        page.size = range.size
        guard range.first <= range.last else { return page }
        var walk = try EntryWalk(
            query, plan, rows, last: query.newestFirst ? range.first : range.last)
        if let about = query.about {
            var found = Set<Int64>()
            for key in about.keys { try found.formUnion(sequences(key)) }
            let numbers = found.filter { (range.first...range.last).contains($0) }.sorted()
            let statement = try connection.prepare(EntrySQL.text(.place, plan))
            try walk.visit(query.newestFirst ? numbers.reversed() : numbers, statement)
        } else if try usesServiceIndex(plan) {
            let statement = try connection.prepare(
                EntrySQL.text(.service(newestFirst: query.newestFirst), plan))
            try walk.visitService(range.first...range.last, statement)
        } else {
            let statement = try connection.prepare(
                EntrySQL.text(.range(newestFirst: query.newestFirst), plan))
            try walk.visit(range.first...range.last, statement)
        }
        let size = page.size
        page = walk.page
        page.size = size
        return page
    }

    /// The first and the last entry of interest, and the last there is.
    func range(_ plan: AuditPlan, _ query: EntryQuery) throws -> (
        first: Int64, last: Int64, size: Int64
    ) {
        let size = try connection.single("SELECT coalesce(max(sequence), 0) FROM entries")
        guard size > 0, !plan.bounds.isEmpty else { return (1, 0, size) }
        var first = max(1, plan.bounds.first)
        var last = min(size, plan.bounds.last)
        if plan.bounds.since > .min {
            first = max(first, try rows.place(notBefore: plan.bounds.since, among: 1...size + 1))
        }
        if plan.bounds.until < .max {
            let after = plan.bounds.until + .milliseconds(1)
            last = min(last, try rows.place(notBefore: after, among: 1...size + 1) - 1)
        }
        if let cursor = query.cursor {
            if query.newestFirst {
                last = min(last, max(cursor, 1) - 1)
            } else {
                first = max(first, min(max(cursor, 0), size) + 1)
            }
        }
        return (first, last, size)
    }

    /// Whether all that is of interest is in the index of entries about the service, which a file
    /// of an older version does not have.
    func usesServiceIndex(_ plan: AuditPlan) throws -> Bool {
        guard plan.bounds.isOfService else { return false }
        return try connection.single("PRAGMA user_version") >= 4
    }
}

/// The statements that find entries. Their texts are put together of fixed parts, and hold no value.
enum EntrySQL {
    enum Source {
        /// One entry, by its number.
        case place
        /// The entries of a range.
        case range(newestFirst: Bool)
        /// Those about the service and its apps.
        case service(newestFirst: Bool)
    }

    /// Places for kinds: as many as there are.
    static let kinds = RecordKind.allCases.count
    static let firstKind: Int32 = 5

    static func text(_ source: Source, _ plan: AuditPlan) -> String {
        var text = "SELECT sequence, at, kind, app, environment, "
        text += "payload IS NULL OR length(payload) = 0, "
        text += plan.needsEnvelope ? "envelope, " : "NULL, "
        switch source {
        case .place: return text + "payload FROM entries WHERE sequence = ?1"
        case .service(let newestFirst):
            text += plan.needsPayload ? "payload " : "NULL "
            text += "FROM entries INDEXED BY service_entries WHERE \(Schema.isOfService) "
            return text + "AND sequence BETWEEN ?1 AND ?2 " + order(newestFirst)
        case .range(let newestFirst):
            text += plan.needsPayload ? "payload " : "NULL "
            text += "FROM entries WHERE sequence BETWEEN ?1 AND ?2 "
            if plan.bounds.apps?.count == 1 { text += "AND app = ?3 " }
            if plan.bounds.environments.count == 1 { text += "AND environment = ?4 " }
            if !plan.bounds.hasAllKinds {
                let places = (0..<kinds).map { "?\(Int(firstKind) + $0)" }
                text += "AND kind IN (\(places.joined(separator: ", "))) "
            }
            return text + order(newestFirst)
        }
    }

    private static func order(_ newestFirst: Bool) -> String {
        newestFirst ? "ORDER BY sequence DESC" : "ORDER BY sequence"
    }

    /// Binds what the bounds say, where ``text(_:_:)`` has places for it.
    static func bind(_ bounds: AuditBounds, to statement: borrowing Statement) {
        if let apps = bounds.apps, apps.count == 1, let app = apps.first { statement.bind(3, app) }
        if bounds.environments.count == 1, let name = bounds.environments.first {
            statement.bind(4, name)
        }
        guard !bounds.hasAllKinds else { return }
        let names = bounds.kinds.map(\.rawValue)
        for index in 0..<kinds {
            // No entry is of the kind without a name.
            statement.bind(
                firstKind + Int32(index), names.indices.contains(index) ? names[index] : "")
        }
    }
}
