/// One thing that means something else in another policy.
public struct PolicyChange: Sendable, Hashable {
    /// What became of it.
    public enum Kind: String, Sendable, Hashable {
        case added
        case removed
        case changed
    }

    /// How a condition compares with the one it replaces.
    public enum Relation: String, Sendable, Hashable {
        /// It holds for the same events.
        case equivalent
        /// It holds for fewer events, and for no others.
        case narrower
        /// It holds for all those events, and for others.
        case wider
        /// Neither could be shown.
        case different
    }

    /// What became of it.
    public let kind: Kind
    /// What it is: `rule`, `variable`, or a key of the file such as `model`.
    public let part: String
    /// Which one: an id, a name, or the rest of a path; empty where there is one only.
    public let name: String
    /// What of it changed: `condition`, `output`; nil for all of it.
    public let field: String?
    /// What it was; nil for what was added.
    public let old: String?
    /// What it is; nil for what was removed.
    public let new: String?
    /// For conditions, how they compare.
    public let relation: Relation?

    package init(
        _ kind: Kind, _ part: String, _ name: String, field: String? = nil, old: String? = nil,
        new: String? = nil, relation: Relation? = nil
    ) {
        self.kind = kind
        self.part = part
        self.name = name
        self.field = field
        self.old = old
        self.new = new
        self.relation = relation
    }
}
