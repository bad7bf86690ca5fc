import CRE2

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
        for cell in a where cell.tag == .string || cell.tag == .bytes { charge(bytes: cell.count) }
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

    mutating func matches(_ text: Cell, _ regex: Regex) -> Cell {
        guard text.tag == .string else { return noOverload("matches", text) }
        cost += regex.cost(text.count)
        if cost > costLimit { return bare(.costLimit) }
        return .bool(regex.matches(text.bytes))
    }

    /// The latest expressions that were no constants; more would let input fill the memory.
    private static let cachedRegexes = 8
    /// What compiling one costs at least, in steps.
    private static let regexCost = 2_000

    mutating func withRegex(_ pattern: Cell, _ body: (inout Machine, Regex) -> Cell) -> Cell {
        let known = regexCache.first { $0.pattern.elementsEqual(pattern.bytes) }
        if let known { return body(&self, known.regex) }
        // Compiling costs far more than anything else here.
        cost += Self.regexCost + 16 * pattern.count
        if cost > costLimit { return bare(.costLimit) }
        switch Regex.compile(Array(pattern.bytes), limits: limits) {
        case .success(let regex):
            cost += 64 * regex.size
            if regexCache.count >= Self.cachedRegexes { regexCache.removeFirst() }
            regexCache.append((Array(pattern.bytes), regex))
            return body(&self, regex)
        case .failure(let fault):
            // What is too large was compiled up to the limit.
            if fault.isTooLarge { cost += limits.regexMemory / 4 }
            return error(.invalidArgument, "no regular expression: \(fault.message)")
        }
    }

    // MARK: Optionals

    private mutating func optional(_ builtin: Builtin, _ a: Arguments) -> Cell {
        switch (builtin, a.count) {
        case (.optionalNone, 0): return Cell.none
        case (.optionalOf, 1): return some(a[0])
        case (.optionalOfNonZero, 1): return Self.isZero(a[0]) ? Cell.none : some(a[0])
        case (.unwrap, 1):
            charge(cells: a[0].tag == .list ? a[0].count : 0)
            guard a[0].tag == .list, a[0].cells.allSatisfy({ $0.tag == .optional }) else { break }
            return makeList(a[0].cells.compactMap(\.wrapped))
        case (_, 1...2) where a[0].tag == .optional:
            switch (builtin, a.count) {
            case (.hasValue, 1): return .bool(a[0].wrapped != nil)
            case (.value, 1):
                return a[0].wrapped ?? error(.invalidArgument, "the optional has no value")
            case (.or, 2) where a[1].tag == .optional: return a[0].wrapped != nil ? a[0] : a[1]
            case (.orValue, 2): return a[0].wrapped ?? a[1]
            default: break
            }
        default: break
        }
        return noOverload(builtin, a)
    }

    private static func isZero(_ cell: Cell) -> Bool {
        switch cell.tag {
        case .null: true
        case .bool, .int, .uint, .duration: cell.bits == 0
        case .double: cell.asDouble == 0
        case .string, .bytes, .list, .map: cell.length == 0
        case .timestamp: cell.bits == 0 && cell.length == 0
        case .optional: cell.wrapped == nil
        case .message: cell.cells[1].length == 0
        default: false
        }
    }
}

/// UTF-8 counted by code points.
enum CodePoints {
    static func count(_ bytes: UnsafeRawBufferPointer) -> Int {
        bytes.reduce(into: 0) { count, byte in
            if byte & 0xC0 != 0x80 { count += 1 }
        }
    }

    /// The offset in bytes of a code point; the end for the one after the last; else nil.
    static func offset(of index: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        if index == 0 { return 0 }
        guard index > 0 else { return nil }
        var seen = -1
        for (offset, byte) in bytes.enumerated() where byte & 0xC0 != 0x80 {
            seen += 1
            if seen == index { return offset }
        }
        return seen + 1 == index ? bytes.count : nil
    }

    /// How many bytes the code point at an offset has; nothing at the end.
    static func width(at offset: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        guard offset < bytes.count else { return 0 }
        var end = offset + 1
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
        return end - offset
    }

    /// The first place of a part at or after an offset. Linear for all that is in practice
    /// searched for; the cost limit bounds the rest.
    static func find(
        _ part: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer, from start: Int = 0
    ) -> Int? {
        if part.isEmpty { return start <= bytes.count ? start : nil }
        guard let text = bytes.baseAddress, let wanted = part.baseAddress, start < bytes.count
        else {
            return nil
        }
        let found = cre2_find_plain(text + start, bytes.count - start, wanted, part.count)
        return found < 0 ? nil : found + start
    }

    static func findLast(
        _ part: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer, from start: Int
    ) -> Int? {
        var place = min(start, bytes.count - part.count)
        while place >= 0 {
            if bytes[place..<place + part.count].elementsEqual(part) { return place }
            place -= 1
        }
        return nil
    }
}
