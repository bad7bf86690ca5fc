/// Reads a test file of any kind of policy.
struct TestFileReader {
    let sink: DiagnosticSink
    let set: PolicySet
    /// The plain policy in the same folder, if there is exactly one.
    let plain: Policy?
    /// Whether some policy could not be read: then an unknown name may be that one's.
    let someFailed: Bool

    func read(_ root: YAMLNode) -> PolicySet.Tests? {
        guard
            let fields = Fields(
                root, "a test file", keys: ["policy", "name", "description", "section"],
                sink: sink)
        else { return nil }
        guard fields.has("policy") || plain == nil else {
            return plain.flatMap { read(fields, $0) }
        }
        guard let reference = fields.requiredString("policy") else { return nil }
        guard let policy = set.policy(reference) else {
            if !someFailed, let node = fields["policy"] {
                sink.error(
                    .unknownPolicy, "there is no policy `\(reference)`", at: node.range,
                    help: NearestName.help(
                        reference, among: set.policies.map(\.name), what: "policies"))
            }
            return nil
        }
        return read(fields, policy, reference)
    }

    private func read(
        _ fields: Fields, _ policy: Policy, _ reference: String? = nil
    ) -> PolicySet.Tests? {
        let reference = reference ?? policy.name
        switch policy {
        case .trust(let policy):
            return .trust(
                PolicyTestReader(sink: sink, policy: policy).read(fields, reference: reference))
        case .reviewPrompt(let policy):
            return .reviewPrompt(
                ReviewTestReader(sink: sink, policy: policy).read(fields, reference: reference),
                path: sink.file)
        case .plain: return .plain(PlainTestReader(sink: sink).read(fields, reference: reference))
        }
    }
}
