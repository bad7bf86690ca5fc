import Time

/// Where a page ended, as it is handed from page to page: `4711`, or `4711-1796000000000` with what
/// the filter's `now` was in milliseconds, so that it is the same on all pages.
public struct AuditCursor: Sendable, Equatable {
    /// The number of the last entry that was looked at.
    public var sequence: Int64
    /// What `now` is; `nil` where no filter reads it.
    public var now: Instant?

    /// A cursor of these parts.
    public init(sequence: Int64, now: Instant?) {
        self.sequence = sequence
        self.now = now
    }

    /// Reads a cursor; `nil` if it is none.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let sequence = Int64(parts[0]), sequence > 0 else { return nil }
        self.sequence = sequence
        guard parts.count > 1 else { return }
        guard let milliseconds = Int64(parts[1]), milliseconds >= 0,
            let instant = Instant(exactMilliseconds: milliseconds)
        else { return nil }
        now = instant
    }

    /// The text that ``init(_:)`` reads.
    public var text: String { "\(sequence)" + (now.map { "-\($0.milliseconds)" } ?? "") }
}

extension EntryQuery {
    /// Goes on where a page ended.
    public mutating func goOn(from cursor: AuditCursor) {
        self.cursor = cursor.sequence
        if let now = cursor.now { self.now = now }
    }

    /// The cursor of a page that this query gave; `nil` when all was looked at.
    public func cursor(after page: EntryPage) -> AuditCursor? {
        page.next.map { AuditCursor(sequence: $0, now: filter == nil ? nil : now) }
    }
}
