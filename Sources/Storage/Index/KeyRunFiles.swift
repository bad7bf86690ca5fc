import Glibc
import Ledger

/// The folder of the index: one file for each run, named by the entries that it covers.
struct KeyRunFiles: Sendable {
    private let folder: String
    /// See ``KeyRun/mostHeldRows``.
    let mostHeldRows: Int

    /// Opens the folder, making it if need be.
    init(folder: String, mostHeldRows: Int) throws(StorageError) {
        self.folder = folder
        self.mostHeldRows = mostHeldRows
        try DataFolder.makeFolder(folder)
    }

    /// The folder of an index that is read only, and may not be there.
    init(reading folder: String) {
        self.folder = folder
        mostHeldRows = 0
    }

    /// The file of the run of those entries.
    func path(first: Int64, last: Int64) -> String { "\(folder)/\(first)-\(last).keys" }

    /// The runs that together cover the most entries from the first on, the oldest first. What is of
    /// no use is deleted: files that were merged, of another ledger, or not whole.
    func load(_ rows: Rows) throws -> [KeyRun] {
        let runs = try cover(rows)
        let used = Set(runs.map(\.path))
        for name in try names() where !used.contains("\(folder)/\(name)") {
            unlink("\(folder)/\(name)")
        }
        return runs
    }

    /// The same, and leaves all files as they are.
    func cover(_ rows: Rows) throws -> [KeyRun] {
        let found = try names().compactMap(Self.range).sorted {
            // A merged run before those that it was made of.
            ($0.lowerBound, -$0.upperBound) < ($1.lowerBound, -$1.upperBound)
        }
        var runs: [KeyRun] = []
        for range in found where range.lowerBound == (runs.last?.last ?? 0) + 1 {
            guard
                let run = try? KeyRun(
                    path: path(first: range.lowerBound, last: range.upperBound),
                    mostHeldRows: mostHeldRows),
                run.first...run.last == range,
                try rows.entry(run.last)?.nodes.first == run.head.leaf
            else { continue }
            runs.append(run)
        }
        return runs
    }

    /// Deletes all files: what they held is read from the entries again.
    func removeAll() throws(StorageError) {
        for name in try names() { unlink("\(folder)/\(name)") }
    }

    /// Deletes the file of a run. Who has it open goes on reading it.
    func remove(_ run: KeyRun) { unlink(run.path) }

    private static func range(_ name: String) -> ClosedRange<Int64>? {
        guard name.hasSuffix(".keys") else { return nil }
        let numbers = name.dropLast(5).split(separator: "-").compactMap { Int64($0) }
        guard numbers.count == 2, numbers[0] >= 1, numbers[0] <= numbers[1] else { return nil }
        return numbers[0]...numbers[1]
    }

    private func names() throws(StorageError) -> [String] {
        guard let directory = opendir(folder) else {
            if errno == ENOENT { return [] }
            throw .file(path: folder, doing: "reading", error: DataFolder.reason)
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".keys") || name.hasSuffix(".keys.new") { names.append(name) }
        }
        return names
    }
}
