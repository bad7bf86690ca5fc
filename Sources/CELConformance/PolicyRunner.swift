import CEL
import Policies
public import Time

/// Runs the cases of the suite of CEL policies.
public struct PolicyConformanceRunner: Sendable {
    /// Zones for the cases that name one.
    public var zones: ZoneDatabase

    /// A runner that looks zones up here.
    public init(zones: ZoneDatabase) { self.zones = zones }

    /// What became of one check of a case.
    public struct Check: Sendable {
        /// `case/compile`, or `case/section/test`.
        public let id: String
        /// What became of it.
        public let outcome: ConformanceOutcome
    }

    /// The functions that the suite's environments declare and leave to whoever runs it.
    private static let functions = [
        Function(name: "locationCode", overloads: []) { arguments in
            switch arguments.first {
            case .string("10.0.0.1")?: .success(.string("us"))
            case .string("10.0.0.2")?: .success(.string("de"))
            default: .success(.string("ir"))
            }
        }
    ]

    /// The limits on variables and nested rules for the refusals of the cases that are about them.
    private static let nestedLimits = ["limits": [2, 5]]

    /// Runs a case with each of its environments.
    public func run(_ policyCase: PolicyCase, _ expectations: PolicyExpectations) -> [Check] {
        let expected = expectations.expected(of: policyCase.name)
        let environments = policyCase.environments
        return environments.flatMap { environment in
            let names = environment.map(\.path).joined(separator: "+")
            let suffix = environments.count > 1 ? " (\(names))" : ""
            return checks(policyCase, environment, expected).map {
                Check(id: $0.id + suffix, outcome: $0.outcome)
            }
        }
    }

    private func checks(
        _ policyCase: PolicyCase, _ environment: [PolicyLoader.File],
        _ expected: PolicyExpectations.Case
    ) -> [Check] {
        let id = policyCase.name + "/compile"
        guard let limits = Self.nestedLimits[policyCase.name] else {
            if let findings = expected.refusals.first {
                return [Check(id: id, outcome: judge(load(policyCase, environment), findings))]
            }
            return accepted(policyCase, environment, expected)
        }
        let refusals = zip(limits, expected.refusals).map { limit, findings in
            let load = load(policyCase, environment, nestedLimit: limit)
            return Check(id: "\(id) within \(limit)", outcome: judge(load, findings))
        }
        return refusals + accepted(policyCase, environment, expected)
    }

    private func load(
        _ policyCase: PolicyCase, _ environment: [PolicyLoader.File], nestedLimit: Int? = nil
    ) -> PolicyLoad {
        var loader = PolicyLoader(zones: zones)
        loader.plain.functions = Self.functions
        loader.plain.readsAdmissionPolicies = true
        if let nestedLimit { loader.plain.nestedLimit = nestedLimit }
        let files = policyCase.files.filter {
            [PolicyCase.policyFile, "tests.yaml"].contains($0.path)
        }
        return loader.load(files + environment)
    }

    // MARK: - Refused policies

    private func judge(
        _ load: PolicyLoad, _ expected: [PolicyExpectations.Finding]
    ) -> ConformanceOutcome {
        let found = load.diagnostics.filter {
            $0.severity == .error && $0.file == PolicyCase.policyFile
        }
        let isSame =
            found.count == expected.count
            && zip(found, expected).allSatisfy { found, expected in
                found.place == SourcePosition(line: expected.line, column: expected.column)
                    && (expected.isSyntax
                        ? found.code.hasPrefix("cel.syntax") : found.message == expected.message)
            }
        if isSame { return .passed }
        return .failed(
            expected: Self.lines(expected.map(\.text)),
            actual: Self.lines(
                found.map { "\($0.place.line):\($0.place.column): \($0.message) [\($0.code)]" }))
    }

    private static func lines(_ lines: [String]) -> String {
        lines.isEmpty ? "no finding" : lines.map { "\n    " + $0 }.joined()
    }

    // MARK: - Accepted policies

    private func accepted(
        _ policyCase: PolicyCase, _ environment: [PolicyLoader.File],
        _ expected: PolicyExpectations.Case
    ) -> [Check] {
        let load = load(policyCase, environment)
        let id = policyCase.name + "/compile"
        guard let set = load.set, case .plain(let policy)? = set.policies.first else {
            let outcome = ConformanceOutcome.failed(
                expected: "no finding",
                actual: Self.lines(
                    load.diagnostics.filter { $0.severity == .error }.map(\.headline)))
            return [Check(id: id, outcome: outcome)]
        }
        let type = "\(policy.resultType)"
        let isAsExpected = expected.resultType ?? type == type
        var checks = [
            Check(
                id: id,
                outcome: isAsExpected
                    ? .passed
                    : .failed(
                        expected: "a result of type \(expected.resultType ?? "")", actual: type))
        ]
        for (matchID, text) in expected.outputs {
            let outcome = policy.evaluate([("match_id", .string(matchID))])
            checks.append(
                Check(
                    id: "\(policyCase.name)/\(matchID)",
                    outcome: outcome.map { $0 == .string(text) } == .success(true)
                        ? .passed : .failed(expected: text, actual: "\(outcome)")))
        }
        for case .plain(let tests) in set.tests {
            for section in tests.sections {
                for test in section.tests {
                    let failures = policy.failures(of: test)
                    checks.append(
                        Check(
                            id: "\(policyCase.name)/\(section.name)/\(test.name)",
                            outcome: failures.isEmpty
                                ? .passed
                                : .failed(
                                    expected: "the test to pass",
                                    actual: failures.joined(separator: "; "))))
                }
            }
        }
        return checks
    }
}
