import Testing

import Policies

/// Comparisons by meaning: what counts as a change and what does not.
@Suite struct CompareTests {
    private static func entry(_ text: String) throws -> PolicySet.Entry {
        let load = PolicyLoader().load([.init(path: "p.yaml", bytes: Array(text.utf8)), testModel])
        return try #require(load.set?.entries.first, "\(load.rendered())")
    }

    static let rules = """
        - {id: large, condition: attributes.amount > 500.0, output: {friction: increased, steps: [warn, stepUp], holdFor: 60m}}
        - {id: small, condition: 'attributes.amount < 5.0 && insight.outcome == "medium"', output: {friction: unchanged}}
        """

    private static func compare(
        _ old: (String) -> String = { $0 }, _ new: (String) -> String,
        strategy: String = "strictest"
    ) throws -> [PolicyChange] {
        let text = trustPolicy(strategy: strategy, rules: rules)
        return PolicyComparison(try entry(old(text)), try entry(new(text))).changes
    }

    static let same: [(String, String)] = [
        ("name: sample\nversion: 1", "name: sample\nversion: 2"), ("holdFor: 60m", "holdFor: 1h"),
        ("steps: [warn, stepUp]", "steps: [stepUp, warn]"),
        ("attributes.amount > 500.0", "'!(attributes.amount <= 500.0)'"),
        ("attributes.amount > 500.0", "500.0 < attributes.amount"),
        (
            "attributes.amount < 5.0 && insight.outcome == \"medium\"",
            "insight.outcome in [\"medium\"] && attributes.amount < 5.0"
        ),
        ("attributes.amount < 5.0 && insight", "attributes.amount<5.0   && insight"),
        ("min: 0", "min: 0.0"), ("- {id: large", "# Large ones.\n    - {id: large"),
    ]

    @Test(arguments: same) func isNoChange(_ old: String, _ new: String) throws {
        let changes = try Self.compare { text in
            #expect(text.contains(old))
            return text.replacing(old, with: new)
        }
        #expect(changes.isEmpty, "\(changes)")
    }

    @Test func orderIsNothingUnderStrictest() throws {
        let lines = Self.rules.split(separator: "\n")
        let swapped = trustPolicy(rules: lines.reversed().joined(separator: "\n"))
        let plain = trustPolicy(rules: Self.rules)
        #expect(PolicyComparison(try Self.entry(plain), try Self.entry(swapped)).changes.isEmpty)
        // These two exclude each other.
        let first = trustPolicy(strategy: "firstMatch", rules: Self.rules)
        let second = trustPolicy(
            strategy: "firstMatch", rules: lines.reversed().joined(separator: "\n"))
        #expect(PolicyComparison(try Self.entry(first), try Self.entry(second)).changes.isEmpty)
    }

    @Test func orderCountsUnderFirstMatch() throws {
        let one = "- {id: one, condition: attributes.amount > 5.0, output: {friction: increased}}"
        let two =
            "- {id: two, condition: velocity.recent > 5, output: {friction: increased, steps: [warn]}}"
        let changes = PolicyComparison(
            try Self.entry(trustPolicy(strategy: "firstMatch", rules: one + "\n" + two)),
            try Self.entry(trustPolicy(strategy: "firstMatch", rules: two + "\n" + one))
        ).changes
        #expect(changes.map(\.part) == ["order"])
    }

    static let different: [(String, String, String, PolicyChange.Relation?)] = [
        (
            "attributes.amount > 500.0", "attributes.amount > 600.0", "rule large condition",
            .narrower
        ),
        ("attributes.amount > 500.0", "attributes.amount >= 500.0", "rule large condition", .wider),
        (
            "attributes.amount > 500.0", "attributes.amount > 600.0 || velocity.recent > 3",
            "rule large condition", .different
        ),
        (
            "insight.outcome == \"medium\"", "insight.outcome != \"unknown\"",
            "rule small condition", .wider
        ),
        ("steps: [warn, stepUp]", "steps: [warn]", "rule large output", nil),
        ("holdFor: 60m}}", "holdFor: 60m}, mode: shadow}", "rule large mode", nil),
        ("holdFor: 60m}}", "holdFor: 60m}, onMissing: error}", "rule large onMissing", nil),
        ("holdFor: 60m}}", "holdFor: 60m}, explanation: '\"x\"'}", "rule large explanation", nil),
        ("window: 1h", "window: 2h", "velocity recent.window ", nil),
        ("min: 0", "min: 1", "attributes amount.min ", nil),
        ("high: 0.8", "high: 0.9", "model high ", nil),
        ("strategy: strictest", "strategy: firstMatch", "strategy  ", nil),
        ("id: large", "id: huge", "rule large ", nil),
    ]

    @Test(arguments: different) func isAChange(
        _ old: String, _ new: String, _ what: String, _ relation: PolicyChange.Relation?
    ) throws {
        let changes = try Self.compare { text in
            #expect(text.contains(old), "\(text)")
            return text.replacing(old, with: new)
        }
        let first = try #require(changes.first)
        #expect("\(first.part) \(first.name) \(first.field ?? "")" == what, "\(changes)")
        #expect(first.relation == relation)
        #expect(changes.count == (new.contains("huge") ? 2 : 1), "\(changes)")
    }

    @Test func aVariableIsFollowedIntoTheRulesThatReadIt() throws {
        func policy(_ bound: String) -> String {
            trustPolicy(
                rules:
                    "- {id: large, condition: variables.large, output: {friction: increased, steps: [warn]}}"
            ).replacing(
                "  match:",
                with:
                    "  variables: [{name: large, expression: attributes.amount > \(bound)}]\n  match:"
            )
        }
        let changes = PolicyComparison(
            try Self.entry(policy("500.0")), try Self.entry(policy("400.0"))
        ).changes
        #expect(changes.map(\.part) == ["variable", "rule"])
        #expect(changes.allSatisfy { $0.relation == .wider })
    }
}
