import CEL
import Time

/// Compares files key by key, by what their values mean: `60m` is `1h`, `0.80` is `0.8`, the order
/// of keys and of names in a list is nothing, and an expression is its tree.
struct TreeComparison {
    private let keys: ExpressionKeys
    /// Keys at the top that say nothing of what is done, or are compared elsewhere.
    private let ignored: Set<String>
    private let defaults: ExplicitDefaults

    init(role: LoadedFile.Role, ignoring: Set<String> = []) {
        keys = ExpressionKeys(role: role)
        defaults = ExplicitDefaults(role: role)
        ignored = ignoring.union(["kind", "name", "version", "description", "provenance"])
    }

    /// - Parameters:
    ///   - mine: gives what is to be compared of the old file.
    ///   - theirs: likewise of the new one.
    func compare(
        _ old: PolicySource, _ new: PolicySource, _ mine: (YAMLNode) -> YAMLNode = { $0 },
        _ theirs: (YAMLNode) -> YAMLNode = { $0 }
    ) -> [PolicyChange] {
        let root = { (source: PolicySource, told: (YAMLNode) -> YAMLNode) in
            YAMLFile(path: source.path, bytes: source.bytes).root.map {
                defaults.removed(from: told($0)).content
            }
        }
        guard case .mapping(let mine)? = root(old, mine),
            case .mapping(let theirs)? = root(new, theirs)
        else { return [] }
        var changes: [PolicyChange] = []
        let pairs = Self.paired(
            mine.filter { !ignored.contains($0.key) }.map { ($0.key, $0.value) },
            theirs.filter { !ignored.contains($0.key) }.map { ($0.key, $0.value) })
        for (key, before, after) in pairs {
            compare(key, [], before, after, keys.isExpression(key), &changes)
        }
        return changes
    }

    private func compare(
        _ part: String, _ path: [String], _ old: YAMLNode?, _ new: YAMLNode?, _ isExpression: Bool,
        _ changes: inout [PolicyChange]
    ) {
        let name = path.joined(separator: ".")
        guard let old, let new else {
            changes.append(
                PolicyChange(
                    old == nil ? .added : .removed, part, name, old: old.map(Self.text),
                    new: new.map(Self.text)))
            return
        }
        if let mine = Self.entries(old), let theirs = Self.entries(new) {
            for (key, before, after) in Self.paired(mine, theirs) {
                compare(part, path + [key], before, after, keys.isExpression(key), &changes)
            }
            return
        }
        guard !isSame(old, new, isExpression) else { return }
        changes.append(
            PolicyChange(.changed, part, name, old: Self.text(old), new: Self.text(new)))
    }

    /// What two lists have under each name, in the order of the first, then of the second.
    private static func paired(
        _ old: [(String, YAMLNode)], _ new: [(String, YAMLNode)]
    ) -> [(String, YAMLNode?, YAMLNode?)] {
        let before = Dictionary(old, uniquingKeysWith: { first, _ in first })
        let after = Dictionary(new, uniquingKeysWith: { first, _ in first })
        return old.map { ($0.0, $0.1, after[$0.0]) }
            + new.filter { before[$0.0] == nil }.map { ($0.0, nil, $0.1) }
    }

    /// The values of a mapping, or of a list whose items have names or inputs' names.
    private static func entries(_ node: YAMLNode) -> [(String, YAMLNode)]? {
        switch node.content {
        case .mapping(let entries): return entries.map { ($0.key, $0.value) }
        case .scalar: return nil
        case .sequence(let items):
            var result: [(String, YAMLNode)] = []
            for item in items {
                guard case .mapping(let entries) = item.content,
                    let name = entries.first(where: { $0.key == "name" })?.value.scalar?.text,
                    !result.contains(where: { $0.0 == name })
                else { return nil }
                result.append((name, item))
            }
            return result.isEmpty ? nil : result
        }
    }

    private func isSame(_ old: YAMLNode, _ new: YAMLNode, _ isExpression: Bool) -> Bool {
        switch (old.content, new.content) {
        case (.scalar(let mine), .scalar(let theirs)):
            if isExpression, let isSame = ExpressionText.isSame(mine.text, theirs.text) {
                return isSame
            }
            return Self.isSame(mine, theirs)
        case (.sequence(let mine), .sequence(let theirs)):
            if mine.allSatisfy({ $0.scalar != nil }), theirs.allSatisfy({ $0.scalar != nil }) {
                return Set(mine.map(Self.text)) == Set(theirs.map(Self.text))
            }
            return mine.count == theirs.count
                && zip(mine, theirs).allSatisfy { isSame($0, $1, false) }
        case (.mapping(let mine), .mapping(let theirs)):
            return mine.count == theirs.count
                && mine.allSatisfy { entry in
                    theirs.first { $0.key == entry.key }.map {
                        isSame(entry.value, $0.value, keys.isExpression(entry.key))
                    } ?? false
                }
        default: return false
        }
    }

    /// Whether two values are the same text, span or number.
    static func isSame(_ mine: YAMLScalar, _ theirs: YAMLScalar) -> Bool {
        if mine.text == theirs.text { return true }
        if let first = Duration(policyText: mine.text) {
            return first == Duration(policyText: theirs.text)
        }
        guard mine.isPlain, theirs.isPlain, let first = Scalars.number(mine.text) else {
            return false
        }
        return first == Scalars.number(theirs.text)
    }

    /// A value in one line.
    private static func text(_ node: YAMLNode) -> String {
        switch node.content {
        case .scalar(let scalar):
            scalar.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        case .sequence(let items): "[" + items.map(text).joined(separator: ", ") + "]"
        case .mapping(let entries):
            "{" + entries.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ") + "}"
        }
    }
}
