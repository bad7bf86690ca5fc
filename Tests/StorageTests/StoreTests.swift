import Engine
import Foundation
import Ledger
import Storage
import Testing
import Time

@Suite struct StoreTests {
    static func append(
        _ count: Int, to store: SQLiteStore, _ tail: inout LedgerTail, keys: (Int) -> [EntityKey]
    ) throws {
        for index in 0..<count {
            let entry = tail.append(
                kind: "label", app: "a", environment: "sandbox", actor: "k",
                at: Instant(milliseconds: Int64(tail.nextSequence)), salt: [1], payload: [2])
            try store.append(entry, keys: keys(index))
        }
    }

    @Test func uncommittedEntriesAreTakenBackWhole() throws {
        let folder = TemporaryFolder()
        let store = try SQLiteStore(folder: DataFolder(path: folder.path))
        defer { store.close() }
        var tail = try store.tail()
        let key = EntityKey(value: 7)
        try Self.append(3, to: store, &tail) { _ in [key] }
        try store.commit()
        let committed = tail
        try Self.append(2, to: store, &tail) { _ in [key] }
        #expect(try store.entries(under: key).count == 5)
        // Other threads see what is committed.
        #expect(try store.reader.entries(under: key).count == 3)
        store.rollback()
        #expect(try store.entries(under: key).map(\.envelope.sequence) == [1, 2, 3])
        #expect(try store.tail().frontier == committed.frontier)
        tail = committed
        try Self.append(1, to: store, &tail) { _ in [key] }
        try store.commit()
        #expect(try store.entries(under: key).map(\.envelope.sequence) == [1, 2, 3, 4])
    }

    @Test func theIndexAnswersTheSameBeforeDuringAndAfterItIsWritten() throws {
        let folder = TemporaryFolder()
        var store = try SQLiteStore(folder: DataFolder(path: folder.path))
        var tail = try store.tail()
        // Enough for a generation to be written in slices, and a part that is not.
        let keys = 500
        for _ in 0..<36 {
            try Self.append(1_000, to: store, &tail) { [EntityKey(value: Int64($0 % keys))] }
            try store.commit()
            let found = try store.entries(under: EntityKey(value: 3)).map(\.envelope.sequence)
            #expect(
                found == (0..<tail.nextSequence - 1).filter { $0 % 1_000 % 500 == 3 }.map { $0 + 1 }
            )
        }
        let before = try store.reader.entries(under: EntityKey(value: 42)).map(\.envelope.sequence)
        // Who reads the file alone does not see the part in memory, and finds it all the same.
        let file = try LedgerFile(folder: folder.path)
        #expect(try file.entries(under: EntityKey(value: 42)).map(\.envelope.sequence) == before)
        store.close()
        store = try SQLiteStore(folder: DataFolder(path: folder.path))
        #expect(
            try store.reader.entries(under: EntityKey(value: 42)).map(\.envelope.sequence) == before
        )
        #expect(before.count == 72)
        store.close()
    }

    /// The log is moved while the writer goes on, and starts over when it is long.
    @Test func theLogStartsOver() throws {
        let folder = TemporaryFolder()
        let store = try SQLiteStore(folder: DataFolder(path: folder.path))
        defer { store.close() }
        var tail = try store.tail()
        let payload = [UInt8](repeating: 7, count: 64_000)
        var longest: Int64 = 0
        for round in 0..<400 {
            for _ in 0..<10 {
                let entry = tail.append(
                    kind: "label", app: "a", environment: "sandbox", actor: "k",
                    at: Instant(milliseconds: 1), salt: [1], payload: payload)
                try store.append(entry, keys: [])
            }
            try store.commit()
            // The disk may be slower than this loop; the thread needs a moment.
            if round % 20 == 19 { usleep(20_000) }
            longest = max(longest, try folder.size("discern.db-wal"))
        }
        #expect(longest < 160 << 20, "the log has grown to \(longest) bytes")
        #expect(try folder.size("discern.db") > 100 << 20)
    }

    @Test func pagesNeitherSkipNorRepeat() throws {
        let folder = TemporaryFolder()
        let store = try SQLiteStore(folder: DataFolder(path: folder.path))
        defer { store.close() }
        var tail = try store.tail()
        try Self.append(25, to: store, &tail) { _ in [] }
        try store.commit()
        for newestFirst in [false, true] {
            var query = EntryQuery()
            query.limit = 7
            query.newestFirst = newestFirst
            var seen: [Int64] = []
            repeat {
                let page = try store.reader.page(query)
                seen += page.entries.map(\.envelope.sequence)
                query.cursor = page.next
            } while query.cursor != nil
            #expect(seen == (newestFirst ? Array((1...25).reversed()) : Array(1...25)))
        }
        var query = EntryQuery()
        query.since = Instant(milliseconds: 10)
        query.until = Instant(milliseconds: 12)
        #expect(try store.reader.page(query).entries.map(\.envelope.sequence) == [10, 11, 12])
    }

    @Test func aFolderHasOneWriter() throws {
        let folder = TemporaryFolder()
        let first = try DataFolder(path: folder.path)
        #expect(throws: StorageError.self) { try DataFolder(path: folder.path) }
        withExtendedLifetime(first) {}
    }

    @Test func anotherProgramsFileIsLeftAlone() throws {
        let folder = TemporaryFolder()
        let data = try DataFolder(path: folder.path)
        let text =
            "this is no database, and long enough to look at: " + String(repeating: "x", count: 200)
        try File.write(text, to: data.databasePath)
        let error = #expect(throws: StorageError.self) { try SQLiteStore(folder: data) }
        #expect("\(error as Any)".contains("is not a database of discern"))
        #expect(try File.read(data.databasePath) == text)
    }

    @Test func theWrongKeyIsNoticed() throws {
        let folder = TemporaryFolder()
        do {
            let store = try SQLiteStore(folder: DataFolder(path: folder.path))
            store.close()
        }
        try File.write(
            String(repeating: "ab", count: 32) + "\n", to: folder.path + "/pseudonym.key")
        #expect(throws: StorageError.self) {
            try SQLiteStore(folder: DataFolder(path: folder.path))
        }
    }
}
