/// Tells what a file is, by its name and its `kind:`.
enum FileRole {
    private static let kinds: [String: LoadedFile.Role] = [
        "trust": .trust, "reviewPrompt": .reviewPrompt, "scorecard": .model,
    ]

    static func of(_ file: YAMLFile, path: String) -> LoadedFile.Role {
        guard let root = file.root else { return .unusable }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let stem = name.split(separator: ".").first.map(String.init) ?? name
        if stem.hasSuffix("_test") || stem.hasSuffix("_tests") || stem == "tests" { return .tests }
        guard case .mapping(let entries) = root.content else {
            file.sink.error(
                .wrongType, "the file must be a mapping, not \(root.typeName)", at: root.range,
                help: "begin with `kind: trust`")
            return .unusable
        }
        guard let kind = entries.first(where: { $0.key == "kind" }) else {
            return withoutKind(entries, stem, file, root)
        }
        let names = kinds.keys.sorted()
        guard let text = kind.value.scalar?.text, let role = kinds[text] else {
            let given = kind.value.scalar.map { "`\($0.text)`" } ?? kind.value.typeName
            file.sink.error(
                .unknownKind, "\(given) is no kind of file", at: kind.value.range,
                help: NearestName.help(
                    kind.value.scalar?.text ?? "", among: names, what: "kinds"))
            return .unusable
        }
        return role
    }

    private static func withoutKind(
        _ entries: [YAMLEntry], _ stem: String, _ file: YAMLFile, _ root: YAMLNode
    ) -> LoadedFile.Role {
        let keys = Set(entries.map(\.key))
        if keys.contains("section") { return .tests }
        if stem == "config" || stem.hasSuffix("_config") { return .environment }
        // A trust policy that lost its `kind` must not load as a plain one.
        let additions = ["categories", "attributes", "velocity", "model", "reasons", "limits"]
        if let addition = entries.first(where: { additions.contains($0.key) }) {
            file.sink.error(
                .missingKey, "a file with `\(addition.key)` needs `kind`",
                at: entries[0].keyRange, help: "add `kind: trust` or `kind: reviewPrompt`")
            return .unusable
        }
        if keys.contains("rule") || keys.contains("name") { return .plain }
        file.sink.error(
            .missingKey, "the file needs `kind`", at: entries.first?.keyRange ?? root.range,
            help: "one of " + kinds.keys.sorted().map { "`\($0)`" }.joined(separator: ", "))
        return .unusable
    }

    /// The folder of a path, without its last component.
    static func folder(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
    }
}
