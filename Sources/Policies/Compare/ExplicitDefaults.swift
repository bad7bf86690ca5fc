import Time

/// What a file writes out and need not: taken away before files are compared, so that only what is
/// done differently is left.
struct ExplicitDefaults {
    private let defaults: [String: YAMLScalar]

    init(role: LoadedFile.Role) {
        let texts: [String: String] =
            switch role {
            case .trust:
                [
                    "attributes.*.optional": "false", "attributes.*.store": "true",
                    "attributes.*.maxLength": String(PolicyLimits.defaultMaxLength),
                ]
            case .reviewPrompt:
                [
                    "zone": "UTC", "whileThrottled": WhileThrottled.drop.rawValue,
                    "afterGrant": "reset", "resetOnVersion": ResetOnVersion.none.rawValue,
                    "enabled": "true", "lease.for": ReviewLease().length.policyText,
                    "lease.silence": ReviewLease().silence.rawValue, "holdout.percent": "0",
                    "holdout.salt": "", "limits.*.scope": ReviewScope.both.rawValue,
                    "limits.*.grain": VersionGrain.full.rawValue, "limits.*.unit": "elapsed",
                ]
            case .model:
                [
                    "method": ScorecardDefinition.Method.points.rawValue, "bias": "0",
                    "inputs.*.required": "false",
                ]
            case .plain, .tests, .environment, .unusable: [:]
            }
        defaults = texts.mapValues {
            YAMLScalar(text: $0, style: .plain, isForcedString: false)
        }
    }

    /// The file's content without what it would mean anyway.
    func removed(from root: YAMLNode) -> YAMLNode { removed(from: root, "") }

    private func removed(from node: YAMLNode, _ path: String) -> YAMLNode {
        switch node.content {
        case .scalar: return node
        case .sequence(let items):
            return YAMLNode(
                content: .sequence(items.map { removed(from: $0, path + ".*") }), range: node.range)
        case .mapping(let entries):
            let kept = entries.compactMap { entry -> YAMLEntry? in
                // Names that a file chooses stand below these.
                let step = ["attributes", "velocity", "reasons"].contains(path) ? "*" : entry.key
                let place = path.isEmpty ? step : path + "." + step
                let value = removed(from: entry.value, place)
                if let scalar = value.scalar, let usual = defaults[place],
                    TreeComparison.isSame(scalar, usual)
                {
                    return nil
                }
                return path.isEmpty && value.isEmpty
                    ? nil : YAMLEntry(key: entry.key, keyRange: entry.keyRange, value: value)
            }
            return YAMLNode(content: .mapping(kept), range: node.range)
        }
    }
}

extension YAMLNode {
    /// Whether it is a list or a mapping of nothing.
    fileprivate var isEmpty: Bool {
        switch content {
        case .scalar: false
        case .sequence(let items): items.isEmpty
        case .mapping(let entries): entries.isEmpty
        }
    }

    /// The same with other values below some keys; nil takes a key away.
    func replacing(_ body: (_ key: String, YAMLNode) -> YAMLNode?) -> YAMLNode {
        guard case .mapping(let entries) = content else { return self }
        return YAMLNode(
            content: .mapping(
                entries.compactMap { entry in
                    body(entry.key, entry.value).map {
                        YAMLEntry(key: entry.key, keyRange: entry.keyRange, value: $0)
                    }
                }), range: range)
    }
}
