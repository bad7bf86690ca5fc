/// Kubernetes' `kind: ValidatingAdmissionPolicy` as a plain policy: `spec` is the rule, and each of
/// its `validations` a match that is taken where the expression is false.
enum AdmissionPolicy {
    /// The key of a condition that must be false; plain policies have no such key.
    static let unless = "unless"

    static func isOne(_ root: YAMLNode) -> Bool {
        value(root, "kind")?.scalar?.text == "ValidatingAdmissionPolicy"
    }

    static func plain(_ root: YAMLNode) -> YAMLNode {
        let name =
            entry(root, "name")
            ?? value(root, "metadata").flatMap { entry($0, "name") }
        let spec = entry(root, "spec").map { renamed($0, "rule", rule($0.value)) }
        return mapping(root, [name, spec])
    }

    private static func rule(_ spec: YAMLNode) -> YAMLNode {
        let matches = entry(spec, "validations").map { validations -> YAMLEntry in
            guard case .sequence(let items) = validations.value.content else { return validations }
            let list = YAMLNode(
                content: .sequence(items.map(match)), range: validations.value.range)
            return renamed(validations, "match", list)
        }
        return mapping(spec, [entry(spec, "variables"), matches])
    }

    private static func match(_ validation: YAMLNode) -> YAMLNode {
        let condition = entry(validation, "expression").map { renamed($0, unless, $0.value) }
        let message = entry(validation, "messageExpression").map { renamed($0, "output", $0.value) }
        return mapping(validation, [condition, message ?? standardMessage(validation)])
    }

    private static func standardMessage(_ validation: YAMLNode) -> YAMLEntry {
        let text = YAMLScalar(
            text: "'invalid admission request'", style: .plain, isForcedString: false)
        return YAMLEntry(
            key: "output", keyRange: validation.range,
            value: YAMLNode(content: .scalar(text), range: validation.range))
    }

    private static func entry(_ node: YAMLNode, _ key: String) -> YAMLEntry? {
        guard case .mapping(let entries) = node.content else { return nil }
        return entries.first { $0.key == key }
    }

    private static func value(_ node: YAMLNode, _ key: String) -> YAMLNode? {
        entry(node, key)?.value
    }

    private static func renamed(_ entry: YAMLEntry, _ key: String, _ value: YAMLNode) -> YAMLEntry {
        YAMLEntry(key: key, keyRange: entry.keyRange, value: value)
    }

    private static func mapping(_ node: YAMLNode, _ entries: [YAMLEntry?]) -> YAMLNode {
        YAMLNode(content: .mapping(entries.compactMap { $0 }), range: node.range)
    }
}
