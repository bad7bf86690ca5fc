extension Arena {
    /// A value as a cell; nil where it needs too much memory or nests too deep.
    mutating func cell(of value: Value) -> Cell? {
        switch value {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .uint(let value): return .uint(value)
        case .double(let value): return .double(value)
        case .string(var value):
            return value.withUTF8 { bytes(.string, UnsafeRawBufferPointer($0)) }
        case .bytes(let value): return value.withUnsafeBytes { bytes(.bytes, $0) }
        case .timestamp(let value): return .timestamp(value)
        case .duration(let value): return .duration(value.totalNanoseconds)
        case .type(let type):
            var name = type.runtimeName
            return name.withUTF8 { bytes(.type, UnsafeRawBufferPointer($0)) }
        case .list(let elements):
            guard let cells = cells(elements.count) else { return nil }
            for (index, element) in elements.enumerated() {
                guard let cell = cell(of: element) else { return nil }
                cells[index] = cell
            }
            return Cell(.list, cells, count: elements.count).nested()
        case .map(let map): return cell(of: map)
        case .optional(let wrapped):
            guard let wrapped else { return Cell.none }
            guard let cell = cell(of: wrapped), let place = cells(1) else { return nil }
            place.initialize(to: cell)
            return Cell(.optional, place, count: 1).nested()
        case .opaque(let type, let text):
            guard type == "net.IP" || type == "net.CIDR", let parsed = NetworkText.parse(text)
            else {
                return .null
            }
            return network(parsed)
        case .message(let type, let fields):
            guard let name = cell(of: .string(type)), let fields = cell(of: .map(fields)) else {
                return nil
            }
            return message(name, fields)
        }
    }

    /// Nil too where two entries have one key or a key is of a wrong kind.
    private mutating func cell(of map: ValueMap) -> Cell? {
        guard let pairs = cells(2 * map.entries.count) else { return nil }
        for (index, entry) in map.entries.enumerated() {
            guard let key = cell(of: entry.key), let value = cell(of: entry.value) else {
                return nil
            }
            pairs[2 * index] = key
            pairs[2 * index + 1] = value
        }
        return Cell(.map, pairs, count: map.entries.count).nested().flatMap {
            MapLayout.index($0, in: &self).map
        }
    }

    /// A message of a type with the fields that are set.
    mutating func message(_ name: Cell, _ fields: Cell) -> Cell? {
        guard let cells = cells(2) else { return nil }
        cells[0] = name
        cells[1] = fields
        return Cell(.message, cells, count: 2).nested()
    }

    /// A copy of bytes as a cell of a kind.
    mutating func bytes(_ tag: Cell.Tag, _ source: UnsafeRawBufferPointer) -> Cell? {
        guard let place = allocate(source.count) else { return nil }
        UnsafeMutableRawBufferPointer(start: place, count: source.count).copyMemory(from: source)
        return Cell(tag, place, count: source.count)
    }

    mutating func network(_ address: NetworkText.Address) -> Cell? {
        let tag: Cell.Tag = address.prefix == nil ? .ip : .cidr
        var cell = address.bytes.withUnsafeBytes { bytes(tag, $0) }
        cell?.extra = UInt16(address.prefix ?? 0)
        return cell
    }

    /// A deep copy of a value into this arena.
    mutating func copy(_ cell: Cell) -> Cell? {
        switch cell.tag {
        case .string, .bytes, .type, .ip, .cidr:
            var copy = bytes(cell.tag, cell.bytes)
            copy?.extra = cell.extra
            return copy
        case .list, .map, .message:
            let source = cell.cells
            guard let cells = cells(source.count) else { return nil }
            for (index, element) in source.enumerated() {
                guard let copied = copy(element) else { return nil }
                cells[index] = copied
            }
            var result = Cell(cell.tag, cells, count: cell.count)
            result.extra = cell.extra
            return cell.tag == .map ? MapLayout.index(result, in: &self).map : result
        case .optional:
            guard let wrapped = cell.wrapped else { return Cell.none }
            guard let inner = copy(wrapped), let place = cells(1) else { return nil }
            place.initialize(to: inner)
            return Cell(.optional, place, count: 1).nested()
        default: return cell
        }
    }
}

extension Cell {
    /// The cell as a value of the host; nil where that takes more than there is room for, in the
    /// bytes that its cells and texts would take. Cells can share their parts, values cannot: a few
    /// cells may stand for more than any memory holds.
    func value(room: inout Int) -> Value? {
        room -= MemoryLayout<Cell>.stride
        guard room >= 0 else { return nil }
        switch tag {
        case .absent, .lazy, .error, .null: return .null
        case .bool: return .bool(asBool)
        case .int: return .int(asInt)
        case .uint: return .uint(bits)
        case .double: return .double(asDouble)
        case .timestamp: return .timestamp(asTimestamp)
        case .duration: return .duration(CELDuration(totalNanoseconds: asInt))
        case .list: return elements(room: &room).map { .list($0) }
        case .map: return entries(room: &room).map { .map(ValueMap($0)) }
        case .optional:
            guard let wrapped else { return .optional(nil) }
            return wrapped.value(room: &room).map { .optional($0) }
        case .message:
            guard let fields = cells[1].entries(room: &room) else { return nil }
            return .message(type: cells[0].text, fields: ValueMap(fields))
        case .string, .bytes, .type, .ip, .cidr: return ofBytes(room: &room)
        }
    }

    private func ofBytes(room: inout Int) -> Value? {
        room -= count
        guard room >= 0 else { return nil }
        switch tag {
        case .string: return .string(text)
        case .bytes: return .bytes(Array(bytes))
        case .type: return .type(WellKnown.typeNames[text] ?? .abstract(text, []))
        case .ip: return .opaque(type: "net.IP", text: NetworkText.text(self))
        default: return .opaque(type: "net.CIDR", text: NetworkText.text(self))
        }
    }

    private func elements(room: inout Int) -> [Value]? {
        guard count * MemoryLayout<Cell>.stride <= room else { return nil }
        var elements: [Value] = []
        elements.reserveCapacity(count)
        for cell in cells {
            guard let value = cell.value(room: &room) else { return nil }
            elements.append(value)
        }
        return elements
    }

    private func entries(room: inout Int) -> [ValueMap.Entry]? {
        guard 2 * count * MemoryLayout<Cell>.stride <= room else { return nil }
        let pairs = cells
        var entries: [ValueMap.Entry] = []
        entries.reserveCapacity(count)
        for index in 0..<count {
            guard let key = pairs[2 * index].value(room: &room),
                let value = pairs[2 * index + 1].value(room: &room)
            else { return nil }
            entries.append(ValueMap.Entry(key: key, value: value))
        }
        return entries
    }
}
