import CEL
import JSON

/// A value as JSON; what JSON has no form for is a string of its description.
enum JSONText {
    static func bytes(_ value: Value) -> [UInt8] {
        var writer = JSONWriter()
        write(value, to: &writer)
        return writer.bytes
    }

    private static func write(_ value: Value, to writer: inout JSONWriter) {
        switch value {
        case .int(let number): writer.int(number)
        case .uint(let number): writer.uint(number)
        case .double(let number) where number.isFinite: writer.double(number)
        case .string(let text): writer.string(text)
        case .list(let elements):
            writer.beginArray()
            for element in elements { write(element, to: &writer) }
            writer.endArray()
        case .map(let map):
            // As pairs: keys need not be strings.
            writer.beginArray()
            for entry in map.entries {
                write(entry.key, to: &writer)
                write(entry.value, to: &writer)
            }
            writer.endArray()
        default: writer.string("\(value)")
        }
    }
}
