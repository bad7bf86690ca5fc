extension Emitter {
    /// Emits a node that has no register of its own.
    mutating func compute(_ id: AST.NodeID, into dst: Int32) {
        let node = ast[id]
        if case .object(let path)? = node.reference {
            let layout = objectLayout(path)
            if case .presence = node.kind {
                add(Instruction(.anyPresent, dst: dst, b: layout))
            } else {
                add(Instruction(.object, dst: dst, b: layout))
            }
            return
        }
        switch node.kind {
        case .identifier(let name): fail(.undeclared, into: dst, detail: name)
        case .select(let operand, let field, let isOptional):
            let source = self.operand(operand, scratch: dst)
            let name = constant(Value.string(field))
            if isOptional {
                add(Instruction(.selectOptional, dst: dst, a: source, b: name))
            } else {
                let place = place(of: field, in: operand)
                add(Instruction(.select, dst: dst, a: source, b: name, count: place))
            }
        case .presence(let operand, let field): presence(id, operand, field, into: dst)
        case .call(let function, let target, let arguments):
            call(node, function, target, arguments, into: dst)
        case .list(let elements, let optional):
            let first = contiguous(elements) { optional.contains($0) }
            add(Instruction(.list, dst: dst, a: first, b: Int32(elements.count)))
        case .map(let parts, let optional):
            let first = contiguous(parts) { $0 % 2 == 1 && optional.contains($0 / 2) }
            add(Instruction(.map, dst: dst, a: first, b: Int32(parts.count / 2)))
        case .structure(let name, let fields, let values, let optional):
            structure(node, name, fields, values, optional, into: dst)
        case .comprehension(let loop): comprehension(loop, node.firstLocal, into: dst)
        case .bind(_, let initial, let body):
            let register = operand(initial)
            setLocal(node.firstLocal, register)
            emit(body, into: dst)
        case .block(let bindings, let body):
            for (index, binding) in bindings.enumerated() {
                let register = operand(binding)
                setLocal(node.firstLocal + index, register)
            }
            emit(body, into: dst)
        case .literal, .invalid: fail(.undeclared, into: dst, detail: "")
        }
    }

    /// Where the machine keeps the place of a field in the maps it was selected from: one for each
    /// text, so that rules that read or test the same field share it.
    private func place(of field: String, in operand: AST.NodeID) -> Int {
        var hash: UInt32 = 2_166_136_261
        for byte in ast.source[ast[operand].range].suffix(64) {
            hash = (hash ^ UInt32(byte)) &* 16_777_619
        }
        for byte in field.utf8.suffix(64) { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return Int(hash >> 16) & (Machine.places - 1)
    }

    private mutating func presence(
        _ id: AST.NodeID, _ operand: AST.NodeID, _ field: String, into dst: Int32
    ) {
        if case .slot(let slot)? = ast[id].reference {
            let register = register(ofSlot: slot)
            add(Instruction(.present, dst: dst, a: register))
            return
        }
        let source = self.operand(operand, scratch: dst)
        let name = constant(Value.string(field))
        let place = place(of: field, in: operand)
        add(Instruction(.has, dst: dst, a: source, b: name, count: place))
    }

    /// Evaluates nodes into neighbouring temporaries and gives the first.
    private mutating func contiguous(_ ids: [AST.NodeID], isSpread: (Int) -> Bool = { _ in false })
        -> Int32
    {
        let first = temporary(ids.count)
        for (index, id) in ids.enumerated() {
            emit(id, into: first + Int32(index))
            if isSpread(index) { add(Instruction(.spread, dst: first + Int32(index))) }
        }
        return first
    }

    private mutating func structure(
        _ node: AST.Node, _ name: String, _ fields: [String], _ values: [AST.NodeID],
        _ optional: [Int], into dst: Int32
    ) {
        guard case .function(let full, _)? = node.reference else {
            return fail(.undeclared, into: dst, detail: name)
        }
        let first = contiguous(values) { optional.contains($0) }
        let index = structureIndex(StructureLayout(name: full, fields: fields))
        add(Instruction(.structure, dst: dst, a: first, b: index, count: values.count))
    }

    // MARK: Calls

    private static let binary: [Builtin: Instruction.Operation] = [
        .add: .add, .subtract: .subtract, .multiply: .multiply, .divide: .divide,
        .modulo: .modulo, .isIn: .isIn, .index: .index,
    ]

    private static let unary: [Builtin: Instruction.Operation] = [
        .not: .not, .negate: .negate, .size: .size,
    ]

    private static let tests: [Builtin: Int] = [
        .equal: Test.equal, .notEqual: Test.less | Test.greater | Test.unordered,
        .less: Test.less, .lessOrEqual: Test.less | Test.equal,
        .greater: Test.greater, .greaterOrEqual: Test.greater | Test.equal,
    ]

    private mutating func call(
        _ node: AST.Node, _ function: String, _ target: AST.NodeID?, _ arguments: [AST.NodeID],
        into dst: Int32
    ) {
        switch function {
        case "_&&_", "_||_": return chain(node, function, into: dst)
        case "_?_:_": return conditional(arguments, into: dst)
        default: break
        }
        guard case .function(let name, _)? = node.reference else {
            return fail(.undeclared, into: dst, detail: function)
        }
        let isQualified = name != function
        let operands = (isQualified ? nil : target).map { [$0] + arguments } ?? arguments
        if environment.functions.contains(where: { $0.name == name && $0.body != nil }) {
            let first = contiguous(operands)
            add(Instruction(.host, dst: dst, a: first, b: host(name), count: operands.count))
            return
        }
        guard let builtin = Library.functions[name]?.builtin else {
            return fail(.undeclared, into: dst, detail: name + "()")
        }
        if builtin == .matches, operands.count == 2, !traced,
            case .literal(.string(let pattern)) = ast[operands[1]].kind,
            let regex = regex(pattern, at: ast[operands[1]].range)
        {
            let text = operand(operands[0], scratch: dst)
            add(Instruction(.matches, dst: dst, a: text, b: regex))
        } else if let orders = Self.tests[builtin], operands.count == 2 {
            let left = operand(operands[0], scratch: dst)
            let right = operand(operands[1])
            test(left, right, orders, into: dst)
        } else if let operation = Self.binary[builtin], operands.count == 2 {
            let left = operand(operands[0], scratch: dst)
            let right = operand(operands[1])
            if operation == .isIn, let set = set(of: right) {
                add(Instruction(.isInSet, dst: dst, a: left, b: set))
            } else {
                add(Instruction(operation, dst: dst, a: left, b: right))
            }
        } else if let operation = Self.unary[builtin], operands.count == 1 {
            let source = operand(operands[0], scratch: dst)
            add(Instruction(operation, dst: dst, a: source))
        } else {
            let first = contiguous(operands)
            add(
                Instruction(
                    .call, dst: dst, a: first, b: Int32(builtin.rawValue), count: operands.count))
        }
    }

    /// A comparison; one with a constant, which ends up on the right, in the form made for its kind.
    private mutating func test(_ left: Int32, _ right: Int32, _ orders: Int, into dst: Int32) {
        var (left, right, orders) = (left, right, orders)
        if left >= Register.constants, right < Register.constants {
            swap(&left, &right)
            orders = Test.mirrored(orders) | Test.swapped
        }
        var operation = Instruction.Operation.test
        if left < Register.constants, right >= Register.constants {
            switch constant(at: right).tag {
            case .int, .duration, .bool: operation = .testInt
            case .double: operation = .testDouble
            // Whether two texts are the same is told at once, their order is not.
            case .string
            where orders & Test.orders == Test.equal || orders & Test.unordered != 0:
                operation = .testText
            default: break
            }
        }
        add(Instruction(operation, dst: dst, a: left, b: right, count: orders))
    }

    private mutating func conditional(_ arguments: [AST.NodeID], into dst: Int32) {
        let condition = operand(arguments[0], scratch: dst)
        markTest(into: condition, readBy: Test.branches)
        let branch = add(Instruction(.branch, dst: dst, a: condition))
        let onError = add(Instruction(.jump))
        emit(arguments[1], into: dst)
        let done = add(Instruction(.jump))
        land(branch)
        emit(arguments[2], into: dst)
        land([onError, done])
    }

    // MARK: Comprehensions

    private mutating func comprehension(
        _ loop: AST.Comprehension, _ firstLocal: Int, into dst: Int32
    ) {
        if loop.macro == .optMap || loop.macro == .optFlatMap {
            return optional(loop, firstLocal, into: dst)
        }
        let range = operand(loop.range)
        let state = temporary(2)
        add(Instruction(.loop, dst: state, a: range))
        add(Instruction(.move, dst: dst, a: state))
        var exits = [add(Instruction(.jump))]
        let hasTwo = loop.secondVariable != nil
        let variable = temporary(2)
        setLocal(firstLocal, variable)
        if hasTwo { setLocal(firstLocal + 1, variable + 1) }
        begin(loop.macro, state: state, into: dst)
        // The test for another round is at the bottom: one jump in a round, not two.
        var rounds = [add(Instruction(.jump))]
        let top = position
        if let filter = loop.filter {
            let condition = operand(filter)
            markTest(into: condition, readBy: Test.branches)
            rounds.append(add(Instruction(.branch, dst: dst, a: condition)))
            exits.append(add(Instruction(.jump)))
        }
        step(loop, state: state, variable: variable, into: dst, rounds: &rounds, exits: &exits)
        land(rounds)
        add(Instruction(.next, dst: variable, a: state, b: top, count: hasTwo ? 1 : 0))
        if case .existsOne = loop.macro { add(Instruction(.oneEnd, dst: dst)) }
        if [.transformMap, .transformMapEntry].contains(loop.macro) {
            add(Instruction(.mapEnd, dst: dst))
        }
        if loop.macro == .sortBy { add(Instruction(.sortBy, dst: dst, a: state, b: dst)) }
        land(exits)
    }

    private mutating func begin(
        _ macro: AST.Comprehension.Macro, state: Int32, into dst: Int32
    ) {
        switch macro {
        case .all: add(Instruction(.move, dst: dst, a: constant(Cell.bool(true))))
        case .exists: add(Instruction(.move, dst: dst, a: constant(Cell.bool(false))))
        case .existsOne: add(Instruction(.move, dst: dst, a: constant(Cell.int(0))))
        case .transformMap, .transformMapEntry: add(Instruction(.mapBegin, dst: dst, a: state))
        default: add(Instruction(.listBegin, dst: dst, a: state))
        }
    }

    private mutating func step(
        _ loop: AST.Comprehension, state: Int32, variable: Int32, into dst: Int32,
        rounds: inout [Int], exits: inout [Int]
    ) {
        let body = operand(loop.body)
        switch loop.macro {
        case .all:
            markTest(into: body, readBy: Test.decidedByFalse)
            exits.append(add(Instruction(.all, dst: dst, a: body)))
        case .exists:
            markTest(into: body, readBy: Test.decidedByTrue)
            exits.append(add(Instruction(.exists, dst: dst, a: body)))
        case .existsOne: exits.append(add(Instruction(.one, dst: dst, a: body)))
        case .filter:
            markTest(into: body, readBy: Test.branches)
            rounds.append(add(Instruction(.branch, dst: dst, a: body)))
            exits.append(add(Instruction(.jump)))
            add(Instruction(.append, dst: dst, a: variable))
            exits.append(add(Instruction(.jump)))
        case .transformMap:
            add(Instruction(.put, dst: dst, a: variable, b: body))
            exits.append(add(Instruction(.jump)))
        case .transformMapEntry:
            add(Instruction(.merge, dst: dst, a: body, b: state))
            exits.append(add(Instruction(.jump)))
        default:
            add(Instruction(.append, dst: dst, a: body))
            exits.append(add(Instruction(.jump)))
        }
    }

    private mutating func optional(
        _ loop: AST.Comprehension, _ firstLocal: Int, into dst: Int32
    ) {
        let source = operand(loop.range)
        let variable = temporary()
        setLocal(firstLocal, variable)
        add(Instruction(.unwrap, dst: variable, a: source))
        add(Instruction(.move, dst: dst, a: variable))
        let exit = add(Instruction(.jump))
        let body = operand(loop.body)
        add(Instruction(loop.macro == .optMap ? .wrap : .flatten, dst: dst, a: body))
        land(exit)
    }
}
