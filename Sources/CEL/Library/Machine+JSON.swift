/// Values as JSON holds them, for `google.protobuf.Value`, `Struct` and `ListValue`.
extension Machine {
    /// Beyond it not every whole number is a double of its own.
    private static let exactInDouble: UInt64 = 1 << 53 - 1

    /// A value of JSON's kinds: whole numbers become doubles, or strings where a double is not
    /// exact; what JSON lacks becomes the string that protobuf's JSON form has for it.
    mutating func json(_ cell: Cell) -> Cell {
        charge(cells: cell.tag == .list || cell.tag == .map ? cell.count + 1 : 1)
        if cell.tag == .bytes { charge(bytes: cell.count) }
        if isTooCostly { return bare(.costLimit) }
        switch cell.tag {
        case .null, .bool, .string, .error: return cell
        case .int:
            return cell.asInt.magnitude <= Self.exactInDouble
                ? .double(Double(cell.asInt)) : makeString(String(cell.asInt))
        case .uint:
            return cell.bits <= Self.exactInDouble
                ? .double(Double(cell.bits)) : makeString(String(cell.bits))
        case .double:
            return cell.asDouble.isFinite ? cell : makeString(DoubleText.text(cell.asDouble))
        case .bytes: return makeString(Base64.encode(cell.bytes))
        case .timestamp: return makeString(Self.text(cell.asTimestamp))
        case .duration: return makeString(DurationSyntax.text(cell.asInt))
        case .message: return json(ofMessage: cell)
        case .list:
            var elements: [Cell] = []
            for element in cell.cells {
                let converted = json(element)
                if converted.isError { return converted }
                elements.append(converted)
            }
            return makeList(elements)
        case .map: return json(ofMap: cell)
        default: return error(.invalidArgument, "\(Self.typeName(cell)) is no JSON value")
        }
    }

    private mutating func json(ofMap map: Cell) -> Cell {
        let pairs = map.cells
        guard let copied = arena.cells(pairs.count) else { return outOfMemory() }
        for index in 0..<map.count {
            guard pairs[2 * index].tag == .string else {
                return error(.invalidArgument, "the keys of a Struct are strings")
            }
            let converted = json(pairs[2 * index + 1])
            if converted.isError { return converted }
            copied[2 * index] = pairs[2 * index]
            copied[2 * index + 1] = converted
        }
        return finishMap(Cell(.map, copied, count: map.count))
    }

    /// `{}` for `Empty`; for `FieldMask` its paths in camel case, joined by commas.
    private mutating func json(ofMessage message: Cell) -> Cell {
        guard message.cells[0].text == WellKnown.prefix + "FieldMask" else { return Cell(.map) }
        let paths = MapLayout.find(.string("paths"), in: message.cells[1])?.cells
        let shown = (paths.map(Array.init) ?? []).map { Self.camelCase($0.bytes) }
        return makeString(Array(shown.joined(separator: [UInt8(ascii: ",")])))
    }

    private static func camelCase(_ path: UnsafeRawBufferPointer) -> [UInt8] {
        var result: [UInt8] = []
        var isRaised = false
        for byte in path {
            if byte == UInt8(ascii: "_") {
                isRaised = true
            } else {
                let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                result.append(isRaised && isLower ? byte - 32 : byte)
                isRaised = false
            }
        }
        return result
    }
}
