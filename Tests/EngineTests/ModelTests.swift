import Engine
import JSON
import Testing
import Time

@Suite struct IdentifierTests {
    @Test(arguments: 0..<100) func carriesWhatItWasMadeOf(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let at = Instant(milliseconds: Int64.random(in: 0...0xFFFF_FFFF_FFFF, using: &random))
        let sequence = Int64.random(in: 0...0xFFFF_FFFF_FFFF, using: &random)
        let ordinal = UInt16.random(in: 0...0x3FFF, using: &random)
        let id = Identifier(
            at: at, sequence: sequence, ordinal: ordinal,
            chance: UInt16.random(in: 0...UInt16.max, using: &random))
        #expect(id.sequence == sequence)
        #expect(id.ordinal == ordinal)
        #expect(Identifier(id.text) == id)
        #expect(Identifier(id.text.uppercased()) == id)
        #expect(id.text.utf8.count == 36)
        // A UUID of version 7, variant 10, that begins with the milliseconds.
        let plain = id.text.filter { $0 != "-" }
        #expect(UInt64(plain.prefix(12), radix: 16) == UInt64(at.milliseconds))
        #expect(plain.dropFirst(12).first == "7")
        #expect("89ab".contains(plain.dropFirst(16).first ?? "x"))
        // Another part of the same entry differs in nothing else.
        let other = ordinal ^ 1
        #expect(id.part(other).sequence == sequence)
        #expect(id.part(other).ordinal == other)
        #expect(id.part(other).part(ordinal) == id)
        #expect(id.part(other) != id)
    }

    @Test func standInLedgerOrder() {
        let texts = (1...50).map {
            Identifier(
                at: Instant(milliseconds: 1_800_000_000_000 + Int64($0)), sequence: Int64($0),
                ordinal: 0, chance: UInt16(50 - $0)
            ).text
        }
        #expect(texts.sorted() == texts)
    }

    @Test(arguments: [
        "", "x", "01a22c53-9588-7a0c-8002-00000000001", "01a22c53-9588-7a0c-8002-0000000000100",
        "01a22c5309588-7a0c-8002-000000000010", "01a22c53-9588-4a0c-8002-000000000010",
        "01a22c53-9588-7a0c-0002-000000000010", "01a22c53-9588-7a0c-c002-000000000010",
        "g1a22c53-9588-7a0c-8002-000000000010", "01a22c53-9588-7a0c-8002-00000000001é",
        "-1a22c53-9588-7a0c-8002-000000000010", "01a22c53 9588 7a0c 8002 000000000010",
    ])
    func otherTextsAreNone(_ text: String) { #expect(Identifier(text) == nil) }
}

@Suite struct PseudonymTests {
    private let maker = Pseudonymizer(key: [UInt8](repeating: 3, count: 32))
    private let sandbox = Tenant(app: "a", environment: .sandbox)

    @Test func textAndBack() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<100 {
            let pseudonym = random.pseudonym()
            #expect(Pseudonym(pseudonym.text) == pseudonym)
            #expect(pseudonym.text.utf8.count == 32)
        }
        for text in [
            "", "0", String(repeating: "0", count: 31), String(repeating: "g", count: 32),
            String(repeating: "0", count: 33), String(repeating: "é", count: 16),
        ] { #expect(Pseudonym(text) == nil, "\(text)") }
    }

    /// Whatever differs (purpose, app, environment, id, key) gives another pseudonym.
    @Test func nothingMixes() {
        let production = Tenant(app: "a", environment: .production)
        let other = Tenant(app: "b", environment: .sandbox)
        let all: [Pseudonym] = [
            maker.subject("x", of: sandbox), maker.device("x", of: sandbox),
            maker.subject("x", of: production), maker.subject("x", of: other),
            maker.subject("X", of: sandbox), maker.subject("", of: sandbox),
            maker.subject("x ", of: sandbox), maker.value("x", of: "a", tenant: sandbox),
            maker.value("x", of: "b", tenant: sandbox), maker.value("a", of: "x", tenant: sandbox),
            maker.action(Array("x".utf8), tenant: sandbox),
            Pseudonymizer(key: [UInt8](repeating: 4, count: 32)).subject("x", of: sandbox),
            // Parts are kept apart, however they are cut.
            maker.value("bc", of: "a", tenant: sandbox),
            maker.value("c", of: "ab", tenant: sandbox),
            maker.subject("sandboxx", of: Tenant(app: "", environment: .sandbox)),
        ]
        #expect(Set(all).count == all.count)
        #expect(maker.subject("x", of: sandbox) == maker.subject("x", of: sandbox))
    }
}

@Suite struct EntityKeyTests {
    @Test func nothingMixes() throws {
        let sandbox = Tenant(app: "a", environment: .sandbox)
        let tenants = [
            sandbox, Tenant(app: "a", environment: .production),
            Tenant(app: "b", environment: .sandbox), Tenant(app: "", environment: .sandbox),
        ]
        let person = try #require(Pseudonym(String(repeating: "7", count: 32)))
        let id = Identifier(at: .epoch, sequence: 1, ordinal: 0, chance: 0)
        var keys: [EntityKey] = []
        for tenant in tenants {
            keys += [
                .request("r", of: tenant), .request("s", of: tenant), .label("r", of: tenant),
                .donation("r", of: tenant), .subject(person, of: tenant),
                .reviewSubject(person.text, of: tenant), .device(person.text, of: tenant),
                .evaluation(id, of: tenant), .evaluation(id.part(1), of: tenant),
                .authorizations(of: person, tenant), .reports(about: person, of: tenant),
            ]
        }
        #expect(Set(keys).count == keys.count)
        #expect(EntityKey.request("r", of: sandbox) == .request("r", of: sandbox))
        #expect(Set(EntityKey.all(about: person, of: sandbox)).isSubset(of: keys))
    }
}

@Suite struct StateCacheTests {
    @Test(arguments: [2, 10, 101]) func isBoundedAndKeepsWhatIsUsed(_ limit: Int) {
        var cache = StateCache<Int, Int>(limit: limit)
        cache[-1] = 42
        for key in 0..<limit * 20 {
            cache[key] = key
            #expect(cache.count <= limit)
            #expect(cache[key] == key)
            // What is used again and again stays.
            if limit > 2 { #expect(cache[-1] == 42) }
        }
        #expect(cache[0] == nil)
    }

    @Test func whatIsReplacedOrRemovedIsNotFound() {
        var cache = StateCache<Int, Int>(limit: 4)
        for key in 1...4 { cache[key] = key }
        cache[1] = 10
        #expect(cache[1] == 10)
        cache[2] = nil
        #expect(cache[2] == nil)
        // The last one took the place of the one removed, and is found there.
        #expect(cache[4] == 4)
        cache[5] = 5
        #expect(cache.count == 4)
        cache.removeAll()
        #expect(cache.count == 0)
        #expect(cache[1] == nil)
    }

    @Test(arguments: 0..<20) func agreesWithADictionary(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var cache = StateCache<Int, Int>(limit: 8)
        var all: [Int: Int] = [:]
        for step in 0..<500 {
            let key = Int.random(in: 0..<16, using: &random)
            if random.flip() {
                cache[key] = step
                all[key] = step
            } else if random.flip() {
                cache[key] = nil
                all[key] = nil
            }
            // It may have forgotten, but never tells what is not so.
            if let found = cache[key] { #expect(found == all[key], "seed \(seed), step \(step)") }
            #expect(cache.count <= 8)
        }
    }
}
