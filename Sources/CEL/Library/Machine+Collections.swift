extension Machine {
    /// The functions of lists and sets.
    mutating func collection(_ builtin: Builtin, _ a: Arguments) -> Cell {
        if builtin == .range { return range(a) }
        guard let list = a.first, list.tag == .list else { return noOverload(builtin, a) }
        switch (builtin, a.count) {
        case (.first, 1): return list.cells.first.map { some($0) } ?? Cell.none
        case (.last, 1): return list.cells.last.map { some($0) } ?? Cell.none
        case (.slice, 3): return slice(list, a)
        case (.flatten, 1): return flatten(list, depth: 1)
        case (.flatten, 2) where a[1].tag == .int:
            if a[1].asInt < 0 { return error(.invalidArgument, "a depth cannot be negative") }
            return flatten(list, depth: Int(clamping: a[1].asInt))
        case (.distinct, 1): return distinct(list)
        case (.sort, 1): return sortBy(list, keys: list)
        case (_, 2) where a[1].tag == .list:
            return sets(builtin, list, a[1]) ?? noOverload(builtin, a)
        default: return noOverload(builtin, a)
        }
    }

    private mutating func range(_ a: Arguments) -> Cell {
        guard a.count == 1, a[0].tag == .int else { return noOverload(.range, a) }
        let count = a[0].asInt
        // Checked before anything is made: the cost is that of the elements.
        guard count <= Int64(costLimit - min(cost, costLimit)) else {
            return error(.sizeLimit, "a range of \(count) elements is too large")
        }
        return count <= 0 ? makeList([]) : makeList((0..<count).map { Cell.int($0) })
    }

    private mutating func slice(_ list: Cell, _ a: Arguments) -> Cell {
        guard a[1].tag == .int, a[2].tag == .int else { return noOverload(.slice, a) }
        let start = a[1].asInt
        let end = a[2].asInt
        guard start >= 0, start <= end, end <= Int64(list.count) else {
            return error(
                .invalidArgument, "\(start) to \(end) is no part of a list of \(list.count)")
        }
        let part = list.cells[Int(start)..<Int(end)]
        var result = Cell(
            .list, UnsafeBufferPointer(rebasing: part).baseAddress, count: part.count)
        result.extra = list.extra
        return result
    }

    private mutating func flatten(_ list: Cell, depth: Int) -> Cell {
        var flat: [Cell] = []
        // A stack of our own: lists may nest deeper than the native one allows.
        var pending: [(cells: UnsafeBufferPointer<Cell>, next: Int)] = [(list.cells, 0)]
        while let top = pending.last {
            guard top.next < top.cells.count else {
                pending.removeLast()
                continue
            }
            pending[pending.count - 1].next += 1
            let cell = top.cells[top.next]
            if cell.tag == .list, pending.count <= depth {
                pending.append((cell.cells, 0))
            } else {
                flat.append(cell)
            }
            charge(cells: 1)
            if cost > costLimit { return bare(.costLimit) }
        }
        return makeList(flat)
    }

    private mutating func distinct(_ list: Cell) -> Cell {
        var kept: [Cell] = []
        for cell in list.cells {
            charge(cells: kept.count + 1)
            if cost > costLimit { return bare(.costLimit) }
            if !kept.contains(where: { areEqual($0, cell) }) { kept.append(cell) }
        }
        return makeList(kept)
    }

    /// The elements of a list, or the keys of a map, in the order of their sort keys; stable. NaN,
    /// which has no order, comes first.
    mutating func sortBy(_ list: Cell, keys: Cell) -> Cell {
        if keys.isError { return keys }
        let keyCells = keys.cells
        guard list.tag == .list || list.tag == .map, keyCells.count == list.count else {
            return noOverload("sortBy", list)
        }
        guard let first = keyCells.first else { return makeList([]) }
        charge(cells: keyCells.count * (Int.bitWidth - keyCells.count.leadingZeroBitCount))
        if isTooCostly { return bare(.costLimit) }
        for key in keyCells where key.tag != first.tag || compare(key, key) == nil {
            return noOverload("sort", first, key)
        }
        var places = Array(0..<keyCells.count)
        places.sort { left, right in
            let result = order(ofKey: keyCells[left], keyCells[right])
            return result == 0 ? left < right : result < 0
        }
        let step = list.tag == .map ? 2 : 1
        return makeList(places.map { list.cells[step * $0] })
    }

    /// The order of two keys of one kind.
    private mutating func order(ofKey left: Cell, _ right: Cell) -> Int {
        if case .some(.some(let result)) = compare(left, right) { return result }
        return (right.asDouble.isNaN ? 1 : 0) - (left.asDouble.isNaN ? 1 : 0)
    }

    private mutating func sets(_ builtin: Builtin, _ l: Cell, _ r: Cell) -> Cell? {
        switch builtin {
        case .setsContains: .bool(hasAll(of: r, in: l))
        case .setsEquivalent: .bool(hasAll(of: r, in: l) && hasAll(of: l, in: r))
        case .setsIntersects: .bool(hasAny(of: r, in: l))
        default: nil
        }
    }

    private mutating func hasAll(of part: Cell, in whole: Cell) -> Bool {
        charge(cells: part.count)
        return part.cells.allSatisfy { contains($0, in: whole).isTrue }
    }

    private mutating func hasAny(of part: Cell, in whole: Cell) -> Bool {
        charge(cells: part.count)
        for cell in part.cells {
            if isTooCostly { return false }
            if contains(cell, in: whole).isTrue { return true }
        }
        return false
    }

    // MARK: Base64

    mutating func encode(_ builtin: Builtin, _ a: Arguments) -> Cell {
        guard a.count == 1 else { return noOverload(builtin, a) }
        switch (builtin, a[0].tag) {
        case (.base64Encode, .bytes): return makeString(Base64.encode(a[0].bytes))
        case (.base64Decode, .string):
            guard let bytes = Base64.decode(a[0].bytes) else {
                return error(.invalidArgument, "this is no base64")
            }
            return makeBytes(.bytes, bytes.count) { $0.copyBytes(from: bytes) }
        default: return noOverload(builtin, a)
        }
    }
}
