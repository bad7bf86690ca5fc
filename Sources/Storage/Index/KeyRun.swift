import Engine
import Glibc
import Ledger

/// The keys of a stretch of the ledger in one file, sorted, never changed once it is there.
///
/// | part | bytes |
/// | --- | --- |
/// | head | a block: see ``Head`` |
/// | rows | 16 each: key, number of the entry; whole blocks of 256 |
/// | fences | 8 for each block: its first key |
/// | filter | 8 for each word |
///
/// Numbers are little endian, as the machines are on which this runs.
final class KeyRun: Sendable {
    static let blockBytes = 4_096
    static let blockRows = blockBytes / MemoryLayout<IndexedKey>.size

    /// What the file says of itself.
    struct Head: BitwiseCopyable {
        var magic = magicNumber
        /// The entries that are covered.
        var first: Int64
        var last: Int64
        var rows: Int64
        var filterWords: Int64
        /// The leaf hash of the last entry: a run of another ledger is none of this one.
        var leaf: Digest

        /// "DSCKEYS1".
        private static let magicNumber: UInt64 = 0x3153_5945_4B43_5344

        /// Whether the numbers can be those of a run.
        var isPlausible: Bool {
            magic == Self.magicNumber && first >= 1 && last >= first && (0..<1 << 40).contains(rows)
                && (0..<1 << 34).contains(filterWords)
        }

        var blocks: Int { (Int(rows) + blockRows - 1) / blockRows }
        var filterStart: Int { blockBytes + blocks * (blockBytes + 8) }
        var size: Int { filterStart + Int(filterWords) * 8 }
    }

    let path: String
    let head: Head
    /// The filter of a run of more rows stays in the file, and one block of it is read when it is asked:
    /// memory does not grow with the ledger.
    let mostHeldRows: Int
    private let descriptor: Int32
    private let fences: [Int64]
    /// The filter of a small run.
    private let held: KeyFilter?

    var first: Int64 { head.first }
    var last: Int64 { head.last }
    var entries: Int { Int(last - first + 1) }

    /// Opens a file. Throws if it is not whole.
    init(path: String, mostHeldRows: Int) throws(StorageError) {
        func broken(_ what: String) -> StorageError {
            .file(path: path, doing: "opening", error: what)
        }
        self.path = path
        self.mostHeldRows = mostHeldRows
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw broken(DataFolder.reason) }
        do throws(StorageError) {
            let heads: [Head] = try Self.words(descriptor, at: 0, 1, path)
            head = heads[0]
            var status = stat()
            guard head.isPlausible, fstat(descriptor, &status) == 0,
                Int(status.st_size) == head.size
            else { throw broken("it is no whole part of the index") }
            let fencesStart = Self.blockBytes * (1 + head.blocks)
            fences = try Self.words(descriptor, at: fencesStart, head.blocks, path)
            held =
                head.filterWords == 0 || head.rows > mostHeldRows
                ? nil
                : KeyFilter(
                    words: try Self.words(
                        descriptor, at: head.filterStart, Int(head.filterWords), path))
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Adds the entries under a key after `start` to `found`, in ledger order.
    func find(_ key: Int64, after start: Int64, into found: inout [Int64]) throws(StorageError) {
        guard last > start, try mayContain(key) else { return }
        // Rows of one key may begin in the block before the one that starts with it.
        var block = max(0, fences.partitioningIndex { $0 >= key } - 1)
        while block < head.blocks, fences[block] <= key {
            try withRows(of: block) { rows in
                for row in rows where row.key == key && row.sequence > start {
                    found.append(row.sequence)
                }
            }
            block += 1
        }
    }

    /// False if the key is surely not there.
    private func mayContain(_ key: Int64) throws(StorageError) -> Bool {
        if let held { return held.mayContain(key) }
        guard head.filterWords > 0 else { return true }
        let place = KeyFilter.block(of: key, words: Int(head.filterWords))
        return try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: KeyFilter.blockWords) {
            block throws(StorageError) in
            try Self.read(
                descriptor, at: head.filterStart + place * 8,
                into: UnsafeMutableRawBufferPointer(block), path)
            return KeyFilter.mayContain(key, block: UnsafeBufferPointer(block))
        }
    }

    /// Whether it has one of those rows.
    func contains(anyOf rows: Set<IndexedKey>) throws(StorageError) -> Bool {
        for row in rows where (first...last).contains(row.sequence) {
            var found: [Int64] = []
            try find(row.key, after: row.sequence - 1, into: &found)
            if found.contains(row.sequence) { return true }
        }
        return false
    }

    /// The rows of a block, read from the file.
    func withRows(of block: Int, _ body: (UnsafeBufferPointer<IndexedKey>) -> Void)
        throws(StorageError)
    {
        let count = min(Self.blockRows, Int(head.rows) - block * Self.blockRows)
        try withUnsafeTemporaryAllocation(of: IndexedKey.self, capacity: Self.blockRows) {
            rows throws(StorageError) in
            let rows = UnsafeMutableBufferPointer(rebasing: rows[..<count])
            try Self.read(
                descriptor, at: Self.blockBytes * (1 + block),
                into: UnsafeMutableRawBufferPointer(rows),
                path)
            body(UnsafeBufferPointer(rows))
        }
    }

    private static func words<T: BitwiseCopyable>(
        _ descriptor: Int32, at offset: Int, _ count: Int, _ path: String
    ) throws(StorageError) -> [T] {
        var failure: StorageError?
        let words = [T](unsafeUninitializedCapacity: count) { words, filled in
            do throws(StorageError) {
                let all = UnsafeMutableBufferPointer(rebasing: words[..<count])
                try read(descriptor, at: offset, into: UnsafeMutableRawBufferPointer(all), path)
                filled = count
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return words
    }

    private static func read(
        _ descriptor: Int32, at offset: Int, into buffer: UnsafeMutableRawBufferPointer,
        _ path: String
    ) throws(StorageError) {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw .file(
                    path: path, doing: "reading",
                    error: count == 0 ? "it is cut" : DataFolder.reason)
            }
            done += count
        }
    }
}

extension Array {
    /// The first index whose element satisfies what all after it do as well.
    func partitioningIndex(where isSecond: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
