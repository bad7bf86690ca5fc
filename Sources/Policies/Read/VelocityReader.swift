import Time

/// Reads `velocity:`.
struct VelocityReader {
    let sink: DiagnosticSink
    let attributes: [AttributeDeclaration]
    /// The policy's own categories, which a window counts if it names none.
    let categories: [Category]

    func read(_ fields: Fields) -> [VelocityWindow] {
        let entries = fields.mapping("velocity")
        if entries.count > PolicyLimits.windows, let node = fields["velocity"] {
            sink.error(
                .tooMany, "a policy has at most \(PolicyLimits.windows) velocity windows",
                at: node.range)
        }
        return entries.compactMap(window)
    }

    private func window(_ entry: YAMLEntry) -> VelocityWindow? {
        let isNamed = Names.checkIdentifier(entry.key, "the window", at: entry.keyRange, sink)
        guard
            let fields = Fields(
                entry.value, "a velocity window",
                keys: ["count", "sum", "distinct", "by", "category", "window"], sink: sink)
        else { return nil }
        let measure = self.measure(fields)
        let by = fields["by"].flatMap { attribute($0, "by") }
        if let by, !by.isStored, let node = fields["by"] { refuseUnstored(by, at: node.range) }
        let category = fields.choice("category", Category.self)
        let span = self.span(fields)
        guard isNamed, let measure, let span else { return nil }
        return VelocityWindow(
            name: entry.key, measure: measure, categories: category.map { [$0] } ?? categories,
            by: by?.name, window: span)
    }

    private func span(_ fields: Fields) -> Duration? {
        guard let node = fields.required("window"), let span = fields.duration("window") else {
            return nil
        }
        guard span > .zero, span <= PolicyLimits.window else {
            sink.error(
                .outOfRange,
                "`window` must be above zero and at most \(PolicyLimits.window.policyText)",
                at: node.range)
            return nil
        }
        return span
    }

    private func measure(_ fields: Fields) -> VelocityWindow.Measure? {
        let given = ["count", "sum", "distinct"].filter(fields.has)
        guard let key = given.first, let node = fields[key] else {
            sink.error(
                .missingKey, "a velocity window needs one of `count`, `sum`, `distinct`",
                at: fields.headRange)
            return nil
        }
        if given.count > 1, let second = fields.entry(given[1]) {
            sink.error(
                .invalidValue, "a velocity window has only one of `count`, `sum`, `distinct`",
                at: second.keyRange)
        }
        switch key {
        case "count":
            let name = Scalars.name(node, "`count`", among: ["evaluations"], sink)
            return name.map { _ in .count }
        case "sum":
            guard let attribute = attribute(node, "sum") else { return nil }
            guard attribute.type == .double || attribute.type == .int else {
                sink.error(
                    .wrongType,
                    "`sum` needs a number, `attributes.\(attribute.name)` is a \(attribute.type)",
                    at: node.range)
                return nil
            }
            if !attribute.isStored { refuseUnstored(attribute, at: node.range) }
            return .sum(attribute: attribute.name)
        default: return attribute(node, "distinct").map { .distinct(attribute: $0.name) }
        }
    }

    private func attribute(_ node: YAMLNode, _ key: String) -> AttributeDeclaration? {
        guard let text = Scalars.string(node, "`\(key)`", sink) else { return nil }
        let names = attributes.map { "attributes." + $0.name }
        guard let index = names.firstIndex(of: text) else {
            sink.error(
                .undeclaredAttribute, "`\(text)` is not a declared attribute", at: node.range,
                help: NearestName.help(text, among: names, what: "attributes"))
            return nil
        }
        return attributes[index]
    }

    private func refuseUnstored(_ attribute: AttributeDeclaration, at range: SourceRange) {
        sink.error(
            .notStored,
            "`attributes.\(attribute.name)` is not stored: it may appear only in `has()` and "
                + "`distinct`", at: range)
    }
}
