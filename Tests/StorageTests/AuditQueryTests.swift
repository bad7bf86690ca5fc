import CEL
import Engine
import Ledger
import Storage
import Testing
import Time

/// Filters over a real store give what the whole expression gives of every entry.
@Suite struct AuditQueryTests {
    /// An entry as it was made up: what a filter is to read of it.
    struct Made {
        var values: [String: Value] = [:]
        var payload = ""
    }

    static let start = Instant(rfc3339: "2026-11-30T12:00:00Z")!

    /// The oracle's own declarations: the same names and types, and nothing of the engine's reading.
    static let language: Environment = {
        var environment = Environment()
        for variable in AuditVariable.allCases {
            _ = try? environment.declare(variable.rawValue, variable.type)
        }
        return environment
    }()

    // MARK: A random ledger

    static func timestamp(_ instant: Instant) -> Value {
        let seconds = instant.seconds
        let rest = Int32(instant.milliseconds - seconds * 1_000) * 1_000_000
        return Timestamp(seconds: seconds, nanoseconds: rest).map { .timestamp($0) } ?? .null
    }

    static func make(
        _ kind: RecordKind, in environment: String, at: Instant, _ random: inout SeededGenerator
    ) -> Made {
        var made = Made()
        // Only a sandbox's clock can be ahead.
        let ahead = environment == "sandbox" ? random.pick([0, 0, 5_000]) : 0
        let received = at + .milliseconds(Int64(ahead))
        switch kind {
        case .evaluation:
            let outcome = random.pick(["unknown", "medium", "high"])
            let friction = random.pick(["unchanged", "increased"])
            let rule = random.pick(["large", "new"])
            var attributes: [String] = []
            var map = ValueMap()
            if random.pick([true, true, false]) {
                let amount = random.pick([100.5, 600.0, 900.0])
                attributes.append("\"amount\":\(amount)")
                map.entries.append(ValueMap.Entry(key: .string("amount"), value: .double(amount)))
            }
            if random.pick([true, false]) {
                attributes.append("\"note\":{\"digest\":\"00\"}")
            }
            var acting = "\"modelVersion\":\"m@1\",\"outcome\":\"\(outcome)\""
            made.values["degraded"] = .bool(false)
            if random.pick([true, false]) {
                acting += ",\"score\":0.75"
                made.values["score"] = .double(0.75)
            }
            made.payload = """
                {"command":{"attributes":{\(attributes.joined(separator: ","))},\
                "category":"payment","subject":"s"},"result":{"acting":{\(acting)},\
                "decision":{"friction":"\(friction)","reasons":[{"rule":"\(rule)"}]},\
                "policy":{"digest":"d","name":"p","version":2},\
                "receivedAt":"\(received.rfc3339)"}}
                """
            made.values["attributes"] = .map(map)
            made.values["outcome"] = .string(outcome)
            made.values["friction"] = .string(friction)
            made.values["rules"] = .list([.string(rule)])
            made.values["policyVersion"] = .int(2)
            made.values["receivedAt"] = timestamp(received)
        case .label:
            let label = random.pick(["confirmedFraud", "retracted"])
            made.payload = """
                {"command":{"label":"\(label)","source":"partner"},\
                "result":{"receivedAt":"\(received.rfc3339)"}}
                """
            made.values["label"] = .string(label)
            made.values["receivedAt"] = timestamp(received)
        default:
            made.payload = #"{"command":{"policy":"p@3","reason":"why"},"result":{}}"#
            made.values["policyVersion"] = .int(3)
        }
        return made
    }

    /// A store with random entries, and what was made up.
    final class MadeLedger {
        let folder = TemporaryFolder()
        let store: SQLiteStore
        var tail: LedgerTail
        var made: [Made] = []
        private var at = AuditQueryTests.start

        init() throws {
            store = try SQLiteStore(folder: DataFolder(path: folder.path))
            tail = try store.tail()
        }

        deinit { store.close() }

        func append(_ count: Int, _ random: inout SeededGenerator) throws {
            for _ in 0..<count {
                let kind = random.pick([
                    RecordKind.evaluation, .evaluation, .label, .rollback, .deactivation,
                ])
                at = at + .milliseconds(random.pick([0, 1, 1_000]))
                let environment =
                    kind.isOfService ? "" : random.pick(["sandbox", "production"])
                let app = kind.isOfService ? "" : random.pick(["a", "b"])
                let actor = random.pick(["k1", "k2"])
                var one = AuditQueryTests.make(kind, in: environment, at: at, &random)
                let isErased = random.pick([false, false, false, true])
                if isErased { one = Made() }
                one.values["sequence"] = .int(Int64(made.count + 1))
                one.values["at"] = AuditQueryTests.timestamp(at)
                one.values["kind"] = .string(kind.rawValue)
                one.values["app"] = .string(app)
                one.values["environment"] = .string(environment)
                one.values["actor"] = .string(actor)
                one.values["erased"] = .bool(isErased)
                made.append(one)
                let entry = tail.append(
                    kind: kind.rawValue, app: app, environment: environment, actor: actor, at: at,
                    salt: [1], payload: Array(one.payload.utf8))
                try store.append(entry, keys: [])
            }
            try store.commit()
        }

        /// What the whole expression gives of the first entries.
        func expected(_ filter: String, now: Instant, through size: Int64) throws -> (
            matched: [Int64], undecided: Int64
        ) {
            let program = try #require(AuditQueryTests.language.compile(filter).program)
            var activation = Activation(AuditQueryTests.language)
            var matched: [Int64] = []
            var undecided: Int64 = 0
            for (index, one) in made.prefix(Int(size)).enumerated() {
                activation.reset()
                for (name, value) in one.values {
                    let slot = try #require(AuditQueryTests.language.slot(name))
                    activation.set(slot, value)
                }
                if let slot = AuditQueryTests.language.slot("now") {
                    activation.set(slot, AuditQueryTests.timestamp(now))
                }
                switch program.evaluateCondition(&activation) {
                case .matched: matched.append(Int64(index + 1))
                case .notMatched: break
                case .failed: undecided += 1
                }
            }
            return (matched, undecided)
        }
    }

    // MARK: Random filters

    static func filter(_ depth: Int, _ random: inout SeededGenerator) -> String {
        guard depth > 0, random.pick([true, true, false]) else { return atom(&random) }
        let left = filter(depth - 1, &random)
        let right = filter(depth - 1, &random)
        switch random.pick([0, 0, 0, 1, 1, 2, 3]) {
        case 0: return "\(left) && \(right)"
        case 1: return "(\(left) || \(right))"
        case 2: return "!(\(left))"
        default: return "(\(left) ? \(right) : \(atom(&random)))"
        }
    }

    private static func atom(_ random: inout SeededGenerator) -> String {
        let sign = random.pick(["<", "<=", ">", ">=", "=="])
        let number = random.pick([0, 1, 50, 150, 299, 300, 1_000])
        return random.pick([
            "sequence \(sign) \(number)", "\(number) \(sign) sequence", "sequence != \(number)",
            #"at \#(sign) timestamp("2026-11-30T12:00:\#(10 + number % 50).0005Z")"#,
            #"at \#(sign) now - duration("\#(number)s")"#,
            #"receivedAt \#(sign) now - duration("\#(number)s")"#,
            #"kind == "label""#, #"kind in ["label", "rollback"]"#, #"kind != "evaluation""#,
            #"kind.startsWith("e")"#, #"kind == "rollback" || kind == "deactivation""#,
            #"app == "a""#, #"app in ["a", ""]"#, #"app != "b""#,
            #"environment == "production""#, #"environment != """#, "erased", "!erased",
            #"actor == "k1""#, #"outcome == "high""#, "score > 0.5", "!degraded",
            "attributes.amount > 500.0", "has(attributes.amount)", "has(attributes.note)",
            "size(attributes) == 1",
            #"friction == "increased""#, #"label == "retracted""#, "policyVersion == 3",
            #"rules.exists(r, r == "large")"#, #""new" in rules"#, "true", "false", "1 / 0 == 1",
            #"kind == "label" && label == "retracted" || kind == "evaluation" && score > 0.5"#,
        ])
    }

    // MARK: Tests

    @Test(arguments: 0..<16) func pagesGiveWhatTheWholeExpressionGives(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let ledger = try MadeLedger()
        try ledger.append(300, &random)
        for _ in 0..<12 {
            let text = Self.filter(3, &random)
            var query = EntryQuery()
            query.filter = try AuditFilter(text)
            query.now = Self.start + .seconds(100)
            query.limit = random.pick([3, 20, 100])
            query.newestFirst = random.pick([true, false])
            if random.pick([true, false]) {
                query.budget = AuditBudget(
                    entries: random.pick([50, 300, 1_000]),
                    time: random.pick([.zero] + Array(repeating: .seconds(9), count: 7)))
            }
            var found: [Int64] = []
            var undecided: Int64 = 0
            var size: Int64 = 0
            repeat {
                let page = try ledger.store.reader.page(query)
                found += page.entries.map(\.envelope.sequence)
                #expect(page.entries.count <= query.limit)
                undecided += page.undecided
                if !query.newestFirst || size == 0 { size = page.size }
                if let next = page.next, let cursor = query.cursor {
                    try #require(query.newestFirst ? next < cursor : next > cursor)
                }
                query.cursor = page.next
                // A commit waits for the disk, so there are few.
                if random.pick([0, 1, 2, 3, 4, 5]) == 0, ledger.made.count < 500 {
                    try ledger.append(20, &random)
                }
            } while query.cursor != nil
            let expected = try ledger.expected(text, now: query.now, through: size)
            #expect(
                found == (query.newestFirst ? expected.matched.reversed() : expected.matched),
                "seed \(seed): \(text)")
            // Bounds on the app's clock leave out what has none.
            if !text.contains("receivedAt") {
                #expect(undecided == expected.undecided, "seed \(seed): \(text)")
            }
        }
    }

    /// Nothing that a filter asks of an entry takes long.
    @Test func whatCostsTooMuchIsAnError() throws {
        let folder = TemporaryFolder()
        let store = try SQLiteStore(folder: DataFolder(path: folder.path))
        defer { store.close() }
        var tail = try store.tail()
        let text = String(repeating: "ab", count: 200_000)
        let entry = tail.append(
            kind: "evaluation", app: "a", environment: "sandbox", actor: "k", at: Self.start,
            salt: [1],
            payload: Array(#"{"command":{"attributes":{"t":"\#(text)"}},"result":{}}"#.utf8))
        try store.append(entry, keys: [])
        try store.commit()
        var query = EntryQuery()
        for filter in [
            #"attributes.t.matches("(a|b)*c")"#,
            #"attributes.t.split("a").exists(x, x == "c")"#,
        ] {
            query.filter = try AuditFilter(filter)
            let error = #expect(throws: AuditFilterError.self) { try store.reader.page(query) }
            #expect(error?.message.hasPrefix("it costs too much at entry 1") == true, "\(filter)")
        }
    }

    /// Only erasure changes an entry, and it leaves what stands in the envelope.
    @Test func erasedEntriesAreFound() throws {
        var random = SeededGenerator(seed: 7)
        let ledger = try MadeLedger()
        try ledger.append(20, &random)
        try SQL.run(
            "UPDATE entries SET payload = NULL, salt = NULL WHERE sequence = 5", in: ledger.folder)
        var query = EntryQuery()
        query.filter = try AuditFilter("erased && sequence == 5")
        #expect(try ledger.store.reader.page(query).entries.map(\.envelope.sequence) == [5])
        query.filter = try AuditFilter(#"outcome != "high" && sequence == 5"#)
        let page = try ledger.store.reader.page(query)
        #expect(page.entries.isEmpty && page.undecided == 1)
    }
}
