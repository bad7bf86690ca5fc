import Policies
import Testing
import TrustInsights

/// What rules explain, and how exactly their conditions compare.
@Suite struct ExplanationTests {
    private func bench(_ explanation: String) throws -> PolicyBench {
        try PolicyBench(
            """
            match:
              - id: rule
                condition: attributes.flag
                output: {friction: increased, steps: [warn]}
                explanation: '\(explanation)'
              - output: {friction: unchanged}
            """)
    }

    @Test(arguments: [249, 250, 251]) func areCutAtTheirLimit(_ count: Int) throws {
        // Two scalars for each character: what is cut is counted in scalars.
        let text = String(repeating: "e\u{301}", count: count)
        let judgement = try bench("attributes.s")
            .judge(["attributes.flag": .bool(true), "attributes.s": .string(text)])
        let scalars = judgement.decision.reasons[0].explanation?.unicodeScalars.count
        #expect(scalars == min(2 * count, 500))
        #expect(TrustLimits.explanation == 500)
    }

    @Test func oneThatFailsIsLeftOut() throws {
        let judgement = try bench("string(100 / attributes.a)")
            .judge(["attributes.flag": .bool(true), "attributes.a": .int(0)])
        #expect(judgement.decision.reasons == [Reason(rule: "rule")])
        #expect(!judgement.ruleFailed)
    }

    @Test(arguments: [
        ("string(2.0 * attributes.d)", 0.3, "0.6"), ("string(attributes.d)", 3.7, "3.7"),
        ("string(attributes.d)", 0.1 + 0.2, "0.30000000000000004"),
    ])
    func caseE25_numbersHaveTheirShortestText(expression: String, d: Double, text: String) throws {
        let judgement = try bench(expression)
            .judge(["attributes.flag": .bool(true), "attributes.d": .double(d)])
        #expect(judgement.decision.reasons[0].explanation == text)
    }
}

/// Numbers in conditions keep their exact values.
@Suite struct ConditionNumberTests {
    @Test(arguments: [
        ("dyn(9007199254740993) == 9007199254740992.0", false),
        ("dyn(9223372036854775807) == 9223372036854775808.0", false),
        ("9007199254740993 > 9007199254740992", true),
        ("9007199254740993 > 9007199254740992.0", true),
        ("attributes.a == 5", true), ("dyn(attributes.a) == 5.0", true),
        ("attributes.d == 5.0", true), ("dyn(attributes.d) == 5", true),
    ])
    func caseE22_E23_E27_comparisonsDoNotRound(condition: String, holds: Bool) throws {
        // `flag` keeps the condition from being a constant, which would be refused.
        let bench = try PolicyBench(
            """
            match:
              - id: rule
                condition: attributes.flag && \(condition)
                output: {friction: increased, steps: [warn]}
              - output: {friction: unchanged}
            """)
        let judgement = try bench.judge([
            "attributes.flag": .bool(true), "attributes.a": .int(5), "attributes.d": .double(5),
        ])
        #expect(judgement.letters == (holds ? "ms" : "nm"))
    }

    @Test(arguments: [
        ("attributes.a * attributes.b > 0", "Es"), ("attributes.a + attributes.a > 0", "Es"),
        ("-(-attributes.a - 1) > 0", "Es"), ("int(attributes.d) > 0", "Es"),
        ("attributes.a % (attributes.b - 2) == 0", "Es"),
        ("now + duration(attributes.s) > now", "Es"),
        // Doubles have an infinity of their own.
        ("attributes.d * attributes.d > 1.0e308", "ms"),
    ])
    func caseE26_whatLeavesTheRangeIsAVerdictNotAnEnd(condition: String, letters: String) throws {
        let bench = try PolicyBench(
            """
            match:
              - id: rule
                condition: \(condition)
                output: {friction: increased, steps: [warn]}
              - output: {friction: unchanged}
            """)
        let judgement = try bench.judge([
            "attributes.a": .int(.max), "attributes.b": .int(2), "attributes.d": .double(1e300),
            "attributes.s": .string("10000000000000000s"),
        ])
        #expect(judgement.letters == letters)
    }
}

@Suite struct VerdictTests {
    @Test(arguments: [
        (Verdict.matched, "m", true, "matched"), (.notMatched, "n", false, "notMatched"),
        (.skipped, "s", false, "notEvaluated"), (.missing, "a", false, "notEvaluated"),
        (.matchedOnMissing, "A", true, "matched"), (.failed, "e", false, "error"),
        (.matchedOnFailure, "E", true, "error"),
    ])
    func lettersAreStable(verdict: Verdict, letter: String, isMatch: Bool, name: String) {
        #expect(Verdict.letters([verdict, verdict]) == letter + letter)
        #expect(verdict.isMatch == isMatch)
        #expect(verdict.name == name)
    }
}
