import Time

extension Machine {
    /// `bool(x)`, `int(x)` and so on.
    mutating func convert(_ builtin: Builtin, _ a: Arguments) -> Cell {
        let cell = a[0]
        switch (builtin, cell.tag) {
        case (.toBool, .bool), (.toInt, .int), (.toUint, .uint), (.toDouble, .double),
            (.toString, .string), (.toBytes, .bytes), (.toTimestamp, .timestamp),
            (.toDuration, .duration):
            return cell
        case (.toBool, .string): return toBool(cell)
        case (.toInt, _): return toInt(cell) ?? noOverload(builtin, a)
        case (.toUint, _): return toUint(cell) ?? noOverload(builtin, a)
        case (.toDouble, .int): return .double(Double(cell.asInt))
        case (.toDouble, .uint): return .double(Double(cell.bits))
        case (.toDouble, .string):
            guard let number = Self.number(cell.text) else { return refused(cell, "double") }
            return .double(number)
        case (.toString, _): return toString(cell) ?? noOverload(builtin, a)
        case (.toBytes, .string):
            var bytes = cell
            bytes.tag = .bytes
            return bytes
        case (.toTimestamp, .string):
            guard let (seconds, nanoseconds) = RFC3339.parse(Array(cell.bytes)),
                let timestamp = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
            else { return refused(cell, "timestamp") }
            return .timestamp(timestamp)
        case (.toTimestamp, .int):
            guard let timestamp = Timestamp(seconds: cell.asInt) else {
                return error(.overflow, "timestamp out of range")
            }
            return .timestamp(timestamp)
        case (.toDuration, .string):
            guard let span = DurationSyntax.parse(cell.bytes) else {
                return refused(cell, "duration")
            }
            return .duration(span)
        default: return noOverload(builtin, a)
        }
    }

    private mutating func refused(_ cell: Cell, _ kind: String) -> Cell {
        error(.invalidArgument, "\(Self.shown(cell)) is no \(kind)")
    }

    private mutating func toBool(_ cell: Cell) -> Cell {
        switch cell.text {
        case "1", "t", "T", "true", "TRUE", "True": .bool(true)
        case "0", "f", "F", "false", "FALSE", "False": .bool(false)
        default: refused(cell, "bool")
        }
    }

    private mutating func toInt(_ cell: Cell) -> Cell? {
        switch cell.tag {
        case .uint:
            return Int64(exactly: cell.bits).map { .int($0) } ?? error(.overflow, "int overflow")
        case .double:
            let number = cell.asDouble
            // The ends of the range are excluded: a double there stands for numbers beyond it too.
            guard number > -0x1p63, number < 0x1p63 else { return error(.overflow, "int overflow") }
            return .int(Int64(number))
        case .string:
            return Int64(cell.text).map { .int($0) } ?? refused(cell, "int")
        case .timestamp: return .int(cell.asInt)
        case .duration: return .int(cell.asInt)
        default: return nil
        }
    }

    private mutating func toUint(_ cell: Cell) -> Cell? {
        switch cell.tag {
        case .int:
            return UInt64(exactly: cell.asInt).map { .uint($0) }
                ?? error(.overflow, "uint overflow")
        case .double:
            let number = cell.asDouble
            guard number >= 0, number < 0x1p64 else { return error(.overflow, "uint overflow") }
            return .uint(UInt64(number.rounded(.towardZero)))
        case .string: return UInt64(cell.text).map { .uint($0) } ?? refused(cell, "uint")
        default: return nil
        }
    }

    /// Swift reads hexadecimal floats and its own names; CEL reads decimal numbers and Go's names.
    static func number(_ text: String) -> Double? {
        let unsigned = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
        switch unsigned.lowercased() {
        case "nan": return .nan
        case "inf", "infinity": return text.hasPrefix("-") ? -.infinity : .infinity
        default: break
        }
        guard let first = unsigned.utf8.first, Lexer.isDigit(first) || first == UInt8(ascii: "."),
            !unsigned.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }),
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }

    private mutating func toString(_ cell: Cell) -> Cell? {
        switch cell.tag {
        case .bool: return cell.asBool ? .string("true") : .string("false")
        case .int: return makeString(String(cell.asInt))
        case .uint: return makeString(String(cell.bits))
        case .double: return makeString(DoubleText.text(cell.asDouble))
        case .bytes:
            charge(bytes: cell.count)
            guard UTF8Check.isValid(cell.bytes) else {
                return error(.invalidArgument, "the bytes are not valid UTF-8")
            }
            var text = cell
            text.tag = .string
            return text
        case .timestamp: return makeString(Self.text(cell.asTimestamp))
        case .duration: return makeString(DurationSyntax.text(cell.asInt))
        case .ip, .cidr: return makeString(NetworkText.text(cell))
        default: return nil
        }
    }

    static func text(_ timestamp: Timestamp) -> String {
        var bytes: [UInt8] = []
        RFC3339.append(
            seconds: timestamp.seconds, nanoseconds: timestamp.nanoseconds, fraction: .shortest,
            to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The text of doubles as CEL writes it: shortest that reads back the same, `1e+21` from there on.
enum DoubleText {
    /// With `isPlain` there is never an exponent, as `format` wants it.
    static func text(_ number: Double, isPlain: Bool = false) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        if number == 0 { return number.sign == .minus ? "-0" : "0" }
        // Swift's description is the shortest that round-trips; only its notation differs.
        let description = number.magnitude.description
        var exponent = 0
        var mantissa = description[...]
        if let mark = description.firstIndex(of: "e") {
            mantissa = description[..<mark]
            exponent = Int(description[description.index(after: mark)...]) ?? 0
        }
        let point = mantissa.firstIndex(of: ".") ?? mantissa.endIndex
        var whole = mantissa[..<point]
        let fraction = point < mantissa.endIndex ? mantissa[mantissa.index(after: point)...] : ""
        var digits = String(whole) + fraction
        var scale = exponent + whole.count
        let leading = digits.prefix { $0 == "0" }.count
        digits.removeFirst(min(leading, digits.count - 1))
        scale -= leading
        while digits.count > 1, digits.last == "0" { digits.removeLast() }
        whole = ""
        let sign = number < 0 ? "-" : ""
        return sign + (isPlain ? plain(digits, scale) : layout(digits, scale))
    }

    /// `digits` with the point after the first `scale` of them.
    private static func layout(_ digits: String, _ scale: Int) -> String {
        if scale > 21 || scale < -3 {
            let power = scale - 1
            let rest = digits.dropFirst()
            let tail = rest.isEmpty ? "" : "." + rest
            let magnitude = abs(power)
            return digits.prefix(1) + tail + "e" + (power < 0 ? "-" : "+")
                + (magnitude < 10 ? "0" : "") + String(magnitude)
        }
        return plain(digits, scale)
    }

    private static func plain(_ digits: String, _ scale: Int) -> String {
        if scale <= 0 { return "0." + String(repeating: "0", count: -scale) + digits }
        if digits.count <= scale {
            return digits + String(repeating: "0", count: scale - digits.count)
        }
        return digits.prefix(scale) + "." + digits.dropFirst(scale)
    }
}

/// Durations as CEL writes them: `1h30m`, `-1.5s`, `100ms`, `5us`, `7ns`.
enum DurationSyntax {
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("ns", 1), ("us", 1_000), ("µs", 1_000), ("μs", 1_000), ("ms", 1_000_000),
        ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
    ]

    /// Nanoseconds; nil where the text is no duration or beyond ±292 years.
    static func parse(_ text: UnsafeRawBufferPointer) -> Int64? {
        var rest = text[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        if rest.count == 1, rest.first == UInt8(ascii: "0") { return 0 }
        guard !rest.isEmpty else { return nil }
        // Summed up below zero, where the range is larger by one.
        var total: Int64 = 0
        while !rest.isEmpty {
            guard let part = part(&rest) else { return nil }
            let sum = total.addingReportingOverflow(part)
            if sum.overflow { return nil }
            total = sum.partialValue
        }
        if isNegative { return total }
        return total == .min ? nil : -total
    }

    /// A count with its unit, below zero.
    private static func part(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int64? {
        let whole = rest.prefix(while: Lexer.isDigit)
        rest = rest.dropFirst(whole.count)
        var fraction = rest.prefix(0)
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = rest.prefix(while: Lexer.isDigit)
            rest = rest.dropFirst(fraction.count)
        }
        guard !whole.isEmpty || !fraction.isEmpty,
            let unit = units.first(where: { rest.starts(with: $0.name.utf8) })
        else { return nil }
        rest = rest.dropFirst(unit.name.utf8.count)
        guard let count = whole.isEmpty ? 0 : Int64(String(decoding: whole, as: UTF8.self)) else {
            return nil
        }
        let scaled = (-count).multipliedReportingOverflow(by: unit.nanoseconds)
        if scaled.overflow { return nil }
        // Exact in whole numbers: each digit is worth a tenth of the one before.
        var value: Int64 = 0
        var worth = unit.nanoseconds
        for digit in fraction {
            worth /= 10
            value += Int64(digit - UInt8(ascii: "0")) * worth
        }
        let sum = scaled.partialValue.subtractingReportingOverflow(value)
        return sum.overflow ? nil : sum.partialValue
    }

    /// Seconds with as many decimals as needed: `5400s`, `-1.5s`.
    static func text(_ nanoseconds: Int64) -> String {
        let magnitude = nanoseconds.magnitude
        var text = (nanoseconds < 0 ? "-" : "") + String(magnitude / 1_000_000_000)
        let rest = magnitude % 1_000_000_000
        if rest > 0 {
            var decimals = String(rest + 1_000_000_000).dropFirst()
            while decimals.last == "0" { decimals.removeLast() }
            text += "." + decimals
        }
        return text + "s"
    }
}
