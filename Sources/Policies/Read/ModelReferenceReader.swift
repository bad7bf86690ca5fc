/// Reads `model:` of a policy.
struct ModelReferenceReader {
    let sink: DiagnosticSink
    /// The models that exist, by `name@version`.
    let known: [String]
    /// Where others were looked for, and how to give one.
    let lookedFor: String?

    func read(_ fields: Fields) -> ModelReference? {
        guard let node = fields["model"],
            let model = Fields(
                node, "a model", keys: ["name", "version", "medium", "high"], sink: sink)
        else { return nil }
        let name = model.requiredString("name")
        let version =
            model.required("version") == nil ? nil : model.int("version", in: 1...Int(Int32.max))
        let medium = threshold(model, "medium")
        let high = threshold(model, "high")
        if let medium, let high, medium >= high, let node = model["medium"] {
            sink.error(
                .thresholdOrder, "`medium` (\(medium)) must be below `high` (\(high))",
                at: node.range)
        }
        if let name, let version { checkExists(name, version, model) }
        guard let name, let version, let medium, let high else { return nil }
        return ModelReference(name: name, version: version, medium: medium, high: high)
    }

    private func threshold(_ model: Fields, _ key: String) -> Double? {
        guard let node = model.required(key), let value = model.double(key) else { return nil }
        guard value > 0, value <= 1 else {
            sink.error(
                .outOfRange, "`\(key)` must be above 0 and at most 1, not \(value)", at: node.range)
            return nil
        }
        return value
    }

    private func checkExists(_ name: String, _ version: Int, _ model: Fields) {
        let reference = "\(name)@\(version)"
        guard !known.contains(reference) else { return }
        let isOtherVersion = known.contains { $0.hasPrefix(name + "@") }
        let node = isOtherVersion ? model["version"] : model["name"]
        let near =
            lookedFor == nil
            ? NearestName.help(reference, among: known, what: "models")
            : NearestName.question(reference, among: known)
        sink.error(
            .undeclaredModel, "there is no model `\(name)` version \(version)",
            at: node?.range ?? model.node.range,
            help: [near, lookedFor.map { "`\(reference)` was \($0)" }].compactMap(\.self)
                .joined(separator: " "))
    }
}
