extension Machine {
    /// Everything that is not decided within the loop itself. Gives the next position.
    mutating func perform(
        _ i: Instruction, _ code: Code, _ constants: UnsafeMutablePointer<Cell>, _ pc: Int
    ) -> Int {
        let dst = Int(i.dst)
        switch i.operation {
        case .negate: frame[dst] = negate(value(i.a, code, constants))
        case .call:
            let arguments = UnsafeBufferPointer(start: frame + Int(i.a), count: Int(i.count))
            if let failed = arguments.first(where: { $0.isError }) {
                frame[dst] = failed
            } else if let builtin = Builtin(rawValue: UInt16(truncatingIfNeeded: i.b)) {
                frame[dst] = call(builtin, arguments, code)
            }
        case .host: frame[dst] = callHost(i, code)
        case .matches:
            let text = value(i.a, code, constants)
            frame[dst] = text.isError ? text : matches(text, code.regexes[Int(i.b)])
        case .list, .map: frame[dst] = build(i)
        case .spread: spread(dst)
        case .selectOptional:
            frame[dst] = selectOptional(
                value(i.a, code, constants), Self.load(frame, constants, i.b))
        case .object, .anyPresent: frame[dst] = object(i, code, constants)
        case .structure: frame[dst] = structure(i, code)
        case .fail:
            let detail = Self.load(frame, constants, i.a)
            frame[dst] = error(
                EvaluationError.Code(rawValue: UInt8(truncatingIfNeeded: i.count)) ?? .undeclared,
                of: detail)
        case .trace:
            let cell = value(i.a, code, constants)
            // More than this nobody can look at, and memory has an end.
            if trace.count < Self.longestTrace { trace.append((node, cell)) }
        default: return loopStep(i, code, constants, pc)
        }
        return pc
    }

    private static let longestTrace = 1 << 20

    mutating func value(_ register: Int32, _ code: Code, _ constants: UnsafeMutablePointer<Cell>)
        -> Cell
    {
        let cell = Self.load(frame, constants, register)
        return cell.isValue ? cell : resolve(cell, register, code)
    }

    private mutating func loopStep(
        _ i: Instruction, _ code: Code, _ constants: UnsafeMutablePointer<Cell>, _ pc: Int
    ) -> Int {
        let dst = Int(i.dst)
        switch i.operation {
        case .loop:
            let range = value(i.a, code, constants)
            frame[dst + 1] = .int(0)
            if range.tag == .list || range.tag == .map {
                frame[dst] = range
                return pc + 2
            }
            frame[dst] = range.isError ? range : noOverload("a loop", range)
        case .one:
            let cell = value(i.a, code, constants)
            if cell.isTrue {
                frame[dst].bits += 1
            } else if !cell.isFalse {
                frame[dst] = cell.isError ? cell : notBool(cell)
                return Int(i.b)
            }
        case .oneEnd: frame[dst] = .bool(frame[dst].bits == 1)
        case .listBegin, .mapBegin:
            let isMap = i.operation == .mapBegin
            let count = frame[Int(i.a)].count
            charge(cells: isMap ? 2 * count : count)
            let cells = arena.cells(isMap ? 2 * count : count)
            frame[dst] = cells == nil ? outOfMemory() : Cell(isMap ? .map : .list, cells, count: 0)
        case .append, .put, .merge: return accumulateInto(i, code, constants, pc)
        case .mapEnd: frame[dst] = finishMap(frame[dst])
        case .sortBy: frame[dst] = sortBy(frame[Int(i.a)], keys: frame[Int(i.b)])
        case .unwrap:
            let cell = value(i.a, code, constants)
            if cell.tag == .optional, let wrapped = cell.wrapped {
                frame[dst] = wrapped
                return pc + 2
            }
            frame[dst] =
                cell.tag == .optional || cell.isError ? cell : noOverload("optMap", cell)
        case .wrap:
            let cell = value(i.a, code, constants)
            frame[dst] = cell.isError ? cell : some(cell)
        case .flatten:
            let cell = value(i.a, code, constants)
            frame[dst] =
                cell.tag == .optional || cell.isError ? cell : noOverload("optFlatMap", cell)
        default: break
        }
        return pc
    }

    /// `all` and `exists` of what is no bool: they go on, since a later element may decide.
    mutating func accumulate(_ i: Instruction, _ cell: Cell) {
        let failure = cell.isError ? cell : notBool(cell)
        let before = frame[Int(i.dst)]
        frame[Int(i.dst)] = before.isError ? merged(before, failure) : failure
    }

    /// `append`, `put` and `merge`: the memory was taken for as many as the loop has rounds.
    private mutating func accumulateInto(
        _ i: Instruction, _ code: Code, _ constants: UnsafeMutablePointer<Cell>, _ pc: Int
    ) -> Int {
        let dst = Int(i.dst)
        if frame[dst].isError { return pc }
        let cell = value(i.a, code, constants)
        var failure = cell.isError ? cell : nil
        let start = UnsafeMutableRawPointer(mutating: frame[dst].address)?
            .assumingMemoryBound(to: Cell.self)
        let count = frame[dst].count
        switch i.operation {
        case .append where failure == nil:
            start?[count] = cell
            frame[dst].length += 1
            // Only the deepest element matters, so most of the time nothing changes here.
            if cell.nesting >= frame[dst].nesting { frame[dst] = nested(frame[dst]) }
        case .put where failure == nil:
            let second = value(i.b, code, constants)
            if second.isError {
                failure = second
            } else {
                start?[2 * count] = cell
                start?[2 * count + 1] = second
                frame[dst].length += 1
            }
        case .merge where failure == nil:
            failure = merge(cell, into: dst, rounds: frame[Int(i.b)].count)
        default: break
        }
        guard let failure else { return pc + 1 }
        frame[dst] = failure
        return pc
    }

    /// Adds the entries of a map to map dst, which has room for one in each round of its loop; to
    /// hold more it moves, to twice the room each time. Gives the error if there is one.
    private mutating func merge(_ entries: Cell, into dst: Int, rounds: Int) -> Cell? {
        guard entries.tag == .map else { return noOverload("transformMapEntry", entries) }
        let before = frame[dst]
        var target = UnsafeMutableRawPointer(mutating: before.address)?
            .assumingMemoryBound(to: Cell.self)
        let room = { (count: Int) in
            count <= rounds ? rounds : 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount)
        }
        let wanted = room(before.count + entries.count)
        charge(cells: 2 * entries.count)
        if wanted > room(before.count) {
            charge(cells: 2 * wanted)
            if cost > costLimit { return bare(.costLimit) }
            guard let moved = arena.cells(2 * wanted) else { return outOfMemory() }
            for (index, cell) in before.cells.enumerated() { moved[index] = cell }
            target = moved
            frame[dst] = Cell(.map, moved, count: before.count)
        }
        for (index, cell) in entries.cells.enumerated() { target?[2 * before.count + index] = cell }
        frame[dst].length += entries.length
        return nil
    }

    // MARK: Building

    private mutating func spread(_ dst: Int) {
        if frame[dst].tag == .optional {
            frame[dst].code = 1
        } else if !frame[dst].isError {
            frame[dst] = noOverload("?", frame[dst])
        }
    }

    /// A list or map literal from neighbouring registers.
    private mutating func build(_ i: Instruction) -> Cell {
        let isMap = i.operation == .map
        let width = isMap ? 2 : 1
        let source = frame + Int(i.a)
        let total = width * Int(i.b)
        if let failed = UnsafeBufferPointer(start: source, count: total).first(where: { $0.isError }
        ) {
            return failed
        }
        charge(cells: total)
        guard let cells = arena.cells(total) else { return outOfMemory() }
        var count = 0
        for index in 0..<Int(i.b) {
            var last = source[width * index + width - 1]
            if last.tag == .optional, last.code == 1 {
                guard let wrapped = last.wrapped else { continue }
                last = wrapped
            }
            if isMap { cells[2 * count] = source[2 * index] }
            cells[width * count + width - 1] = last
            count += 1
        }
        let cell = Cell(isMap ? .map : .list, cells, count: count)
        return isMap ? finishMap(cell) : nested(cell)
    }

    // MARK: Objects of the host

    private mutating func object(
        _ i: Instruction, _ code: Code, _ constants: UnsafeMutablePointer<Cell>
    ) -> Cell {
        if i.operation == .anyPresent { return .bool(hasAny(code.objects[Int(i.b)], code)) }
        return materialise(code.objects[Int(i.b)], code, constants)
    }

    private func hasAny(_ layout: ObjectLayout, _ code: Code) -> Bool {
        layout.members.contains { entry in
            switch entry.member {
            case .slot(let slot): self.slot(slot).tag != .absent
            case .object(let index): hasAny(code.objects[index], code)
            }
        }
    }

    private mutating func materialise(
        _ layout: ObjectLayout, _ code: Code, _ constants: UnsafeMutablePointer<Cell>
    ) -> Cell {
        charge(cells: 2 * layout.members.count)
        guard let cells = arena.cells(2 * layout.members.count) else { return outOfMemory() }
        var count = 0
        for entry in layout.members {
            let cell: Cell
            switch entry.member {
            case .slot(let slot):
                if self.slot(slot).tag == .absent { continue }
                cell = resolve(self.slot(slot), Int32(-1 - slot), code)
            case .object(let index): cell = materialise(code.objects[index], code, constants)
            }
            if cell.isError { return cell }
            cells[2 * count] = Self.load(frame, constants, entry.name)
            cells[2 * count + 1] = cell
            count += 1
        }
        return finishMap(Cell(.map, cells, count: count))
    }

    private mutating func callHost(_ i: Instruction, _ code: Code) -> Cell {
        let arguments = UnsafeBufferPointer(start: frame + Int(i.a), count: Int(i.count))
        if let failed = arguments.first(where: { $0.isError }) { return failed }
        let host = code.hosts[Int(i.b)]
        guard let body = host.body else { return error(.undeclared, host.name + "()") }
        var values: [Value] = []
        var room = limits.memory
        for argument in arguments {
            guard let value = argument.value(room: &room) else { return bare(.sizeLimit) }
            values.append(value)
        }
        charge(bytes: limits.memory - room)
        if isTooCostly { return bare(.costLimit) }
        switch body(values) {
        case .success(let value):
            let before = arena.used
            guard let cell = arena.cell(of: value) else { return outOfMemory() }
            charge(bytes: arena.used - before)
            return cell
        case .failure(let failure):
            return failure.code == .hostFunction || failure.code == .missing
                ? error(.hostFunction, failure.message) : error(failure.code, failure.message)
        }
    }
}
