import Engine

/// A row of the index: a key and the entry it leads to.
struct IndexedKey: Comparable, Hashable, BitwiseCopyable {
    var key: Int64
    var sequence: Int64

    static func < (left: IndexedKey, right: IndexedKey) -> Bool {
        (left.key, left.sequence) < (right.key, right.sequence)
    }
}

/// The keys of the latest entries, in memory.
struct RecentKeys {
    private struct Row {
        var key: Int64
        var sequence: Int64
        /// The row before with the same key; -1 if there is none.
        var previous: Int32
    }

    private var rows: [Row] = []
    /// The latest row of each key.
    private var latest: [Int64: Int32] = [:]
    /// The numbers of the entries, also of those without a key.
    private(set) var first: Int64 = 0
    private(set) var last: Int64 = 0
    private(set) var entries = 0

    mutating func add(_ keys: [EntityKey], sequence: Int64) {
        if entries == 0 { first = sequence }
        last = sequence
        entries += 1
        for key in keys { append(key.value, sequence: sequence) }
    }

    private mutating func append(_ key: Int64, sequence: Int64) {
        let place = Int32(rows.count)
        let previous = latest.updateValue(place, forKey: key) ?? -1
        rows.append(Row(key: key, sequence: sequence, previous: previous))
    }

    /// Takes back the entries after one.
    mutating func remove(after sequence: Int64) {
        while let row = rows.last, row.sequence > sequence {
            latest[row.key] = row.previous < 0 ? nil : row.previous
            rows.removeLast()
        }
        entries -= Int(max(0, last - max(sequence, first - 1)))
        last = min(last, sequence)
    }

    /// Takes rows out.
    mutating func remove(_ gone: Set<IndexedKey>) {
        let old = rows
        (rows, latest) = ([], [:])
        for row in old where !gone.contains(IndexedKey(key: row.key, sequence: row.sequence)) {
            append(row.key, sequence: row.sequence)
        }
    }

    /// Adds the entries under a key to `found`, the latest first, down to the one after `start`.
    func find(_ key: Int64, after start: Int64, into found: inout [Int64]) {
        var place = latest[key] ?? -1
        while place >= 0, rows[Int(place)].sequence > start {
            found.append(rows[Int(place)].sequence)
            place = rows[Int(place)].previous
        }
    }

    /// All rows, in order.
    var sorted: [IndexedKey] {
        rows.map { IndexedKey(key: $0.key, sequence: $0.sequence) }.sorted()
    }
}
