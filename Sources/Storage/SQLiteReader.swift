import Engine
import Ledger
import Synchronization

/// Reads what is committed, from any thread. Connections are kept and used again.
public final class SQLiteReader: LedgerReader {
    private let path: String
    private let index: KeyIndex
    private let idle = Mutex<[Reading]>([])
    /// Connections kept at most.
    private static let kept = 4

    init(path: String, index: KeyIndex) {
        self.path = path
        self.index = index
    }

    public func entry(_ sequence: Int64) throws -> LedgerEntry? {
        try read { try $0.rows.entry(sequence) }
    }

    public func entries(under key: EntityKey) throws -> [LedgerEntry] {
        try read { reading in try index.sequences(of: key).compactMap(reading.rows.entry) }
    }

    public func scan(from sequence: Int64, _ body: (LedgerEntry) throws -> Bool) throws {
        try read { try $0.rows.scan(from: sequence, body) }
    }

    public func page(_ query: EntryQuery) throws -> EntryPage {
        try read { try $0.page(query) { try self.index.sequences(of: $0) } }
    }

    private func read<R>(_ body: (Reading) throws -> R) throws -> R {
        let reading = try idle.withLock { $0.popLast() } ?? Reading(path: path)
        defer {
            idle.withLock { idle in
                if idle.count < Self.kept { idle.append(reading) }
            }
        }
        return try body(reading)
    }
}

/// One connection for reading, with its statements.
final class Reading: @unchecked Sendable {
    // Unchecked: the pool gives it to one thread at a time.
    let connection: Connection
    let rows: Rows

    init(
        path: String, isImmutable: Bool = false,
        check: (borrowing Connection) throws -> Void = { _ in }
    ) throws {
        connection = try Connection(path: path, readOnly: true, isImmutable: isImmutable)
        try check(connection)
        rows = try Rows(connection)
    }
}
