/// The protobuf messages that every CEL implementation knows. All but `Empty` and `FieldMask` stand
/// for values of the language itself.
enum WellKnown {
    struct Message: Sendable {
        var type: Type
        var fields: [String: Type]
    }

    static let prefix = "google.protobuf."

    static let messages: [String: Message] = {
        var table: [String: Message] = [:]
        let scalars: [(String, Type)] = [
            ("BoolValue", .bool), ("Int32Value", .int), ("Int64Value", .int),
            ("UInt32Value", .uint), ("UInt64Value", .uint), ("FloatValue", .double),
            ("DoubleValue", .double), ("StringValue", .string), ("BytesValue", .bytes),
        ]
        for (name, type) in scalars {
            table[prefix + name] = Message(type: .wrapper(type), fields: ["value": type])
        }
        table[prefix + "Value"] = Message(
            type: .dyn,
            fields: [
                "null_value": .dyn, "number_value": .double, "string_value": .string,
                "bool_value": .bool, "struct_value": .map(.string, .dyn),
                "list_value": .list(.dyn),
            ])
        table[prefix + "Struct"] = Message(
            type: .map(.string, .dyn), fields: ["fields": .map(.string, .dyn)])
        table[prefix + "ListValue"] = Message(
            type: .list(.dyn), fields: ["values": .list(.dyn)])
        table[prefix + "Timestamp"] = Message(
            type: .timestamp, fields: ["seconds": .int, "nanos": .int])
        table[prefix + "Duration"] = Message(
            type: .duration, fields: ["seconds": .int, "nanos": .int])
        table[prefix + "Any"] = Message(
            type: .any, fields: ["type_url": .string, "value": .bytes])
        table[prefix + "Empty"] = Message(type: .abstract(prefix + "Empty", []), fields: [:])
        table[prefix + "FieldMask"] = Message(
            type: .abstract(prefix + "FieldMask", []), fields: ["paths": .list(.string)])
        return table
    }()

    /// Names that denote types.
    static let typeNames: [String: Type] = {
        var table: [String: Type] = [
            "bool": .bool, "int": .int, "uint": .uint, "double": .double, "string": .string,
            "bytes": .bytes, "list": .list(.dyn), "map": .map(.dyn, .dyn), "null_type": .null,
            "type": .type(nil), "dyn": .dyn, "optional_type": .optional(.dyn),
            "net.IP": .abstract("net.IP", []), "net.CIDR": .abstract("net.CIDR", []),
        ]
        for name in ["Timestamp", "Duration", "Any"] {
            table[prefix + name] = Type.named[prefix + name]
        }
        for name in messages.keys where table[name] == nil { table[name] = .abstract(name, []) }
        return table
    }()

    static let enumValues: [String: Value] = [prefix + "NullValue.NULL_VALUE": .int(0)]
}
