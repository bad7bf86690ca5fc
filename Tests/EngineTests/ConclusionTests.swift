import CEL
import Policies
import Testing
import TrustInsights

/// What `check` says of rules, against what they do for every event of a small world.
@Suite struct ConclusionTests {
    private static let head = """
        kind: trust
        name: sample
        version: 1
        categories: [payment]
        attributes:
          amount: {type: double, min: 0, max: 100, optional: true}
          count: {type: int, optional: true}
          country: {type: string, values: [NL, DE]}
          fresh: {type: bool}
        model: {name: card, version: 1, medium: 0.4, high: 0.8}
        rule:
          strategy: STRATEGY
          match:

        """

    private static let model = PolicyLoader.File(
        path: "models/m.yaml",
        bytes: Array(
            "{kind: scorecard, name: card, version: 1, inputs: [{name: device.value, weight: 1}], provenance: {author: tests}}"
                .utf8))

    private static let atoms = [
        "attributes.amount > 5.0", "attributes.amount <= 5.0", "attributes.amount >= 7.0",
        "attributes.count >= 2", "attributes.count < 2", "attributes.country == \"NL\"",
        "attributes.country != \"NL\"", "attributes.fresh", "has(attributes.amount)",
        "insight.outcome == \"high\"", "insight.outcome != \"unknown\"", "insight.score > 0.5",
        "attributes.count % 2 == 1", "10 / attributes.count > 2",
    ]

    private static let outputs = [
        "{friction: increased}", "{friction: increased, steps: [warn]}",
        "{friction: increased, steps: [warn, stepUp], holdFor: 1h}", "{friction: unchanged}",
        "{friction: reduced}",
    ]

    private static func condition(_ random: inout Numbers, depth: Int) -> String {
        let leaf = atoms[random.below(atoms.count)]
        guard depth > 0, random.below(4) > 0 else {
            return random.below(5) == 0 ? "!(\(leaf))" : leaf
        }
        let sign = random.below(2) == 0 ? "&&" : "||"
        return "(\(condition(&random, depth: depth - 1))) \(sign) "
            + "(\(condition(&random, depth: depth - 1)))"
    }

    private static func rule(_ id: String, _ random: inout Numbers) -> String {
        let missing = ["", ", onMissing: match", ", onMissing: noMatch", ", onMissing: error"]
        return "    - {id: \(id), condition: '\(condition(&random, depth: 2))', output: "
            + outputs[random.below(outputs.count)] + missing[random.below(missing.count)] + "}\n"
    }

    private static func load(_ text: String) -> PolicyLoad {
        PolicyLoader().load([.init(path: "p.yaml", bytes: Array(text.utf8)), model])
    }

    private static func events(_ policy: TrustPolicy) -> [[Int: Value]] {
        var events: [[Int: Value]] = [[:]]
        func vary(_ name: String, _ values: [Value?]) {
            guard let slot = policy.slots.slots.firstIndex(where: { $0.name == name }) else {
                return
            }
            events = events.flatMap { event in
                values.map { value in
                    var event = event
                    event[slot] = value
                    return event
                }
            }
        }
        vary("attributes.amount", [nil, .double(5), .double(6), .double(8)])
        vary("attributes.count", [nil, .int(0), .int(1), .int(2)])
        vary("attributes.country", [.string("NL"), .string("DE")])
        vary("attributes.fresh", [.bool(true), .bool(false)])
        vary("insight.outcome", [.string("high"), .string("unknown")])
        vary("insight.score", [nil, .double(0.9)])
        return events
    }

    private static func judgements(_ policy: TrustPolicy) -> [Judgement] {
        var activation = Activation(policy.environment)
        return events(policy).map { event in
            activation.reset()
            for (slot, value) in event { activation.set(slot, value) }
            return policy.judge(&activation, isDegraded: false)
        }
    }

    /// The rule that a finding is about.
    private static func subject(_ finding: PolicyDiagnostic, in policy: TrustPolicy) -> Int? {
        let words = finding.message.split(separator: "`")
        return words.count > 1 ? policy.rules.firstIndex { $0.id == words[1] } : nil
    }

    @Test(arguments: ["firstMatch", "strictest"]) func holdForEveryEvent(_ strategy: String) throws
    {
        var random = Numbers(state: 11)
        var seen: [String: Int] = [:]
        for _ in 0..<60 {
            let lines = (1...4).map { Self.rule("r\($0)", &random) }
            let text = { (lines: [String]) in
                Self.head.replacing("STRATEGY", with: strategy) + lines.joined()
                    + "    - {id: last, output: {friction: unchanged}}\n"
            }
            let load = Self.load(text(lines))
            guard let policy = load.set?.trustPolicies.first else { continue }
            let given = Self.judgements(policy)
            for finding in load.diagnostics {
                guard let rule = Self.subject(finding, in: policy) else { continue }
                let verdicts = given.map { $0.verdicts[rule] }
                let about = "\(finding.headline)\n\(text(lines))"
                switch finding.code {
                case "policy.unreachableRule" where finding.message.contains("can never match"):
                    #expect(!verdicts.contains { $0.isMatch }, "\(about)")
                case "policy.unreachableRule":
                    #expect(!verdicts.contains(.matched), "\(about)")
                case "policy.alwaysTrue":
                    #expect(verdicts.allSatisfy { $0 == .matched || $0 == .skipped }, "\(about)")
                case "policy.addsNothing":
                    var fewer = lines
                    fewer.remove(at: rule)
                    let other = try #require(Self.load(text(fewer)).set?.trustPolicies.first)
                    let isSame = zip(given, Self.judgements(other)).allSatisfy {
                        $0.decision.output == $1.decision.output
                    }
                    #expect(isSame, "\(about)")
                case "policy.overlappingRules":
                    break
                default: continue
                }
                seen[finding.code, default: 0] += 1
            }
        }
        // Without findings nothing was tested.
        #expect(seen["policy.unreachableRule"] ?? 0 > 0, "\(seen)")
        if strategy == "strictest" { #expect(seen["policy.addsNothing"] ?? 0 > 0, "\(seen)") }
    }
}

/// Numbers that are the same in every run.
private struct Numbers {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}
