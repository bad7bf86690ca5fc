import CEL
import Policies
import Testing
import Time
import TrustInsights

/// What a policy's rules come to, by its two strategies.
@Suite struct StrategyTests {
    private static let ladder = """
        match:
          - id: high
            condition: attributes.a > 1
            output: {friction: increased, steps: [warn], holdFor: 1h, notify: [x]}
          - id: low
            condition: attributes.a > 0
            output: {friction: increased, steps: [stepUp], holdFor: 2h, notify: [y, x]}
          - id: default
            output: {friction: unchanged}
        """

    @Test(arguments: [
        (2 as Int64, "mss", [Step.warn], "high"), (1, "nms", [.stepUp], "low"),
        (0, "nnm", [], "default"),
    ])
    func caseT24_theFirstMatchDecides(a: Int64, letters: String, steps: [Step], rule: String)
        throws
    {
        let judgement = try PolicyBench(Self.ladder).judge(["attributes.a": .int(a)])
        #expect(judgement.letters == letters)
        #expect(judgement.steps == steps)
        #expect(judgement.rules == [rule])
    }

    @Test func strictestCombinesWhateverTheOrder() throws {
        let judgement = try PolicyBench("strategy: strictest\n" + Self.ladder)
            .judge(["attributes.a": .int(2)])
        #expect(judgement.letters == "mms")
        #expect(judgement.steps == [.warn, .stepUp])
        #expect(judgement.decision.output.holdFor == .hours(2))
        #expect(judgement.decision.output.notify == ["x", "y"])
        #expect(judgement.rules == ["high", "low"])
    }

    @Test func theDefaultOfStrictestCountsOnlyAlone() throws {
        // Standing first and stricter than the rest, it still counts only if nothing else did.
        let bench = try PolicyBench(
            """
            strategy: strictest
            match:
              - id: default
                output: {friction: increased, steps: [manualReview]}
              - id: small
                condition: attributes.a < 10
                output: {friction: reduced}
            """)
        let small = try bench.judge(["attributes.a": .int(1)])
        #expect(small.letters == "sm")
        #expect(small.decision.output == DecisionOutput(friction: .reduced))
        let large = try bench.judge(["attributes.a": .int(10)])
        #expect(large.letters == "mn")
        #expect(large.steps == [.manualReview])
    }

    @Test func caseE38_matchesTogetherAreAlwaysTheSame() throws {
        let bench = try PolicyBench("strategy: strictest\n" + Self.ladder)
        let first = try bench.judge(["attributes.a": .int(5)])
        for _ in 0..<1_000 {
            let again = try bench.judge(["attributes.a": .int(5)])
            guard again.decision == first.decision, again.verdicts == first.verdicts else {
                Issue.record("another decision of the same event")
                return
            }
        }
    }

    private static let nested = """
        match:
          - id: outer
            condition: attributes.a > 0
            rule:
              strategy: strictest
              match:
                - id: one
                  condition: attributes.b > 1
                  output: {friction: increased, steps: [warn]}
                - id: two
                  condition: attributes.b > 2
                  output: {friction: increased, steps: [manualReview]}
          - id: later
            condition: attributes.a > 1
            output: {friction: increased, steps: [stepUp]}
          - id: default
            output: {friction: unchanged}
        """

    @Test(arguments: [
        (0 as Int64, 9 as Int64, "nssnm", [Step]()), (1, 3, "mmmss", [.warn, .manualReview]),
        (1, 2, "mmnss", [.warn]), (1, 0, "mnnnm", []), (2, 0, "mnnms", [.stepUp]),
    ])
    func aBlockWithoutAMatchGoesOn(a: Int64, b: Int64, letters: String, steps: [Step]) throws {
        let judgement = try PolicyBench(Self.nested)
            .judge(["attributes.a": .int(a), "attributes.b": .int(b)])
        #expect(judgement.letters == letters)
        #expect(judgement.steps == steps)
    }
}

/// Shadow rules are always evaluated and never act.
@Suite struct ShadowRuleTests {
    private static let rules = """
        match:
          - id: trial
            condition: attributes.a > 0
            output: {friction: increased, steps: [manualReview], holdFor: 1h}
            mode: shadow
          - id: decides
            condition: attributes.b > 0
            output: {friction: reduced}
          - id: afterwards
            condition: attributes.a > 1
            output: {friction: increased, steps: [warn]}
            mode: shadow
          - id: default
            output: {friction: unchanged}
        """

    @Test(arguments: [
        // a, b, letters, acting, would
        (0 as Int64, 0 as Int64, "nnnm", "default", "default"), (1, 0, "mnnm", "default", "trial"),
        (1, 1, "mmns", "decides", "trial"), (2, 1, "mmms", "decides", "trial"),
        (0, 1, "nmns", "decides", "decides"), (2, 0, "mnmm", "default", "trial"),
    ])
    func caseT29_shadowRulesNeverAct(
        a: Int64, b: Int64, letters: String, acting: String, would: String
    ) throws {
        let judgement = try PolicyBench(Self.rules)
            .judge(["attributes.a": .int(a), "attributes.b": .int(b)])
        #expect(judgement.letters == letters)
        #expect(judgement.rules == [acting])
        #expect(judgement.shadowDecision?.reasons.map(\.rule) == [would])
        // The same policy without them decides the same.
        let without = try PolicyBench(
            """
            match:
              - id: decides
                condition: attributes.b > 0
                output: {friction: reduced}
              - id: default
                output: {friction: unchanged}
            """
        ).judge(["attributes.a": .int(a), "attributes.b": .int(b)])
        #expect(without.decision == judgement.decision)
        #expect(without.shadowDecision == nil)
    }

    private static let nested = """
        match:
          - id: decides
            condition: attributes.b > 0
            output: {friction: reduced}
          - id: outer
            condition: 10 / attributes.a > 0
            rule:
              match:
                - id: trial
                  condition: attributes.b < 2
                  output: {friction: increased, steps: [warn]}
                  mode: shadow
                - id: deep
                  condition: attributes.a > 4
                  mode: shadow
                  rule:
                    match:
                      - id: deepest
                        output: {friction: increased, steps: [stepUp]}
                - id: inner
                  output: {friction: increased, steps: [manualReview]}
          - id: default
            output: {friction: unchanged}
        """

    /// Where an earlier rule decided, and where the block is not entered.
    @Test(arguments: [
        // a, b, letters of decides, outer, trial, deep, deepest, inner, default; acting, would
        (1 as Int64, 0 as Int64, "nmmnnms", "inner", "trial"),
        (5, 0, "nmmmmms", "inner", "trial"), (11, 0, "nnnnnsm", "default", "default"),
        (1, 1, "msmnnss", "decides", "decides"), (5, 2, "msnmmss", "decides", "decides"),
        (11, 1, "msnnnss", "decides", "decides"), (0, 1, "msmnnss", "decides", "decides"),
    ])
    func caseT29_nestedShadowRulesAreAlwaysEvaluated(
        a: Int64, b: Int64, letters: String, acting: String, would: String
    ) throws {
        let judgement = try PolicyBench(Self.nested)
            .judge(["attributes.a": .int(a), "attributes.b": .int(b)])
        #expect(judgement.letters == letters)
        #expect(judgement.rules == [acting])
        #expect(judgement.shadowDecision?.reasons.map(\.rule) == [would])
        // Looking into a block that is not reached touches nothing, its errors included.
        #expect(judgement.failures.isEmpty)
        #expect(!judgement.ruleFailed)
    }

    @Test func theirErrorsTouchNothing() throws {
        let bench = try PolicyBench(
            """
            match:
              - id: fails
                condition: 100 / attributes.a > 1
                output: {friction: increased, steps: [warn]}
                mode: shadow
              - id: small
                condition: attributes.b == 1
                output: {friction: reduced}
              - output: {friction: unchanged}
            """)
        let judgement = try bench.judge(["attributes.a": .int(0), "attributes.b": .int(1)])
        #expect(judgement.letters == "Ems")
        #expect(!judgement.ruleFailed)
        #expect(judgement.decision.output.friction == .reduced)
        #expect(judgement.failures.map(\.rule) == [0])
    }

    @Test func inStrictestTheyAddOnlyToWhatWouldBe() throws {
        let bench = try PolicyBench(
            """
            strategy: strictest
            match:
              - id: trial
                condition: attributes.a > 0
                output: {friction: increased, steps: [stepUp]}
                mode: shadow
              - id: acts
                condition: attributes.a > 0
                output: {friction: increased, steps: [warn]}
              - id: default
                output: {friction: unchanged}
            """)
        let judgement = try bench.judge(["attributes.a": .int(1)])
        #expect(judgement.steps == [.warn])
        #expect(judgement.shadowDecision?.output.steps.steps == [.warn, .stepUp])
        #expect(judgement.shadowDecision?.reasons.map(\.rule) == ["trial", "acts"])
    }
}

/// Absent values and errors: never less friction, and never without a verdict.
@Suite struct MissingAndErrorTests {
    private func rule(_ condition: String, _ friction: String, _ extra: String = "") -> String {
        """
        match:
          - id: rule
            condition: \(condition)
            output: \(friction)
        \(extra.isEmpty ? "" : "    " + extra + "\n")  - id: default
            output: {friction: unchanged}
        """
    }

    private static let more = "{friction: increased, steps: [warn]}"
    private static let less = "{friction: reduced}"

    @Test(arguments: [
        (more, "", "As"), (less, "", "am"), (more, "onMissing: noMatch", "am"),
        (more, "onMissing: match", "As"), (more, "onMissing: error", "Es"),
        (less, "onMissing: error", "em"), (less, "onMissing: noMatch", "am"),
    ])
    func caseT25_E11_anAbsentAttributeHasAVerdict(output: String, extra: String, letters: String)
        throws
    {
        let judgement = try PolicyBench(rule("attributes.a > 1", output, extra)).judge([:])
        #expect(judgement.letters == letters)
        #expect(judgement.failures.map(\.rule) == [0])
        #expect(judgement.failures.first?.error.missing == ["attributes.a"])
        #expect(judgement.ruleFailed == letters.lowercased().hasPrefix("e"))
    }

    @Test(arguments: [
        ("attributes.s != \"NL\"", "attributes.s"), ("!(attributes.s in [\"NL\"])", "attributes.s"),
        ("attributes.a != 3", "attributes.a"), ("device.value < 0.5", "device.value"),
    ])
    func caseE12_unequalIsNoAnswerAboutWhatIsAbsent(condition: String, missing: String) throws {
        let strict = try PolicyBench(rule("'\(condition)'", Self.more)).judge([:])
        #expect(strict.letters == "As")
        #expect(strict.failures.first?.error.missing == [missing])
        // Lenient where a match would make it easier.
        #expect(try PolicyBench(rule("'\(condition)'", Self.less)).judge([:]).letters == "am")
    }

    @Test func absorptionComesFirst() throws {
        let or = try PolicyBench(rule("attributes.a > 1 || attributes.flag", Self.less))
        #expect(try or.judge(["attributes.flag": .bool(true)]).letters == "ms")
        #expect(try or.judge(["attributes.flag": .bool(false)]).letters == "am")
        let and = try PolicyBench(rule("attributes.a > 1 && attributes.flag", Self.more))
        #expect(try and.judge(["attributes.flag": .bool(false)]).letters == "nm")
        #expect(try and.judge(["attributes.flag": .bool(true)]).letters == "As")
        let has = try PolicyBench(rule("has(attributes.a) && attributes.a > 1", Self.more))
        let absent = try has.judge([:])
        #expect(absent.letters == "nm")
        #expect(absent.failures.isEmpty)
    }

    @Test func anAbsentScoreIsNotMatchedAndNoError() throws {
        let bench = try PolicyBench(rule("insight.score > 0.5", Self.more))
        let judgement = try bench.judge([:], degraded: true)
        #expect(judgement.letters == "am")
        #expect(!judgement.ruleFailed)
        #expect(try bench.judge(["insight.score": .double(0.6)]).letters == "ms")
    }

    @Test(arguments: [(more, "Es", Friction.increased), (less, "em", .unchanged)])
    func anErrorCountsAsMatchedWhereThatRaisesFriction(
        output: String, letters: String, friction: Friction
    ) throws {
        let bench = try PolicyBench(rule("100 / attributes.a > 1", output))
        let judgement = try bench.judge(["attributes.a": .int(0)])
        #expect(judgement.letters == letters)
        #expect(judgement.decision.output.friction == friction)
        #expect(judgement.ruleFailed)
        #expect(try bench.judge(["attributes.a": .int(1)]).letters == "ms")
    }

    @Test func caseE13_whatTurnsOutToBeNoTruthValueIsAnError() throws {
        let load = PolicyLoader().load([
            .init(path: "m.yaml", bytes: Array(PolicyBench.model.utf8)),
            .init(
                path: "p.yaml",
                bytes: Array(PolicyBench.source(rule("'\"true\"'", Self.more)).utf8)),
        ])
        #expect(load.set == nil)
        let bench = try PolicyBench(rule("'dyn(attributes.a)'", Self.more))
        let judgement = try bench.judge(["attributes.a": .int(1)])
        #expect(judgement.letters == "Es")
        #expect(judgement.ruleFailed)
    }

    @Test func caseE18_aMissingValueInAVariableReachesEveryRuleThatReadsIt() throws {
        let bench = try PolicyBench(
            """
            variables:
              - {name: twice, expression: attributes.a * 2}
            match:
              - {id: one, condition: variables.twice > 1, output: {friction: reduced}}
              - {id: two, condition: variables.twice > 2, output: {friction: reduced}}
              - {id: three, condition: variables.twice > 3, output: {friction: reduced}}
              - {id: default, output: {friction: unchanged}}
            """)
        let judgement = try bench.judge([:])
        #expect(judgement.letters == "aaam")
        #expect(judgement.verdicts.prefix(3).allSatisfy { $0.name == "notEvaluated" })
        #expect(
            judgement.failures.map(\.error.missing) == [
                ["attributes.a"], ["attributes.a"], ["attributes.a"],
            ])
    }

    @Test func degradedIsNeverReduced() throws {
        let bench = try PolicyBench(
            """
            match:
              - id: small
                condition: attributes.a < 10
                output: {friction: reduced, notify: [x]}
              - output: {friction: unchanged}
            """)
        #expect(
            try bench.judge(["attributes.a": .int(1)]).decision
                == Decision(
                    output: DecisionOutput(friction: .reduced, notify: ["x"]),
                    reasons: [Reason(rule: "small")]))
        #expect(
            try bench.judge(["attributes.a": .int(1)], degraded: true).decision
                == Decision(
                    output: DecisionOutput(friction: .unchanged, notify: ["x"]),
                    reasons: [Reason(rule: "small", note: "reducedWhileDegraded")]))
    }

    @Test func aFailedRuleDegradesWhatOthersDecide() throws {
        let bench = try PolicyBench(
            """
            match:
              - id: fails
                condition: 1 / attributes.b > 0
                output: {friction: unchanged}
              - id: small
                condition: attributes.a < 10
                output: {friction: reduced}
              - output: {friction: unchanged}
            """)
        let judgement = try bench.judge(["attributes.a": .int(1), "attributes.b": .int(0)])
        #expect(judgement.letters == "ems")
        #expect(judgement.decision.output.friction == .unchanged)
        #expect(judgement.decision.reasons.map(\.note) == ["reducedWhileDegraded"])
    }
}

/// An insight is never the only reason to block somebody.
@Suite struct BlockTests {
    private static let rules = """
        match:
          - id: block
            condition: insight.outcome == "high" && attributes.a > 10
            output: {friction: increased, steps: [warn, block], holdFor: 1h}
          - output: {friction: unchanged}
        """

    @Test func withOtherEvidenceItBlocks() throws {
        let judgement = try PolicyBench(Self.rules)
            .judge(["insight.outcome": .string("high"), "attributes.a": .int(11)])
        #expect(judgement.steps == [.warn, .block])
        #expect(judgement.decision.reasons == [Reason(rule: "block")])
    }

    @Test func withoutItIsReviewed() throws {
        // The rule matches since the attribute is absent, which is no evidence.
        let judgement = try PolicyBench(Self.rules).judge(["insight.outcome": .string("high")])
        #expect(judgement.letters == "As")
        #expect(judgement.steps == [.warn, .manualReview])
        #expect(judgement.decision.output.holdFor == .hours(1))
        #expect(
            judgement.decision.reasons == [Reason(rule: "block", note: "blockNeedsOtherEvidence")])
    }

    @Test func anErrorIsNoEvidence() throws {
        let bench = try PolicyBench(
            """
            match:
              - id: block
                condition: insight.outcome == "high" && 100 / attributes.a > 10
                output: {friction: increased, steps: [block]}
              - output: {friction: unchanged}
            """)
        let failed = try bench.judge(
            ["insight.outcome": .string("high"), "attributes.a": .int(0)])
        #expect(failed.letters == "Es")
        #expect(failed.steps == [.manualReview])
        let fine = try bench.judge(["insight.outcome": .string("high"), "attributes.a": .int(1)])
        #expect(fine.steps == [.block])
    }

    @Test func oneTrueConjunctIsEnough() throws {
        let bench = try PolicyBench(
            """
            match:
              - id: block
                condition: insight.outcome == "high" && attributes.a > 10 && velocity.n > 3
                output: {friction: increased, steps: [block]}
              - output: {friction: unchanged}
            """)
        let judgement = try bench.judge(
            ["insight.outcome": .string("high"), "velocity.n": .int(4)])
        #expect(judgement.letters == "As")
        #expect(judgement.steps == [.block])
    }
}
