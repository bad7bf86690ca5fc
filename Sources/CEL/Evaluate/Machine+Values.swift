/// Equality, order, and access to what is inside of values.
extension Machine {
    // MARK: Cost and memory

    @inline(__always) mutating func charge(cells: Int) { cost += cells }
    @inline(__always) mutating func charge(bytes: Int) { cost += bytes >> 4 }

    /// Once the limit is passed the evaluation has no result, so whatever is under way may stop at
    /// any value. What walks through values must: they can share parts, and then hold far more than
    /// the memory they take.
    @inline(__always) var isTooCostly: Bool { cost > costLimit }

    /// A new string or byte sequence that `fill` writes.
    mutating func makeBytes(
        _ tag: Cell.Tag, _ count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) -> Cell {
        guard count <= limits.stringBytes else {
            return error(
                .sizeLimit, "the result has \(count) bytes, more than \(limits.stringBytes)")
        }
        charge(bytes: count)
        guard let place = arena.allocate(count) else { return outOfMemory() }
        fill(UnsafeMutableRawBufferPointer(start: place, count: count))
        return Cell(tag, place, count: count)
    }

    mutating func makeString(_ bytes: [UInt8]) -> Cell {
        makeBytes(.string, bytes.count) { $0.copyBytes(from: bytes) }
    }

    mutating func makeString(_ text: String) -> Cell { makeString(Array(text.utf8)) }

    /// A new list of cells.
    mutating func makeList(_ elements: [Cell]) -> Cell {
        charge(cells: elements.count)
        guard let cells = arena.cells(elements.count) else { return outOfMemory() }
        for (index, element) in elements.enumerated() { cells[index] = element }
        return nested(Cell(.list, cells, count: elements.count))
    }

    mutating func some(_ cell: Cell) -> Cell {
        guard let place = arena.cells(1) else { return outOfMemory() }
        var inner = cell
        if inner.tag == .optional { inner.code = 0 }
        place.initialize(to: inner)
        return nested(Cell(.optional, place, count: 1))
    }

    /// A fresh container, or an error where it nests too deep.
    func nested(_ cell: Cell) -> Cell { cell.nested() ?? bare(.sizeLimit) }

    mutating func finishMap(_ map: Cell) -> Cell {
        if map.isError { return map }
        charge(cells: map.count)
        let pairs = map.cells
        for index in 0..<map.count where pairs[2 * index].tag == .string {
            charge(bytes: pairs[2 * index].count)
        }
        if isTooCostly { return bare(.costLimit) }
        let map = nested(map)
        if map.isError { return map }
        switch MapLayout.index(map, in: &arena) {
        case .map(let cell): return cell
        case .duplicate(let key): return error(.duplicateKey, of: key)
        case .badKey(let key):
            return error(.invalidArgument, "\(key.type.runtimeName) cannot be a key")
        case .outOfMemory: return outOfMemory()
        }
    }

    // MARK: Equality and order

    /// CEL's equality. What is compared counts as cost.
    mutating func areEqual(_ l: Cell, _ r: Cell) -> Bool {
        if isTooCostly { return false }
        switch (l.tag, r.tag) {
        case (.string, .string), (.bytes, .bytes), (.type, .type):
            guard l.length == r.length else { return false }
            charge(bytes: l.count)
            return Self.sameBytes(l, r)
        case (.ip, .ip): return Self.isSameAddress(l, r)
        case (.cidr, .cidr):
            return l.extra == r.extra && l.length == r.length && l.bytes.elementsEqual(r.bytes)
        case (.null, .null): return true
        case (.bool, .bool), (.duration, .duration): return l.bits == r.bits
        case (.timestamp, .timestamp): return l.bits == r.bits && l.length == r.length
        case (.list, .list), (.message, .message):
            guard l.length == r.length else { return false }
            let left = l.cells
            let right = r.cells
            charge(cells: l.count)
            for index in 0..<l.count where !areEqual(left[index], right[index]) { return false }
            return true
        case (.map, .map):
            guard l.length == r.length else { return false }
            let pairs = l.cells
            charge(cells: 2 * l.count)
            for index in 0..<l.count {
                guard let other = find(pairs[2 * index], in: r),
                    areEqual(pairs[2 * index + 1], other)
                else { return false }
            }
            return true
        case (.optional, .optional):
            switch (l.wrapped, r.wrapped) {
            case (nil, nil): return true
            case (let l?, let r?): return areEqual(l, r)
            default: return false
            }
        default: return Numeric.areEqual(l.numeric, r.numeric)
        }
    }

    /// -1, 0, 1, `.some(nil)` for NaN; nil where the kinds have no order.
    mutating func compare(_ l: Cell, _ r: Cell) -> Int?? {
        switch (l.tag, r.tag) {
        case (.string, .string), (.bytes, .bytes):
            charge(bytes: min(l.count, r.count))
            return isTooCostly ? .some(0) : .some(Self.order(l.bytes, r.bytes))
        case (.bool, .bool): return .some(Int(l.bits) - Int(r.bits))
        case (.duration, .duration):
            return .some(l.asInt < r.asInt ? -1 : l.asInt == r.asInt ? 0 : 1)
        case (.timestamp, .timestamp):
            let left = l.asTimestamp
            let right = r.asTimestamp
            return .some(left < right ? -1 : left == right ? 0 : 1)
        default:
            guard let left = l.numeric, let right = r.numeric else { return nil }
            return .some(Numeric.order(left, right))
        }
    }

    /// UTF-8 keeps the order of code points, so bytes decide for strings too.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index] ? -1 : 1
        }
        return left.count < right.count ? -1 : left.count == right.count ? 0 : 1
    }

    // MARK: Access

    /// The value at a key. Finding it reads the whole key.
    mutating func find(_ key: Cell, in map: Cell) -> Cell? {
        if key.tag == .string { charge(bytes: key.count) }
        return isTooCostly ? nil : MapLayout.find(key, in: map)
    }

    mutating func contains(_ cell: Cell, in collection: Cell) -> Cell {
        switch collection.tag {
        case .list:
            if isTooCostly { return .bool(false) }
            let elements = collection.cells
            for index in 0..<collection.count
            where Self.sameText(elements[index], cell) ?? areEqual(elements[index], cell) {
                charge(cells: index + 1)
                return .bool(true)
            }
            charge(cells: collection.count)
            return .bool(false)
        case .map: return .bool(find(cell, in: collection) != nil)
        default: return noOverload("in", cell, collection)
        }
    }

    /// `collection[key]`.
    mutating func element(_ collection: Cell, _ key: Cell) -> Cell {
        switch collection.tag {
        case .list:
            guard let number = key.numeric else { return noOverload("[]", collection, key) }
            guard let index = Self.exactIndex(number) else {
                return error(.invalidArgument, "the index \(Self.shown(key)) is no whole number")
            }
            if index >= 0, index < Int64(collection.count) { return collection.cells[Int(index)] }
            return error(.indexOutOfRange, details: key, .int(collection.count))
        case .map: return find(key, in: collection) ?? error(.noSuchKey, of: key)
        case .optional: return optionalElement(collection, key)
        default: return noOverload("[]", collection, key)
        }
    }

    /// `collection[?key]`, and `[key]` on an optional.
    mutating func optionalElement(_ collection: Cell, _ key: Cell) -> Cell {
        var collection = collection
        if collection.tag == .optional {
            guard let wrapped = collection.wrapped else { return Cell.none }
            collection = wrapped
        }
        switch collection.tag {
        case .list:
            guard let number = key.numeric else { return noOverload("[?]", collection, key) }
            guard let index = Self.exactIndex(number), index >= 0, index < Int64(collection.count)
            else { return Cell.none }
            return some(collection.cells[Int(index)])
        case .map: return find(key, in: collection).map { some($0) } ?? Cell.none
        default: return noOverload("[?]", collection, key)
        }
    }

    private static func exactIndex(_ number: Numeric) -> Int64? {
        switch number {
        case .int(let value): value
        case .uint(let value): Int64(clamping: value)
        case .double(let value): Int64(exactly: value)
        }
    }

    /// `operand.field`; notes where the field is, for the next time.
    mutating func select(_ operand: Cell, _ field: Cell, at place: UInt16) -> Cell {
        guard operand.tag == .map else {
            switch operand.tag {
            case .optional, .error: return selectOptional(operand, field)
            case .message: return messageField(operand, field, isOptional: false)
            default: return error(.noSuchField, of: field)
            }
        }
        guard let found = self.place(of: field, in: operand, notedAt: place) else {
            return error(.noSuchKey, of: field)
        }
        return operand.cells[2 * found + 1]
    }

    /// The number of a field's pair in a map.
    private mutating func place(of field: Cell, in map: Cell, notedAt place: UInt16) -> Int? {
        charge(bytes: field.count)
        let found = MapLayout.place(of: field, in: map)
        guard found >= 0 else { return nil }
        placesOfFields[Int(place)] = UInt32(truncatingIfNeeded: found)
        return found
    }

    /// `operand.?field`, and `.field` of an optional.
    mutating func selectOptional(_ operand: Cell, _ field: Cell) -> Cell {
        switch operand.tag {
        case .error: return operand
        case .map: return optionalElement(operand, field)
        case .optional:
            guard let wrapped = operand.wrapped else { return Cell.none }
            return selectOptional(wrapped, field)
        case .message: return messageField(operand, field, isOptional: true)
        default: return error(.noSuchField, of: field)
        }
    }

    /// Whether `operand` has a field; notes where it is, for the next time.
    mutating func has(_ operand: Cell, _ field: Cell, at place: UInt16) -> Cell {
        switch operand.tag {
        case .error: return operand
        case .map: return .bool(self.place(of: field, in: operand, notedAt: place) != nil)
        case .optional:
            guard let wrapped = operand.wrapped else { return .bool(false) }
            return has(wrapped, field, at: place)
        case .message: return hasField(operand, field)
        default: return error(.noSuchField, of: field)
        }
    }
}
