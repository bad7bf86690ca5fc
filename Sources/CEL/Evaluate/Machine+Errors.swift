/// Errors as cells: `code`, `length` = the node, `bits` = the address of a detail cell.
///
/// The text is made only where an error reaches the host: an absorbed one costs next to nothing.
/// An error of code `missing` has a slot in `bits`; with `extra` > 0 the address of that many.
extension Machine {
    func bare(_ code: EvaluationError.Code) -> Cell {
        var cell = Cell(.error, length: UInt32(bitPattern: node))
        cell.code = code.rawValue
        return cell
    }

    mutating func error(_ code: EvaluationError.Code, _ text: StaticString) -> Cell {
        error(code, of: .string(text))
    }

    mutating func error(_ code: EvaluationError.Code, _ text: String) -> Cell {
        error(code, of: arena.cell(of: .string(text)) ?? .null)
    }

    mutating func error(_ code: EvaluationError.Code, of detail: Cell) -> Cell {
        var cell = bare(code)
        if let place = arena.cells(1) {
            place.initialize(to: detail)
            cell.bits = UInt64(UInt(bitPattern: place))
        }
        return cell
    }

    mutating func error(_ code: EvaluationError.Code, details: Cell...) -> Cell {
        guard let cells = arena.cells(details.count) else { return bare(code) }
        for (index, detail) in details.enumerated() { cells[index] = detail }
        return error(code, of: Cell(.list, cells, count: details.count))
    }

    mutating func noOverload(_ name: StaticString, _ left: Cell, _ right: Cell? = nil) -> Cell {
        if let right { return error(.noSuchOverload, details: .string(name), left, right) }
        return error(.noSuchOverload, details: .string(name), left)
    }

    mutating func noOverload(_ builtin: Builtin, _ arguments: UnsafeBufferPointer<Cell>) -> Cell {
        guard let cells = arena.cells(arguments.count + 1) else { return bare(.noSuchOverload) }
        cells[0] = arena.cell(of: .string(builtin.name)) ?? .null
        for (index, argument) in arguments.enumerated() { cells[index + 1] = argument }
        return error(.noSuchOverload, of: Cell(.list, cells, count: arguments.count + 1))
    }

    mutating func notBool(_ cell: Cell) -> Cell { error(.notBool, of: cell) }

    func outOfMemory() -> Cell { bare(.sizeLimit) }

    /// Two errors of one operator: the left one, save that an absent slot gives way to any other
    /// error, and that of absent slots all are kept. However a chain is grouped, it is the same.
    mutating func merged(_ left: Cell, _ right: Cell) -> Cell {
        let missing = EvaluationError.Code.missing.rawValue
        guard left.code == missing else { return left }
        guard right.code == missing else { return right }
        let known = Self.missingSlots(left)
        // A message with more names than this helps nobody, and the list must stay short.
        let added = Self.missingSlots(right).filter { !known.contains($0) }.prefix(16 - known.count)
        guard !added.isEmpty, let cells = arena.cells(known.count + added.count) else {
            return left
        }
        for (index, slot) in (known + added).enumerated() { cells[index] = .int(slot) }
        var result = left
        result.bits = UInt64(UInt(bitPattern: cells))
        result.extra = UInt16(known.count + added.count)
        return result
    }

    static func missingSlots(_ error: Cell) -> [Int] {
        guard error.extra > 0 else { return [Int(truncatingIfNeeded: error.bits)] }
        let cells = UnsafeBufferPointer(
            start: error.address?.assumingMemoryBound(to: Cell.self), count: Int(error.extra))
        return cells.map { Int($0.asInt) }
    }

    // MARK: To the host

    /// The error as the host sees it.
    func evaluationError(_ cell: Cell, _ code: Code) -> EvaluationError {
        let kind = EvaluationError.Code(rawValue: cell.code) ?? .invalidArgument
        let node = Int(Int32(bitPattern: cell.length))
        let range = code.ranges.indices.contains(node) ? code.ranges[node] : 0..<0
        if kind == .missing {
            let paths = Self.missingSlots(cell).map {
                slots.indices.contains($0) ? slots[$0].path : "?"
            }
            let names = paths.map { "`\($0)`" }.joined(separator: ", ")
            return EvaluationError(
                .missing, paths.count == 1 ? "\(names) has no value" : "\(names) have no value",
                range: range, missing: paths)
        }
        let detail = cell.address?.load(as: Cell.self)
        return EvaluationError(kind, message(kind, detail), range: range)
    }

    private func message(_ kind: EvaluationError.Code, _ detail: Cell?) -> String {
        switch (kind, detail) {
        case (.costLimit, _): return "the evaluation costs more than \(costLimit)"
        case (.sizeLimit, nil): return "a value is too large, or values nest too deep"
        case (.noSuchKey, let key?): return "no such key: \(Self.shown(key))"
        case (.noSuchField, let field?): return "no such field: `\(field.text)`"
        case (.duplicateKey, let key?): return "two entries have the key \(Self.shown(key))"
        case (.notBool, let cell?): return "expected bool, found \(Self.typeName(cell))"
        case (.undeclared, let name?): return "`\(name.text)` is not declared"
        case (.indexOutOfRange, let pair?) where pair.tag == .list && pair.count == 2:
            let count = pair.cells[1].asInt
            return "index \(Self.shown(pair.cells[0])) is outside of a list of \(count)"
        case (.noSuchOverload, let list?) where list.tag == .list && list.count > 0:
            let kinds = list.cells.dropFirst().map { Self.typeName($0) }.joined(separator: ", ")
            return "`\(list.cells[0].text)` cannot be applied to (\(kinds))"
        case (_, let text?) where text.tag == .string: return text.text
        case (.divisionByZero, _): return "division by zero"
        default: return "\(kind)"
        }
    }

    static func typeName(_ cell: Cell) -> String { cell.type.runtimeName }

    /// A key or index in a message, cut to a length that fits a line.
    static func shown(_ cell: Cell) -> String {
        switch cell.tag {
        case .string:
            let text = String(decoding: cell.bytes.prefix(80), as: UTF8.self)
            return "`\(text)\(cell.count > 80 ? "…" : "")`"
        case .bool: return cell.asBool ? "true" : "false"
        case .int: return String(cell.asInt)
        case .uint: return "\(cell.bits)u"
        case .double: return DoubleText.text(cell.asDouble)
        default: return typeName(cell)
        }
    }
}

extension Cell {
    /// A string of the program's own text, which never goes away.
    static func string(_ text: StaticString) -> Cell {
        guard text.hasPointerRepresentation else { return Cell(.string) }
        return Cell(.string, UnsafeRawPointer(text.utf8Start), count: text.utf8CodeUnitCount)
    }

    /// The type of a value, without its parameters.
    var type: Type {
        switch tag {
        case .absent, .lazy, .error: .error
        case .null: .null
        case .bool: .bool
        case .int: .int
        case .uint: .uint
        case .double: .double
        case .string: .string
        case .bytes: .bytes
        case .list: .list(.dyn)
        case .map: .map(.dyn, .dyn)
        case .timestamp: .timestamp
        case .duration: .duration
        case .type: .type(nil)
        case .optional: .optional(.dyn)
        case .ip: .abstract("net.IP", [])
        case .cidr: .abstract("net.CIDR", [])
        case .message: .abstract(cells[0].text, [])
        }
    }
}
