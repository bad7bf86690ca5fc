import Ledger
import Policies
import ReviewPrompts
import Time

extension TestEvidence {
    /// Runs the tests that were loaded with a policy. `nil` if the load does not hold the policy
    /// with that content, or no test for it.
    public init?(of reference: VersionReference, in load: PolicyLoad, zones: ZoneDatabase) {
        guard let set = load.set,
            let policy = set.policy(reference.name, version: Int(reference.version)),
            set.entries.contains(where: {
                $0.policy.reference == policy.reference && $0.source.digest == reference.digest
            })
        else { return nil }
        let tests = set.tests.filter { set.policy($0.policy)?.reference == policy.reference }
        guard !tests.isEmpty else { return nil }
        let paths = Set(tests.map(\.path))
        let digests = load.files.filter { paths.contains($0.path) }.map(\.digest)
        self.init(
            passed: 0, failed: 0, digest: SHA256.hash(digests.joined(separator: "\n")).hex)
        for tests in tests { add(tests.results(of: policy, in: set, zones: zones)) }
    }

    private mutating func add(_ results: [PolicyTestResult]) {
        for result in results {
            if result.failures.isEmpty {
                passed += 1
            } else {
                failed += 1
                firstFailure =
                    firstFailure
                    ?? "\(result.path):\(result.line) \(result.section) / \(result.name)"
            }
        }
    }
}

extension PolicySet.Tests {
    /// The policy under test, by name or `name@version`.
    fileprivate var policy: String {
        switch self {
        case .trust(let tests): tests.policy
        case .reviewPrompt(let tests, _): tests.policy
        case .plain(let tests): tests.policy
        }
    }

    fileprivate var path: String {
        switch self {
        case .trust(let tests): tests.path
        case .reviewPrompt(_, let path): path
        case .plain(let tests): tests.path
        }
    }

    /// Runs the tests; none for a plain policy, which cannot act.
    fileprivate func results(of policy: Policy, in set: PolicySet, zones: ZoneDatabase)
        -> [PolicyTestResult]
    {
        switch (self, policy) {
        case (.trust(let tests), .trust(let policy)):
            return tests.run(policy, in: set) { _, _ in true }
        case (.reviewPrompt(let tests, let path), .reviewPrompt(let policy)):
            return ReviewPrompts.run(tests, policy: policy, zones: zones).map { result in
                PolicyTestResult(
                    path: path, line: result.failures.first?.line ?? 0, policy: policy.reference,
                    section: result.section, name: result.name,
                    failures: result.failures.map(\.message))
            }
        default: return []
        }
    }
}
