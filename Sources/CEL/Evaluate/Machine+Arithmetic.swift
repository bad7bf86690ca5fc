/// Arithmetic with its overflows as errors.
extension Machine {
    private mutating func overflow(_ kind: StaticString) -> Cell { error(.overflow, kind) }

    private mutating func checked(_ result: (partialValue: Int64, overflow: Bool)) -> Cell {
        result.overflow ? overflow("int overflow") : .int(result.partialValue)
    }
    private mutating func checked(_ result: (partialValue: UInt64, overflow: Bool)) -> Cell {
        result.overflow ? overflow("uint overflow") : .uint(result.partialValue)
    }
    private mutating func span(_ result: (partialValue: Int64, overflow: Bool)) -> Cell {
        result.overflow ? overflow("duration out of range") : .duration(result.partialValue)
    }

    mutating func add(_ l: Cell, _ r: Cell) -> Cell {
        switch (l.tag, r.tag) {
        case (.int, .int): return checked(l.asInt.addingReportingOverflow(r.asInt))
        case (.uint, .uint): return checked(l.bits.addingReportingOverflow(r.bits))
        case (.double, .double): return .double(l.asDouble + r.asDouble)
        case (.string, .string), (.bytes, .bytes):
            return makeBytes(l.tag, l.count + r.count) { target in
                target.copyMemory(from: l.bytes)
                UnsafeMutableRawBufferPointer(rebasing: target[l.count...]).copyMemory(
                    from: r.bytes)
            }
        case (.list, .list):
            charge(cells: l.count + r.count)
            guard let cells = arena.cells(l.count + r.count) else { return outOfMemory() }
            for (index, cell) in l.cells.enumerated() { cells[index] = cell }
            for (index, cell) in r.cells.enumerated() { cells[l.count + index] = cell }
            var sum = Cell(.list, cells, count: l.count + r.count)
            sum.extra = max(l.nesting, r.nesting)
            return sum
        case (.timestamp, .duration): return shift(l.asTimestamp, by: r.asInt)
        case (.duration, .timestamp): return shift(r.asTimestamp, by: l.asInt)
        case (.duration, .duration): return span(l.asInt.addingReportingOverflow(r.asInt))
        default: return noOverload("+", l, r)
        }
    }

    mutating func subtract(_ l: Cell, _ r: Cell) -> Cell {
        switch (l.tag, r.tag) {
        case (.int, .int): return checked(l.asInt.subtractingReportingOverflow(r.asInt))
        case (.uint, .uint): return checked(l.bits.subtractingReportingOverflow(r.bits))
        case (.double, .double): return .double(l.asDouble - r.asDouble)
        case (.timestamp, .timestamp):
            let left = l.asTimestamp
            let right = r.asTimestamp
            let seconds = left.seconds - right.seconds
            let scaled = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            let rest = Int64(left.nanoseconds) - Int64(right.nanoseconds)
            let sum = scaled.partialValue.addingReportingOverflow(rest)
            return span((sum.partialValue, scaled.overflow || sum.overflow))
        case (.timestamp, .duration):
            let negated = Int64(0).subtractingReportingOverflow(r.asInt)
            return negated.overflow
                ? overflow("duration out of range") : shift(l.asTimestamp, by: negated.partialValue)
        case (.duration, .duration): return span(l.asInt.subtractingReportingOverflow(r.asInt))
        default: return noOverload("-", l, r)
        }
    }

    private mutating func shift(_ timestamp: Timestamp, by nanoseconds: Int64) -> Cell {
        // Both parts are far from the ends of their types, so the sums cannot overflow.
        var seconds = timestamp.seconds + nanoseconds / 1_000_000_000
        var rest = Int64(timestamp.nanoseconds) + nanoseconds % 1_000_000_000
        if rest < 0 {
            rest += 1_000_000_000
            seconds -= 1
        } else if rest >= 1_000_000_000 {
            rest -= 1_000_000_000
            seconds += 1
        }
        guard let result = Timestamp(seconds: seconds, nanoseconds: Int32(rest)) else {
            return overflow("timestamp out of range")
        }
        return .timestamp(result)
    }

    mutating func multiply(_ l: Cell, _ r: Cell) -> Cell {
        switch (l.tag, r.tag) {
        case (.int, .int): return checked(l.asInt.multipliedReportingOverflow(by: r.asInt))
        case (.uint, .uint): return checked(l.bits.multipliedReportingOverflow(by: r.bits))
        case (.double, .double): return .double(l.asDouble * r.asDouble)
        default: return noOverload("*", l, r)
        }
    }

    mutating func divide(_ l: Cell, _ r: Cell) -> Cell {
        switch (l.tag, r.tag) {
        case (.int, .int):
            if r.bits == 0 { return error(.divisionByZero, "division by zero") }
            return checked(l.asInt.dividedReportingOverflow(by: r.asInt))
        case (.uint, .uint):
            if r.bits == 0 { return error(.divisionByZero, "division by zero") }
            return .uint(l.bits / r.bits)
        case (.double, .double): return .double(l.asDouble / r.asDouble)
        default: return noOverload("/", l, r)
        }
    }

    mutating func modulo(_ l: Cell, _ r: Cell) -> Cell {
        switch (l.tag, r.tag) {
        case (.int, .int):
            if r.bits == 0 { return error(.divisionByZero, "modulo by zero") }
            return checked(l.asInt.remainderReportingOverflow(dividingBy: r.asInt))
        case (.uint, .uint):
            if r.bits == 0 { return error(.divisionByZero, "modulo by zero") }
            return .uint(l.bits % r.bits)
        default: return noOverload("%", l, r)
        }
    }

    mutating func negate(_ cell: Cell) -> Cell {
        switch cell.tag {
        case .error: return cell
        case .int: return checked(Int64(0).subtractingReportingOverflow(cell.asInt))
        case .double: return .double(-cell.asDouble)
        default: return noOverload("-", cell)
        }
    }
}
