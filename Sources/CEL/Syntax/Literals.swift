/// The content of literals: escapes, numbers.
enum Literals {
    struct Fault: Error {
        var range: Range<Int>
        var message: String
    }

    /// The bytes that a string or bytes token stands for.
    static func unquote(_ source: [UInt8], _ range: Range<Int>, isBytes: Bool) throws(Fault)
        -> [UInt8]
    {
        var start = range.lowerBound
        var isRaw = false
        while source[start] != UInt8(ascii: "\""), source[start] != UInt8(ascii: "'") {
            if source[start] | 0x20 == UInt8(ascii: "r") { isRaw = true }
            start += 1
        }
        let quote = source[start]
        let isTriple =
            range.upperBound - start >= 6 && source[start + 1] == quote
            && source[start + 2] == quote
        let width = isTriple ? 3 : 1
        var index = start + width
        let end = range.upperBound - width
        var result: [UInt8] = []
        result.reserveCapacity(max(0, end - index))
        while index < end {
            let byte = source[index]
            if byte == UInt8(ascii: "\\"), !isRaw {
                try escape(source, &index, end, isBytes: isBytes, into: &result)
            } else {
                result.append(byte)
                index += 1
            }
        }
        return result
    }

    private static let simple: [UInt8: UInt8] = [
        UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10,
        UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9, UInt8(ascii: "v"): 11,
        UInt8(ascii: "\\"): 92, UInt8(ascii: "?"): 63, UInt8(ascii: "\""): 34,
        UInt8(ascii: "'"): 39, UInt8(ascii: "`"): 96,
    ]

    private static func escape(
        _ source: [UInt8], _ index: inout Int, _ end: Int, isBytes: Bool, into result: inout [UInt8]
    ) throws(Fault) {
        let start = index
        guard index + 1 < end else { throw Fault(range: start..<end, message: "unfinished escape") }
        let letter = source[index + 1]
        index += 2
        if let byte = simple[letter] {
            result.append(byte)
            return
        }
        let digits: Int
        var radix = 16
        switch letter {
        case UInt8(ascii: "x"), UInt8(ascii: "X"): digits = 2
        case UInt8(ascii: "u") where !isBytes: digits = 4
        case UInt8(ascii: "U") where !isBytes: digits = 8
        case UInt8(ascii: "0")...UInt8(ascii: "3"):
            digits = 3
            radix = 8
            index -= 1
        default:
            let text = String(decoding: source[start..<index], as: UTF8.self)
            throw Fault(range: start..<index, message: "`\(text)` is no escape")
        }
        guard var value = number(source, &index, end, digits: digits, radix: radix) else {
            throw Fault(
                range: start..<min(index + 1, end),
                message: "this escape needs \(digits) \(radix == 8 ? "octal" : "hex") digits")
        }
        if letter == UInt8(ascii: "u") { value = pair(value, source, &index, end) }
        if isBytes {
            result.append(UInt8(truncatingIfNeeded: value))
        } else if let scalar = UnicodeScalar(value) {
            result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        } else {
            throw Fault(range: start..<index, message: "this escape names no code point")
        }
    }

    /// So many digits; nil where there are fewer, with the index at the first that is none.
    private static func number(
        _ source: [UInt8], _ index: inout Int, _ end: Int, digits: Int, radix: Int
    ) -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard index < end, let digit = hexValue(source[index]), digit < radix else {
                return nil
            }
            value = value << (radix == 8 ? 3 : 4) | digit
            index += 1
        }
        return value
    }

    /// A code point beyond U+FFFF may be written as two escapes of its surrogates. Gives the first
    /// back, and stays where it is, if no second one follows.
    private static func pair(_ first: UInt32, _ source: [UInt8], _ index: inout Int, _ end: Int)
        -> UInt32
    {
        guard (0xD800..<0xDC00).contains(first), index + 1 < end,
            source[index] == UInt8(ascii: "\\"), source[index + 1] == UInt8(ascii: "u")
        else { return first }
        var next = index + 2
        guard let second = number(source, &next, end, digits: 4, radix: 16),
            (0xDC00..<0xE000).contains(second)
        else { return first }
        index = next
        return 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
    }

    static func hexValue(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 48
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte) - 87
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte) - 55
        default: nil
        }
    }

    /// The digits of an int or uint literal, without its sign and `u`.
    static func magnitude(_ text: Substring) -> UInt64? {
        text.hasPrefix("0x") || text.hasPrefix("0X")
            ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
    }
}

/// Whether bytes are valid UTF-8, and where the first fault is.
enum UTF8Check {
    static func firstFault(_ bytes: [UInt8], from start: Int = 0) -> Int? {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x80 {
                index += 1
                continue
            }
            let length: Int
            let low: UInt8
            let high: UInt8
            switch byte {
            case 0xC2...0xDF: (length, low, high) = (2, 0x80, 0xBF)
            case 0xE0: (length, low, high) = (3, 0xA0, 0xBF)
            case 0xED: (length, low, high) = (3, 0x80, 0x9F)
            case 0xE1...0xEF: (length, low, high) = (3, 0x80, 0xBF)
            case 0xF0: (length, low, high) = (4, 0x90, 0xBF)
            case 0xF1...0xF3: (length, low, high) = (4, 0x80, 0xBF)
            case 0xF4: (length, low, high) = (4, 0x80, 0x8F)
            default: return index
            }
            guard index + length <= bytes.count, bytes[index + 1] >= low, bytes[index + 1] <= high
            else { return index }
            for offset in 2..<max(length, 2) where bytes[index + offset] & 0xC0 != 0x80 {
                return index
            }
            index += length
        }
        return nil
    }

    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Strings that are only ASCII are the rule; they need no array.
        if bytes.allSatisfy({ $0 < 0x80 }) { return true }
        return firstFault(Array(bytes)) == nil
    }
}
