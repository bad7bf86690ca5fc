/// What a policy means beside another one: whatever order, layout, comments, names and versions
/// they have, and whatever they write out that would hold anyway.
public struct PolicyComparison: Sendable {
    /// What means something else, in the order of the files.
    public let changes: [PolicyChange]

    /// Compares two policies with their files; of different kinds everything is different.
    public init(_ old: PolicySet.Entry, _ new: PolicySet.Entry) {
        switch (old.policy, new.policy) {
        case (.trust(let mine), .trust(let theirs)):
            let told = Self.withoutCategories(of: Self.sameCategories(mine, theirs))
            changes =
                TreeComparison(role: .trust, ignoring: ["rule"])
                .compare(mine.source, theirs.source, told, told)
                + RuleComparison(mine, theirs).run()
        case (.reviewPrompt(let mine), .reviewPrompt(let theirs)):
            let same = Self.sameRequirements(mine, theirs)
            changes = TreeComparison(role: .reviewPrompt).compare(
                old.source, new.source, Self.told(of: mine, without: same),
                Self.told(of: theirs, without: same))
        case (.plain, .plain):
            changes = TreeComparison(role: .plain).compare(old.source, new.source)
        default:
            changes = [
                PolicyChange(.changed, "kind", "", old: old.policy.kind, new: new.policy.kind)
            ]
        }
    }

    /// Compares two models.
    public init(_ old: ModelFile, _ new: ModelFile) {
        changes = TreeComparison(role: .model).compare(old.source, new.source)
    }

    // MARK: What depends on more than one key

    /// Windows that count the same categories, written out or not.
    private static func sameCategories(_ old: TrustPolicy, _ new: TrustPolicy) -> Set<String> {
        Set(
            old.velocity.filter { mine in
                new.velocity.contains {
                    $0.name == mine.name && Set($0.categories) == Set(mine.categories)
                }
            }.map(\.name))
    }

    private static func withoutCategories(of windows: Set<String>) -> (YAMLNode) -> YAMLNode {
        { root in
            root.replacing { key, value in
                guard key == "velocity" else { return value }
                return value.replacing { name, window in
                    guard windows.contains(name) else { return window }
                    return window.replacing { $0 == "category" ? nil : $1 }
                }
            }
        }
    }

    /// Reasons that need the same: `{finishedTranscript: 2}` is `{finishedTranscript: {atLeast: 2}}`.
    private static func sameRequirements(
        _ old: ReviewPromptPolicy, _ new: ReviewPromptPolicy
    ) -> Set<String> {
        Set(
            old.reasons.filter {
                new.reason(named: $0.name)?.requirement.unordered == $0.requirement.unordered
            }.map(\.name))
    }

    /// A policy's file with the names that its limits have, given or derived, and of some reasons
    /// only `when`.
    private static func told(of policy: ReviewPromptPolicy, without same: Set<String>)
        -> (YAMLNode) -> YAMLNode
    {
        { root in
            root.replacing { key, value in
                switch (key, value.content) {
                case ("reasons", _):
                    value.replacing { name, reason in
                        same.contains(name) ? reason.replacing { $0 == "when" ? $1 : nil } : reason
                    }
                case ("limits", .sequence(let items)) where items.count == policy.limits.count:
                    YAMLNode(
                        content: .sequence(zip(items, policy.limits).map(named)),
                        range: value.range)
                default: value
                }
            }
        }
    }

    private static func named(_ node: YAMLNode, _ limit: ReviewLimit) -> YAMLNode {
        guard case .mapping(let entries) = node.content,
            !entries.contains(where: { $0.key == "name" })
        else { return node }
        let name = YAMLScalar(text: limit.name, style: .plain, isForcedString: true)
        let value = YAMLNode(content: .scalar(name), range: node.range)
        return YAMLNode(
            content: .mapping(
                [YAMLEntry(key: "name", keyRange: node.range, value: value)] + entries),
            range: node.range)
    }
}

extension ReviewRequirement {
    /// The same with the parts of `all` and `any` in one order.
    fileprivate var unordered: ReviewRequirement {
        let sorted = { (parts: [ReviewRequirement]) in
            parts.map(\.unordered).map { (text: "\($0)", part: $0) }.sorted { $0.text < $1.text }
                .map(\.part)
        }
        return switch self {
        case .count, .distinctDays: self
        case .weighted(let points, let atLeast, let within):
            .weighted(points.sorted { $0.reason < $1.reason }, atLeast: atLeast, within: within)
        case .all(let parts): .all(sorted(parts))
        case .any(let parts): .any(sorted(parts))
        case .not(let part): .not(part.unordered)
        }
    }
}
