import CSQLite
import Engine
import Ledger
import Time

extension Reading {
    /// A page of entries.
    func page(_ query: EntryQuery, sequences: (EntityKey) throws -> [Int64]) throws -> EntryPage {
        var first: Int64 = 1
        var last = try connection.single("SELECT coalesce(max(sequence), 0) FROM entries")
        if let since = query.since {
            first = try rows.place(notBefore: since, among: first...last + 1)
        }
        if let until = query.until {
            last = try rows.place(notBefore: until + .milliseconds(1), among: 1...last + 1) - 1
        }
        if let cursor = query.cursor {
            if query.newestFirst {
                last = min(last, cursor - 1)
            } else {
                first = max(first, cursor + 1)
            }
        }
        guard first <= last else { return EntryPage(entries: [], next: nil) }
        if let about = query.about {
            var found = Set<Int64>()
            for key in about.keys { try found.formUnion(sequences(key)) }
            return try page(
                of: found.filter { (first...last).contains($0) }, query, about.pseudonym)
        }
        return try page(from: first, through: last, query)
    }

    private func page(from first: Int64, through last: Int64, _ query: EntryQuery) throws
        -> EntryPage
    {
        let statement = try connection.prepare(
            """
            SELECT sequence FROM entries
            WHERE sequence BETWEEN ?1 AND ?2
                AND (?3 = '' OR app = ?3) AND (?4 = '' OR environment = ?4)
                AND (?5 = '' OR kind = ?5)
            ORDER BY sequence \(query.newestFirst ? "DESC" : "ASC") LIMIT ?6
            """)
        statement.bind(1, first)
        statement.bind(2, last)
        statement.bind(3, query.app ?? "")
        statement.bind(4, query.environment ?? "")
        statement.bind(5, query.kind?.rawValue ?? "")
        statement.bind(6, Int64(query.limit) + 1)
        var entries: [LedgerEntry] = []
        var hasMore = false
        while try statement.step() {
            if entries.count == query.limit {
                hasMore = true
                statement.reset()
                break
            }
            if let entry = try rows.entry(statement.int(0)) { entries.append(entry) }
        }
        return EntryPage(entries: entries, next: hasMore ? entries.last?.envelope.sequence : nil)
    }

    /// Two things may share a key, so each entry is asked whether it is about this one.
    private func page(of sequences: Set<Int64>, _ query: EntryQuery, _ about: Pseudonym) throws
        -> EntryPage
    {
        let ordered = query.newestFirst ? sequences.sorted(by: >) : sequences.sorted()
        let mention = Array("\"\(about.text)\"".utf8)
        var entries: [LedgerEntry] = []
        for sequence in ordered {
            guard let entry = try rows.entry(sequence) else { continue }
            let envelope = entry.envelope
            guard query.app == nil || query.app == envelope.app,
                query.environment == nil || query.environment == envelope.environment,
                query.kind == nil || query.kind?.rawValue == envelope.kind,
                entry.payload.contains(mention)
            else { continue }
            if entries.count == query.limit {
                return EntryPage(entries: entries, next: entries.last?.envelope.sequence)
            }
            entries.append(entry)
        }
        return EntryPage(entries: entries, next: nil)
    }
}
