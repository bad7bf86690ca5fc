import Glibc

/// `"%s is %.2f".format([name, number])`.
extension Machine {
    private struct Fault: Error {
        var message: String
        var code = EvaluationError.Code.invalidArgument
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
                try clause(pattern, index, decimals, values[next], into: &result)
                index += 1
                next += 1
            }
        } catch {
            return self.error(error.code, error.message)
        }
        return makeString(result)
    }

    private static let tooLong = Fault(message: "the result is too long", code: .sizeLimit)

    /// Takes a piece of text in. It is paid for, and what is too long ends here: the text under way
    /// never takes more memory than a string may.
    private mutating func put(_ piece: some Collection<UInt8>, into result: inout [UInt8])
        throws(Fault)
    {
        charge(bytes: piece.count + 16)
        guard result.count + piece.count <= limits.stringBytes, !isTooCostly else {
            throw Self.tooLong
        }
        result += piece
    }

    /// A text that was made of one number, span of time or address: making it costs more than
    /// copying it.
    private mutating func put(made text: String, into result: inout [UInt8]) throws(Fault) {
        charge(cells: Self.makingCost)
        try put(text.utf8, into: &result)
    }

    private static let makingCost = 4

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

    /// Shows a value as the clause with its letter at `place` of the pattern wants it.
    private mutating func clause(
        _ pattern: UnsafeRawBufferPointer, _ place: Int, _ decimals: Int?, _ cell: Cell,
        into result: inout [UInt8]
    ) throws(Fault) {
        let letter = pattern[place]
        var text: String?
        switch letter {
        case UInt8(ascii: "s"): return try show(cell, into: &result)
        case UInt8(ascii: "d"):
            switch cell.tag {
            case .int: text = String(cell.asInt)
            case .uint: text = String(cell.bits)
            case .double: text = DoubleText.text(cell.asDouble, isPlain: true)
            default: break
            }
        case UInt8(ascii: "f"), UInt8(ascii: "e"):
            let isScientific = letter == UInt8(ascii: "e")
            // Each decimal is worked out.
            charge(cells: decimals ?? 6)
            text = Self.double(cell).map { Self.fixed($0, decimals ?? 6, isScientific) }
        case UInt8(ascii: "b"):
            text =
                cell.tag == .bool ? cell.asBool ? "1" : "0" : Self.digits(cell, radix: 2)
        case UInt8(ascii: "o"): text = Self.digits(cell, radix: 8)
        case UInt8(ascii: "x"), UInt8(ascii: "X"):
            let isUpper = letter == UInt8(ascii: "X")
            if cell.tag == .string || cell.tag == .bytes {
                return try hexadecimal(cell, isUpper, into: &result)
            }
            text = Self.digits(cell, radix: 16, uppercase: isUpper)
        default:
            throw Fault(message: "`%\(Self.character(pattern, place))` is no clause of `format`")
        }
        guard let text else {
            throw Fault(
                message: "`%\(Self.character(pattern, place))` cannot show \(Self.typeName(cell))")
        }
        try put(made: text, into: &result)
    }

    /// The code point at a place of the pattern, for messages.
    private static func character(_ pattern: UnsafeRawBufferPointer, _ place: Int) -> String {
        let width = CodePoints.width(at: place, in: pattern)
        return String(decoding: pattern[place..<place + width], as: UTF8.self)
    }

    private mutating func hexadecimal(_ cell: Cell, _ isUpper: Bool, into result: inout [UInt8])
        throws(Fault)
    {
        charge(bytes: 2 * cell.count + 16)
        guard result.count + 2 * cell.count <= limits.stringBytes, !isTooCostly else {
            throw Self.tooLong
        }
        let digits = Array((isUpper ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        for byte in cell.bytes {
            result.append(digits[Int(byte >> 4)])
            result.append(digits[Int(byte & 15)])
        }
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
    private static func fixed(_ number: Double, _ decimals: Int, _ isScientific: Bool) -> String {
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
    private static func repaired(_ cell: Cell) -> [UInt8] {
        let bytes = Array(cell.bytes)
        var text: [UInt8] = []
        var start = 0
        while let fault = UTF8Check.firstFault(bytes, from: start) {
            let continuesRun = fault == start && start > 0
            text += bytes[start..<fault]
            if !continuesRun { text += "\u{FFFD}".utf8 }
            start = fault + 1
        }
        return text + bytes[start...]
    }

    /// Writes a value as `%s` shows it.
    private mutating func show(_ cell: Cell, into result: inout [UInt8]) throws(Fault) {
        switch cell.tag {
        case .string, .type: try put(cell.bytes, into: &result)
        case .bytes:
            // Each byte may be a fault of its own.
            charge(bytes: 4 * cell.count)
            if isTooCostly { throw Self.tooLong }
            try put(Self.repaired(cell), into: &result)
        case .null: try put("null".utf8, into: &result)
        case .bool: try put((cell.asBool ? "true" : "false").utf8, into: &result)
        case .int: try put(made: String(cell.asInt), into: &result)
        case .uint: try put(made: String(cell.bits), into: &result)
        case .double: try put(made: DoubleText.text(cell.asDouble, isPlain: true), into: &result)
        case .timestamp: try put(made: Self.text(cell.asTimestamp), into: &result)
        case .duration: try put(made: DurationSyntax.text(cell.asInt), into: &result)
        case .ip, .cidr: try put(made: NetworkText.text(cell), into: &result)
        case .list:
            try put("[".utf8, into: &result)
            for (index, element) in cell.cells.enumerated() {
                if index > 0 { result += ", ".utf8 }
                try show(element, into: &result)
            }
            try put("]".utf8, into: &result)
        case .map: try show(map: cell, into: &result)
        default: throw Fault(message: "`%s` cannot show \(Self.typeName(cell))")
        }
    }

    /// The entries in the order of their keys' texts: each is written, then they are put in order.
    private mutating func show(map: Cell, into result: inout [UInt8]) throws(Fault) {
        try put("{".utf8, into: &result)
        let pairs = map.cells
        let start = result.count
        var entries: [(start: Int, keyEnd: Int, end: Int)] = []
        for index in 0..<map.count {
            let entry = result.count
            try show(pairs[2 * index], into: &result)
            let keyEnd = result.count
            result += ": ".utf8
            try show(pairs[2 * index + 1], into: &result)
            entries.append((entry, keyEnd, result.count))
        }
        // Sorting reads the keys again and again, and everything is copied.
        let rounds = Int.bitWidth - map.count.leadingZeroBitCount
        charge(cells: map.count * rounds)
        charge(bytes: entries.reduce(result.count - start) { $0 + ($1.keyEnd - $1.start) * rounds })
        if isTooCostly { throw Self.tooLong }
        entries.sort {
            result[$0.start..<$0.keyEnd].lexicographicallyPrecedes(result[$1.start..<$1.keyEnd])
        }
        var ordered: [UInt8] = []
        for (index, entry) in entries.enumerated() {
            if index > 0 { ordered += ", ".utf8 }
            ordered += result[entry.start..<entry.end]
        }
        result.replaceSubrange(start..., with: ordered)
        try put("}".utf8, into: &result)
    }
}
