import Engine
import Policies

extension PlainTests {
    /// Runs the tests of a plain CEL policy.
    func run(
        _ policy: PlainPolicy, where runs: (_ section: String, _ name: String) -> Bool
    ) -> [PolicyTestResult] {
        sections.flatMap { section in
            section.tests.filter { runs(section.name, $0.name) }.map { test in
                PolicyTestResult(
                    path: path, line: test.position.line, policy: policy.name,
                    section: section.name, name: test.name, failures: policy.failures(of: test))
            }
        }
    }
}
