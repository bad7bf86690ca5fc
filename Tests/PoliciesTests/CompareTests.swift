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
        ("min: 0", "min: 0.0"), ("min: 0}", "min: 0, store: true, optional: false}"),
        ("window: 1h", "category: payment, window: 60m"),
        ("- {id: large", "# Large ones.\n    - {id: large"),
    ]

    @Test(arguments: same) func isNoChange(_ old: String, _ new: String) throws {
        let changes = try Self.compare { text in
            #expect(text.contains(old))
            return text.replacing(old, with: new)
        }
        #expect(changes.isEmpty, "\(changes)")
    }

    /// What stands in one file and would hold anyway, for each kind of file.
    static let written: [(String, String, String)] = [
        (
            "kind: reviewPrompt\nname: p\nversion: 1\n"
                + "limits: [{max: 3, within: 365d}, {atLeast: 7d}]\nreasons: {done: {atLeast: 2}}\n",
            "reasons:",
            "zone: UTC\nenabled: true\nwhileThrottled: drop\nafterGrant: reset\n"
                + "lease: {for: 600s, silence: count}\nholdout: {percent: 0.0}\nreasons:"
        ),
        (
            "kind: reviewPrompt\nname: p\nversion: 1\n"
                + "limits: [{max: 3, within: 365d}, {atLeast: 7d}]\nreasons: {done: {atLeast: 2}}\n",
            "[{max: 3, within: 365d}, {atLeast: 7d}]",
            "[{name: max, max: 3, within: 365d, scope: both}, {atLeast: 168h, unit: elapsed}]"
        ),
        (
            "kind: reviewPrompt\nname: p\nversion: 1\nreasons:\n  done: {atLeast: 2}\n"
                + "  both: {all: [{done: 2}, {not: {both: 3}}]}\n",
            "[{done: 2}, {not: {both: 3}}]", "[{not: {both: {atLeast: 3}}}, {done: {atLeast: 2}}]"
        ),
        (
            "kind: reviewPrompt\nname: p\nversion: 1\nreasons:\n"
                + "  done: {atLeast: 2, when: 'now > timestamp(\"2026-03-01T00:00:00Z\")'}\n",
            "2026-03-01T00:00:00Z", "2026-03-01T02:00:00.0+02:00"
        ),
    ]

    @Test(arguments: written) func whatIsWrittenOutIsNoChange(
        _ text: String, _ old: String, _ new: String
    ) throws {
        let other = text.replacing(old, with: new)
        #expect(other != text)
        let changes = PolicyComparison(try Self.entry(text), try Self.entry(other)).changes
        #expect(changes.isEmpty, "\(changes)")
    }

    @Test func whatAModelWritesOutIsNoChange() throws {
        func model(_ change: (String) -> String) throws -> ModelFile {
            let text = String(decoding: testModel.bytes, as: UTF8.self)
            let load = PolicyLoader().load([
                .init(path: "m.yaml", bytes: Array(change(text).utf8))
            ])
            return try #require(load.set?.models.first, "\(load.rendered())")
        }
        let plain = try model { $0 }
        let written = try model {
            $0.replacing("inputs:", with: "method: points\ninputs:")
                .replacing("weight: 1}", with: "weight: 1.0, required: false}")
        }
        #expect(PolicyComparison(plain, written).changes.isEmpty)
        let other = try model { $0.replacing("weight: 1}", with: "weight: 1, required: true}") }
        #expect(PolicyComparison(plain, other).changes.map(\.name) == ["device.value.required"])
    }

    /// A window that names its category means something else once the policy has another one.
    @Test func aCategoryThatIsNotRedundantIsAChange() throws {
        let old = trustPolicy(rules: Self.rules).replacing(
            "categories: [payment]", with: "categories: [payment, account]")
        let new = old.replacing("window: 1h", with: "category: payment, window: 1h")
        let changes = PolicyComparison(try Self.entry(old), try Self.entry(new)).changes
        #expect(changes.map(\.name) == ["recent.category"], "\(changes)")
    }

    static let conditions: [(String, String, PolicyChange.Relation?)] = [
        (
            "now < timestamp(\\\"2026-03-01T00:00:00Z\\\")",
            "now < timestamp(\\\"2026-03-01T01:00:00+01:00\\\")", nil
        ),
        (
            "now < timestamp(\\\"2026-03-01T00:00:00Z\\\") + duration(\\\"60m\\\")",
            "now < timestamp(\\\"2026-03-01T00:00:00Z\\\") + duration(\\\"1h\\\")", nil
        ),
        (
            "now < timestamp(\\\"2026-03-01T00:00:00Z\\\")",
            "now < timestamp(\\\"2026-03-01T00:00:00+01:00\\\")", .different
        ),
        (
            "attributes.amount + double(velocity.recent) > 2000.0",
            "attributes.amount + double(velocity.recent) > 800.0", .wider
        ),
        (
            "attributes.amount * 2.0 > 800.0", "800.0 * 2.0 <= attributes.amount * 2.0",
            .different
        ),
        ("attributes.amount * 2.0 > 800.0", "900.0 <= attributes.amount * 2.0", .narrower),
        // What is no number is not above 800, and not at most 800 either.
        ("attributes.amount * 2.0 <= 800.0", "!(attributes.amount * 2.0 > 800.0)", .wider),
        ("velocity.recent * 2 <= 8", "!(velocity.recent * 2 > 8)", nil),
    ]

    @Test(arguments: conditions) func conditionsOfComputedValues(
        _ old: String, _ new: String, _ relation: PolicyChange.Relation?
    ) throws {
        func policy(_ condition: String) -> String {
            trustPolicy(
                rules:
                    "- {id: large, condition: \"\(condition)\", output: {friction: increased, steps: [warn]}}"
            )
        }
        let changes = PolicyComparison(
            try Self.entry(policy(old)), try Self.entry(policy(new))
        ).changes
        #expect(changes.map(\.relation) == (relation.map { [$0] } ?? []), "\(changes)")
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
