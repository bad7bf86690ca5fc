import Ledger
import Policies
import ReviewPrompts
import Scoring
import Time

/// A model that was loaded: its file, and what scores by it.
public struct Model: Sendable {
    /// The file: name, version, provenance.
    public let file: ModelFile
    /// What scores.
    public let scorecard: Scorecard
    /// How records name it.
    public let reference: VersionReference

    /// A model of a checked file.
    public init(_ file: ModelFile) {
        self.file = file
        switch file.definition {
        case .scorecard(let definition): scorecard = Scorecard(definition)
        }
        reference = VersionReference(
            name: file.name, version: Int64(file.version), digest: file.source.digest)
    }
}

/// A policy or model that was loaded and can act.
public enum Candidate: Sendable {
    case trust(TrustPolicy)
    case reviewPrompt(ReviewPromptPolicy)
    case model(Model)

    /// How records name it.
    public var reference: VersionReference {
        switch self {
        case .trust(let policy):
            VersionReference(
                name: policy.name, version: Int64(policy.version), digest: policy.digest)
        case .reviewPrompt(let policy):
            VersionReference(
                name: policy.name, version: Int64(policy.version), digest: policy.digest)
        case .model(let model): model.reference
        }
    }

    /// `policy` or `model`: names of the two never collide.
    var family: String {
        if case .model = self { "model" } else { "policy" }
    }

    /// The kind of policy, and the categories in which a trust policy can act.
    public var actingKind: (kind: ActingKind, categories: [Policies.Category])? {
        switch self {
        case .trust(let policy): (.trust, policy.categories)
        case .reviewPrompt: (.reviewPrompt, [])
        case .model: nil
        }
    }
}

/// All candidates, by name and version. Immutable once published; swapped whole.
public struct Catalog: Sendable {
    private var candidates: [String: Candidate] = [:]

    /// Nothing loaded yet.
    public init() {}

    /// All candidates, in the order of their names and versions.
    public var all: [Candidate] {
        candidates.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func key(_ family: String, _ name: String, _ version: Int64) -> String {
        "\(family) \(name)@\(version)"
    }

    /// The candidate that another one would replace: same name and version.
    func incumbent(of candidate: Candidate) -> Candidate? {
        let reference = candidate.reference
        return candidates[Self.key(candidate.family, reference.name, reference.version)]
    }

    mutating func add(_ candidate: Candidate) {
        let reference = candidate.reference
        candidates[Self.key(candidate.family, reference.name, reference.version)] = candidate
    }

    /// A policy by reference.
    func policy(_ reference: VersionReference) -> Candidate? {
        candidates[Self.key("policy", reference.name, reference.version)]
    }

    /// A policy by `name@version`.
    public func policy(named text: String) -> Candidate? {
        candidates["policy " + text]
    }

    /// A trust policy with its model's versions.
    public func acting(_ reference: VersionReference) -> ActingPolicy? {
        guard case .trust(let policy)? = policy(reference) else { return nil }
        return ActingPolicy(policy: policy, models: models(named: policy.model?.name))
    }

    private func models(named name: String?) -> [Int: Model] {
        var models: [Int: Model] = [:]
        for case .model(let model) in candidates.values where model.file.name == name {
            models[model.file.version] = model
        }
        return models
    }

    /// How far back the windows of any policy reach.
    var horizon: Duration {
        candidates.values.reduce(.zero) { longest, candidate in
            guard case .trust(let policy) = candidate else { return longest }
            return max(longest, policy.velocity.map(\.window).max() ?? .zero)
        }
    }
}

/// A checked load of policies: what to add, or why it failed.
public struct CandidateLoad: Sendable {
    /// The files with what they hold.
    public var files: [(file: PoliciesRecord.File, candidate: Candidate)]
    /// Why the load failed; then nothing is added.
    public var faults: [String]
    /// Whether every policy of the load acts from now on.
    public var activates: Bool

    /// A load.
    public init(
        files: [(file: PoliciesRecord.File, candidate: Candidate)], faults: [String] = [],
        activates: Bool = false
    ) {
        self.files = files
        self.faults = faults
        self.activates = activates
    }
}

/// What threads of the server need to know of the engine's state: who may call, and what
/// acts. Immutable; published anew when it changes.
public final class Directory: Sendable {
    /// The registry's keys, apps, configuration.
    public let registry: RegistryView
    /// All candidates.
    public let catalog: Catalog
    private let acting: [ActingSlot: ActingPolicy]

    init(registry: Registry, catalog: Catalog) {
        self.registry = RegistryView(registry)
        self.catalog = catalog
        acting = registry.acting.facts.compactMapValues { catalog.acting($0.policy) }
    }

    /// The trust policy that acts for an app in an environment.
    public func acting(for tenant: Tenant, category: Policies.Category) -> ActingPolicy? {
        acting[.init(tenant: tenant, category: category, isShadow: false)]
            ?? acting[.init(tenant: nil, category: category, isShadow: false)]
    }
}

/// The part of the registry that changes seldom.
public struct RegistryView: Sendable {
    /// Apps by id, with their names.
    public let apps: [String: String]
    /// Keys that are good, by their hash.
    public let keys: [Ledger.Digest: KeyRecord]
    /// The configuration in force.
    public let configuration: Configuration
    /// Why the latest load of policies failed, and when.
    public let loadFaults: (at: Instant, faults: [String])?
    /// What acts where: tenant (`nil` for all others), category (`nil` for review prompts).
    public let activations: [Activation]

    /// One policy acting in one place.
    public struct Activation: Sendable {
        /// Where; `nil` for every app and environment without an activation of its own.
        public var tenant: Tenant?
        /// The category; `nil` for review prompts.
        public var category: Policies.Category?
        /// Whether it runs in shadow only.
        public var isShadow: Bool
        /// The policy.
        public var policy: VersionReference
        /// Why, in the actor's words.
        public var reason: String
        /// The number of the entry that let it act.
        public var sequence: Int64
        /// Since when.
        public var since: Instant
        /// Who let it act.
        public var actor: String
    }

    /// How it came to that: the latest changes, the oldest first.
    public let history: [ActingEvent]

    init(_ registry: Registry) {
        apps = registry.apps
        keys = registry.keys
        configuration = registry.configuration
        loadFaults = registry.loadFaults
        history = registry.acting.history
        activations = registry.acting.facts.map { slot, fact in
            Activation(
                tenant: slot.tenant, category: slot.category, isShadow: slot.isShadow,
                policy: fact.policy, reason: fact.reason, sequence: fact.stamp.sequence,
                since: fact.stamp.at, actor: fact.stamp.actor)
        }.sorted { $0.place.lexicographicallyPrecedes($1.place) }
    }
}

extension RegistryView.Activation {
    /// Common ones first, then by app, environment and category; shadows last.
    fileprivate var place: [String] {
        [
            tenant?.app ?? "", tenant?.environment.rawValue ?? "", category?.rawValue ?? "~",
            isShadow ? "1" : "0",
        ]
    }
}

extension CandidateLoad {
    /// Everything of a checked set that can act, with the files it came from.
    public init(_ set: PolicySet, activates: Bool = false) {
        var files: [(file: PoliciesRecord.File, candidate: Candidate)] = []
        for model in set.models { files.append((.init(model.source), .model(Model(model)))) }
        for entry in set.entries {
            switch entry.policy {
            case .trust(let policy): files.append((.init(entry.source), .trust(policy)))
            case .reviewPrompt(let policy):
                files.append((.init(entry.source), .reviewPrompt(policy)))
            case .plain: break
            }
        }
        self.init(files: files, activates: activates)
    }
}

extension PoliciesRecord.File {
    init(_ source: PolicySource) {
        self.init(path: source.path, source: String(decoding: source.bytes, as: UTF8.self))
    }
}
