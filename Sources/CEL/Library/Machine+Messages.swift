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
            if WellKnown.messages[layout.name]?.fields[name] == nil {
                return error(.noSuchField, of: arena.cell(of: .string(name)) ?? .null)
            }
            fields[name] = cell
        }
        return message(String(layout.name.dropFirst(WellKnown.prefix.count)), fields)
    }

    private mutating func message(_ name: String, _ fields: [String: Cell]) -> Cell {
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
        default: return error(.invalidArgument, "a message of this type cannot be made here")
        }
    }

    private mutating func wrapper(_ given: Cell?, _ tag: Cell.Tag, _ unset: Cell) -> Cell {
        guard let given, given.tag != .null else { return unset }
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
        case "null_value": return .null
        case "number_value": return wrapper(cell, .double, .double(0))
        case "string_value": return wrapper(cell, .string, Cell(.string))
        case "bool_value": return wrapper(cell, .bool, .bool(false))
        case "struct_value": return json(wrapper(cell, .map, Cell(.map)))
        default: return json(wrapper(cell, .list, Cell(.list)))
        }
    }

    /// A list or map as protobuf's JSON values hold it: numbers are doubles, keys are strings.
    private mutating func json(_ cell: Cell) -> Cell {
        charge(cells: cell.tag == .list || cell.tag == .map ? cell.count + 1 : 1)
        if isTooCostly { return bare(.costLimit) }
        switch cell.tag {
        case .int: return .double(Double(cell.asInt))
        case .uint: return .double(Double(cell.bits))
        case .null, .bool, .double, .string, .error: return cell
        case .list:
            var elements: [Cell] = []
            for element in cell.cells {
                let converted = json(element)
                if converted.isError { return converted }
                elements.append(converted)
            }
            return makeList(elements)
        case .map:
            let pairs = cell.cells
            guard let copied = arena.cells(pairs.count) else { return outOfMemory() }
            for index in 0..<cell.count {
                guard pairs[2 * index].tag == .string else {
                    return error(.invalidArgument, "the keys of a Struct are strings")
                }
                let converted = json(pairs[2 * index + 1])
                if converted.isError { return converted }
                copied[2 * index] = pairs[2 * index]
                copied[2 * index + 1] = converted
            }
            return finishMap(Cell(.map, copied, count: cell.count))
        default: return error(.invalidArgument, "\(Self.typeName(cell)) is no JSON value")
        }
    }
}
