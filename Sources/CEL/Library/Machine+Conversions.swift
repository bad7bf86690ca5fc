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
