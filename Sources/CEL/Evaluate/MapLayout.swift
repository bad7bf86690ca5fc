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
        let size = tableSize(count)
        let pairBytes = 2 * count * MemoryLayout<Cell>.stride
        guard let block = arena.allocate(pairBytes + size * MemoryLayout<UInt32>.stride) else {
            return .outOfMemory
        }
        let copied = block.bindMemory(to: Cell.self, capacity: 2 * count)
        let table = (block + pairBytes).bindMemory(to: UInt32.self, capacity: size)
        for index in 0..<2 * count { copied[index] = pairs[index] }
        table.initialize(repeating: .max, count: size)
        for index in 0..<count {
            let key = pairs[2 * index]
            guard let hash = hash(key) else { continue }
            var place = hash & (size - 1)
            while table[place] != .max {
                if sameKey(copied[2 * Int(table[place])], key) { return .duplicate(key) }
                place = (place + 1) & (size - 1)
            }
            table[place] = UInt32(index)
        }
        var result = Cell(.map, block, count: count)
        result.extra = map.extra
        return .map(result)
    }

    private static func tableSize(_ count: Int) -> Int {
        1 << (Int.bitWidth - (2 * count - 1).leadingZeroBitCount)
    }

    /// The value at a key.
    static func find(_ key: Cell, in map: Cell) -> Cell? {
        let pairs = map.cells
        let count = map.count
        guard count > searched else {
            for index in 0..<count where sameKey(pairs[2 * index], key) {
                return pairs[2 * index + 1]
            }
            return nil
        }
        guard let hash = hash(key), let start = map.address else { return nil }
        let size = tableSize(count)
        let table = (start + 2 * count * MemoryLayout<Cell>.stride)
            .assumingMemoryBound(to: UInt32.self)
        var place = hash & (size - 1)
        while table[place] != .max {
            let index = Int(table[place])
            if sameKey(pairs[2 * index], key) { return pairs[2 * index + 1] }
            place = (place + 1) & (size - 1)
        }
        return nil
    }

    static func sameKey(_ left: Cell, _ right: Cell) -> Bool {
        switch (left.tag, right.tag) {
        case (.string, .string):
            left.length == right.length && Machine.sameBytes(left, right)
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
            guard
                let whole = Int64(exactly: number).map({ UInt64(bitPattern: $0) })
                    ?? UInt64(exactly: number)
            else { return nil }
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
