import CEL
import JSON
import Policies

/// What `--var` gives: a name, and a type, a value, or both.
struct CELVariable {
    let name: String
    let type: Type?
    let json: JSONValue?

    /// Reads `NAME:TYPE`, `NAME=JSON` or `NAME:TYPE=JSON`.
    init(_ given: String) throws {
        let end = given.firstIndex { $0 == ":" || $0 == "=" } ?? given.endIndex
        let name = String(given[..<end])
        self.name = name
        let rest = given[end...]
        let mark = rest.firstIndex(of: "=")
        if rest.hasPrefix(":") {
            type = try Self.type(String(rest[..<(mark ?? rest.endIndex)].dropFirst()), of: name)
        } else {
            type = nil
        }
        json = try mark.map { try Self.json(String(rest[$0...].dropFirst()), of: name) }
    }

    private static func type(_ text: String, of name: String) throws -> Type {
        guard let type = Type(text: text) else {
            throw UsageError("--var \(name): `\(text)` is no type")
        }
        guard let unknown = type.unknownName else { return type }
        let help = unknown.nearest.map { "; did you mean `\($0)`?" } ?? ""
        throw UsageError("--var \(name): there is no type `\(unknown.name)`\(help)")
    }

    private static func json(_ text: String, of name: String) throws -> JSONValue {
        do throws(JSONError) {
            return try JSONReader.parse(Array(text.utf8))
        } catch {
            throw UsageError("--var \(name): \(error.message)")
        }
    }

    /// Its value: JSON as it is, or as the type wants it. Nil where none was given.
    func value() throws -> Value? {
        guard let json else { return nil }
        guard let type else { return Value(json) }
        guard let value = Self.value(json, type) else {
            throw UsageError("--var \(name): \(json.text) is no value of \(type)")
        }
        return value
    }

    /// The type that was given, or that of the value.
    func declaredType() throws -> Type {
        if let type { return type }
        return switch try value() {
        case .bool: .bool
        case .int: .int
        case .uint: .uint
        case .double: .double
        case .string: .string
        case .list: .list(.dyn)
        case .map: .map(.string, .dyn)
        default: .dyn
        }
    }

    private static func value(_ json: JSONValue, _ type: Type) -> Value? {
        switch (type, json) {
        case (.dyn, _), (.any, _): return Value(json)
        case (.null, .null): return .null
        case (.bool, .bool), (.int, .int), (.uint, .uint), (.double, .double), (.string, .string):
            return Value(json)
        case (.uint, .int(let number)): return UInt64(exactly: number).map { .uint($0) }
        case (.double, .int(let number)): return .double(Double(number))
        case (.double, .uint(let number)): return .double(Double(number))
        case (.timestamp, .string(let text)): return converted(text, by: "timestamp(text)")
        case (.duration, .string(let text)): return converted(text, by: "duration(text)")
        case (.bytes, .string(let text)): return converted(text, by: "base64.decode(text)")
        case (.abstract("net.IP", _), .string(let text)): return converted(text, by: "ip(text)")
        case (.abstract("net.CIDR", _), .string(let text)):
            return converted(text, by: "cidr(text)")
        case (.wrapper, .null): return .null
        case (.wrapper(let scalar), _): return value(json, scalar)
        case (.optional, .null): return .optional(nil)
        case (.optional(let inner), _): return value(json, inner).map { .optional($0) }
        case (.list(let element), .array(let elements)):
            let values = elements.compactMap { value($0, element) }
            return values.count == elements.count ? .list(values) : nil
        case (.map(let key, let value), .object(let object)):
            return map(object, key, value)
        default: return nil
        }
    }

    /// The keys of JSON are texts: those of other kinds are written as JSON in them.
    private static func map(_ object: JSONObject, _ key: Type, _ value: Type) -> Value? {
        var entries: [ValueMap.Entry] = []
        for member in object.members {
            let isText = [.string, .dyn].contains(key)
            let name =
                isText
                ? JSONValue.string(member.key) : try? JSONReader.parse(Array(member.key.utf8))
            guard let name, let key = self.value(name, key),
                let content = self.value(member.value, value)
            else { return nil }
            entries.append(ValueMap.Entry(key: key, value: content))
        }
        return .map(ValueMap(entries))
    }

    /// A text as CEL itself reads it.
    private static func converted(_ text: String, by expression: String) -> Value? {
        var environment = Environment()
        guard let slot = try? environment.declare("text", .string).lowerBound,
            let program = environment.compile(expression).program
        else { return nil }
        var activation = Activation(environment)
        activation.set(slot, .string(text))
        return program.evaluate(&activation).value
    }
}
