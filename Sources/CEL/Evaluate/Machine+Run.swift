extension Machine {
    /// The whole interpreter: one switch. What is rare is in functions of its own.
    mutating func run(_ code: Code) -> Cell {
        let frame = self.frame
        guard let first = code.instructions.baseAddress, let pool = code.constants.baseAddress,
            let nodes = code.nodes.baseAddress
        else { return .null }
        let constants = pool - Int(Register.constants)
        var pc = 0
        cost += code.instructions.count
        while true {
            let i = first[pc]
            pc &+= 1
            switch i.operation {
            case .testInt:
                let l = frame[Int(i.a)]
                let r = constants[Int(i.b)]
                if l.meta == r.meta {
                    pc = Self.decide(i, Self.intOrder(l, r), frame, first, pc)
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = test(i, l, r, code)
                }
            case .testDouble:
                let l = frame[Int(i.a)]
                let r = constants[Int(i.b)]
                if l.meta == r.meta {
                    pc = Self.decide(i, Self.doubleOrder(l, r), frame, first, pc)
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = test(i, l, r, code)
                }
            case .testText:
                let l = frame[Int(i.a)]
                let r = constants[Int(i.b)]
                if let isSame = Self.sameText(l, r) {
                    let order = isSame ? Test.equal : Test.unordered
                    pc = Self.decide(i, order, frame, first, pc)
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = test(i, l, r, code)
                }
            case .test:
                let l = Self.load(frame, constants, i.a)
                let r = Self.load(frame, constants, i.b)
                let order = Self.order(l, r)
                if order != 0 {
                    pc = Self.decide(i, order, frame, first, pc)
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = test(i, l, r, code)
                }
            case .select:
                let map = Self.load(frame, constants, i.a)
                let name = constants[Int(i.b)]
                if let value = quickField(name, in: map, at: i.count) {
                    frame[Int(i.dst)] = value
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = select(
                        map.isValue ? map : resolve(map, i.a, code), name, at: i.count)
                }
            case .has:
                let map = Self.load(frame, constants, i.a)
                let name = constants[Int(i.b)]
                if quickField(name, in: map, at: i.count) != nil {
                    frame[Int(i.dst)] = .bool(true)
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = has(
                        map.isValue ? map : resolve(map, i.a, code), name, at: i.count)
                }
            case .present:
                // A slot that computes its value has one; whether that is an error shows when it is
                // read.
                frame[Int(i.dst)] = .bool(frame[Int(i.a)].tag != .absent)
            case .add, .subtract, .multiply:
                let l = Self.load(frame, constants, i.a)
                let r = Self.load(frame, constants, i.b)
                if let result = Self.quickNumber(i.operation, l, r) {
                    frame[Int(i.dst)] = result
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = binary(i, l, r, code)
                }
            case .divide, .modulo, .isIn, .isInSet, .index:
                node = nodes[pc &- 1]
                frame[Int(i.dst)] = binary(
                    i, Self.load(frame, constants, i.a), Self.load(frame, constants, i.b), code)
            case .size:
                let cell = Self.load(frame, constants, i.a)
                if cell.tag == .list || cell.tag == .map {
                    frame[Int(i.dst)] = .int(cell.count)
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = size(cell.isValue ? cell : resolve(cell, i.a, code))
                }
            case .move:
                let cell = Self.load(frame, constants, i.a)
                if cell.isValue {
                    frame[Int(i.dst)] = cell
                } else {
                    node = nodes[pc &- 1]
                    frame[Int(i.dst)] = resolve(cell, i.a, code)
                }
            case .andFirst, .orFirst, .andNext, .orNext, .andPeek, .orPeek:
                let cell = Self.load(frame, constants, i.a)
                let decides: UInt64 = i.operation.isOr ? 1 : 0
                if cell.tag == .bool {
                    if cell.bits == decides {
                        frame[Int(i.dst)] = cell
                        pc = Int(i.b)
                    } else if i.operation == .andFirst || i.operation == .orFirst {
                        frame[Int(i.dst)] = cell
                    }
                } else {
                    node = nodes[pc &- 1]
                    let result = take(cell, i, code)
                    if result.tag == .bool, result.bits == decides { pc = Int(i.b) }
                    if isGivenUp(result) { return result }
                }
            case .jump: pc = Int(i.b)
            case .branch:
                var cell = Self.load(frame, constants, i.a)
                if cell.tag != .bool {
                    node = nodes[pc &- 1]
                    cell = resolve(cell, i.a, code)
                }
                if cell.tag == .bool {
                    pc = cell.bits != 0 ? pc &+ 1 : Int(i.b)
                } else {
                    frame[Int(i.dst)] = cell.isError ? cell : notBool(cell)
                }
            case .not:
                let cell = Self.load(frame, constants, i.a)
                if cell.tag == .bool {
                    frame[Int(i.dst)] = .bool(cell.bits == 0)
                } else {
                    node = nodes[pc &- 1]
                    let resolved = resolve(cell, i.a, code)
                    frame[Int(i.dst)] =
                        resolved.tag == .bool
                        ? .bool(resolved.bits == 0)
                        : resolved.isError ? resolved : notBool(resolved)
                }
            case .next:
                let list = frame[Int(i.a)]
                let index = Int(truncatingIfNeeded: frame[Int(i.a) + 1].bits)
                guard index < list.count else { continue }
                frame[Int(i.a) + 1] = .int(index + 1)
                // A round takes at most as many steps as the loop has instructions.
                cost += pc - Int(i.b) + 1
                if cost > costLimit {
                    node = nodes[pc &- 1]
                    return error(.costLimit, "")
                }
                advance(i, list, index)
                pc = Int(i.b)
            case .all, .exists:
                var cell = Self.load(frame, constants, i.a)
                if cell.tag != .bool {
                    node = nodes[pc &- 1]
                    cell = value(i.a, code, constants)
                    guard cell.tag == .bool else {
                        accumulate(i, cell)
                        continue
                    }
                }
                guard cell.asBool == (i.operation == .exists) else { continue }
                frame[Int(i.dst)] = cell
                pc = Int(i.b)
            case .append:
                let cell = Self.load(frame, constants, i.a)
                if frame[Int(i.dst)].takes(cell) {
                    frame[Int(i.dst)].append(cell)
                    pc &+= 1
                } else {
                    node = nodes[pc &- 1]
                    pc = perform(i, code, constants, pc)
                }
            case .finish:
                let cell = Self.load(frame, constants, i.a)
                if cell.isValue { return cell }
                node = nodes[pc &- 1]
                return resolve(cell, i.a, code)
            default:
                node = nodes[pc &- 1]
                pc = perform(i, code, constants, pc)
                if cost > costLimit { return error(.costLimit, "") }
            }
        }
    }

    @inline(__always)
    static func load(
        _ frame: UnsafeMutablePointer<Cell>, _ constants: UnsafeMutablePointer<Cell>,
        _ register: Int32
    ) -> Cell {
        (register >= Register.constants ? constants : frame)[Int(register)]
    }

    /// Writes a comparison's result and gives the next position: where the result decides what the
    /// instruction after it would, that one's work is done here too.
    @inline(__always)
    private static func decide(
        _ i: Instruction, _ order: Int, _ frame: UnsafeMutablePointer<Cell>,
        _ first: UnsafeMutablePointer<Instruction>, _ pc: Int
    ) -> Int {
        let holds = Int(i.count) & order != 0
        frame[Int(i.dst)] = .bool(holds)
        let reader = Int(i.count) & Test.readers
        if reader == 0 { return pc }
        let follows = first[pc]
        if reader == Test.branches { return holds ? pc &+ 2 : Int(follows.b) }
        if holds != (reader == Test.decidedByTrue) { return pc &+ 1 }
        frame[Int(follows.dst)] = .bool(holds)
        return Int(follows.b)
    }

    /// A field that is where it was the last time. Long names go where they are paid for.
    @inline(__always)
    private func quickField(_ name: Cell, in map: Cell, at place: UInt16) -> Cell? {
        guard map.tag == .map, name.length < Self.quickText else { return nil }
        let guess = placesOfFields[Int(place)]
        guard guess < map.length else { return nil }
        let pairs = map.cells
        let key = pairs[2 * Int(guess)]
        guard key.meta == name.meta, Self.sameBytes(key, name) else { return nil }
        return pairs[2 * Int(guess) + 1]
    }

    @inline(__always)
    private func advance(_ i: Instruction, _ list: Cell, _ index: Int) {
        let cells = list.cells
        let dst = Int(i.dst)
        if list.tag == .map {
            frame[dst] = cells[2 * index]
            frame[dst + 1] = cells[2 * index + 1]
        } else if i.count == 0 {
            frame[dst] = cells[index]
        } else {
            frame[dst] = .int(index)
            frame[dst + 1] = cells[index]
        }
    }

    @inline(__always)
    private func isGivenUp(_ cell: Cell) -> Bool {
        cell.tag == .error && cell.code == EvaluationError.Code.costLimit.rawValue
    }

    // MARK: Rare paths of the loop

    private mutating func test(_ i: Instruction, _ l: Cell, _ r: Cell, _ code: Code) -> Cell {
        let l = resolve(l, i.a, code)
        if l.isError { return l }
        let r = resolve(r, i.b, code)
        if r.isError { return r }
        let orders = Int(i.count) & Test.orders
        if orders == Test.equal { return .bool(areEqual(l, r)) }
        if orders & Test.unordered != 0 { return .bool(!areEqual(l, r)) }
        guard let comparable = compare(l, r) else {
            return Int(i.count) & Test.swapped == 0
                ? noOverload(Test.name(of: orders), l, r)
                : noOverload(Test.name(of: Test.mirrored(orders)), r, l)
        }
        // NaN is in no order with anything: every comparison is false.
        guard let order = comparable else { return .bool(false) }
        let found = order < 0 ? Test.less : order == 0 ? Test.equal : Test.greater
        return .bool(orders & found != 0)
    }

    private mutating func binary(_ i: Instruction, _ l: Cell, _ r: Cell, _ code: Code) -> Cell {
        let l = l.isValue ? l : resolve(l, i.a, code)
        if l.isError { return l }
        let r = r.isValue ? r : resolve(r, i.b, code)
        if r.isError { return r }
        switch i.operation {
        case .add: return add(l, r)
        case .subtract: return subtract(l, r)
        case .multiply: return multiply(l, r)
        case .divide: return divide(l, r)
        case .modulo: return modulo(l, r)
        case .isIn: return contains(l, in: r)
        case .isInSet: return .bool(find(l, in: r) != nil)
        default: return element(l, r)
        }
    }

    /// A term of a chain that is no plain bool. Gives what the term is after a look at it; the
    /// chain's register has the result so far.
    private mutating func take(_ cell: Cell, _ i: Instruction, _ code: Code) -> Cell {
        var term = resolve(cell, i.a, code)
        if term.tag != .bool, !term.isError { term = notBool(term) }
        let dst = Int(i.dst)
        let decides = i.operation.isOr
        switch i.operation {
        case .andPeek, .orPeek:
            // What failed is looked at again in its turn.
            if term.tag == .bool, term.asBool == decides { frame[dst] = term }
        case .andFirst, .orFirst: frame[dst] = term
        default:
            if term.tag == .bool {
                if term.asBool == decides { frame[dst] = term }
            } else {
                frame[dst] = frame[dst].isError ? merged(frame[dst], term) : term
            }
        }
        return term
    }
}
