import Engine
import Foundation
import Ledger
import Storage
import Testing
import Time
import TrustInsights

/// The index from keys to entries, seen through the store, with generations so small that they are
/// written and merged all the time.
@Suite struct KeyIndexTests {
    private static let generation = 40

    private static func open(_ folder: TemporaryFolder) throws -> SQLiteStore {
        try SQLiteStore(folder: DataFolder(path: folder.path), generation: generation)
    }

    /// Appends entries with one to three keys of a few, of which one is far more frequent, so that
    /// its rows fill several blocks of a file.
    private static func append(
        _ count: Int, to store: SQLiteStore, _ expected: inout [Int64: [Int64]],
        _ random: inout SeededGenerator
    ) throws {
        var tail = try store.tail()
        for _ in 0..<count {
            let sequence = tail.nextSequence
            var keys: Set<Int64> = [Bool.random(using: &random) ? .min : .max]
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                keys.insert(Int64.random(in: -20...20, using: &random) << 58)
            }
            let entry = tail.append(
                kind: "label", app: "a", environment: "sandbox", actor: "k",
                at: Instant(milliseconds: sequence), salt: [1], payload: [2])
            try store.append(entry, keys: keys.sorted().map(EntityKey.init(value:)))
            for key in keys { expected[key, default: []].append(sequence) }
            if Int.random(in: 0..<10, using: &random) == 0 { try store.commit() }
        }
        try store.commit()
    }

    private static func differences(_ store: SQLiteStore, _ expected: [Int64: [Int64]]) throws
        -> [Int64]
    {
        try (expected.keys + [12_345]).filter { key in
            let all = expected[key] ?? []
            let middle = all.isEmpty ? 7 : all[all.count / 2]
            let found = try store.entries(under: EntityKey(value: key)).map(\.envelope.sequence)
            let late = try store.entries(under: EntityKey(value: key), after: middle)
                .map(\.envelope.sequence)
            return found != all || late != all.filter { $0 > middle }
        }
    }

    @Test func answersLikeADictionaryThroughMergesAndRestarts() throws {
        let folder = TemporaryFolder()
        var random = SeededGenerator(seed: 11)
        var expected: [Int64: [Int64]] = [:]
        for _ in 0..<6 {
            let store = try Self.open(folder)
            defer { store.close() }
            try Self.append(1_000, to: store, &expected, &random)
            #expect(try Self.differences(store, expected) == [])
            let file = try LedgerFile(folder: folder.path)
            #expect(
                try file.entries(under: EntityKey(value: .min)).map(\.envelope.sequence)
                    == expected[.min])
        }
        // 150 generations, eight of which become one, eight of which become one again.
        let store = try Self.open(folder)
        store.close()
        let files = try folder.names("index")
        #expect(files.count < 30, "\(files)")
        #expect(files.contains { $0.hasPrefix("1-") })
        #expect(files.allSatisfy { $0.hasSuffix(".keys") })
    }

    /// Files that are cut, changed, of another ledger, or gone are made again from the entries.
    @Test(arguments: ["cut", "head", "foreign", "gone", "unfinished"])
    func whatIsNotWholeIsMadeAgain(_ damage: String) throws {
        let folder = TemporaryFolder()
        var random = SeededGenerator(seed: 5)
        var expected: [Int64: [Int64]] = [:]
        do {
            let store = try Self.open(folder)
            try Self.append(2_000, to: store, &expected, &random)
            store.close()
        }
        let first = try #require(try folder.names("index").first { $0.hasPrefix("1-") })
        switch damage {
        case "cut": try folder.change("index/" + first) { $0.removeLast(9) }
        case "head": try folder.change("index/" + first) { $0[3] ^= 1 }
        case "foreign": try folder.change("index/" + first) { $0[45] ^= 1 }
        case "gone": try folder.remove("index/" + first)
        default:
            try folder.change("index/" + first) { $0[0] ^= 1 }
            try folder.change("index/" + first) {
                try? $0.write(to: URL(fileURLWithPath: folder.path + "/index/1-5.keys.new"))
            }
        }
        let file = try LedgerFile(folder: folder.path)
        #expect(
            try file.entries(under: EntityKey(value: .max)).map(\.envelope.sequence)
                == expected[.max])
        for _ in 0..<2 {
            let store = try Self.open(folder)
            #expect(try Self.differences(store, expected) == [])
            store.close()
        }
        #expect(try folder.names("index").allSatisfy { $0.hasSuffix(".keys") })
    }

    /// A restored backup of the database is older than the index beside it.
    @Test func anIndexThatKnowsMoreThanTheLedgerIsNotUsed() throws {
        let folder = TemporaryFolder()
        var random = SeededGenerator(seed: 3)
        var expected: [Int64: [Int64]] = [:]
        var store = try Self.open(folder)
        try Self.append(500, to: store, &expected, &random)
        store.close()
        let backup = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/discern.db"))
        let then = expected
        store = try Self.open(folder)
        try Self.append(500, to: store, &expected, &random)
        store.close()
        try backup.write(to: URL(fileURLWithPath: folder.path + "/discern.db"))
        store = try Self.open(folder)
        #expect(try Self.differences(store, then) == [])
        // Other entries take the numbers.
        expected = then
        random = SeededGenerator(seed: 99)
        try Self.append(700, to: store, &expected, &random)
        #expect(try Self.differences(store, expected) == [])
        store.close()
        store = try Self.open(folder)
        #expect(try Self.differences(store, expected) == [])
        store.close()
    }

    /// A ledger of version 1 had the entries about a person under one key.
    @Test func anOlderLedgerIsFoundByTodaysKeys() throws {
        let service = try Service()
        service.authorize("acct-42")
        for index in 0..<3 { service.perform(service.evaluation("r\(index)")) }
        try service.restart {
            try SQL.run(
                """
                UPDATE entries SET keys = zeroblob(8) WHERE kind IN ('authorization', 'consumption');
                DROP INDEX service_entries;
                DROP INDEX erasures;
                CREATE TABLE entry_keys (key INTEGER, sequence INTEGER);
                INSERT INTO facts VALUES ('indexedThrough', 0);
                PRAGMA user_version = 1
                """, in: service.folder)
            try service.folder.remove("index")
        }
        let reply = service.perform(service.evaluation("r9"))
        guard case .evaluation(let judged, _, _) = reply.content else {
            Issue.record("\(reply)")
            return
        }
        #expect(judged.record.authorization == .authorized)
    }
}

@Suite struct SnapshotTests {
    /// A start goes on from what was kept; whatever is wrong with that, it gives the same.
    @Test(arguments: ["good", "cut", "changed", "gone", "older database"])
    func aStartGoesOnFromWhatWasKept(_ damage: String) throws {
        let stage = try Stage(wrap: { FailingStore($0) })
        try Story.whole().tell(on: stage)
        let before = ReplayTests.answers(stage)
        try stage.restart {
            switch damage {
            case "cut": try stage.folder.change("state.snapshot") { $0.removeLast(4) }
            case "changed": try stage.folder.change("state.snapshot") { $0[95] ^= 1 }
            case "gone": try stage.folder.remove("state.snapshot")
            case "older database":
                try SQL.run(
                    """
                    DELETE FROM entries WHERE sequence = (SELECT max(sequence) FROM entries)
                    """, in: stage.folder)
            default: break
            }
        }
        let scans = try #require(stage.wrapped as? FailingStore).scans
        let count = Int64(try stage.store.tail().frontier.count)
        #expect(scans == [damage == "good" ? count + 1 : 1])
        if damage != "older database" { #expect(ReplayTests.answers(stage) == before) }
    }
}
