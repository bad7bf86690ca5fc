import CEL
import JSON
import Time

/// JSON to CEL values and back, as the command line shows them.
enum JSONBridge {
    /// Numbers without a point are ints, objects are maps with string keys.
    static func value(_ json: JSONValue) -> Value {
        switch json {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .uint(let value): .uint(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .array(let elements): .list(elements.map(value))
        case .object(let object):
            .map(
                ValueMap(
                    object.members.map {
                        ValueMap.Entry(key: .string($0.key), value: value($0.value))
                    }))
        }
    }

    static func type(of value: Value) -> Type {
        switch value {
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

    /// A value as one line: JSON where JSON has it, CEL's own notation for the rest.
    static func text(_ value: Value) -> String {
        switch value {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .int(let value): return String(value)
        case .uint(let value): return "\(value)u"
        case .double(let value):
            if value.isNaN { return "double(\"NaN\")" }
            if value.isInfinite { return "double(\"\(value < 0 ? "-" : "")Infinity\")" }
            return value.description
        case .string(let value): return quoted(value)
        case .bytes(let bytes): return "b\"" + bytes.map(escaped).joined() + "\""
        case .list(let elements): return "[" + elements.map(text).joined(separator: ", ") + "]"
        case .map(let map):
            return "{"
                + map.entries.map { "\(text($0.key)): \(text($0.value))" }.joined(separator: ", ")
                + "}"
        case .timestamp(let timestamp):
            var bytes: [UInt8] = []
            RFC3339.append(
                seconds: timestamp.seconds, nanoseconds: timestamp.nanoseconds,
                fraction: .shortest, to: &bytes)
            return "timestamp(\"\(String(decoding: bytes, as: UTF8.self))\")"
        case .duration(let duration): return "duration(\"\(text(duration))\")"
        case .type(let type): return type.runtimeName
        case .optional(let wrapped):
            return wrapped.map { "optional.of(\(text($0)))" } ?? "optional.none()"
        case .opaque(let type, let text):
            return "\(type == "net.IP" ? "ip" : "cidr")(\"\(text)\")"
        case .message(let type, let fields):
            let shown = fields.entries.map { field in
                if case .string(let name) = field.key { return "\(name): \(text(field.value))" }
                return text(field.value)
            }
            return type + "{" + shown.joined(separator: ", ") + "}"
        }
    }

    /// Exact, in the unit that needs no point.
    private static func text(_ duration: CELDuration) -> String {
        let nanoseconds = duration.totalNanoseconds
        return nanoseconds % 1_000_000_000 == 0
            ? "\(nanoseconds / 1_000_000_000)s" : "\(nanoseconds)ns"
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func escaped(_ byte: UInt8) -> String {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            return "\\" + String(UnicodeScalar(byte))
        }
        if (32..<127).contains(byte) { return String(UnicodeScalar(byte)) }
        let digits = String(byte, radix: 16)
        return "\\x" + (digits.count == 1 ? "0" : "") + digits
    }
}
