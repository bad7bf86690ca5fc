import JSON
import Ledger

/// What keeps an untried policy from acting. Each can be overridden, by its name only.
public enum PolicyGuard: String, Sendable, CaseIterable {
    /// No test of the policy was loaded.
    case untested
    /// A test of the policy fails.
    case failingTests
    /// Its tests cover less than the configuration asks for.
    case coverage
    /// It judged fewer recorded events of the app than the configuration asks for.
    case noShadow

    /// All names, for messages.
    public static var names: [String] { allCases.map(\.rawValue) }
}

/// What an activation asks for. Part of the configuration.
public struct GuardThresholds: Sendable, Equatable {
    /// The part of a policy's rules that its tests must have seen match, limits and reasons pass.
    public var ruleCoverage = 1.0
    /// The part of all outcomes of its conditions, true and false, that its tests must have seen.
    public var branchCoverage = 0.8
    /// On how many recorded events it must have been judged, in shadow or acting.
    public var shadowEvaluations: Int64 = 1

    /// The defaults.
    public init() {}
}

/// What the tests of a policy came to. Found before the command by whoever gives it, since tests
/// are files beside the policies and no part of the ledger; the digest says which they were.
public struct TestEvidence: Sendable, Equatable {
    /// So many of so many.
    public struct Part: Sendable, Equatable {
        /// How many were covered.
        public var covered: Int64
        /// Of how many.
        public var of: Int64

        /// So many of so many.
        public init(_ covered: Int64, of whole: Int64) {
            self.covered = covered
            of = whole
        }

        /// The part, 0…1; 1 where there is nothing to cover.
        public var rate: Double { of > 0 ? Double(covered) / Double(of) : 1 }

        func write(to writer: inout JSONWriter) {
            writer.key("covered")
            writer.int(covered)
            writer.key("of")
            writer.int(of)
        }
    }

    /// How many tests passed.
    public var passed: Int64
    /// How many failed.
    public var failed: Int64
    /// The first that failed: file, line and name.
    public var firstFailure: String?
    /// SHA-256 of the test files' digests, in the order of their paths.
    public var digest: String
    /// Rules that tests saw match.
    public var rules: Part
    /// Outcomes of conditions, true and false, that tests saw.
    public var branches: Part

    /// Evidence of these parts.
    public init(
        passed: Int64, failed: Int64, firstFailure: String? = nil, digest: String,
        rules: Part, branches: Part
    ) {
        self.passed = passed
        self.failed = failed
        self.firstFailure = firstFailure
        self.digest = digest
        self.rules = rules
        self.branches = branches
    }

    func write(to writer: inout JSONWriter) {
        writer.object("branches", branches.write)
        writer.member("digest", digest)
        writer.key("failed")
        writer.int(failed)
        writer.member("firstFailure", firstFailure)
        writer.key("passed")
        writer.int(passed)
        writer.object("rules", rules.write)
    }

    init(payload: RecordReader) throws(CorruptEntry) {
        let part = { (name: String) throws(CorruptEntry) -> Part in
            let part = try payload.object(name)
            return Part(try part.int("covered"), of: try part.int("of"))
        }
        self.init(
            passed: try payload.int("passed"), failed: try payload.int("failed"),
            firstFailure: payload.stringIfPresent("firstFailure"),
            digest: try payload.string("digest"), rules: try part("rules"),
            branches: try part("branches"))
    }
}

/// What the guards of an activation were told, and what they found.
public struct GuardCheck: Sendable, Equatable {
    /// The guards that the actor overrides by name.
    public var allow: [PolicyGuard]
    /// What the tests came to; `nil` if there are none.
    public var tests: TestEvidence?
    /// How many recorded events of the app the policy had judged.
    public var judged: Int64 = 0
    /// The guards that would have refused.
    public var overridden: [PolicyGuard] = []

    /// What an actor brings.
    public init(allow: [PolicyGuard], tests: TestEvidence?) {
        self.allow = allow
        self.tests = tests
    }

    /// A guard that refuses, and why, with the figures.
    struct Objection: Equatable {
        var guarding: PolicyGuard
        var detail: String
    }

    /// What speaks against letting the policy act.
    func objections(_ thresholds: GuardThresholds) -> [Objection] {
        var objections: [Objection] = []
        func object(_ guarding: PolicyGuard, _ detail: String) {
            objections.append(Objection(guarding: guarding, detail: detail))
        }
        if let tests, tests.passed + tests.failed > 0 {
            if tests.failed > 0 {
                object(
                    .failingTests,
                    "\(tests.failed) of \(tests.passed + tests.failed) tests fail"
                        + (tests.firstFailure.map { ", the first is \($0)" } ?? ""))
            }
            let parts = [
                ("rules", tests.rules, thresholds.ruleCoverage),
                ("branches", tests.branches, thresholds.branchCoverage),
            ].compactMap { what, part, needed -> String? in
                guard part.rate < needed else { return nil }
                return "\(part.covered) of \(part.of) \(what), needed are \(Self.percent(needed))"
            }
            if !parts.isEmpty {
                object(.coverage, "tests cover " + parts.joined(separator: ", and "))
            }
        } else {
            object(.untested, "no test of this version was loaded with the policy files")
        }
        if judged < thresholds.shadowEvaluations {
            object(
                .noShadow,
                "it has judged \(judged) recorded events here, needed are "
                    + "\(thresholds.shadowEvaluations): let it run in shadow first")
        }
        return objections
    }

    private static func percent(_ rate: Double) -> String {
        let tenths = (rate * 1_000).rounded()
        return tenths.truncatingRemainder(dividingBy: 10) == 0
            ? "\(Int(tenths / 10)) %" : "\(tenths / 10) %"
    }

    func writeResult(to writer: inout JSONWriter) {
        writer.key("judged")
        writer.int(judged)
        writer.member("overridden", overridden.map(\.rawValue))
    }

    init(command: RecordReader, result: RecordReader) throws(CorruptEntry) {
        allow = try command.strings("allow").compactMap(PolicyGuard.init(rawValue:))
        tests = try command.objectIfPresent("tests").map(TestEvidence.init(payload:))
        judged = try result.int("judged")
        overridden = try result.strings("overridden").compactMap(PolicyGuard.init(rawValue:))
    }
}
