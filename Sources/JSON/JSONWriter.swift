/// Writes JSON without white space into a growing buffer.
///
/// What is written is canonical when the caller writes members in the byte order of their
/// names: strings escape only what they must, integers are plain, doubles are the shortest
/// text that reads back the same and always carry a point or an exponent.
public struct JSONWriter: Sendable {
    /// What has been written.
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// An empty buffer with room for that many bytes.
    public init(capacity: Int = 512) { bytes.reserveCapacity(capacity) }

    /// Opens an object.
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Closes the object.
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Opens an array.
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Closes the array.
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// The name of the next member; it must need no escape.
    public mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// The name of the next member.
    public mutating func key(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A string.
    public mutating func string(_ value: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { appendEscaped($0) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A string of ASCII that needs no escape.
    public mutating func string(_ value: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        value.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A string of ASCII that needs no escape, made by the caller at the end of the buffer.
    public mutating func string(making make: (inout [UInt8]) -> Void) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        make(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// An integer.
    public mutating func int(_ value: Int64) {
        separate()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDecimal(value.magnitude)
    }

    /// An integer.
    public mutating func int(_ value: Int) { int(Int64(value)) }

    /// An integer above `Int64.max`, or any other that is not negative.
    public mutating func uint(_ value: UInt64) {
        separate()
        appendDecimal(value)
    }

    /// A double; `null` if it is not finite, which JSON cannot say.
    public mutating func double(_ value: Double) {
        separate()
        guard value.isFinite else {
            bytes.append(contentsOf: "null".utf8)
            return
        }
        bytes.append(contentsOf: value.description.utf8)
    }

    /// A truth value.
    public mutating func bool(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Null.
    public mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// A whole value that is JSON text already.
    public mutating func raw(_ text: [UInt8]) {
        separate()
        bytes.append(contentsOf: text)
    }

    /// A whole value, members in their own order.
    public mutating func value(_ value: JSONValue) { write(value, sorted: false) }

    /// A whole value, members in the byte order of their names.
    public mutating func canonical(_ value: JSONValue) { write(value, sorted: true) }

    private mutating func write(_ value: JSONValue, sorted: Bool) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .int(let value): int(value)
        case .uint(let value): uint(value)
        case .double(let value): double(value)
        case .string(let value): string(value)
        case .array(let elements):
            beginArray()
            for element in elements { write(element, sorted: sorted) }
            endArray()
        case .object(let object):
            beginObject()
            let members =
                sorted
                ? object.members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                : object.members
            for member in members {
                key(member.key)
                write(member.value, sorted: sorted)
            }
            endObject()
        }
    }

    // MARK: Bytes

    private mutating func open(_ byte: UInt8) {
        separate()
        bytes.append(byte)
        needsComma = false
    }

    private mutating func close(_ byte: UInt8) {
        bytes.append(byte)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func appendDecimal(_ value: UInt64) {
        if value < 10 {
            bytes.append(UInt8(ascii: "0") + UInt8(value))
            return
        }
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var start = 20
        var rest = value
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in start..<20 { bytes.append(digits[index]) }
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        var clean = 0
        for index in text.indices {
            let byte = text[index]
            if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") { continue }
            bytes.append(contentsOf: text[clean..<index])
            clean = index + 1
            appendEscape(byte)
        }
        bytes.append(contentsOf: text[clean...])
    }

    private mutating func appendEscape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(contentsOf: "u00".utf8)
            let hex = Array("0123456789abcdef".utf8)
            bytes.append(hex[Int(byte >> 4)])
            bytes.append(hex[Int(byte & 15)])
        }
    }
}

extension JSONValue {
    /// The canonical text: no white space, members in the byte order of their names.
    public var canonicalBytes: [UInt8] {
        var writer = JSONWriter()
        writer.canonical(self)
        return writer.bytes
    }

    /// The text, members in their own order.
    public var text: String {
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
