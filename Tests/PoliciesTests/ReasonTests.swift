import CEL
import Testing

import Policies

/// What is concluded from conditions, against what they give for very many events.
@Suite struct ReasonTests {
    private static let text = trustPolicy(
        attributes: """
            amount: {type: double, min: 0, max: 100, optional: true}
            count: {type: int, optional: true}
            country: {type: string, values: [NL, DE, FR]}
            fresh: {type: bool}
            """,
        used:
            "attributes.amount > 1.0 && velocity.recent > 1 && attributes.count > 1 && attributes.country == \\\"NL\\\" && attributes.fresh && insight.outcome == \\\"high\\\"",
        rules: "")

    private static func policy() throws -> TrustPolicy {
        let file = PolicyLoader.File(path: "p.yaml", bytes: Array(text.utf8))
        let load = PolicyLoader().load([file, testModel])
        return try #require(load.set?.trustPolicies.first, "\(load.rendered())")
    }

    /// Parts of conditions, among them some that are not understood and some that can fail.
    private static let atoms = [
        "attributes.amount > 5.0", "attributes.amount <= 5.0", "attributes.amount == 7.0",
        "7.0 < attributes.amount", "attributes.amount in [1.0, 7.0]", "attributes.count >= 2",
        "attributes.count != 3", "attributes.count < 4", "attributes.count in [1, 2, 3]",
        "attributes.country == \"NL\"", "attributes.country != \"DE\"",
        "attributes.country in [\"NL\", \"FR\"]", "attributes.fresh", "attributes.fresh == false",
        "has(attributes.amount)", "has(attributes.count)", "has(attributes.country)",
        "insight.outcome == \"high\"", "insight.outcome in [\"unknown\", \"medium\"]",
        "velocity.recent > 0", "velocity.recent == 2", "attributes.country.startsWith(\"N\")",
        "size(attributes.country) > 1", "attributes.count * 2 > 5",
        "attributes.amount > double(attributes.count)", "10 / attributes.count > 2",
        "attributes.count % 2 == 1", "attributes.count % 2 != 0",
        // 0 / 0 is no number.
        "attributes.amount / double(attributes.count) > 2.0",
        "attributes.amount / double(attributes.count) <= 2.0",
        "attributes.amount / double(attributes.count) != 2.0",
        "attributes.amount / double(attributes.count) in [1.0, 2.0]",
    ]

    private static func condition(_ random: inout Generator, depth: Int) -> String {
        guard depth > 0, Int.random(in: 0..<5, using: &random) > 0 else {
            return atoms.randomElement(using: &random) ?? "true"
        }
        let left = condition(&random, depth: depth - 1)
        let right = condition(&random, depth: depth - 1)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return "!(\(left))"
        case 1, 2: return "(\(left)) && (\(right))"
        case 3, 4: return "(\(left)) || (\(right))"
        default: return "(\(left)) ? (\(right)) : (\(condition(&random, depth: depth - 1)))"
        }
    }

    private static func events(_ policy: TrustPolicy) -> [[Int: Value]] {
        var events: [[Int: Value]] = [[:]]
        func vary(_ path: String, _ values: [Value?]) {
            let slot = policy.slots.slots.firstIndex { $0.name == path } ?? 0
            events = events.flatMap { event in
                values.map { value in
                    var event = event
                    event[slot] = value
                    return event
                }
            }
        }
        vary("attributes.amount", [nil, .double(0), .double(5), .double(7), .double(8)])
        vary("attributes.count", [nil, .int(0), .int(1), .int(2), .int(3), .int(7)])
        vary("attributes.country", [.string("NL"), .string("DE"), .string("FR")])
        vary("attributes.fresh", [.bool(true), .bool(false)])
        vary("insight.outcome", [.string("high"), .string("medium"), .string("unknown")])
        vary("velocity.recent", [.int(0), .int(2)])
        return events
    }

    private enum Result { case yes, no, fails }

    private static func results(
        _ program: Program, _ events: [[Int: Value]], _ policy: TrustPolicy
    ) -> [Result] {
        var activation = Activation(policy.environment)
        return events.map { event in
            activation.reset()
            for (slot, value) in event { activation.set(slot, value) }
            switch program.evaluateCondition(&activation) {
            case .matched: return .yes
            case .notMatched: return .no
            case .failed: return .fails
            }
        }
    }

    @Test func noConclusionIsWrong() throws {
        let policy = try Self.policy()
        let events = Self.events(policy)
        var random = Generator(seed: 24)
        var drawn = (impossible: 0, always: 0, inside: 0)
        for _ in 0..<120 {
            let texts = [
                Self.condition(&random, depth: 2), Self.condition(&random, depth: 2),
            ]
            let programs = try texts.map {
                try #require(policy.environment.compile($0).program, "\($0)")
            }
            let given = programs.map { Self.results($0, events, policy) }
            let terms = Terms()
            var reasoner = Reasoner(policy, terms)
            let truths = programs.map { reasoner.truth($0.ast, $0.root) }
            for (index, truth) in truths.enumerated() {
                if truth.isTrue.isEmpty {
                    drawn.impossible += 1
                    #expect(!given[index].contains(.yes), "never: \(texts[index])")
                }
                if truth.isFalse.isEmpty {
                    #expect(!given[index].contains(.no), "never false: \(texts[index])")
                }
                if Region.everything.isInside(truth.isTrue, terms) {
                    drawn.always += 1
                    #expect(given[index].allSatisfy { $0 == .yes }, "always: \(texts[index])")
                }
            }
            if truths[0].isTrue.isInside(truths[1].isTrue, terms) {
                drawn.inside += 1
                let isRight = zip(given[0], given[1]).allSatisfy { $0 != .yes || $1 == .yes }
                #expect(isRight, "\(texts[0]) inside of \(texts[1])")
            }
            if truths[0].isFalse.isInside(truths[1].isFalse, terms) {
                let isRight = zip(given[0], given[1]).allSatisfy { $0 != .no || $1 == .no }
                #expect(isRight, "not \(texts[0]) inside of not \(texts[1])")
            }
        }
        // Without any conclusion nothing was tested.
        #expect(drawn.impossible > 0 && drawn.always > 0 && drawn.inside > 3, "\(drawn)")
    }

    static let pairs: [(String, String, isInside: Bool)] = [
        ("attributes.amount > 6.0", "attributes.amount > 5.0", true),
        ("attributes.amount > 5.0", "attributes.amount >= 5.0 && has(attributes.amount)", true),
        ("attributes.amount >= 5.0", "attributes.amount > 5.0", false),
        ("attributes.amount > 4.0 || attributes.amount < 6.0", "has(attributes.amount)", true),
        ("has(attributes.amount)", "attributes.amount > 4.0 || attributes.amount < 6.0", true),
        ("attributes.fresh", "attributes.amount > 4.0 || attributes.amount < 6.0", false),
        ("attributes.count > 5", "attributes.count >= 6", true),
        ("attributes.count > 5 && attributes.count < 7", "attributes.count == 6", true),
        ("attributes.country != \"NL\"", "attributes.country in [\"DE\", \"FR\"]", true),
        ("insight.outcome != \"unknown\"", "insight.outcome in [\"medium\", \"high\"]", true),
        ("!(attributes.fresh || attributes.count > 2)", "!attributes.fresh", true),
        (
            "attributes.fresh ? attributes.count > 2 : attributes.count > 4",
            "attributes.count > 2", true
        ),
        (
            "attributes.country.startsWith(\"N\") && attributes.fresh",
            "attributes.country.startsWith('N')", true
        ),
        ("size(attributes.country) > 3", "size( attributes.country ) > 2", true),
        ("attributes.count % 2 == 1", "attributes.count % 2 == 0", false),
        ("attributes.amount * 2.0 > 9.0", "attributes.amount * 2.0 > 8.0", true),
        ("attributes.amount * 2.0 > 8.0", "attributes.amount * 2.0 > 9.0", false),
        ("attributes.amount * 2.0 <= 8.0", "!(attributes.amount * 2.0 > 8.0)", true),
        ("!(attributes.amount * 2.0 > 8.0)", "attributes.amount * 2.0 <= 8.0", false),
        ("attributes.amount * 2.0 > 9.0", "attributes.amount * 3.0 > 8.0", false),
        ("9007199254740993 == attributes.count", "attributes.count == 9007199254740992", false),
    ]

    @Test(arguments: pairs) func concludes(_ narrow: String, _ wide: String, _ isInside: Bool)
        throws
    {
        let policy = try Self.policy()
        let terms = Terms()
        var reasoner = Reasoner(policy, terms)
        let truths = try [narrow, wide].map { text in
            let program = try #require(policy.environment.compile(text).program)
            return reasoner.truth(program.ast, program.root)
        }
        #expect(truths[0].isTrue.isInside(truths[1].isTrue, terms) == isInside)
    }

    @Test func manyAlternativesEndReasoningAndNothingElse() throws {
        let policy = try Self.policy()
        let terms = Terms()
        var reasoner = Reasoner(policy, terms)
        let parts = (0..<12).map { "(attributes.count == \($0) || attributes.amount == \($0).0)" }
        let text = parts.joined(separator: " && ")
        let program = try #require(policy.environment.compile(text).program)
        let truth = reasoner.truth(program.ast, program.root)
        #expect(truth.isTrue.boxes.count <= Region.limit)
        #expect(truth.isTrue.isInside(truth.isTrue, terms))
    }
}

/// Numbers that are the same in every run.
struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
