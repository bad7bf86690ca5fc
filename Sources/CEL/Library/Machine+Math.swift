extension Machine {
    /// The functions of `math`.
    mutating func math(_ builtin: Builtin, _ a: Arguments) -> Cell {
        switch builtin {
        case .greatest, .least: return extreme(builtin, a)
        case .bitAnd, .bitOr, .bitXor, .bitNot, .bitShiftLeft, .bitShiftRight:
            return bits(builtin, a)
        default: break
        }
        guard a.count == 1 else { return noOverload(builtin, a) }
        let cell = a[0]
        switch (builtin, cell.tag) {
        case (.sqrt, .int): return .double(Double(cell.asInt).squareRoot())
        case (.sqrt, .uint): return .double(Double(cell.bits).squareRoot())
        case (.abs, .int):
            return cell.asInt == .min ? error(.overflow, "int overflow") : .int(abs(cell.asInt))
        case (.abs, .uint): return cell
        case (.sign, .int): return .int(cell.asInt.signum())
        case (.sign, .uint): return .uint(cell.bits == 0 ? 0 : 1)
        case (_, .double): return ofDouble(builtin, cell.asDouble) ?? noOverload(builtin, a)
        default: return noOverload(builtin, a)
        }
    }

    private func ofDouble(_ builtin: Builtin, _ number: Double) -> Cell? {
        switch builtin {
        case .ceil: .double(number.rounded(.up))
        case .floor: .double(number.rounded(.down))
        case .round: .double(number.rounded(.toNearestOrAwayFromZero))
        case .trunc: .double(number.rounded(.towardZero))
        case .abs: .double(number.magnitude)
        case .sign: .double(number.isNaN ? number : number > 0 ? 1 : number < 0 ? -1 : 0)
        case .isNaN: .bool(number.isNaN)
        case .isInf: .bool(number.isInfinite)
        case .isFinite: .bool(number.isFinite)
        case .sqrt: .double(number.squareRoot())
        default: nil
        }
    }

    private mutating func extreme(_ builtin: Builtin, _ a: Arguments) -> Cell {
        var numbers = a
        if a.count == 1, a[0].tag == .list { numbers = a[0].cells }
        charge(cells: numbers.count)
        guard var best = numbers.first else {
            return error(.invalidArgument, "the list is empty")
        }
        guard numbers.allSatisfy({ $0.numeric != nil }) else { return noOverload(builtin, a) }
        for cell in numbers.dropFirst() {
            guard case .some(.some(let order)) = compare(cell, best) else { continue }
            if builtin == .greatest ? order > 0 : order < 0 { best = cell }
        }
        return best
    }

    private mutating func bits(_ builtin: Builtin, _ a: Arguments) -> Cell {
        guard let first = a.first, first.tag == .int || first.tag == .uint else {
            return noOverload(builtin, a)
        }
        var result = first
        if builtin == .bitNot, a.count == 1 {
            result.bits = ~first.bits
            return result
        }
        guard a.count == 2 else { return noOverload(builtin, a) }
        if builtin == .bitShiftLeft || builtin == .bitShiftRight {
            guard a[1].tag == .int else { return noOverload(builtin, a) }
            if a[1].asInt < 0 { return error(.invalidArgument, "a shift cannot be negative") }
            // Swift's shifts give 0 beyond the width, as CEL wants; to the right ints too lose
            // their sign.
            let distance = a[1].asInt
            result.bits = builtin == .bitShiftLeft ? first.bits << distance : first.bits >> distance
            return result
        }
        guard a[1].tag == first.tag else { return noOverload(builtin, a) }
        switch builtin {
        case .bitAnd: result.bits = first.bits & a[1].bits
        case .bitOr: result.bits = first.bits | a[1].bits
        case .bitXor: result.bits = first.bits ^ a[1].bits
        default: return noOverload(builtin, a)
        }
        return result
    }
}
