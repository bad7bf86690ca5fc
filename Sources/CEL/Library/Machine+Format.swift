import Glibc

/// `"%s is %.2f".format([name, number])`.
extension Machine {
    private struct Fault: Error {
        var message: String
    }

    /// More decimals than any double has would only make long texts.
    private static let mostDecimals = 1100

    mutating func format(_ pattern: UnsafeRawBufferPointer, _ values: UnsafeBufferPointer<Cell>)
        -> Cell
    {
        var result: [UInt8] = []
        var index = 0
        var next = 0
        do throws(Fault) {
            while index < pattern.count {
                let byte = pattern[index]
                index += 1
                guard byte == UInt8(ascii: "%") else {
                    result.append(byte)
                    continue
                }
                if index < pattern.count, pattern[index] == UInt8(ascii: "%") {
                    result.append(byte)
                    index += 1
                    continue
                }
                let decimals = try Self.decimals(pattern, &index)
                guard index < pattern.count else { throw Fault(message: "the pattern ends in `%`") }
                guard next < values.count else {
                    throw Fault(message: "there is no value for place \(next + 1)")
                }
                let text = try clause(pattern[index], decimals, values[next])
                charge(bytes: text.utf8.count + 16)
                guard result.count + text.utf8.count <= limits.stringBytes, cost <= costLimit else {
                    throw Self.tooLong
                }
                result += text.utf8
                index += 1
                next += 1
            }
        } catch {
            return self.error(.invalidArgument, error.message)
        }
        return makeString(result)
    }

    private static let tooLong = Fault(message: "the result is too long")

    /// The text of a list or map, which those around it copy.
    private mutating func paid(_ text: String) throws(Fault) -> String {
        charge(bytes: text.utf8.count)
        if text.utf8.count > limits.stringBytes { throw Self.tooLong }
        return text
    }

    private static func decimals(_ pattern: UnsafeRawBufferPointer, _ index: inout Int)
        throws(Fault) -> Int?
    {
        guard index < pattern.count, pattern[index] == UInt8(ascii: ".") else { return nil }
        index += 1
        var number = 0
        let start = index
        while index < pattern.count, Lexer.isDigit(pattern[index]), number <= mostDecimals {
            number = number * 10 + Int(pattern[index] - UInt8(ascii: "0"))
            index += 1
        }
        guard index > start, number <= mostDecimals else {
            throw Fault(message: "a precision is a number up to \(mostDecimals)")
        }
        return number
    }

    private mutating func clause(_ letter: UInt8, _ decimals: Int?, _ cell: Cell) throws(Fault)
        -> String
    {
        switch letter {
        case UInt8(ascii: "s"): return try shown(cell)
        case UInt8(ascii: "d"):
            switch cell.tag {
            case .int: return String(cell.asInt)
            case .uint: return String(cell.bits)
            case .double: return DoubleText.text(cell.asDouble, isPlain: true)
            default: break
            }
        case UInt8(ascii: "f"), UInt8(ascii: "e"):
            if let number = Self.double(cell) {
                return Self.fixed(number, decimals ?? 6, isScientific: letter == UInt8(ascii: "e"))
            }
        case UInt8(ascii: "b"):
            if cell.tag == .bool { return cell.asBool ? "1" : "0" }
            if let text = Self.digits(cell, radix: 2) { return text }
        case UInt8(ascii: "o"):
            if let text = Self.digits(cell, radix: 8) { return text }
        case UInt8(ascii: "x"), UInt8(ascii: "X"):
            let isUpper = letter == UInt8(ascii: "X")
            if let text = Self.digits(cell, radix: 16, uppercase: isUpper) { return text }
            if cell.tag == .string || cell.tag == .bytes {
                let digits = Array((isUpper ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
                charge(bytes: 2 * cell.count)
                if isTooCostly { throw Self.tooLong }
                let text = cell.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
                return String(decoding: text, as: UTF8.self)
            }
        default:
            throw Fault(message: "`%\(Character(UnicodeScalar(letter)))` is no clause of `format`")
        }
        throw Fault(
            message: "`%\(Character(UnicodeScalar(letter)))` cannot show \(Self.typeName(cell))")
    }

    private static func digits(_ cell: Cell, radix: Int, uppercase: Bool = false) -> String? {
        switch cell.tag {
        case .int: String(cell.asInt, radix: radix, uppercase: uppercase)
        case .uint: String(cell.bits, radix: radix, uppercase: uppercase)
        default: nil
        }
    }

    private static func double(_ cell: Cell) -> Double? {
        switch cell.tag {
        case .double: cell.asDouble
        case .int: Double(cell.asInt)
        case .uint: Double(cell.bits)
        default: nil
        }
    }

    /// The C library rounds the exact value, half to even.
    private static func fixed(_ number: Double, _ decimals: Int, isScientific: Bool) -> String {
        guard number.isFinite else { return DoubleText.text(number) }
        // 309 digits, a sign, a point, decimals.
        var buffer = [CChar](repeating: 0, count: 330 + decimals)
        let length = withVaList([Int32(decimals), number]) { arguments in
            vsnprintf(&buffer, buffer.count, isScientific ? "%.*e" : "%.*f", arguments)
        }
        return String(
            decoding: buffer.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Bytes as text, with one U+FFFD for each run of what is not UTF-8.
    private static func repaired(_ cell: Cell) -> String {
        let bytes = Array(cell.bytes)
        var text = ""
        var start = 0
        while let fault = UTF8Check.firstFault(bytes, from: start) {
            let continuesRun = fault == start && start > 0
            text += String(decoding: bytes[start..<fault], as: UTF8.self)
            if !continuesRun { text += "\u{FFFD}" }
            start = fault + 1
        }
        return text + String(decoding: bytes[start...], as: UTF8.self)
    }

    private mutating func shown(_ cell: Cell) throws(Fault) -> String {
        charge(cells: 1)
        if isTooCostly { throw Self.tooLong }
        switch cell.tag {
        case .string, .type:
            charge(bytes: cell.count)
            return cell.text
        case .bytes:
            charge(bytes: cell.count)
            return Self.repaired(cell)
        case .null: return "null"
        case .bool: return cell.asBool ? "true" : "false"
        case .int: return String(cell.asInt)
        case .uint: return String(cell.bits)
        case .double: return DoubleText.text(cell.asDouble, isPlain: true)
        case .timestamp: return Self.text(cell.asTimestamp)
        case .duration: return DurationSyntax.text(cell.asInt)
        case .ip, .cidr: return NetworkText.text(cell)
        case .list:
            var parts: [String] = []
            for element in cell.cells { parts.append(try shown(element)) }
            return try paid("[" + parts.joined(separator: ", ") + "]")
        case .map:
            var parts: [(key: String, value: String)] = []
            let pairs = cell.cells
            for index in 0..<cell.count {
                parts.append((try shown(pairs[2 * index]), try shown(pairs[2 * index + 1])))
            }
            parts.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            return try paid(
                "{" + parts.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}")
        default: throw Fault(message: "`%s` cannot show \(Self.typeName(cell))")
        }
    }
}
