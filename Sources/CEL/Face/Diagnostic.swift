/// One thing that is wrong or doubtful in an expression, with its place.
public struct Diagnostic: Sendable, Equatable {
    /// How bad it is.
    public enum Severity: String, Sendable {
        /// The expression cannot be used.
        case error
        /// It can, but probably does not do what its author meant.
        case warning
    }

    /// How bad it is.
    public var severity: Severity
    /// The offending text: UTF-8 offsets into the source.
    public var range: Range<Int>
    /// The offset whose line and column are reported, as other implementations of CEL report it:
    /// an operator's sign rather than its operands. It need not lie in the range.
    public var place: Int
    /// A stable code such as `cel.undeclared`.
    public var code: String
    /// What is wrong: lower case, no full stop. Findings of the type check have CEL's usual words.
    public var message: String
    /// What to do about it, where that is known.
    public var help: String?

    /// A diagnostic. Without a `place` it is reported where its range begins.
    public init(
        _ severity: Severity = .error, range: Range<Int>, place: Int? = nil, code: String,
        message: String, help: String? = nil
    ) {
        self.severity = severity
        self.range = range
        self.place = place ?? range.lowerBound
        self.code = code
        self.message = message
        self.help = help
    }
}

/// A source text with its lines, to show where a diagnostic points.
public struct SourceText: Sendable {
    /// The text, as given.
    public let bytes: [UInt8]
    /// The name shown before the line number, such as a file name.
    public let name: String
    private let lineStarts: [Int]

    /// A source of this name.
    public init(_ bytes: [UInt8], name: String = "<input>") {
        self.bytes = bytes
        self.name = name
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            starts.append(offset + 1)
        }
        lineStarts = starts
    }

    /// Line and column of an offset, both from 1; the column counts code points.
    public func position(of offset: Int) -> (line: Int, column: Int) {
        let offset = min(max(0, offset), bytes.count)
        var low = 0
        var high = lineStarts.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle - 1 }
        }
        return (low + 1, Self.codePoints(bytes[lineStarts[low]..<offset]) + 1)
    }

    /// The text of a line, without its end; lines count from 1.
    public func line(_ number: Int) -> String {
        guard lineStarts.indices.contains(number - 1) else { return "" }
        let start = lineStarts[number - 1]
        var end = number < lineStarts.count ? lineStarts[number] - 1 : bytes.count
        if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// `name:line:column: error: message [code]`, the line, a caret below the place and the
    /// offending text underlined, the help. Of a line too long for `columns` a part is shown.
    public func render(_ diagnostic: Diagnostic, columns: Int = 100) -> String {
        let (number, column) = position(of: diagnostic.place)
        var text = "\(name):\(number):\(column): \(diagnostic.severity.rawValue): "
        text += "\(diagnostic.message) [\(diagnostic.code)]\n"
        let start = position(of: diagnostic.range.lowerBound)
        let end = position(of: diagnostic.range.upperBound)
        text +=
            SourceExcerpt(
                line: Array(line(number).unicodeScalars), place: column - 1,
                from: start.line == number ? start.column - 1 : start.line < number ? 0 : nil,
                to: end.line == number ? end.column - 1 : nil, columns: columns
            ).text
        if let help = diagnostic.help { text += "  help: \(help)\n" }
        return text
    }

    private static func codePoints(_ slice: ArraySlice<UInt8>) -> Int {
        slice.reduce(into: 0) { count, byte in
            if byte & 0xC0 != 0x80 { count += 1 }
        }
    }
}
