extension Type {
    /// Reads a type in CEL's notation; a single capital letter is a type parameter.
    /// Nil where the text is not exactly one type.
    public init?(text: String) {
        var reader = TypeReader(text: Array(text.utf8))
        guard let type = reader.type(), reader.isAtEnd else { return nil }
        self = type
    }

    /// The first name in it that the language does not know, and one it knows that is near enough to
    /// be meant. A text such as `strnig` reads as a type that a host might have.
    public var unknownName: (name: String, nearest: String?)? {
        switch self {
        case .param(let name): return Self.unknown(name)
        case .abstract(let name, let parameters):
            if parameters.isEmpty, WellKnown.typeNames[name] != nil { return nil }
            return Self.unknown(name)
        case .list(let inner), .optional(let inner), .wrapper(let inner), .type(let inner?):
            return inner.unknownName
        case .map(let key, let value): return key.unknownName ?? value.unknownName
        default: return nil
        }
    }

    private static func unknown(_ name: String) -> (name: String, nearest: String?) {
        let known = Set(named.keys).union(WellKnown.typeNames.keys)
        return (name, EditDistance.closest(to: name, among: known).first)
    }

    /// The types with a name of their own and no parameters.
    static let named: [String: Type] = [
        "dyn": .dyn, "null": .null, "null_type": .null, "bool": .bool, "int": .int, "uint": .uint,
        "double": .double, "string": .string, "bytes": .bytes, "timestamp": .timestamp,
        "duration": .duration, "type": .type(nil), "any": .any, "list": .list(.dyn),
        "map": .map(.dyn, .dyn), "optional_type": .optional(.dyn),
        "google.protobuf.Timestamp": .timestamp, "google.protobuf.Duration": .duration,
        "google.protobuf.Any": .any, "google.protobuf.Value": .dyn,
        "google.protobuf.Struct": .map(.string, .dyn), "google.protobuf.ListValue": .list(.dyn),
        "google.protobuf.NullValue": .null, "google.protobuf.BoolValue": .wrapper(.bool),
        "google.protobuf.Int32Value": .wrapper(.int), "google.protobuf.Int64Value": .wrapper(.int),
        "google.protobuf.UInt32Value": .wrapper(.uint),
        "google.protobuf.UInt64Value": .wrapper(.uint),
        "google.protobuf.FloatValue": .wrapper(.double),
        "google.protobuf.DoubleValue": .wrapper(.double),
        "google.protobuf.StringValue": .wrapper(.string),
        "google.protobuf.BytesValue": .wrapper(.bytes),
    ]
}

private struct TypeReader {
    let text: [UInt8]
    var index = 0
    var depth = 0

    init(text: [UInt8]) { self.text = text }

    var isAtEnd: Bool { index == text.count }

    private mutating func skipBlanks() {
        while index < text.count, text[index] == 32 { index += 1 }
    }

    mutating func accept(_ byte: Character) -> Bool {
        skipBlanks()
        guard index < text.count, text[index] == byte.asciiValue else { return false }
        index += 1
        return true
    }

    mutating func type() -> Type? {
        depth += 1
        defer { depth -= 1 }
        guard depth < 64 else { return nil }
        skipBlanks()
        let start = index
        while index < text.count,
            Lexer.isIdentifierByte(text[index]) || text[index] == UInt8(ascii: ".")
        {
            index += 1
        }
        let name = String(decoding: text[start..<index], as: UTF8.self)
        guard !name.isEmpty else { return nil }
        var parameters: [Type] = []
        if accept("(") || accept("<") {
            repeat {
                guard let parameter = type() else { return nil }
                parameters.append(parameter)
            } while accept(",")
            guard accept(")") || accept(">") else { return nil }
        }
        switch (name, parameters.count) {
        case ("list", 1): return .list(parameters[0])
        case ("map", 2): return .map(parameters[0], parameters[1])
        case ("optional_type", 1), ("optional", 1): return .optional(parameters[0])
        case ("wrapper", 1): return .wrapper(parameters[0])
        case ("type", 1): return .type(parameters[0])
        case (_, 0):
            if let known = Type.named[name] { return known }
            let isParameter = name.utf8.count == 1 && name.uppercased() == name
            return isParameter ? .param(name) : .abstract(name, [])
        default: return .abstract(name, parameters)
        }
    }
}
