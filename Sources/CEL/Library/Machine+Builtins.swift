/// Arguments of a built-in function: values, never errors.
typealias Arguments = UnsafeBufferPointer<Cell>

extension Machine {
    /// Calls a built-in function. Those that read their texts have paid for all of them before.
    mutating func call(_ builtin: Builtin, _ a: Arguments, _ code: Code) -> Cell {
        switch builtin {
        case .add where a.count == 2: return add(a[0], a[1])
        case .optionalIndex where a.count == 2: return optionalElement(a[0], a[1])
        case .toDyn where a.count == 1: return a[0]
        case .typeOf where a.count == 1: return typeOf(a[0])
        case .optionalOf, .optionalOfNonZero, .optionalNone, .hasValue, .value, .or, .orValue,
            .unwrap:
            return optional(builtin, a)
        default: break
        }
        for cell in a where cell.tag == .string || cell.tag == .bytes {
            if builtin.readsSlowly { charge(cells: cell.count) } else { charge(bytes: cell.count) }
        }
        if isTooCostly { return bare(.costLimit) }
        return callOfText(builtin, a, code)
    }

    private mutating func callOfText(_ builtin: Builtin, _ a: Arguments, _ code: Code) -> Cell {
        switch builtin {
        case .toBool, .toInt, .toUint, .toDouble, .toString, .toBytes, .toTimestamp, .toDuration:
            return a.count == 1 ? convert(builtin, a) : noOverload(builtin, a)
        case .size, .contains, .startsWith, .endsWith, .matches: return string(builtin, a, code)
        case .charAt, .indexOf, .lastIndexOf, .lowerAscii, .upperAscii, .replace, .split, .join,
            .substring, .trim, .format, .quote, .reverse:
            return stringExtension(builtin, a)
        case .regexReplace, .regexExtract, .regexExtractAll:
            return regex(builtin, a)
        case .getFullYear, .getMonth, .getDayOfYear, .getDayOfMonth, .getDate, .getDayOfWeek,
            .getHours, .getMinutes, .getSeconds, .getMilliseconds:
            return time(builtin, a, code)
        case .greatest, .least, .ceil, .floor, .round, .trunc, .abs, .sign, .isNaN, .isInf,
            .isFinite, .sqrt, .bitAnd, .bitOr, .bitXor, .bitNot, .bitShiftLeft, .bitShiftRight:
            return math(builtin, a)
        case .slice, .flatten, .distinct, .sort, .range, .first, .last, .setsContains,
            .setsIntersects, .setsEquivalent:
            return collection(builtin, a)
        case .base64Encode, .base64Decode: return encode(builtin, a)
        case .ip, .cidr, .isIP, .isCIDR, .ipIsCanonical, .family, .isUnspecified, .isLoopback,
            .isGlobalUnicast, .isLinkLocalMulticast, .isLinkLocalUnicast, .containsIP,
            .containsCIDR, .masked, .prefixLength:
            return network(builtin, a)
        default: return noOverload(builtin, a)
        }
    }

    private mutating func typeOf(_ cell: Cell) -> Cell {
        arena.cell(of: .type(cell.type)) ?? outOfMemory()
    }

    // MARK: Standard strings

    private mutating func string(_ builtin: Builtin, _ a: Arguments, _ code: Code) -> Cell {
        if builtin == .size, a.count == 1 { return size(a[0]) }
        guard a.count == 2, a[0].tag == .string, a[1].tag == .string else {
            return noOverload(builtin, a)
        }
        let text = a[0].bytes
        let part = a[1].bytes
        switch builtin {
        case .contains: return .bool(CodePoints.find(part, in: text) != nil)
        case .startsWith: return .bool(text.starts(with: part))
        case .endsWith:
            return .bool(text.count >= part.count && text.suffix(part.count).elementsEqual(part))
        default:
            return withRegex(a[1]) { machine, regex in machine.matches(a[0], regex) }
        }
    }

    mutating func size(_ cell: Cell) -> Cell {
        switch cell.tag {
        case .error: return cell
        case .string:
            charge(bytes: cell.count)
            return .int(CodePoints.count(cell.bytes))
        case .bytes, .list, .map: return .int(cell.count)
        default: return noOverload("size", cell)
        }
    }
}
