import Engine
import Policies
import Testing
import Time

/// What tests have seen of a policy.
@Suite struct CoverageTests {
    /// A plain policy and its tests, which need no expectation to be met.
    private static func plain(_ policy: String, inputs: [String], folder: String = "p") throws
        -> PolicyCoverage
    {
        var tests = "section:\n  - name: s\n    tests:\n"
        for (index, input) in inputs.enumerated() {
            tests += "      - {name: t\(index), input: {\(input)}, output: {value: 1}}\n"
        }
        return try measure([
            ("\(folder)/policy.yaml", policy), ("\(folder)/tests.yaml", tests),
        ]).coverage[0]
    }

    private static func measure(_ files: [(String, String)]) throws -> PolicyTestReport {
        let load = PolicyLoader().load(
            files.map { PolicyLoader.File(path: $0.0, bytes: Array($0.1.utf8)) })
        let set = try #require(load.set, "\(load.rendered())")
        return PolicyTestSuite(set, zones: .utc, measures: true).run()
    }

    private static func expression(_ text: String, inputs: [String]) throws -> PolicyCoverage {
        try plain(
            "name: p\nrule:\n  match:\n    - output: >-\n        \(text)\n", inputs: inputs)
    }

    /// One evaluation of a straight expression reaches every node there is: none is counted that
    /// nothing evaluates.
    @Test(arguments: [
        "1 + 2", "a.b.c", "a[0] + a[1]", "has(a.b)", "a.?b.orValue(3)", "[a, [b], {'k': c}]",
        "math.greatest(a, b)", "a.map(x, x + 1)", "a.filter(x, x > 1).map(x, x * 2)",
        "cel.bind(x, a, x + x)", "type(a) == int", "'%s %d'.format([a, b])", "a in [1, 2, 3]",
        "a.matches('^[a-z]+$')", "-a", "string(a) + b", "timestamp(a) - duration('1h')",
        "{'x': a}.x", "a.exists(x, x == 1)", "a.transformList(i, v, i + v)", "a.sortBy(x, -x)",
        "optional.of(a).optMap(v, v + 1)", "size(a) + a.size()", "base64.encode(b'a') + a",
        "a == 1 ? b : c", "!a", "sets.contains(a, [1])", "a.all(x, y, x < y)", "lists.range(a)",
    ])
    func aStraightExpressionIsReachedWhole(text: String) throws {
        let values = [
            "[1, 2]", "1", "'x'", "{b: {c: 1}}", "true", "'2026-01-01T00:00:00Z'", "2",
        ]
        let inputs = values.flatMap { a in
            values.map { "a: {value: \(a)}, b: {value: \($0)}, c: {value: 2}" }
        }
        let coverage = try Self.expression(text, inputs: inputs)
        let dark = coverage.parts.flatMap(\.sites).filter { $0.evaluated == 0 }
        #expect(dark.isEmpty, "\(dark.map(\.text))")
        #expect(coverage.nodes.total > 0)
    }

    /// What each condition has been, by its text.
    private static func lacks(_ coverage: PolicyCoverage) -> [String: String] {
        Dictionary(
            coverage.parts.flatMap(\.sites).compactMap { site in
                site.lack.map { (site.text, $0.rawValue) }
            }, uniquingKeysWith: { first, _ in first })
    }

    @Test func whatAShortCutPassedOverIsNotSeen() throws {
        let coverage = try Self.expression(
            "a && (b || !c) ? 'x' : 'y'",
            inputs: ["a: {value: true}, b: {value: true}, c: {value: true}"])
        #expect(
            Self.lacks(coverage) == [
                "a && (b || !c)": "never false", "a": "never false", "b || !c": "never false",
                "b": "never false", "!c": "never evaluated", "c": "never evaluated",
                "'y'": "never evaluated",
            ])
        // a && …, a, b || …, b, !c, c, each true and false.
        #expect(coverage.branches == .init(covered: 4, total: 12))
    }

    @Test func bothOutcomesOfEveryTermAreAllThereIs() throws {
        let coverage = try Self.expression(
            "a && (b || !c) ? 'x' : 'y'",
            inputs: [
                "a: {value: true}, b: {value: true}, c: {value: true}",
                "a: {value: true}, b: {value: false}, c: {value: true}",
                "a: {value: true}, b: {value: false}, c: {value: false}",
                "a: {value: false}, b: {value: false}, c: {value: false}",
            ])
        #expect(Self.lacks(coverage).isEmpty)
        #expect(coverage.branches == .init(covered: 12, total: 12))
        #expect(coverage.nodes.percent == 100)
    }

    @Test func anErrorIsNeitherTrueNorFalse() throws {
        let coverage = try Self.expression(
            "a / b > 1 ? 'x' : 'y'", inputs: ["a: {value: 1}, b: {value: 0}"])
        #expect(Self.lacks(coverage)["a / b > 1"] == "never true or false")
    }

    /// Without an environment nothing is known of types.
    @Test func aConditionIsOneOfWhateverType() throws {
        let coverage = try Self.plain(
            "name: p\nrule: {match: [{condition: a.b, output: '1'}, {condition: 'true', output: '2'}]}",
            inputs: ["a: {value: {b: true}}"])
        #expect(coverage.branches == .init(covered: 1, total: 2))
        #expect(
            Self.lacks(coverage) == [
                "a.b": "never false", "true": "never evaluated", "2": "never evaluated",
            ])
    }

    @Test func aVariableThatNothingReadIsNotSeen() throws {
        let policy = """
            name: p
            rule:
              variables:
                - {name: first, expression: a > 1}
                - {name: second, expression: variables.first && b > 1}
              match:
                - {condition: c && variables.second, output: "1"}
                - {output: "2"}
            """
        let unread = try Self.plain(
            policy, inputs: ["a: {value: 2}, b: {value: 2}, c: {value: false}"])
        let names = unread.parts.filter { $0.kind == .variable }
        #expect(names.map(\.name) == ["variables.first", "variables.second"])
        #expect(names.allSatisfy { $0.nodes.covered == 0 })
        let read = try Self.plain(
            policy, inputs: ["a: {value: 2}, b: {value: 2}, c: {value: true}"])
        #expect(read.parts.filter { $0.kind == .variable }.allSatisfy { $0.nodes.percent == 100 })
        #expect(read.rules == .init(covered: 1, total: 2))
    }

    /// The same policy in three layouts, under three paths.
    @Test func caseE44_layoutAndPathDoNotCount() throws {
        let layouts = [
            """
            name: p
            rule: {variables: [{name: v, expression: "a > 1 && b"}], match: [{condition: "variables.v || c", output: "1"}, {output: "2"}]}
            """,
            """
            name: p
            rule:
              variables:
                - name: v
                  expression: a > 1 && b
              match:
                - condition: variables.v || c
                  output: "1"
                - output: "2"
            """,
            """
            name: p
            rule:
              variables:
                - name: v
                  expression: >
                    (a > 1)

                    &&   b
              match:
                - condition: |-
                    variables.v
                      || c   // either
                  output: "1"
                - output: >-
                    2
            """,
        ]
        let inputs = [
            "a: {value: 2}, b: {value: true}, c: {value: false}",
            "a: {value: 1}, b: {value: true}, c: {value: false}",
        ]
        let folders = ["p", "/tmp/some/where/p", "parent/folder/p"]
        var figures: Set<[PolicyCoverage.Share]> = []
        for layout in layouts {
            for folder in folders {
                let coverage = try Self.plain(layout, inputs: inputs, folder: folder)
                figures.insert([coverage.rules, coverage.nodes, coverage.branches])
            }
        }
        #expect(
            figures == [
                [
                    .init(covered: 2, total: 2), .init(covered: 9, total: 9),
                    .init(covered: 10, total: 12),
                ]
            ])
    }

    @Test func limitsAndReasonsCountAsTheyPassAndFail() throws {
        let policy = """
            kind: reviewPrompt
            name: r
            version: 1
            limits: [{name: settled, sinceInstall: 2d}, {name: pace, atLeast: 7d}]
            reasons:
              saved: {atLeast: 2, when: donation.attributes.size > 3 || donation.attributes.fast}
              both: {any: [{saved: 1}, {saved: 9}]}
            """
        let tests = """
            policy: r
            section:
              - name: s
                tests:
                  - name: t
                    subject: {installedAt: 2026-01-01T00:00:00Z}
                    steps:
                      - {at: 2026-02-01T00:00:00Z, donate: saved, attributes: {size: 4}, version: "1", expect: hold}
                      - {at: +1m, status: both, version: "1", expect: ask}
            """
        let coverage = try Self.measure([("r.yaml", policy), ("r_test.yaml", tests)]).coverage[0]
        let parts = Dictionary(uniqueKeysWithValues: coverage.parts.map { ($0.name, $0) })
        #expect(parts.keys.sorted() == ["both", "pace", "saved", "settled"])
        #expect(parts["settled"]?.matched == 0, "a limit that never held")
        #expect(parts["settled"]?.branches == .init(covered: 1, total: 2))
        #expect(parts["saved"]?.matched == 0, "one of two")
        #expect(parts["both"]?.matched == 1)
        // It passes; 1 is met and 9 is not.
        #expect(parts["both"]?.branches == .init(covered: 3, total: 6))
        // The verdict failed; of the condition the whole and its first term were true.
        #expect(parts["saved"]?.branches == .init(covered: 3, total: 8))
        #expect(coverage.rules == .init(covered: 1, total: 4))
    }

    @Test(.enabled(if: Shipped.haveZones, "there are no time zones"))
    func shippedPoliciesAreCovered() throws {
        let load = PolicyLoader().load(
            try Shipped.files().map { PolicyLoader.File(path: $0.path, bytes: $0.bytes) })
        let set = try #require(load.set)
        let report = PolicyTestSuite(set, zones: try Shipped.zones(), measures: true).run()
        #expect(!report.hasFailed, "\(report.results.filter { !$0.failures.isEmpty })")
        for policy in report.coverage {
            #expect(policy.rules.percent == 100, "\(policy.policy)")
            #expect(policy.branches.percent >= 95, "\(policy.policy)")
        }
    }
}
