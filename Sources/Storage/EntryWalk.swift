import CSQLite
import Engine
import Glibc
import Ledger
import Time

/// Goes over entries in order, keeps what a query wants, and ends when the page is full or its
/// budget is used up.
struct EntryWalk: ~Copyable {
    private let query: EntryQuery
    private let plan: AuditPlan
    private let rows: Rows
    private var matcher: EntryMatcher
    private let mention: [UInt8]?
    /// The last number of interest, in the order of the query.
    private let last: Int64
    private let deadline: Int64?
    private(set) var page = EntryPage()

    /// Rows that one run of a statement may go over, so that the clock is looked at in between even
    /// if it gives none of them.
    private static let window: Int64 = 256

    init(_ query: EntryQuery, _ plan: AuditPlan, _ rows: Rows, last: Int64) throws {
        self.query = query
        self.plan = plan
        self.rows = rows
        self.last = last
        matcher = EntryMatcher(plan)
        mention = query.about.map { Array("\"\($0.pseudonym.text)\"".utf8) }
        deadline = query.budget.map { Self.clock() + $0.time.milliseconds * 1_000_000 }
    }

    /// Looks at a range, window by window.
    mutating func visit(_ range: ClosedRange<Int64>, _ statement: borrowing Statement) throws {
        EntrySQL.bind(plan.bounds, to: statement)
        var (low, high) = (range.lowerBound, range.upperBound)
        while low <= high {
            let window = min(Self.window, high - low + 1)
            let from = query.newestFirst ? high - window + 1 : low
            let through = from + window - 1
            statement.bind(1, from)
            statement.bind(2, through)
            let start = query.newestFirst ? through : from
            while try statement.step() {
                let sequence = statement.int(0)
                guard try look(statement), !isLate else {
                    page.examined += abs(sequence - start) + 1
                    statement.reset()
                    return end(at: sequence)
                }
            }
            page.examined += window
            if query.newestFirst { high = from - 1 } else { low = through + 1 }
            if isUsedUp { return end(at: query.newestFirst ? from : through) }
        }
    }

    /// Looks at the entries about the service in a range.
    mutating func visitService(_ range: ClosedRange<Int64>, _ statement: borrowing Statement) throws
    {
        statement.bind(1, range.lowerBound)
        statement.bind(2, range.upperBound)
        defer { statement.reset() }
        while try statement.step() {
            page.examined += 1
            guard try look(statement), !isUsedUp else { return end(at: statement.int(0)) }
        }
    }

    /// Looks at entries by their numbers.
    mutating func visit(_ numbers: [Int64], _ statement: borrowing Statement) throws {
        for number in numbers {
            statement.bind(1, number)
            page.examined += 1
            let goesOn = try statement.step() ? look(statement) : true
            statement.reset()
            guard goesOn, !isUsedUp else { return end(at: number) }
        }
    }

    /// Takes the row if the query wants it; false when the page is full.
    private mutating func look(_ row: borrowing Statement) throws -> Bool {
        let isErased = row.int(5) != 0
        let (kind, app, environment) = (row.text(2), row.text(3), row.text(4))
        let bounds = plan.bounds
        guard bounds.admits(kind: kind, app: app, environment: environment, isErased: isErased)
        else { return true }
        let mention = mention
        let verdict = try row.withBytes(6) { envelope in
            try row.withBytes(7) { payload -> EntryMatcher.Verdict in
                // Two things may share a key, so the entry is asked whether it is about this one.
                if let mention, !payload.contains(mention) { return .notMatched }
                return try matcher.match(
                    EntryView(
                        sequence: row.int(0), at: Instant(milliseconds: row.int(1)), kind: kind,
                        app: app, environment: environment, envelope: envelope, payload: payload,
                        isErased: isErased))
            }
        }
        switch verdict {
        case .notMatched: return true
        case .undecided:
            page.undecided += 1
            return true
        case .matched:
            if let entry = try rows.entry(row.int(0)) { page.entries.append(entry) }
            return page.entries.count < query.limit
        }
    }

    /// Ends the page at the last entry that was looked at.
    private mutating func end(at sequence: Int64) {
        guard sequence != last else { return }
        page.next = sequence
        page.isPartial = page.entries.count < query.limit
    }

    private var isUsedUp: Bool {
        if let budget = query.budget, page.examined >= budget.entries { return true }
        return isLate
    }

    private var isLate: Bool { deadline.map { Self.clock() >= $0 } ?? false }

    private static func clock() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}
