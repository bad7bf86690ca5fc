import JSON
import Policies
import Testing
import Time

/// Faults of test files, and what is read from good ones.
@Suite struct TestFileTests {
    static let policy = PolicyLoader.File(
        path: "pay.yaml",
        bytes: Array(
            """
            kind: trust
            name: pay
            version: 1
            categories: [payment]
            attributes:
              amount: {type: double, min: 0}
              note: {type: string, maxLength: 3, optional: true}
            rule:
              match:
                - {id: big, condition: 'attributes.amount > 5.0 || has(attributes.note)', output: {friction: increased}}
                - {id: rest, output: {friction: unchanged}}
            """.utf8))

    static let faults: [(String, [Expected])] = [
        (
            "- {«1»name: t, input: {attributes: {amount: 1}}}",
            [Expected(1, "test.noExpectation", "no expectation")]
        ),
        (
            "- {name: t, input: {attributes: {amount: 1}}, expect: «1»{}}",
            [Expected(1, "test.noExpectation", "no expectation")]
        ),
        (
            "- {name: t, input: {attributes: {amount: 1}}, expect: {friction: unchanged}}\n- {name: «1»t, input: {attributes: {amount: 1}}, expect: {friction: unchanged}}",
            [Expected(1, "policy.duplicateName", "the test `t` is given twice")]
        ),
        (
            "- {name: t, input: {«1»attributes: {note: abc}}, expect: {friction: unchanged}}",
            [Expected(1, "test.badInput", "required attribute `amount`")]
        ),
        (
            "- {name: t, input: {attributes: {amount: 1, «1»amuont: 2}}, expect: {friction: unchanged}}",
            [Expected(1, "test.badInput", "`amuont` is not a declared attribute")]
        ),
        (
            "- {name: t, input: {attributes: {amount: «1»a lot}}, expect: {friction: unchanged}}",
            [Expected(1, "test.badInput", "must be a number")]
        ),
        (
            "- {name: t, input: {attributes: {amount: «1»-1}}, expect: {friction: unchanged}}",
            [Expected(1, "test.badInput", "outside what the policy allows")]
        ),
        (
            "- {name: t, input: {attributes: {amount: 1, note: «1»abcd}}, expect: {friction: unchanged}}",
            [Expected(1, "test.badInput", "too long")]
        ),
        (
            "- {name: t, input: {category: «1»account, attributes: {amount: 1}}, expect: {friction: unchanged}}",
            [Expected(1, "test.badInput", "not for `account`")]
        ),
        (
            "- {name: t, input: {attributes: {amount: 1}}, expect: {matched: [«1»bgi]}}",
            [Expected(1, "test.unknownRule", "no rule `bgi`")]
        ),
        (
            "- {name: t, input: {device: {value: «1»1.5}, attributes: {amount: 1}}, expect: {friction: unchanged}}",
            [Expected(1, "policy.outOfRange", "0 to 1")]
        ),
        (
            "- {name: t, history: [{at: «1»yesterday, attributes: {amount: 1}}], input: {attributes: {amount: 1}}, expect: {friction: unchanged}}",
            [Expected(1, "policy.wrongType", "a time")]
        ),
        (
            "- {name: t, now: 2026-01-01T00:00:00Z, history: [{at: «1»2026-01-01T00:00:01Z, attributes: {amount: 1}}], input: {attributes: {amount: 1}}, expect: {friction: unchanged}}",
            [Expected(1, "test.badInput", "not after `now`")]
        ),
        (
            "- {name: t, input: {attributes: {amount: 1}}, expect: {«1»fricton: unchanged}}",
            [Expected(1, "policy.unknownKey", "fricton")]
        ),
    ]

    @Test(arguments: faults) func reports(_ tests: String, _ expected: [Expected]) {
        let lines = tests.split(separator: "\n").map { "      " + $0 }.joined(separator: "\n")
        expectFindings(
            in: "policy: pay\nsection:\n  - name: s\n    tests:\n\(lines)\n", expected,
            path: "pay_test.yaml", beside: [Self.policy])
    }

    @Test func reportsUnknownPoliciesAndEmptyFiles() {
        expectFindings(
            in: "policy: «1»pya\nsection: []\n",
            [Expected(1, "test.unknownPolicy", "no policy `pya`")], path: "pay_test.yaml",
            beside: [Self.policy])
        expectFindings(
            in: "policy: pay\nsection: «1»[]\n", [Expected(1, "test.noTests", "no tests")],
            path: "pay_test.yaml", beside: [Self.policy])
    }

    @Test func readsATest() throws {
        let load = PolicyLoader().load([
            Self.policy,
            .init(
                path: "pay_test.yaml",
                bytes: Array(
                    """
                    policy: pay
                    section:
                      - name: s
                        tests:
                          - name: t
                            now: 2026-11-30T12:00:00Z
                            history:
                              - {at: -10m, attributes: {amount: 2}}
                              - {at: 2026-11-29T12:00:00Z, category: account, attributes: {anything: [1]}}
                            input: {insight: {outcome: high, score: 0.9}, attributes: {amount: 9, note: no}}
                            expect: {friction: increased, steps: [], holdFor: none, matched: [big], errored: []}
                    """.utf8)),
        ])
        #expect(load.diagnostics == [], "\(load.rendered())")
        guard case .trust(let tests)? = load.set?.tests.first else {
            Issue.record("no tests of a trust policy")
            return
        }
        let test = try #require(tests.sections.first?.tests.first)
        #expect(tests.count == 1)
        #expect(test.history[0].at == Instant(rfc3339: "2026-11-30T11:50:00Z"))
        #expect(test.history[0].category == .payment)
        #expect(test.history[1].category == .account)
        #expect(test.input.insight?.outcome == .high)
        #expect(test.input.insight?.score == 0.9)
        #expect(test.input.deviceValue == nil)
        #expect(test.input.attributes.map(\.value) == [.int(9), .string("no")])
        #expect(test.expectation.friction == .increased)
        #expect(test.expectation.steps == [])
        #expect(test.expectation.holdFor == PolicyTests.Expectation.Hold.none)
        #expect(test.expectation.matched == ["big"])
        #expect(test.expectation.errored == [])
        #expect(test.expectation.notEvaluated == nil)
        #expect(test.position.line == 5)
    }

    @Test func readsStepsOfReviewPrompts() throws {
        let load = PolicyLoader().load([
            .init(
                path: "r.yaml",
                bytes: Array(
                    "{kind: reviewPrompt, name: r, version: 1, reasons: {done: {atLeast: 1}}}".utf8)
            ),
            .init(
                path: "r_test.yaml",
                bytes: Array(
                    """
                    policy: r
                    section:
                      - name: s
                        tests:
                          - name: t
                            subject: {zone: Europe/London}
                            steps:
                              - {at: 2026-03-01T12:00:00Z, donate: done, version: 1.10, expect: ask}
                              - {at: +5s, outcome: requested}
                              - {at: +1d, status: done, version: "2", expect: hold, failing: [reservation], nextEligibleAt: null}
                    """.utf8)),
        ])
        #expect(load.diagnostics == [], "\(load.rendered())")
        guard case .reviewPrompt(let tests, _)? = load.set?.tests.first,
            let steps = tests.sections.first?.tests.first?.steps
        else {
            Issue.record("no tests of a review-prompt policy")
            return
        }
        #expect(steps.count == 3)
        if case .donate(let donation) = steps[0].action {
            #expect(donation.version == "1.10")
        } else {
            Issue.record("the first step donates")
        }
        #expect(steps[1].at == .relative(.seconds(5)))
        #expect(steps[2].expectation.nextEligibleAt == .never)
        #expect(steps[2].line == 10)
    }
}
