/// Everything that was loaded together: immutable, and swapped whole.
public struct PolicySet: Sendable {
    /// A policy and the file it came from.
    public struct Entry: Sendable {
        /// The policy.
        public let policy: Policy
        /// The file.
        public let source: PolicySource

        package init(policy: Policy, source: PolicySource) {
            self.policy = policy
            self.source = source
        }
    }

    /// Tests and the policy they are for.
    public enum Tests: Sendable {
        /// Tests of a trust policy.
        case trust(PolicyTests)
        /// Tests of a review-prompt policy, with the path of their file.
        case reviewPrompt(ReviewPromptTests, path: String)
        /// Tests of a plain policy.
        case plain(PlainTests)
    }

    /// The policies, sorted by path.
    public let entries: [Entry]
    /// The models, sorted by path.
    public let models: [ModelFile]
    /// The tests, sorted by path.
    public let tests: [Tests]

    /// A set without anything in it.
    public static let empty = PolicySet(entries: [], models: [], tests: [])

    package init(entries: [Entry], models: [ModelFile], tests: [Tests]) {
        self.entries = entries
        self.models = models
        self.tests = tests
    }

    /// The policies alone.
    public var policies: [Policy] { entries.map(\.policy) }

    /// The trust policies.
    public var trustPolicies: [TrustPolicy] {
        policies.compactMap { if case .trust(let policy) = $0 { policy } else { nil } }
    }

    /// The review-prompt policies.
    public var reviewPromptPolicies: [ReviewPromptPolicy] {
        policies.compactMap { if case .reviewPrompt(let policy) = $0 { policy } else { nil } }
    }

    /// The policy of that name and version; nil if there is none.
    public func policy(_ name: String, version: Int) -> Policy? {
        policies.first { $0.name == name && $0.version == version }
    }

    /// The policy of `name` (its newest version) or of `name@version`; nil if there is none.
    public func policy(_ reference: String) -> Policy? {
        policies.first { $0.reference == reference }
            ?? policies.filter { $0.name == reference }.max {
                ($0.version ?? 0) < ($1.version ?? 0)
            }
    }

    /// The model of that name and version; nil if there is none.
    public func model(_ name: String, version: Int) -> ModelFile? {
        models.first { $0.name == name && $0.version == version }
    }
}

/// What a file turned out to be.
public struct LoadedFile: Sendable, Hashable {
    /// What is in the file.
    public enum Role: String, Sendable, Hashable {
        case trust
        case reviewPrompt
        case plain
        case model
        case tests
        /// The environment of a plain policy in the same folder.
        case environment
        /// Nothing that could be read.
        case unusable
    }

    /// The path as given.
    public let path: String
    /// What it is.
    public let role: Role
    /// `name@version` of what is in it; nil for tests and for what could not be read.
    public let reference: String?
    /// The lowercase hexadecimal SHA-256 of its bytes.
    public let digest: String
}

/// What loading gave. Either everything or nothing: one bad file, and there is no set.
public struct PolicyLoad: Sendable {
    /// The set; nil if any finding is an error.
    public let set: PolicySet?
    /// Every file that was given, sorted by path.
    public let files: [LoadedFile]
    /// Every finding, sorted by path, then by place.
    public let diagnostics: [PolicyDiagnostic]
    /// The files as text, to show findings in.
    package let texts: [String: SourceText]

    /// Whether any finding is an error.
    public var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }
}
