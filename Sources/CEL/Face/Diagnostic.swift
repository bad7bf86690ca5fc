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
    /// A stable code such as `cel.undeclared`.
    public var code: String
    /// What is wrong: lower case, no full stop, user text in backticks.
    public var message: String
    /// What to do about it, where that is known.
    public var help: String?

    /// A diagnostic.
    public init(
        _ severity: Severity = .error, range: Range<Int>, code: String, message: String,
        help: String? = nil
    ) {
        self.severity = severity
        self.range = range
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

    /// Longer lines are cut on both sides of the place that is shown.
    static let longestLine = 160

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

    /// `name:line:column: error: message [code]`, the line, a caret below, the help.
    public func render(_ diagnostic: Diagnostic) -> String {
        let (number, column) = position(of: diagnostic.range.lowerBound)
        var text = "\(name):\(number):\(column): \(diagnostic.severity.rawValue): "
        text += "\(diagnostic.message) [\(diagnostic.code)]\n"
        // A control character or a tab would move the caret away from its place.
        var scalars = line(number).unicodeScalars.map {
            $0.value < 32 || $0.value == 127 ? " " : $0
        }
        let rest = scalars.count - (column - 1)
        let end = position(of: diagnostic.range.upperBound)
        let wanted = end.line == number ? end.column - column : rest
        var width = max(1, min(wanted, max(rest, 1)))
        var indent = column - 1
        if scalars.count > Self.longestLine {
            let from = max(0, min(indent - 40, scalars.count - Self.longestLine))
            scalars = Array(scalars[from..<min(scalars.count, from + Self.longestLine)])
            indent -= from
            width = max(1, min(width, scalars.count - indent))
        }
        var shown = String.UnicodeScalarView()
        shown.append(contentsOf: scalars)
        text += "  \(String(shown))\n  "
        text += String(repeating: " ", count: indent) + String(repeating: "^", count: width) + "\n"
        if let help = diagnostic.help { text += "  help: \(help)\n" }
        return text
    }

    private static func codePoints(_ slice: ArraySlice<UInt8>) -> Int {
        slice.reduce(into: 0) { count, byte in
            if byte & 0xC0 != 0x80 { count += 1 }
        }
    }
}
