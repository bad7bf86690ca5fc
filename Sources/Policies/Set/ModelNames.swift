/// What a file says of models, told without checking it: for finding the files that belong to it.
extension PolicyLoader.File {
    /// `name@version` of the model that the trust policy in it names; nil if it names none.
    public var namedModel: String? {
        let file = YAMLFile(path: path, bytes: bytes)
        guard FileRole.of(file, path: path) == .trust,
            let model = file.root?.value(of: "model")
        else { return nil }
        return Self.reference(model)
    }

    /// `name@version` of the model in it; nil if it is no model.
    public var heldModel: String? {
        let file = YAMLFile(path: path, bytes: bytes)
        guard FileRole.of(file, path: path) == .model, let root = file.root else { return nil }
        return Self.reference(root)
    }

    private static func reference(_ node: YAMLNode) -> String? {
        guard let name = node.value(of: "name")?.scalar?.text,
            let version = node.value(of: "version")?.scalar.flatMap({ Int($0.text) })
        else { return nil }
        return "\(name)@\(version)"
    }
}

extension YAMLNode {
    fileprivate func value(of key: String) -> YAMLNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }
}
