import Engine
import Policies
import Testing
import Time

/// How rules came to their verdicts.
@Suite struct PolicyTraceTests {
    private static func trace(_ rule: String, input: String) throws -> PolicyTrace {
        let tests = """
            policy: bench
            section:
              - name: s
                tests:
                  - {name: t, input: {attributes: {\(input)}}, expect: {notify: [nobody-at-all]}}
            """
        let files = [
            ("model.yaml", PolicyBench.model), ("policy.yaml", PolicyBench.source(rule)),
            ("policy_test.yaml", tests),
        ]
        let load = PolicyLoader().load(
            files.map { PolicyLoader.File(path: $0.0, bytes: Array($0.1.utf8)) })
        let set = try #require(load.set, "\(load.rendered())")
        let report = PolicyTestSuite(set, zones: .utc).run()
        return try #require(report.results.first?.trace)
    }

    /// `text = values` of a tree, depth first.
    private static func lines(_ node: PolicyTrace.Node?) -> [String] {
        guard let node else { return [] }
        let value = node.isEvaluated ? node.values.joined(separator: ", ") : "not evaluated"
        return ["\(node.text) = \(value)"] + node.children.flatMap(lines)
    }

    @Test func aShortCutIsMarkedAndVariablesAreOpened() throws {
        let trace = try Self.trace(
            """
            variables: [{name: big, expression: attributes.a >= 5}]
            match:
              - {id: first, condition: "variables.big && attributes.b > 1", output: {friction: unchanged}}
              - {id: second, condition: "attributes.flag || variables.big", output: {friction: unchanged}}
              - {id: third, output: {friction: unchanged}}
            """, input: "a: 3, b: 2, flag: true")
        #expect(
            trace.rules.map { "\($0.name) \($0.verdict)" } == [
                "first notMatched", "second matched", "third notEvaluated",
            ])
        #expect(
            Self.lines(trace.rules[0].condition) == [
                "variables.big && attributes.b > 1 = false", "variables.big = false",
                "attributes.a >= 5 = false", "attributes.a = 3", "attributes.b > 1 = not evaluated",
                "attributes.b = not evaluated",
            ])
        #expect(
            Self.lines(trace.rules[1].condition) == [
                "attributes.flag || variables.big = true", "attributes.flag = true",
                "variables.big = not evaluated",
            ])
        #expect(trace.rules[2].cause == "an earlier rule decided")
    }

    @Test func caseE18_everyRuleThatReadsAVariableNamesWhatItLacks() throws {
        let trace = try Self.trace(
            """
            strategy: strictest
            variables: [{name: big, expression: attributes.a >= 5}]
            match:
              - {id: one, condition: variables.big, output: {friction: unchanged}}
              - {id: two, condition: "variables.big && attributes.b == 1", output: {friction: unchanged}}
              - {id: three, condition: "!variables.big", output: {friction: increased, steps: [warn]}}
              - {id: rest, output: {friction: unchanged}}
            """, input: "b: 1")
        #expect(
            trace.rules.prefix(3).map(\.missing) == Array(repeating: ["attributes.a"], count: 3))
        #expect(
            trace.rules.map(\.verdict) == [
                "notEvaluated", "notEvaluated", "matched", "notEvaluated",
            ])
        #expect(trace.rules[2].cause?.contains("`onMissing` says match") == true)
    }

    /// The traced form must say what the usual one decided by.
    @Test func whatIsShownIsWhatWasDecidedBy() throws {
        let load = PolicyLoader().load(
            try Shipped.files().map { PolicyLoader.File(path: $0.path, bytes: $0.bytes) })
        let set = try #require(load.set)
        var compared = 0
        for case .trust(let tests) in set.tests {
            guard case .trust(let policy)? = set.policy(tests.policy) else { continue }
            let trial = Trial(policy, in: set)
            for test in tests.sections.flatMap(\.tests) {
                for rule in trial.trace(of: try trial.judge(test)).rules {
                    guard let condition = rule.condition else { continue }
                    switch rule.verdict {
                    case "matched" where rule.missing.isEmpty:
                        #expect(condition.values == ["true"], "\(test.name): \(rule.name)")
                    case "notMatched":
                        #expect(condition.values == ["false"], "\(test.name): \(rule.name)")
                    default: #expect(condition.isError || !condition.isEvaluated)
                    }
                    compared += 1
                }
            }
        }
        #expect(compared > 200)
    }

    @Test func aMacroShowsTheValueOfEachRound() throws {
        let trace = try Self.trace(
            """
            match:
              - {id: one, condition: "[1, 2, 3].exists(x, x == attributes.a)", output: {friction: unchanged}}
              - {id: rest, output: {friction: unchanged}}
            """, input: "a: 2")
        #expect(
            Self.lines(trace.rules[0].condition) == [
                "[1, 2, 3].exists(x, x == attributes.a) = true", "x == attributes.a = false, true",
                "x = 1, 2", "attributes.a = 2, 2",
            ])
    }
}
