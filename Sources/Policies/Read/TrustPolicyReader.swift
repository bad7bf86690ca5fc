import CEL

/// Reads and checks a policy of kind `trust`.
struct TrustPolicyReader {
    let sink: DiagnosticSink
    /// The models that exist.
    let models: [ModelFile]
    /// Where others were looked for.
    let modelHelp: String?

    static let keys = [
        "kind", "name", "version", "description", "categories", "attributes", "velocity", "model",
        "rule",
    ]

    /// Nil where anything is refused, with the reasons in the sink.
    func read(_ root: YAMLNode, source: PolicySource) -> TrustPolicy? {
        guard let fields = Fields(root, "a trust policy", keys: Self.keys, sink: sink) else {
            return nil
        }
        let header = Header(fields)
        let categories = self.categories(fields)
        let attributes = AttributeReader(sink: sink).read(fields)
        let velocity = VelocityReader(sink: sink, attributes: attributes, categories: categories)
            .read(fields)
        let model = ModelReferenceReader(
            sink: sink, known: models.map(\.reference), lookedFor: modelHelp
        ).read(fields)
        let scope = self.scope(attributes, velocity, categories)
        var reader = RuleTreeReader(scope: scope, sink: sink)
        let rule = fields.required("rule").flatMap { reader.read($0) }
        guard let header, let rule, !categories.isEmpty else { return nil }
        let policy = TrustPolicy(
            name: header.name, version: header.version, description: header.description,
            categories: categories, attributes: attributes, velocity: velocity, model: model,
            rule: rule, rules: reader.rules, variables: reader.scope.variables,
            slots: SlotLayout(
                attributes: attributes.map(\.name), velocity: velocity.map(\.name),
                variables: reader.scope.variables.map(\.name)),
            environment: reader.scope.environment, source: source)
        PolicyChecks(policy: policy, fields: fields, reader: reader, models: models, sink: sink)
            .run()
        return sink.hasErrors ? nil : policy
    }

    private func categories(_ fields: Fields) -> [Category] {
        guard let list = fields.required("categories") else { return [] }
        var result: [Category] = []
        for item in fields.items("categories") {
            guard let category = Scalars.choice(item, "a category", Category.self, sink) else {
                continue
            }
            if result.contains(category) {
                sink.error(
                    .duplicateName, "the category `\(category.rawValue)` is listed twice",
                    at: item.range)
                continue
            }
            result.append(category)
            // The category says nothing, so the policy should.
            if category == .other, !fields.has("description") {
                sink.warning(
                    .categoryOther, "the category `other` says nothing about the action",
                    at: item.range,
                    help: "use a category that fits, or say in `description` what this is for")
            }
        }
        if result.isEmpty, case .sequence(let items) = list.content, items.isEmpty {
            sink.error(.outOfRange, "`categories` lists at least one category", at: list.range)
        }
        return result
    }

    private func scope(
        _ attributes: [AttributeDeclaration], _ velocity: [VelocityWindow], _ categories: [Category]
    ) -> ExpressionScope {
        let environment = TrustEnvironment.make(
            attributes: attributes, velocity: velocity, categories: categories)
        var unstored: Set<Int> = []
        var names: [Int: String] = [:]
        for (index, attribute) in attributes.enumerated() where !attribute.isStored {
            unstored.insert(SlotLayout.Fixed.count + index)
            names[SlotLayout.Fixed.count + index] = "attributes." + attribute.name
        }
        let checks = ExpressionChecks(
            unstored: unstored, outcomeSlot: SlotLayout.Fixed.insightOutcome, slotNames: names)
        return ExpressionScope(environment: environment, checks: checks, sink: sink)
    }
}
