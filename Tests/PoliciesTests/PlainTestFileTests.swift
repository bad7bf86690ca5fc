import Policies
import Testing

/// The forms of `tests.yaml` beside a plain policy.
@Suite struct PlainTestFileTests {
    private static let policy = """
        name: p
        rule:
          match:
            - {condition: x > 10, output: string(10 / (x - 11))}
            - {condition: x > 1, output: "'a'"}

        """
    private static let config = "variables: [{name: x, type: int}]"

    private func load(_ test: String) -> PolicyLoad {
        plain(
            Self.policy, config: Self.config,
            tests: "section: [{name: s, tests: [{name: t, \(test)}]}]")
    }

    /// A test, and a part of what it finds wrong; nil where it passes.
    static let cases: [(test: String, failure: String?)] = [
        ("input: {x: {value: 2}}, output: {value: a}", nil),
        ("input: {x: {expr: 1 + 1}}, output: {expr: \"'a'\"}", nil),
        ("input: {x: {expr: 2}}, output: {expr: optional.of('a')}", nil),
        ("input: {x: {value: 1}}, output: {expr: optional.none()}", nil),
        ("context_expr: \"{'x': 2}\", output: {value: a}", nil),
        ("context_expr: \"{'x': 1}\", input: {x: {value: 2}}, output: {value: a}", nil),
        ("input: {x: {value: 11}}, output: {error_set: [division by zero, no such key]}", nil),
        ("input: {x: {value: 11}}, output: {error_set: []}", nil),
        ("output: {error_set: []}", nil),
        ("input: {x: {value: 2}}, output: {value: b}", "expected \"b\", got optional.of(\"a\")"),
        ("input: {x: {value: 2}}, output: {expr: optional.none()}", "expected optional.none()"),
        ("input: {x: {value: 1}}, output: {value: a}", "got optional.none()"),
        ("input: {x: {value: 2}}, output: {error_set: []}", "expected an error, got"),
        ("input: {x: {value: 11}}, output: {error_set: [no such key]}", "expected an error like"),
        ("input: {x: {value: 11}}, output: {value: a}", "the policy failed: division by zero"),
        ("input: {x: {expr: y}}, output: {value: a}", "input `x`: `y`: undeclared reference"),
        ("context_expr: \"1\", output: {value: a}", "`context_expr` gives 1"),
    ]

    @Test(arguments: cases) func finds(_ test: String, _ failure: String?) throws {
        let load = load(test)
        let policy = try #require(load.plainPolicy, "\(load.rendered())")
        guard case .plain(let tests)? = load.set?.tests.first,
            let only = tests.sections.first?.tests.first
        else {
            Issue.record("the tests were not read")
            return
        }
        let failures = policy.failures(of: only)
        if let failure {
            #expect(failures.count == 1)
            #expect(failures.first?.contains(failure) ?? false, "\(failures)")
        } else {
            #expect(failures == [])
        }
    }

    @Test func unknownsCannotBeTested() {
        let load = load("output: {unknown_set: [1]}")
        #expect(load.diagnostics.map(\.code) == ["policy.invalidValue"])
        #expect(load.diagnostics.first?.message.contains("`unknown_set`") ?? false)
    }
}
