import CEL
import JSON
import Time

extension Value {
    /// A value as one line: JSON where JSON has it, CEL's own notation for the rest.
    package var text: String {
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .int(let value): return String(value)
        case .uint(let value): return "\(value)u"
        case .double(let value):
            if value.isNaN { return "double(\"NaN\")" }
            if value.isInfinite { return "double(\"\(value < 0 ? "-" : "")Infinity\")" }
            return value.description
        case .string(let value): return Self.quoted(value)
        case .bytes(let bytes): return "b\"" + bytes.map(Self.escaped).joined() + "\""
        case .list(let elements): return "[" + elements.map(\.text).joined(separator: ", ") + "]"
        case .map(let map):
            return "{"
                + map.entries.map { "\($0.key.text): \($0.value.text)" }.joined(separator: ", ")
                + "}"
        case .timestamp(let timestamp):
            var bytes: [UInt8] = []
            RFC3339.append(
                seconds: timestamp.seconds, nanoseconds: timestamp.nanoseconds,
                fraction: .shortest, to: &bytes)
            return "timestamp(\"\(String(decoding: bytes, as: UTF8.self))\")"
        case .duration(let duration): return "duration(\"\(Self.text(duration))\")"
        case .type(let type): return type.runtimeName
        case .optional(let wrapped):
            return wrapped.map { "optional.of(\($0.text))" } ?? "optional.none()"
        case .opaque(let type, let text):
            return "\(type == "net.IP" ? "ip" : "cidr")(\"\(text)\")"
        case .message(let type, let fields):
            let shown = fields.entries.map { field in
                if case .string(let name) = field.key { return "\(name): \(field.value.text)" }
                return field.value.text
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
