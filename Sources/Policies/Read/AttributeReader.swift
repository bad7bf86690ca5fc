import Time

/// Reads `attributes:`.
struct AttributeReader {
    let sink: DiagnosticSink

    func read(_ fields: Fields) -> [AttributeDeclaration] {
        let entries = fields.mapping("attributes")
        if entries.count > PolicyLimits.attributes, let node = fields["attributes"] {
            sink.error(
                .tooMany, "a policy has at most \(PolicyLimits.attributes) attributes",
                at: node.range)
        }
        return entries.compactMap(declaration)
    }

    private func declaration(_ entry: YAMLEntry) -> AttributeDeclaration? {
        let isNamed = Names.checkIdentifier(entry.key, "the attribute", at: entry.keyRange, sink)
        if Names.engineWords.contains(entry.key) {
            sink.error(
                .reservedName, "the attribute `\(entry.key)` has the name of an engine value",
                at: entry.keyRange, help: "choose another name")
        }
        guard
            let fields = Fields(
                entry.value, "an attribute",
                keys: ["type", "optional", "store", "min", "max", "maxLength", "values"], sink: sink
            )
        else { return nil }
        guard fields.required("type") != nil, let type = fields.choice("type", AttributeType.self)
        else { return nil }
        let bounds = self.bounds(fields, type)
        let maxLength = self.maxLength(fields, type)
        let values = self.values(fields, type, maxLength)
        guard isNamed else { return nil }
        return AttributeDeclaration(
            name: entry.key, type: type, isOptional: fields.bool("optional") ?? false,
            isStored: fields.bool("store") ?? true, minimum: bounds.minimum,
            maximum: bounds.maximum, maxLength: maxLength, values: values)
    }

    private func bounds(
        _ fields: Fields, _ type: AttributeType
    ) -> (minimum: AttributeBound?, maximum: AttributeBound?) {
        let minimum = bound(fields, "min", type)
        let maximum = bound(fields, "max", type)
        let isEmpty =
            switch (minimum, maximum) {
            case (.int(let low), .int(let high)): low > high
            case (.double(let low), .double(let high)): low > high
            default: false
            }
        if isEmpty, let node = fields["min"] {
            sink.error(.outOfRange, "`min` is above `max`: no value fits", at: node.range)
        }
        return (minimum, maximum)
    }

    private func bound(_ fields: Fields, _ key: String, _ type: AttributeType) -> AttributeBound? {
        guard let node = fields[key] else { return nil }
        switch type {
        case .double: return fields.double(key).map(AttributeBound.double)
        case .int:
            return Scalars.int(node, "`\(key)`", in: .min ... .max, sink).map { .int(Int64($0)) }
        case .bool, .string, .timestamp:
            sink.error(
                .invalidValue, "`\(key)` is for numbers, not for a \(type.rawValue)",
                at: node.range)
            return nil
        }
    }

    private func maxLength(_ fields: Fields, _ type: AttributeType) -> Int {
        guard let node = fields["maxLength"] else { return PolicyLimits.defaultMaxLength }
        guard type == .string else {
            sink.error(
                .invalidValue, "`maxLength` is for strings, not for a \(type.rawValue)",
                at: node.range)
            return PolicyLimits.defaultMaxLength
        }
        return fields.int("maxLength", in: 1...PolicyLimits.maxLength)
            ?? PolicyLimits.defaultMaxLength
    }

    private func values(_ fields: Fields, _ type: AttributeType, _ maxLength: Int) -> [String]? {
        guard let node = fields["values"] else { return nil }
        guard type == .string else {
            sink.error(
                .invalidValue, "`values` is for strings, not for a \(type.rawValue)", at: node.range
            )
            return nil
        }
        let items = fields.strings("values")
        if items.isEmpty || items.count > PolicyLimits.attributeValues {
            sink.error(
                .outOfRange, "`values` lists 1 to \(PolicyLimits.attributeValues) strings",
                at: node.range)
        }
        var seen: Set<String> = []
        for item in items {
            if !seen.insert(item.text).inserted {
                sink.error(.duplicateName, "`\(item.text)` is listed twice", at: item.range)
            }
            if item.text.unicodeScalars.count > maxLength {
                sink.error(.outOfRange, "this value is longer than `maxLength`", at: item.range)
            }
        }
        return items.map(\.text)
    }
}
