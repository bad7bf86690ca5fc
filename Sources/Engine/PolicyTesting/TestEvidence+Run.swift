import Ledger
import Policies
import Time

extension TestEvidence {
    /// Runs the tests that were loaded with a policy, and measures what they cover. `nil` if the
    /// load does not hold the policy with that content, or no test for it.
    public init?(of reference: VersionReference, in load: PolicyLoad, zones: ZoneDatabase) {
        guard let set = load.set,
            let policy = set.policy(reference.name, version: Int(reference.version)),
            set.entries.contains(where: {
                $0.policy.reference == policy.reference && $0.source.digest == reference.digest
            })
        else { return nil }
        let suite = PolicyTestSuite(set, zones: zones, measures: true) { tested, _, _ in
            tested == policy.reference
        }
        let report = suite.run()
        let results = report.results.filter { $0.policy == policy.reference }
        guard !results.isEmpty,
            let coverage = report.coverage.first(where: { $0.policy == policy.reference })
        else { return nil }
        let paths = Set(results.map(\.path))
        let digests = load.files.filter { paths.contains($0.path) }.map(\.digest)
        let failed = results.filter { !$0.failures.isEmpty }
        self.init(
            passed: Int64(results.count - failed.count), failed: Int64(failed.count),
            firstFailure: failed.first.map { "\($0.path):\($0.line) \($0.section) / \($0.name)" },
            digest: SHA256.hash(digests.joined(separator: "\n")).hex,
            rules: Part(coverage.rules), branches: Part(coverage.branches))
    }
}

extension TestEvidence.Part {
    fileprivate init(_ share: PolicyCoverage.Share) {
        self.init(Int64(share.covered), of: Int64(share.total))
    }
}
