/// Maps in memory: pairs of cells in their order; large maps have a table of hashes behind them.
enum MapLayout {
    /// Up to here a plain search is faster than a hash.
    static let searched = 8

    enum Outcome {
        case map(Cell)
        case duplicate(Cell)
        case badKey(Cell)
        case outOfMemory

        var map: Cell? {
            if case .map(let cell) = self { cell } else { nil }
        }
    }

    /// Checks the keys of fresh pairs and adds the table where it is needed.
    static func index(_ map: Cell, in arena: inout Arena) -> Outcome {
        let pairs = map.cells
        let count = map.count
        for index in 0..<count {
            switch pairs[2 * index].tag {
            case .bool, .int, .uint, .string: break
            default: return .badKey(pairs[2 * index])
            }
        }
        guard count > searched else {
            for index in 0..<count {
                for other in 0..<index where sameKey(pairs[2 * index], pairs[2 * other]) {
                    return .duplicate(pairs[2 * index])
                }
            }
            return .map(map)
        }
        guard var table = Table(room: count, in: &arena) else { return .outOfMemory }
        for index in 0..<count where !table.insert(pairs[2 * index], pairs[2 * index + 1]) {
            return .duplicate(pairs[2 * index])
        }
        var result = table.map
        result.extra = map.extra
        return .map(result)
    }

    /// The elements of a list as the keys of a map, for lookups; nil where one of them is neither a
    /// bool, a number nor a string, or so few differ that a map would have no table.
    static func set(of list: Cell, in arena: inout Arena) -> Cell? {
        let isKey = { (cell: Cell) in
            cell.tag == .bool || cell.tag == .string || cell.numeric != nil
        }
        guard list.cells.allSatisfy(isKey), var table = Table(room: list.count, in: &arena) else {
            return nil
        }
        for element in list.cells { _ = table.insert(element, .bool(true)) }
        let distinct = table.map
        guard distinct.count > searched else { return nil }
        if distinct.count == list.count { return distinct }
        // Where the table lies follows from the number of pairs.
        guard var exact = Table(room: distinct.count, in: &arena) else { return nil }
        for index in 0..<distinct.count { _ = exact.insert(distinct.cells[2 * index], .bool(true)) }
        return exact.map
    }

    /// Pairs with a table of their hashes behind them, being filled.
    private struct Table {
        private(set) var map: Cell
        private let pairs: UnsafeMutablePointer<Cell>
        private let places: UnsafeMutablePointer<UInt32>
        private let size: Int

        init?(room: Int, in arena: inout Arena) {
            size = MapLayout.tableSize(room)
            let pairBytes = 2 * room * MemoryLayout<Cell>.stride
            guard let block = arena.allocate(pairBytes + size * MemoryLayout<UInt32>.stride) else {
                return nil
            }
            pairs = block.bindMemory(to: Cell.self, capacity: 2 * room)
            places = (block + pairBytes).bindMemory(to: UInt32.self, capacity: size)
            places.initialize(repeating: .max, count: size)
            map = Cell(.map, block, count: 0)
        }

        /// False where an equal key is there already. NaN, which equals nothing, is left out.
        mutating func insert(_ key: Cell, _ value: Cell) -> Bool {
            guard let hash = MapLayout.hash(key) else { return true }
            var place = hash & (size - 1)
            while places[place] != .max {
                if MapLayout.sameKey(pairs[2 * Int(places[place])], key) { return false }
                place = (place + 1) & (size - 1)
            }
            places[place] = map.length
            pairs[2 * map.count] = key
            pairs[2 * map.count + 1] = value
            map.length += 1
            return true
        }
    }

    private static func tableSize(_ count: Int) -> Int {
        1 << (Int.bitWidth - (2 * count - 1).leadingZeroBitCount)
    }

    /// The value at a key.
    @inline(__always)
    static func find(_ key: Cell, in map: Cell) -> Cell? {
        let place = place(of: key, in: map)
        return place < 0 ? nil : map.cells[2 * place + 1]
    }

    /// The number of the pair with a key; -1 if there is none.
    static func place(of key: Cell, in map: Cell) -> Int {
        let pairs = map.cells
        let count = map.count
        guard count > searched else {
            for index in 0..<count where sameKey(pairs[2 * index], key) { return index }
            return -1
        }
        guard let hash = hash(key), let start = map.address else { return -1 }
        let size = tableSize(count)
        let table = (start + 2 * count * MemoryLayout<Cell>.stride)
            .assumingMemoryBound(to: UInt32.self)
        var place = hash & (size - 1)
        while table[place] != .max {
            let index = Int(table[place])
            if sameKey(pairs[2 * index], key) { return index }
            place = (place + 1) & (size - 1)
        }
        return -1
    }

    @inline(__always)
    static func sameKey(_ left: Cell, _ right: Cell) -> Bool {
        if left.tag == .string {
            return left.meta == right.meta && Machine.sameBytes(left, right)
        }
        return sameOtherKey(left, right)
    }

    private static func sameOtherKey(_ left: Cell, _ right: Cell) -> Bool {
        switch (left.tag, right.tag) {
        case (.int, .int), (.uint, .uint), (.bool, .bool): left.bits == right.bits
        default: Numeric.areEqual(left.numeric, right.numeric)
        }
    }

    /// Keys come from outside: with a seed of this process nobody can choose ones that collide.
    private static let seed = UInt64.random(in: .min ... .max)

    /// Equal keys have equal hashes, across the kinds of numbers; nil for what is no key.
    static func hash(_ key: Cell) -> Int? {
        var state = seed
        switch key.tag {
        case .bool: mix(&state, key.bits &+ 0x5bd1)
        case .int, .uint: mix(&state, key.bits)
        case .double:
            let number = key.asDouble
            if number.isNaN { return nil }
            let whole =
                Int64(exactly: number).map { UInt64(bitPattern: $0) } ?? UInt64(exactly: number)
                ?? number.bitPattern
            mix(&state, whole)
        case .string:
            var index = 0
            let bytes = key.bytes
            while index + 8 <= bytes.count {
                mix(&state, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                index += 8
            }
            var rest = UInt64(truncatingIfNeeded: bytes.count) << 56
            while index < bytes.count {
                rest = rest << 8 ^ UInt64(bytes[index])
                index += 1
            }
            mix(&state, rest)
        default: return nil
        }
        return Int(truncatingIfNeeded: state >> 1)
    }

    @inline(__always)
    private static func mix(_ state: inout UInt64, _ word: UInt64) {
        let product = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        state = product.high ^ product.low &+ 0xA076_1D64_78BD_642F
    }
}
