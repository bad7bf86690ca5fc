import Engine

/// Which entries were erased, as the erasures after them say.
public struct NamedErasures: Sendable {
    private var sequences: Set<Int64> = []

    /// None.
    public init() {}

    func names(_ sequence: Int64) -> Bool { sequences.contains(sequence) }

    fileprivate mutating func add(_ record: ErasureRecord, at sequence: Int64) {
        for entry in record.entries where entry.sequence < sequence {
            sequences.insert(entry.sequence)
        }
    }
}

extension LedgerFile {
    /// What all erasures of the ledger name. One that cannot be read names nothing: it is found when
    /// its own turn comes.
    public func namedErasures() throws -> NamedErasures {
        var named = NamedErasures()
        for number in try erasures(after: 0) {
            if let record = try? entry(number)?.record(ErasureRecord.self) {
                named.add(record, at: number)
            }
        }
        return named
    }
}
