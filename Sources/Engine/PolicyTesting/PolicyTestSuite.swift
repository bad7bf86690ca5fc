import CEL
import JSON
import Policies
import ReviewPrompts
import Synchronization
import Time

/// What running tests gave.
public struct PolicyTestReport: Sendable {
    /// One for each test that ran, in the order of the files.
    public var results: [PolicyTestResult]
    /// One for each policy of the set, in the order of the files, those without a test as well;
    /// empty if nothing was measured.
    public var coverage: [PolicyCoverage]

    /// Whether a test failed.
    public var hasFailed: Bool { results.contains { !$0.failures.isEmpty } }
}

/// The tests of a set of policies, ready to run, one by one or all.
///
/// ```swift
/// let report = PolicyTestSuite(set, zones: zones, measures: true).run()
/// for policy in report.coverage { print(policy.policy, policy.branches.percent) }
/// ```
public struct PolicyTestSuite: Sendable {
    /// What one test gave.
    public struct CaseRun: Sendable {
        /// Whether it passed.
        public var result: PolicyTestResult
        fileprivate var policy: Int
        fileprivate var hits: CoverageHits?
    }

    private enum Test: Sendable {
        case trust(PolicyTests.Test, TrustPolicy)
        case reviewPrompt(ReviewPromptTests.Test, ReviewPromptPolicy)
        case plain(PlainTests.Test, PlainPolicy)
    }

    private struct Case: Sendable {
        var test: Test
        /// The place of the policy in the set.
        var policy: Int
        var path: String
        var section: String

        var name: String {
            switch test {
            case .trust(let test, _): test.name
            case .reviewPrompt(let test, _): test.name
            case .plain(let test, _): test.name
            }
        }
    }

    private let set: PolicySet
    private let zones: ZoneDatabase
    private let cases: [Case]
    private let traced: [TracedPolicy]?
    private let trials: [Int: Trial]

    /// The tests of a set.
    ///
    /// - Parameters:
    ///   - measures: whether coverage is measured, for which conditions are evaluated again.
    ///   - runs: says by policy (`name@version`), section and test name which tests run; all if
    ///     left out.
    public init(
        _ set: PolicySet, zones: ZoneDatabase, measures: Bool = false,
        where runs: (_ policy: String, _ section: String, _ test: String) -> Bool = { _, _, _ in
            true
        }
    ) {
        self.set = set
        self.zones = zones
        cases = Self.cases(of: set).filter {
            runs(set.policies[$0.policy].reference, $0.section, $0.name)
        }
        traced =
            measures
            ? set.policies.map { policy in
                switch policy {
                case .trust(let policy): TracedPolicy(policy)
                case .reviewPrompt(let policy): TracedPolicy(policy)
                case .plain(let policy): TracedPolicy(policy)
                }
            } : nil
        var trials: [Int: Trial] = [:]
        for (index, policy) in set.policies.enumerated() {
            if case .trust(let policy) = policy { trials[index] = Trial(policy, in: set) }
        }
        self.trials = trials
    }

    /// How many tests there are.
    public var count: Int { cases.count }

    /// Runs all tests, one after the other.
    public func run() -> PolicyTestReport { report((0..<count).map(run)) }

    /// Runs one test. Any number of threads may run tests at once.
    public func run(_ index: Int) -> CaseRun {
        let test = cases[index]
        var hits: CoverageHits? = traced.map { _ in CoverageHits() }
        hits?.countTest()
        let result: PolicyTestResult
        switch test.test {
        case .trust(let own, let policy): result = run(own, policy, test, &hits)
        case .reviewPrompt(let own, let policy): result = run(own, policy, test, &hits)
        case .plain(let own, let policy): result = run(own, policy, test, &hits)
        }
        return CaseRun(result: result, policy: test.policy, hits: hits)
    }

    /// Puts together what the tests gave, in whatever order they ran.
    public func report(_ runs: [CaseRun]) -> PolicyTestReport {
        var report = PolicyTestReport(results: runs.map(\.result), coverage: [])
        guard let traced else { return report }
        var hits = [CoverageHits](repeating: CoverageHits(), count: traced.count)
        for run in runs { run.hits.map { hits[run.policy].add($0) } }
        for (index, entry) in set.entries.enumerated() {
            report.coverage.append(PolicyCoverage(entry, traced[index], hits[index]))
        }
        return report
    }

    // MARK: Finding tests

    private static func cases(of set: PolicySet) -> [Case] {
        set.tests.flatMap { tests -> [Case] in
            guard let policy = set.policy(tests.policy),
                let place = set.policies.firstIndex(where: {
                    $0.reference == policy.reference && $0.kind == policy.kind
                })
            else { return [] }
            func cases(_ section: String, _ path: String, _ tests: [Test]) -> [Case] {
                tests.map { Case(test: $0, policy: place, path: path, section: section) }
            }
            switch (tests, policy) {
            case (.trust(let tests), .trust(let policy)):
                return tests.sections.flatMap { section in
                    cases(section.name, tests.path, section.tests.map { .trust($0, policy) })
                }
            case (.reviewPrompt(let tests, let path), .reviewPrompt(let policy)):
                return tests.sections.flatMap { section in
                    cases(section.name, path, section.tests.map { .reviewPrompt($0, policy) })
                }
            case (.plain(let tests), .plain(let policy)):
                return tests.sections.flatMap { section in
                    cases(section.name, tests.path, section.tests.map { .plain($0, policy) })
                }
            default: return []
            }
        }
    }

    // MARK: Running

    private func run(
        _ test: PolicyTests.Test, _ policy: TrustPolicy, _ own: Case, _ hits: inout CoverageHits?
    ) -> PolicyTestResult {
        var result = PolicyTestResult(
            path: own.path, line: test.position.line, policy: policy.reference,
            section: own.section, name: test.name, failures: [])
        guard let trial = trials[own.policy] else { return result }
        do throws(Refusal) {
            let record = try trial.judge(test)
            if let traced { hits?.add(traced[own.policy].run(record, of: policy)) }
            result.failures = test.expectation.failures(of: record, policy: policy)
            if !result.failures.isEmpty {
                result.rules = trial.rules(of: record)
                result.trace = trial.trace(of: record)
            }
        } catch {
            let place = error.field.map { "\($0): " } ?? ""
            result.failures = ["the input is refused: \(place)\(error.detail)"]
        }
        return result
    }

    private func run(
        _ test: ReviewPromptTests.Test, _ policy: ReviewPromptPolicy, _ own: Case,
        _ hits: inout CoverageHits?
    ) -> PolicyTestResult {
        let seen = Mutex<[(expression: Int, trace: [TraceEvent])]>([])
        var observed = policy
        if let traced = traced?[own.policy] {
            for index in observed.reasons.indices {
                guard let condition = observed.reasons[index].when,
                    let place = traced.place(ofReason: observed.reasons[index].name)
                else { continue }
                let program = traced.programs[place]
                observed.reasons[index].when = condition.observed { facts in
                    guard let result = condition.trace(facts, by: program) else { return }
                    seen.withLock { $0.append((place, result.trace)) }
                }
            }
        }
        let tests = ReviewPromptTests(
            policy: policy.reference,
            sections: [ReviewPromptTests.Section(name: own.section, tests: [test])])
        let results = ReviewPrompts.run(tests, policy: observed, zones: zones)
        let failures = results.flatMap(\.failures)
        if let traced {
            for judged in results.flatMap(\.judged) { hits?.add(traced[own.policy].run(judged)) }
            for (expression, trace) in seen.withLock({ $0 }) { hits?.add(expression, trace) }
        }
        var result = PolicyTestResult(
            path: own.path, line: failures.first?.line ?? test.steps.first?.line ?? 0,
            policy: policy.reference, section: own.section, name: test.name,
            failures: failures.map { failure in
                (failure.step.map { "step \($0 + 1): " } ?? "") + failure.message
            })
        if let step = failures.first?.step,
            let judged = results.flatMap(\.judged).first(where: { $0.step == step })
        {
            result.rules = .array(judged.verdicts.map(\.json))
        }
        return result
    }

    private func run(
        _ test: PlainTests.Test, _ policy: PlainPolicy, _ own: Case, _ hits: inout CoverageHits?
    ) -> PolicyTestResult {
        var result = PolicyTestResult(
            path: own.path, line: test.position.line, policy: policy.name,
            section: own.section, name: test.name, failures: policy.failures(of: test))
        guard traced != nil || !result.failures.isEmpty,
            case .success(let inputs) = policy.inputs(of: test)
        else { return result }
        if let traced { hits?.add(traced[own.policy].run(policy, inputs.values)) }
        if !result.failures.isEmpty { result.trace = PolicyTrace(policy, inputs.values) }
        return result
    }
}

extension TracedPolicy {
    /// The expression that says which donations of a reason count.
    fileprivate func place(ofReason name: String) -> Int? {
        items.first { $0.kind == .reason && $0.name == name }?.expression(.when)
    }
}

extension PolicySet.Tests {
    /// The policy under test, as the file names it.
    fileprivate var policy: String {
        switch self {
        case .trust(let tests): tests.policy
        case .reviewPrompt(let tests, _): tests.policy
        case .plain(let tests): tests.policy
        }
    }
}
