extension Machine {
    /// A message literal, for those messages that stand for values of the language.
    mutating func structure(_ i: Instruction, _ code: Code) -> Cell {
        let layout = code.structures[Int(i.b)]
        var fields: [String: Cell] = [:]
        for (index, name) in layout.fields.enumerated() {
            var cell = frame[Int(i.a) + index]
            if cell.isError { return cell }
            if cell.tag == .optional, cell.code == 1 {
                guard let wrapped = cell.wrapped else { continue }
                cell = wrapped
            }
            if WellKnown.messages[layout.name]?.fields[name] == nil || fields[name] != nil {
                return error(.noSuchField, of: arena.cell(of: .string(name)) ?? .null)
            }
            fields[name] = cell
        }
        return message(String(layout.name.dropFirst(WellKnown.prefix.count)), fields)
    }

    /// A message by its name within `google.protobuf`: mostly the value that it stands for.
    mutating func message(_ name: String, _ fields: [String: Cell]) -> Cell {
        let given = fields["value"]
        switch name {
        case "BoolValue": return wrapper(given, .bool, .bool(false))
        case "StringValue": return wrapper(given, .string, Cell(.string))
        case "BytesValue": return wrapper(given, .bytes, Cell(.bytes))
        case "DoubleValue": return wrapper(given, .double, .double(0))
        case "FloatValue":
            let cell = wrapper(given, .double, .double(0))
            return cell.isError ? cell : .double(Double(Float(cell.asDouble)))
        case "Int64Value": return wrapper(given, .int, .int(0))
        case "UInt64Value": return wrapper(given, .uint, .uint(0))
        case "Int32Value":
            let cell = wrapper(given, .int, .int(0))
            return cell.isError || Int32(exactly: cell.asInt) != nil
                ? cell : error(.overflow, "int32 overflow")
        case "UInt32Value":
            let cell = wrapper(given, .uint, .uint(0))
            return cell.isError || UInt32(exactly: cell.bits) != nil
                ? cell : error(.overflow, "uint32 overflow")
        case "Timestamp", "Duration": return moment(name, fields)
        case "ListValue": return json(wrapper(fields["values"], .list, Cell(.list)))
        case "Struct": return json(wrapper(fields["fields"], .map, Cell(.map)))
        case "Value": return jsonValue(fields)
        case "Any": return unpacked(fields)
        case "FieldMask": return fieldMask(fields)
        case "Empty": return makeMessage(name, [])
        default: return error(.invalidArgument, "a message of this type cannot be made here")
        }
    }

    private mutating func fieldMask(_ fields: [String: Cell]) -> Cell {
        let paths = wrapper(fields["paths"], .list, Cell(.list))
        if paths.isError { return paths }
        if let other = paths.cells.first(where: { $0.tag != .string }) {
            return error(.noSuchOverload, details: .string("="), other)
        }
        // An empty list is the field's default, so nothing is set then.
        return makeMessage("FieldMask", paths.count == 0 ? [] : [.string("paths"), paths])
    }

    private mutating func makeMessage(_ name: String, _ pairs: [Cell]) -> Cell {
        guard let name = arena.cell(of: .string(WellKnown.prefix + name)),
            let cells = arena.cells(pairs.count)
        else { return outOfMemory() }
        for (index, cell) in pairs.enumerated() { cells[index] = cell }
        let fields = finishMap(Cell(.map, cells, count: pairs.count / 2))
        return fields.isError ? fields : arena.message(name, fields) ?? outOfMemory()
    }

    /// What `Any` holds; one that holds nothing stands for nothing.
    private mutating func unpacked(_ fields: [String: Cell]) -> Cell {
        let url = wrapper(fields["type_url"], .string, Cell(.string))
        if url.isError { return url }
        let bytes = wrapper(fields["value"], .bytes, Cell(.bytes))
        return bytes.isError ? bytes : decode(bytes, type: url.text)
    }

    // MARK: Fields

    /// A field of a message; its type's default where it is not set.
    mutating func messageField(_ message: Cell, _ field: Cell, isOptional: Bool) -> Cell {
        guard WellKnown.messages[message.cells[0].text]?.fields[field.text] != nil else {
            return error(.noSuchField, of: field)
        }
        let found = MapLayout.find(field, in: message.cells[1])
        if isOptional { return found.map { some($0) } ?? Cell.none }
        // All fields there are, those of `FieldMask`, are lists.
        return found ?? Cell(.list)
    }

    mutating func hasField(_ message: Cell, _ field: Cell) -> Cell {
        guard WellKnown.messages[message.cells[0].text]?.fields[field.text] != nil else {
            return error(.noSuchField, of: field)
        }
        return .bool(MapLayout.find(field, in: message.cells[1]) != nil)
    }

    /// The value of a field of a kind; null is of no kind.
    private mutating func wrapper(_ given: Cell?, _ tag: Cell.Tag, _ unset: Cell) -> Cell {
        guard let given else { return unset }
        return given.tag == tag ? given : error(.noSuchOverload, details: .string("="), given)
    }

    private mutating func moment(_ name: String, _ fields: [String: Cell]) -> Cell {
        let seconds = wrapper(fields["seconds"], .int, .int(0))
        if seconds.isError { return seconds }
        let nanos = wrapper(fields["nanos"], .int, .int(0))
        if nanos.isError { return nanos }
        guard let rest = Int32(exactly: nanos.asInt) else {
            return error(.overflow, "int32 overflow")
        }
        if name == "Timestamp" {
            return Timestamp(seconds: seconds.asInt, nanoseconds: rest).map { .timestamp($0) }
                ?? error(.overflow, "timestamp out of range")
        }
        return CELDuration(seconds: seconds.asInt, nanoseconds: rest).map {
            .duration($0.totalNanoseconds)
        } ?? error(.overflow, "duration out of range")
    }

    private mutating func jsonValue(_ fields: [String: Cell]) -> Cell {
        // A oneof: at most one field is set; none is null.
        guard let (name, cell) = fields.first, fields.count == 1 else {
            return fields.isEmpty ? .null : error(.invalidArgument, "a Value has one field only")
        }
        switch name {
        case "null_value":
            // An enumeration of one name; as such its values are ints of 32 bits.
            let isOne = cell.tag == .null || (cell.tag == .int && Int32(exactly: cell.asInt) != nil)
            return isOne ? .null : error(.noSuchOverload, details: .string("="), cell)
        case "number_value": return wrapper(cell, .double, .double(0))
        case "string_value": return wrapper(cell, .string, Cell(.string))
        case "bool_value": return wrapper(cell, .bool, .bool(false))
        case "struct_value": return json(wrapper(cell, .map, Cell(.map)))
        default: return json(wrapper(cell, .list, Cell(.list)))
        }
    }
}
