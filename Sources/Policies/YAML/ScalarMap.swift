/// Where each character of a scalar's value stands in the file, so that a fault inside an embedded
/// expression is shown at its true place.
///
/// Block scalars (`|` and `>`) give their raw lines, indentation and breaks included: an expression
/// does not care, the map is exact, and a triple-quoted string keeps its line breaks even in a
/// folded scalar. That is also what other CEL policy tools do.
package struct ScalarMap: Sendable {
    /// The text to compile.
    package let text: String
    /// For each scalar of `text`, and one past the end, the scalar index in the file.
    private let origins: [Int]
    private let source: SourceText
    /// Where findings about the value as a whole are reported: behind the opening quote; of a
    /// block scalar the start of its first line.
    package let place: SourcePosition

    package init(_ scalar: YAMLScalar, range: SourceRange, source: SourceText) {
        self.source = source
        let start = source.index(of: range.start)
        let end = max(start, source.index(of: range.end))
        var decoder = Decoder(raw: source.scalars, start: start, end: end)
        switch scalar.style {
        case .literal, .folded: decoder.block()
        case .plain: decoder.plain()
        case .singleQuoted: decoder.singleQuoted()
        case .doubleQuoted: decoder.doubleQuoted()
        }
        let isBlock = scalar.style == .literal || scalar.style == .folded
        if isBlock || decoder.text == scalar.text {
            text = decoder.text
            origins = decoder.origins + [decoder.position]
        } else {
            // The library reads it otherwise than this file does: its word counts, places are lost.
            text = scalar.text
            origins = Array(repeating: start, count: scalar.text.unicodeScalars.count + 1)
        }
        let first = source.position(at: origins[0])
        place = isBlock ? SourcePosition(line: range.start.line + 1, column: 1) : first
    }

    /// The place of a UTF-8 offset into `text`.
    package func position(utf8 offset: Int) -> SourcePosition {
        position(atScalar: scalars(before: offset))
    }

    /// The place of a scalar offset into `text`.
    package func position(atScalar offset: Int) -> SourcePosition {
        source.position(at: origins[min(max(offset, 0), origins.count - 1)])
    }

    /// The places of a range of UTF-8 offsets into `text`.
    package func range(utf8 offsets: Range<Int>) -> SourceRange {
        let start = scalars(before: offsets.lowerBound)
        return range(start..<max(start, scalars(before: offsets.upperBound)))
    }

    private func scalars(before offset: Int) -> Int {
        text.utf8.prefix(max(offset, 0)).reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    }

    /// The places of a range of scalar offsets into `text`.
    package func range(_ offsets: Range<Int>) -> SourceRange {
        let start = position(atScalar: offsets.lowerBound)
        guard offsets.upperBound > offsets.lowerBound else {
            return SourceRange(start: start, end: start)
        }
        // The end is one past the last character, not where the next one happens to stand.
        let last = min(max(offsets.upperBound - 1, 0), origins.count - 1)
        return SourceRange(start: start, end: source.position(at: origins[last] + 1))
    }
}

/// Reads a scalar's raw text again, noting where each character comes from.
private struct Decoder {
    let raw: [Unicode.Scalar]
    let end: Int
    var position: Int
    var output = String.UnicodeScalarView()
    var origins: [Int] = []
    var text: String { String(output) }

    init(raw: [Unicode.Scalar], start: Int, end: Int) {
        self.raw = raw
        self.end = end
        position = start
    }

    private var current: Unicode.Scalar? { position < end ? raw[position] : nil }

    private mutating func emit(_ scalar: Unicode.Scalar, from origin: Int) {
        output.append(scalar)
        origins.append(origin)
    }

    private func isBlank(_ scalar: Unicode.Scalar?) -> Bool { scalar == " " || scalar == "\t" }

    private func isBreak(_ scalar: Unicode.Scalar?) -> Bool { scalar == "\n" || scalar == "\r" }

    mutating func block() {
        while let scalar = current, !isBreak(scalar) { position += 1 }
        while let scalar = current, isBreak(scalar) {
            position += 1
            if scalar == "\n" { break }
        }
        while let scalar = current, isBreak(scalar) || isBlank(scalar) { position += 1 }
        var last = end
        while last > position, isBreak(raw[last - 1]) || isBlank(raw[last - 1]) { last -= 1 }
        while position < last {
            emit(raw[position], from: position)
            position += 1
        }
    }

    mutating func plain() {
        while let scalar = current {
            if isBreak(scalar) {
                fold()
            } else {
                emit(scalar, from: position)
                position += 1
            }
        }
    }

    mutating func singleQuoted() {
        position += 1
        while let scalar = current {
            if isBreak(scalar) {
                fold()
                continue
            }
            emit(scalar, from: position)
            if scalar == "'" {
                guard position + 1 < end, raw[position + 1] == "'" else {
                    output.removeLast()
                    origins.removeLast()
                    return
                }
                position += 1
            }
            position += 1
        }
    }

    mutating func doubleQuoted() {
        position += 1
        while let scalar = current {
            if isBreak(scalar) {
                fold()
            } else if scalar == "\\" {
                escape()
            } else if scalar == "\"" {
                return
            } else {
                emit(scalar, from: position)
                position += 1
            }
        }
    }

    /// One line break is a space, each further one a line feed; blanks around them vanish.
    private mutating func fold() {
        while isBlank(output.last) {
            output.removeLast()
            origins.removeLast()
        }
        let origin = position
        var breaks = 0
        while let scalar = current, isBreak(scalar) || isBlank(scalar) {
            if scalar == "\n" { breaks += 1 }
            position += 1
        }
        if breaks == 1 {
            emit(" ", from: origin)
        } else {
            for _ in 1..<max(breaks, 1) { emit("\n", from: origin) }
        }
    }

    private mutating func escape() {
        let origin = position
        position += 1
        guard let scalar = current else { return }
        position += 1
        switch scalar {
        case "\r", "\n":
            // An escaped break joins the lines.
            if scalar == "\r", current == "\n" { position += 1 }
            while isBlank(current) { position += 1 }
        case "x": codePoint(digits: 2, origin)
        case "u": codePoint(digits: 4, origin)
        case "U": codePoint(digits: 8, origin)
        default: emit(Self.escapes[scalar] ?? scalar, from: origin)
        }
    }

    private mutating func codePoint(digits: Int, _ origin: Int) {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = hex(current) else { return }
            value = value << 4 | digit
            position += 1
        }
        if let scalar = Unicode.Scalar(value) { emit(scalar, from: origin) }
    }

    private func hex(_ scalar: Unicode.Scalar?) -> UInt32? {
        scalar.flatMap { Character($0).hexDigitValue }.map(UInt32.init)
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "0": "\0", "a": "\u{7}", "b": "\u{8}", "t": "\t", "\t": "\t", "n": "\n", "v": "\u{B}",
        "f": "\u{C}", "r": "\r", "e": "\u{1B}", "N": "\u{85}", "_": "\u{A0}", "L": "\u{2028}",
        "P": "\u{2029}",
    ]
}
