import Engine
import JSON
import Testing
import Time
import TrustInsights

@Suite struct ConfigurationTests {
    static func random(_ random: inout SeededGenerator) -> Configuration {
        var configuration = Configuration()
        configuration.authorizationCoolDown = random.duration()
        configuration.reportWithin = random.duration()
        configuration.labelWindow = random.duration()
        configuration.evaluationsPerDay = random.maybe {
            Int64.random(in: 1...Int64.max, using: &$0)
        }
        if random.flip() {
            configuration.guards.ruleCoverage = random.pick([0, 0.5, 1, 0.1 + 0.2])
            configuration.guards.branchCoverage = random.pick([0, 0.8, 1])
            configuration.guards.shadowEvaluations = Int64.random(in: 0...1_000, using: &random)
        }
        configuration.debt.minimum = Int64.random(in: 1...Int64.max, using: &random)
        configuration.debt.period = random.duration()
        configuration.debt.share = random.pick([0, 0.05, 1, 0.1 + 0.2])
        configuration.debt.suspendAfter = random.duration()
        configuration.debt.warnOnly = random.flip()
        return configuration
    }

    @Test(arguments: 0..<100) func writtenAndReadItIsTheSame(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let configuration = Self.random(&random)
        let bytes = configuration.json.canonicalBytes
        let read = try Configuration(json: try JSONReader.parse(bytes))
        #expect(read == configuration, "seed \(seed)")
        #expect(read.json.canonicalBytes == bytes)
    }

    @Test func whatIsLeftOutKeepsItsDefault() throws {
        #expect(try Configuration(json: [:]) == Configuration())
        #expect(try Configuration(json: ["debt": [:]]) == Configuration())
        #expect(try Configuration(json: ["debt": nil, "labelWindow": nil]) == Configuration())
        let one = try Configuration(json: ["debt": ["minimum": 7]])
        #expect(one.debt.minimum == 7)
        #expect(one.debt.share == 0.05)
    }

    @Test func theDefaultsAreThoseThatAreStated() {
        let defaults = Configuration()
        #expect(defaults.authorizationCoolDown == .hours(24))
        #expect(defaults.reportWithin == .hours(1))
        #expect(defaults.labelWindow == .days(400))
        #expect(defaults.evaluationsPerDay == nil)
        #expect(defaults.debt.minimum == 20)
        #expect(defaults.debt.share == 0.05)
        #expect(defaults.debt.period == .days(30))
        #expect(defaults.debt.suspendAfter == .hours(24))
        #expect(!defaults.debt.warnOnly)
        #expect(defaults.guards.ruleCoverage == 1)
        #expect(defaults.guards.branchCoverage == 0.8)
        #expect(defaults.guards.shadowEvaluations == 1)
        // Digests from before there were guards hold.
        #expect(defaults.json["guards"] == nil)
    }

    private static let accepted: [JSONValue] = [
        ["evaluationsPerDay": 1], ["evaluationsPerDay": .int(.max)], ["evaluationsPerDay": nil],
        ["debt": ["minimum": 1]], ["debt": ["share": 0]], ["debt": ["share": 0.0]],
        ["debt": ["share": 1]], ["debt": ["share": 1.0]], ["debt": ["warnOnly": true]],
        ["reportWithin": "0s"], ["labelWindow": "1ms"], ["authorizationCoolDown": "100000d"],
    ]

    @Test(arguments: accepted) func takesItsLimits(_ json: JSONValue) throws {
        _ = try Configuration(json: json)
    }

    private static let refused: [(JSONValue, String, Refusal.Code)] = [
        ([], "", .invalidValue), ("x", "", .invalidValue), (nil, "", .invalidValue),
        (["evaluationsPerDay": 0], "/evaluationsPerDay", .invalidValue),
        (["guards": ["ruleCoverage": 1.1]], "/guards/ruleCoverage", .invalidValue),
        (["guards": ["shadowEvaluations": -1]], "/guards/shadowEvaluations", .invalidValue),
        (["guards": ["tests": 1]], "/guards/tests", .unknownField),
        (["evaluationsPerDay": -1], "/evaluationsPerDay", .invalidValue),
        (["evaluationsPerDay": 1.5], "/evaluationsPerDay", .invalidValue),
        (["evaluationsPerDay": "1"], "/evaluationsPerDay", .invalidValue),
        (["debt": ["minimum": 0]], "/debt/minimum", .invalidValue),
        (["debt": ["share": -0.1]], "/debt/share", .invalidValue),
        (["debt": ["share": 1.0000000000000002]], "/debt/share", .invalidValue),
        (["debt": ["share": "5%"]], "/debt/share", .invalidValue),
        (["debt": ["warnOnly": 1]], "/debt/warnOnly", .invalidValue),
        (["debt": ["period": "30"]], "/debt/period", .invalidValue),
        (["debt": ["period": "-1d"]], "/debt/period", .invalidValue),
        (["debt": ["period": 30]], "/debt/period", .invalidValue),
        (["debt": []], "/debt", .invalidValue),
        (["debt": ["minimun": 3]], "/debt/minimun", .unknownField),
        (["reportWithin": "PT1H"], "/reportWithin", .invalidValue),
        (["labelWindow": ""], "/labelWindow", .invalidValue),
        (["a/b~c": 1], "/a~1b~0c", .unknownField),
    ]

    @Test(arguments: refused.indices) func refusesWhatIsBeyond(_ index: Int) {
        let (json, field, code) = Self.refused[index]
        let refusal = #expect(throws: Refusal.self) { try Configuration(json: json) }
        #expect(refusal?.field == field)
        #expect(refusal?.code == code)
        #expect(refusal?.allowed.isEmpty == false, "what is allowed is not said")
        #expect(refusal?.isRetryable == false)
    }
}

@Suite struct FieldReaderTests {
    private enum Fruit: String, CaseIterable { case apple, pear }

    private func reader(_ json: JSONValue) throws -> FieldReader {
        try FieldReader(["x": json], at: "/outer")
    }

    private func refusal(_ json: JSONValue, _ body: (FieldReader) throws -> Any?) -> Refusal? {
        #expect(throws: Refusal.self) { _ = try body(try reader(json)) }
    }

    @Test func absentAndNullAreTheSame() throws {
        for json in [["x": nil], [:]] as [JSONValue] {
            let reader = try FieldReader(json, at: "")
            #expect(try reader.string("x") == nil)
            #expect(try reader.integer("x", in: 0...1) == nil)
            #expect(try reader.number("x", in: 0...1) == nil)
            #expect(try reader.bool("x") == nil)
            #expect(try reader.instant("x") == nil)
            #expect(try reader.duration("x") == nil)
            #expect(try reader.object("x") == nil)
            #expect(try reader.array("x", limit: 0) == nil)
            #expect(try reader.choice("x", Fruit.self) == nil)
            let refusal = #expect(throws: Refusal.self) {
                try reader.required("x", try reader.string("x"))
            }
            #expect(refusal?.code == .missingField)
            #expect(refusal?.field == "/x")
        }
    }

    @Test func stringsHaveBytesAndNoControlCharacters() throws {
        #expect(try reader("é").string("x", maxBytes: 2) == "é")
        #expect(refusal("éa") { try $0.string("x", maxBytes: 2) }?.allowed == ["1 to 2 bytes"])
        #expect(refusal("") { try $0.string("x") } != nil)
        #expect(try reader(.string(String(repeating: "a", count: 256))).string("x") != nil)
        #expect(refusal(.string(String(repeating: "a", count: 257))) { try $0.string("x") } != nil)
        for bad in ["a\u{0}", "\n", "\u{1F}", "\u{7F}"] {
            #expect(
                refusal(.string(bad)) { try $0.string("x") }?.allowed == ["no control characters"])
        }
        #expect(try reader("\u{80} \u{20}").string("x") != nil)
        #expect(refusal(5) { try $0.string("x") }?.value == 5)
    }

    @Test func numbersKeepTheirRange() throws {
        #expect(try reader(3).integer("x", in: 3...3) == 3)
        #expect(refusal(4) { try $0.integer("x", in: 3...3) }?.allowed == ["3 to 3"])
        #expect(refusal(2) { try $0.integer("x", in: 3...3) }?.field == "/outer/x")
        #expect(refusal(.uint(.max)) { try $0.integer("x", in: 0...Int64.max) } != nil)
        #expect(refusal(3.5) { try $0.integer("x", in: 3...4) } != nil)
        #expect(try reader(1).number("x", in: 0...1) == 1)
        #expect(refusal(.double(1.0.nextUp)) { try $0.number("x", in: 0...1) } != nil)
        #expect(refusal(.double(-.leastNonzeroMagnitude)) { try $0.number("x", in: 0...1) } != nil)
    }

    @Test func caseT1_choicesNameWhatThereIs() throws {
        #expect(try reader("pear").choice("x", Fruit.self) == .pear)
        // The field, what was given, and the list.
        let refusal = refusal("PEAR") { try $0.choice("x", Fruit.self) }
        #expect(refusal?.code == .invalidValue)
        #expect(refusal?.field == "/outer/x")
        #expect(refusal?.value == "PEAR")
        #expect(refusal?.allowed == ["apple", "pear"])
    }

    @Test func timesAreTimes() throws {
        #expect(try reader("1970-01-01T00:00:00Z").instant("x") == .epoch)
        for bad in ["1970-01-01", "yesterday", ""] as [JSONValue] {
            #expect(refusal(bad) { try $0.instant("x") } != nil)
        }
        #expect(refusal(0) { try $0.instant("x") } != nil)
        #expect(try reader("1h30m").duration("x") == .minutes(90))
        #expect(refusal("-1h") { try $0.duration("x") } != nil)
    }

    @Test func arraysHaveALimit() throws {
        #expect(try reader([1, 2]).array("x", limit: 2)?.count == 2)
        #expect(refusal([1, 2, 3]) { try $0.array("x", limit: 2) }?.allowed == ["at most 2"])
        #expect(refusal([:]) { try $0.array("x", limit: 2) } != nil)
    }

    @Test func whatIsShownOfAValueIsShort() throws {
        let long = JSONValue.string(String(repeating: "é", count: 5_000))
        guard case .string(let shown)? = refusal(long, { try $0.string("x") })?.value else {
            Issue.record("no value is shown")
            return
        }
        #expect(shown.unicodeScalars.count == 101)
        #expect(refusal(["secret": "s"]) { try $0.string("x") }?.value == "(object)")
        #expect(refusal(["s"]) { try $0.bool("x") }?.value == "(array)")
    }
}
