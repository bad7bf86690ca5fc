import CEL
import Glibc
import JSON
import Policies
import Time

/// How the inputs are given.
enum Form: String, CaseIterable {
    /// Every variable is `dyn` and holds maps.
    case dyn
    /// Every variable has its type declared, so that fields are slots.
    case declared
}

/// The expressions with what they must give, and the inputs they read.
struct Cases {
    struct Expression {
        var name: String
        var text: String
        var wanted: Bool
    }

    var expressions: [Expression] = []
    var inputs: [(name: String, value: Value)] = []
    /// Fields that a policy would declare as optional, and that the inputs do not have.
    var absent: [String: Type] = [:]

    init?(_ bytes: [UInt8]) {
        guard let json = try? JSONReader.parse(bytes),
            let list = json["exprs"]?.arrayValue, let variables = json["vars"]?.objectValue
        else { return nil }
        for item in list {
            guard let name = item["name"]?.stringValue, let text = item["cel"]?.stringValue,
                let wanted = item["want"]?.boolValue
            else { return nil }
            expressions.append(Expression(name: name, text: text, wanted: wanted))
        }
        for (name, value) in variables.members { inputs.append((name, Self.value(value))) }
        for (path, type) in json["absent"]?.objectValue?.members ?? [] {
            absent[path] = type.stringValue.flatMap { Type(text: $0) }
        }
    }

    /// `{"$ts": …}` is a timestamp.
    private static func value(_ json: JSONValue) -> Value {
        Value(json) { object in
            guard let text = object["$ts"]?.stringValue, let instant = Instant(rfc3339: text) else {
                return nil
            }
            return Timestamp(seconds: instant.milliseconds / 1000).map { .timestamp($0) }
        }
    }

    /// The type that a policy would declare for a value.
    func type(of value: Value, name: String) -> Type {
        switch value {
        case .bool: .bool
        case .int: .int
        case .uint: .uint
        case .double: .double
        case .string: .string
        case .timestamp: .timestamp
        case .list(let elements):
            .list(elements.first.map(elementType) ?? .dyn)
        case .map(let map):
            .object(
                ObjectType(
                    name: name,
                    fields: map.entries.compactMap { entry in
                        guard case .string(let key) = entry.key else { return nil }
                        return ObjectType.Field(
                            key, type(of: entry.value, name: name + "." + key))
                    } + absentFields(of: name)))
        default: .dyn
        }
    }

    private func absentFields(of name: String) -> [ObjectType.Field] {
        absent.compactMap { path, type in
            guard path.hasPrefix(name + "."), let field = path.split(separator: ".").last,
                path == "\(name).\(field)"
            else { return nil }
            return ObjectType.Field(String(field), type, isOptional: true)
        }
    }

    private func elementType(of value: Value) -> Type {
        if case .map = value { return .map(.string, .dyn) }
        return type(of: value, name: "")
    }
}

func contents(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let next = fgetc(file), next != EOF { bytes.append(UInt8(truncatingIfNeeded: next)) }
    return bytes
}
