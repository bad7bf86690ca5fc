import JSON

extension Shape {
    /// The shape as JSON Schema 2020-12.
    var schema: JSONValue {
        switch self {
        case .string(let minBytes, let maxBytes):
            // JSON Schema counts characters; no text of that many bytes has more of them.
            [
                "type": "string", "minLength": .int(Int64(minBytes)),
                "maxLength": .int(Int64(maxBytes)),
            ]
        case .choice(let words): ["type": "string", "enum": .array(words.map { .string($0) })]
        case .integer(let range):
            [
                "type": "integer", "minimum": .int(range.lowerBound),
                "maximum": .int(range.upperBound),
            ]
        case .number(let range):
            [
                "type": "number", "minimum": .double(range.lowerBound),
                "maximum": .double(range.upperBound),
            ]
        case .bool: ["type": "boolean"]
        case .instant: ["type": "string", "format": "date-time"]
        case .duration: ["type": "string", "examples": ["90s", "10m", "24h", "7d"]]
        case .scalar: ["type": ["string", "number", "boolean"]]
        case .any: [:]
        case .list(let element, let max):
            ["type": "array", "items": element.schema, "maxItems": .int(Int64(max))]
        case .map(let element, let max):
            [
                "type": "object", "additionalProperties": element.schema,
                "maxProperties": .int(Int64(max)),
            ]
        case .object(let fields, let oneOf): Self.objectSchema(fields, oneOf)
        }
    }

    private static func objectSchema(_ fields: [Field], _ oneOf: [String]) -> JSONValue {
        var properties = JSONObject()
        for field in fields {
            var schema = field.shape.schema.objectValue ?? JSONObject()
            if !field.meaning.isEmpty {
                schema.members.append(("description", .string(field.meaning)))
            }
            properties.members.append((field.name, .object(schema)))
        }
        var schema = JSONObject([
            ("type", "object"), ("properties", .object(properties)),
            ("additionalProperties", false),
        ])
        let required = fields.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema.members.append(("required", .array(required))) }
        if !oneOf.isEmpty {
            let choices = oneOf.map { JSONValue.object(JSONObject([("required", [.string($0)])])) }
            schema.members.append(("oneOf", .array(choices)))
        }
        return .object(schema)
    }
}
