/// Protobuf's wire format, as far as the well-known messages need it: what `Any` carries.
extension Machine {
    /// One field of a message: its number and content.
    private enum Field {
        case number(UInt64)
        case bytes(UnsafeRawBufferPointer)
    }

    private struct Fault: Error {}

    /// `Any` within `Any`, and JSON values, nest no deeper than this.
    private static let deepestMessage = 100

    /// The value of a serialized message, of a type such as
    /// `type.googleapis.com/google.protobuf.Int64Value`.
    mutating func decode(_ bytes: Cell, type url: String) -> Cell {
        charge(bytes: bytes.count)
        let name = url.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init)
        guard let name, WellKnown.messages[name] != nil else {
            return error(.invalidArgument, "`\(url)` is no type known here")
        }
        do throws(Fault) {
            let short = String(name.dropFirst(WellKnown.prefix.count))
            return try message(short, bytes.bytes, depth: 0)
        } catch {
            return self.error(.invalidArgument, "the bytes are no `\(name)`")
        }
    }

    private mutating func message(
        _ name: String, _ bytes: UnsafeRawBufferPointer, depth: Int
    ) throws(Fault) -> Cell {
        guard depth < Self.deepestMessage else { throw Fault() }
        var fields: [String: Cell] = [:]
        var lists: [String: [Cell]] = [:]
        var index = 0
        while index < bytes.count {
            charge(cells: 1)
            guard cost <= costLimit else { throw Fault() }
            let (number, field) = try Self.field(bytes, &index)
            switch (name, number, field) {
            case ("Struct", 1, .bytes(let part)):
                lists["fields", default: []] += try entry(part, depth: depth + 1)
            case ("ListValue", 1, .bytes(let part)):
                lists["values", default: []].append(try message("Value", part, depth: depth + 1))
            case ("FieldMask", 1, .bytes(let part)):
                lists["paths", default: []].append(try string(part))
            case ("Value", 5, .bytes(let part)):
                fields = ["struct_value": try message("Struct", part, depth: depth + 1)]
            case ("Value", 6, .bytes(let part)):
                fields = ["list_value": try message("ListValue", part, depth: depth + 1)]
            default:
                guard let (key, cell) = try scalar(name, number, field) else { continue }
                // The last of a oneof's fields is the one that is set.
                if name == "Value" { fields = [:] }
                fields[key] = cell
            }
        }
        if let pairs = lists["fields"] { fields["fields"] = try map(pairs) }
        for key in ["values", "paths"] { fields[key] = lists[key].map { makeList($0) } }
        return self.message(name, fields)
    }

    /// A field of one number, string or byte sequence; nil for one that is not known.
    private mutating func scalar(_ name: String, _ number: Int, _ field: Field) throws(Fault)
        -> (String, Cell)?
    {
        switch (name, number, field) {
        case ("BoolValue", 1, .number(let bits)): ("value", .bool(bits != 0))
        case ("Int32Value", 1, .number(let bits)):
            ("value", .int(Int(Int32(truncatingIfNeeded: bits))))
        case ("Int64Value", 1, .number(let bits)): ("value", .int(Int64(bitPattern: bits)))
        case ("UInt32Value", 1, .number(let bits)):
            ("value", .uint(UInt64(UInt32(truncatingIfNeeded: bits))))
        case ("UInt64Value", 1, .number(let bits)): ("value", .uint(bits))
        case ("FloatValue", 1, .number(let bits)):
            ("value", .double(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))))
        case ("DoubleValue", 1, .number(let bits)):
            ("value", .double(Double(bitPattern: bits)))
        case ("StringValue", 1, .bytes(let part)): ("value", try string(part))
        case ("BytesValue", 1, .bytes(let part)): ("value", Self.part(.bytes, part))
        case ("Timestamp", 1, .number(let bits)), ("Duration", 1, .number(let bits)):
            ("seconds", .int(Int64(bitPattern: bits)))
        case ("Timestamp", 2, .number(let bits)), ("Duration", 2, .number(let bits)):
            ("nanos", .int(Int(Int32(truncatingIfNeeded: bits))))
        case ("Any", 1, .bytes(let part)): ("type_url", try string(part))
        case ("Any", 2, .bytes(let part)): ("value", Self.part(.bytes, part))
        case ("Value", 1, .number): ("null_value", .null)
        case ("Value", 2, .number(let bits)):
            ("number_value", .double(Double(bitPattern: bits)))
        case ("Value", 3, .bytes(let part)): ("string_value", try string(part))
        case ("Value", 4, .number(let bits)): ("bool_value", .bool(bits != 0))
        default: nil
        }
    }

    /// The key and value of a map's entry.
    private mutating func entry(_ bytes: UnsafeRawBufferPointer, depth: Int) throws(Fault)
        -> [Cell]
    {
        var pair = [Cell(.string), Cell.null]
        var index = 0
        while index < bytes.count {
            switch try Self.field(bytes, &index) {
            case (1, .bytes(let part)): pair[0] = try string(part)
            case (2, .bytes(let part)): pair[1] = try message("Value", part, depth: depth)
            default: continue
            }
        }
        return pair
    }

    /// Of entries with one key the last counts.
    private mutating func map(_ pairs: [Cell]) throws(Fault) -> Cell {
        var places: [String: Int] = [:]
        var kept: [Cell] = []
        for index in stride(from: 0, to: pairs.count, by: 2) {
            if let place = places[pairs[index].text] {
                kept[place + 1] = pairs[index + 1]
            } else {
                places[pairs[index].text] = kept.count
                kept += pairs[index...index + 1]
            }
        }
        guard let cells = arena.cells(kept.count) else { throw Fault() }
        for (index, cell) in kept.enumerated() { cells[index] = cell }
        return finishMap(Cell(.map, cells, count: kept.count / 2))
    }

    private func string(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Cell {
        guard UTF8Check.isValid(bytes) else { throw Fault() }
        return Self.part(.string, bytes)
    }

    /// A part of the message shares its bytes.
    private static func part(_ tag: Cell.Tag, _ bytes: UnsafeRawBufferPointer) -> Cell {
        Cell(tag, bytes.baseAddress, count: bytes.count)
    }

    // MARK: Reading

    private static func field(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) throws(Fault)
        -> (Int, Field)
    {
        let tag = try varint(bytes, &index)
        guard tag >> 3 > 0, tag >> 3 < 1 << 29 else { throw Fault() }
        let number = Int(tag >> 3)
        switch tag & 7 {
        case 0: return (number, .number(try varint(bytes, &index)))
        case 1: return (number, .number(littleEndian(try take(8, bytes, &index))))
        case 5: return (number, .number(littleEndian(try take(4, bytes, &index))))
        case 2:
            let length = try varint(bytes, &index)
            guard length <= UInt64(bytes.count) else { throw Fault() }
            return (number, .bytes(try take(Int(length), bytes, &index)))
        default: throw Fault()
        }
    }

    private static func varint(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) throws(Fault)
        -> UInt64
    {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 70, by: 7) {
            guard index < bytes.count else { throw Fault() }
            let byte = bytes[index]
            index += 1
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        throw Fault()
    }

    private static func take(
        _ count: Int, _ bytes: UnsafeRawBufferPointer, _ index: inout Int
    ) throws(Fault) -> UnsafeRawBufferPointer {
        guard count <= bytes.count - index else { throw Fault() }
        defer { index += count }
        return UnsafeRawBufferPointer(rebasing: bytes[index..<index + count])
    }

    private static func littleEndian(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
