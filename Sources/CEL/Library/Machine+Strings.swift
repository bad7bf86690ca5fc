/// The string extension: everything counts code points.
extension Machine {
    mutating func stringExtension(_ builtin: Builtin, _ a: Arguments) -> Cell {
        if builtin == .reverse, a.count == 1, a[0].tag == .list {
            return makeList(a[0].cells.reversed())
        }
        if builtin == .join { return join(a) }
        guard let first = a.first, first.tag == .string else { return noOverload(builtin, a) }
        switch (builtin, a.count) {
        case (.charAt, 2) where a[1].tag == .int: return charAt(first, a[1].asInt)
        case (.indexOf, 2...3), (.lastIndexOf, 2...3):
            guard a[1].tag == .string, a.count == 2 || a[2].tag == .int else { break }
            let offset = a.count == 3 ? a[2].asInt : nil
            return builtin == .indexOf
                ? indexOf(first.bytes, a[1].bytes, offset)
                : lastIndexOf(first.bytes, a[1].bytes, offset)
        case (.lowerAscii, 1): return mapBytes(first) { (65...90).contains($0) ? $0 + 32 : $0 }
        case (.upperAscii, 1): return mapBytes(first) { (97...122).contains($0) ? $0 - 32 : $0 }
        case (.replace, 3...4):
            guard a[1].tag == .string, a[2].tag == .string, a.count == 3 || a[3].tag == .int else {
                break
            }
            return replace(first.bytes, a[1].bytes, a[2].bytes, a.count == 4 ? a[3].asInt : -1)
        case (.split, 2...3):
            guard a[1].tag == .string, a.count == 2 || a[2].tag == .int else { break }
            return split(first.bytes, a[1].bytes, a.count == 3 ? a[2].asInt : -1)
        case (.substring, 2...3):
            guard a[1].tag == .int, a.count == 2 || a[2].tag == .int else { break }
            return substring(first, a[1].asInt, a.count == 3 ? a[2].asInt : nil)
        case (.trim, 1): return part(first, Self.trimmed(first.bytes))
        case (.reverse, 1): return reversed(first)
        case (.quote, 1): return makeString(Self.quoted(first.bytes))
        case (.format, 2) where a[1].tag == .list: return format(first.bytes, a[1].cells)
        default: break
        }
        return noOverload(builtin, a)
    }

    /// A part of a string shares its bytes.
    func part(_ cell: Cell, _ range: Range<Int>) -> Cell {
        Cell(.string, cell.address.map { $0 + range.lowerBound }, count: range.count)
    }

    private mutating func outside(_ index: Int64) -> Cell {
        error(.indexOutOfRange, "index \(index) is outside of the string")
    }

    private mutating func charAt(_ cell: Cell, _ index: Int64) -> Cell {
        guard let start = CodePoints.offset(of: Int(clamping: index), in: cell.bytes) else {
            return outside(index)
        }
        return part(cell, start..<start + CodePoints.width(at: start, in: cell.bytes))
    }

    private mutating func substring(_ cell: Cell, _ start: Int64, _ end: Int64?) -> Cell {
        guard let from = CodePoints.offset(of: Int(clamping: start), in: cell.bytes) else {
            return outside(start)
        }
        guard let end else { return part(cell, from..<cell.count) }
        guard let to = CodePoints.offset(of: Int(clamping: end), in: cell.bytes) else {
            return outside(end)
        }
        guard from <= to else {
            return error(
                .invalidArgument, "the part would end at \(end), before its start \(start)")
        }
        return part(cell, from..<to)
    }

    // MARK: Searching

    private mutating func indexOf(
        _ text: UnsafeRawBufferPointer, _ wanted: UnsafeRawBufferPointer, _ offset: Int64?
    ) -> Cell {
        let from = offset ?? 0
        guard let start = CodePoints.offset(of: Int(clamping: from), in: text) else {
            return outside(from)
        }
        if wanted.isEmpty { return .int(from) }
        guard let place = CodePoints.find(wanted, in: text, from: start) else {
            return .int(-1 as Int64)
        }
        return .int(CodePoints.count(UnsafeRawBufferPointer(rebasing: text[..<place])))
    }

    private mutating func lastIndexOf(
        _ text: UnsafeRawBufferPointer, _ wanted: UnsafeRawBufferPointer, _ offset: Int64?
    ) -> Cell {
        var start = text.count
        if let offset {
            guard let place = CodePoints.offset(of: Int(clamping: offset), in: text) else {
                return outside(offset)
            }
            start = place
        }
        if wanted.isEmpty { return .int(offset ?? Int64(CodePoints.count(text))) }
        // Backwards there is no linear search at hand, so what may be compared is paid for first.
        cost += min(wanted.count, text.count) * text.count / 64
        if cost > costLimit { return bare(.costLimit) }
        guard let place = CodePoints.findLast(wanted, in: text, from: start) else {
            return .int(-1 as Int64)
        }
        return .int(CodePoints.count(UnsafeRawBufferPointer(rebasing: text[..<place])))
    }

    // MARK: Changing

    private mutating func mapBytes(_ cell: Cell, _ change: (UInt8) -> UInt8) -> Cell {
        makeBytes(.string, cell.count) { target in
            for (index, byte) in cell.bytes.enumerated() { target[index] = change(byte) }
        }
    }

    /// Written from the end on, code point by code point.
    private mutating func reversed(_ cell: Cell) -> Cell {
        makeBytes(.string, cell.count) { target in
            var start = 0
            while start < cell.count {
                let width = CodePoints.width(at: start, in: cell.bytes)
                let place = cell.count - start - width
                for index in 0..<width { target[place + index] = cell.bytes[start + index] }
                start += width
            }
        }
    }

    /// Whether so many more bytes may be made; pays for them.
    mutating func mayMake(_ bytes: Int) -> Bool {
        charge(bytes: bytes)
        return bytes <= limits.stringBytes && cost <= costLimit
    }

    private mutating func replace(
        _ text: UnsafeRawBufferPointer, _ old: UnsafeRawBufferPointer,
        _ new: UnsafeRawBufferPointer, _ limit: Int64
    ) -> Cell {
        var result: [UInt8] = []
        var index = 0
        var left = limit < 0 ? Int64.max : limit
        while left > 0 {
            guard let place = CodePoints.find(old, in: text, from: index) else { break }
            guard mayMake(place - index + new.count), result.count <= limits.stringBytes else {
                return error(.sizeLimit, "the result is too long")
            }
            result += text[index..<place]
            result += new
            left -= 1
            index = place + old.count
            if old.isEmpty {
                // Nothing is found before every code point and at the end.
                let width = CodePoints.width(at: index, in: text)
                result += text[index..<index + width]
                index += width
                if width == 0 { break }
            }
        }
        result += text[index...]
        return makeString(result)
    }

    private mutating func split(
        _ text: UnsafeRawBufferPointer, _ separator: UnsafeRawBufferPointer, _ limit: Int64
    ) -> Cell {
        if limit == 0 { return makeList([]) }
        let whole = Cell(.string, text.baseAddress, count: text.count)
        var parts: [Cell] = []
        var index = 0
        while limit < 0 || Int64(parts.count) < limit - 1 {
            charge(cells: 1)
            if cost > costLimit { return bare(.costLimit) }
            if separator.isEmpty {
                let width = CodePoints.width(at: index, in: text)
                if index + width >= text.count { break }
                parts.append(part(whole, index..<index + width))
                index += width
            } else {
                guard let place = CodePoints.find(separator, in: text, from: index) else { break }
                parts.append(part(whole, index..<place))
                index = place + separator.count
            }
        }
        if !separator.isEmpty || index < text.count {
            parts.append(part(whole, index..<text.count))
        }
        return makeList(parts)
    }

    private mutating func join(_ a: Arguments) -> Cell {
        if let list = a.first, list.tag == .list { charge(cells: list.count) }
        guard (1...2).contains(a.count), a[0].tag == .list, a.count == 1 || a[1].tag == .string,
            a[0].cells.allSatisfy({ $0.tag == .string })
        else { return noOverload(.join, a) }
        var result: [UInt8] = []
        for (index, cell) in a[0].cells.enumerated() {
            let separator =
                a.count == 2 && index > 0
                ? a[1].bytes : UnsafeRawBufferPointer(start: nil, count: 0)
            guard mayMake(separator.count + cell.count), result.count <= limits.stringBytes else {
                return error(.sizeLimit, "the result is too long")
            }
            result += separator
            result += cell.bytes
        }
        return makeString(result)
    }

    /// Without the white space of Unicode at both ends.
    private static func trimmed(_ text: UnsafeRawBufferPointer) -> Range<Int> {
        var start = 0
        while start < text.count, isSpace(text, start) {
            start += CodePoints.width(at: start, in: text)
        }
        var end = text.count
        while end > start {
            var place = end - 1
            while place > start, text[place] & 0xC0 == 0x80 { place -= 1 }
            guard isSpace(text, place) else { break }
            end = place
        }
        return start..<end
    }

    private static func isSpace(_ text: UnsafeRawBufferPointer, _ index: Int) -> Bool {
        if text[index] < 0x80 { return text[index] == 32 || (9...13).contains(text[index]) }
        // None of the others has fewer than two or more than three bytes.
        var value = UInt32(text[index])
        switch CodePoints.width(at: index, in: text) {
        case 2: value = (value & 0x1F) << 6 | UInt32(text[index + 1] & 0x3F)
        case 3:
            value =
                (value & 0x0F) << 12 | UInt32(text[index + 1] & 0x3F) << 6
                | UInt32(text[index + 2] & 0x3F)
        default: return false
        }
        switch value {
        case 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
            return true
        default: return false
        }
    }

    /// The letter that stands for a byte behind a backslash; 0 where the byte stands for itself.
    private static let escapes: [UInt8] = {
        var letters = [UInt8](repeating: 0, count: 256)
        for (byte, letter) in zip([7, 8, 12, 10, 13, 9, 11, 92, 34], "abfnrtv\\\"".utf8) {
            letters[byte] = letter
        }
        return letters
    }()

    static func quoted(_ bytes: UnsafeRawBufferPointer) -> String {
        let escapes = escapes
        var text: [UInt8] = [UInt8(ascii: "\"")]
        for byte in bytes {
            let letter = escapes[Int(byte)]
            if letter > 0 { text.append(UInt8(ascii: "\\")) }
            text.append(letter > 0 ? letter : byte)
        }
        // What is not UTF-8 becomes U+FFFD here.
        return String(decoding: text + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}
