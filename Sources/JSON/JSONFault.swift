/// A careful second reading of a refused text, to find what is wrong and where.
///
/// It runs on refused texts only, so it is written for clarity, not for speed.
struct JSONFault {
    private let bytes: UnsafeRawBufferPointer
    private let maximumDepth: Int
    private var offset = 0
    private var path: [String] = []

    /// The first fault of a text that simdjson, or the check for duplicate names, refused.
    static func find(in bytes: UnsafeRawBufferPointer, depth: Int) -> JSONError {
        if let offset = firstInvalidUTF8(in: bytes) {
            return JSONError(
                code: .invalidUTF8, pointer: "", offset: offset,
                message: "byte \(offset) is not valid UTF-8")
        }
        var reader = JSONFault(bytes: bytes, maximumDepth: depth)
        do {
            try reader.document()
        } catch {
            return error
        }
        // Reached only if this reading is more lenient than simdjson's.
        return JSONError(code: .syntax, pointer: "", offset: 0, message: "not valid JSON")
    }

    private init(bytes: UnsafeRawBufferPointer, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    private static func firstInvalidUTF8(in bytes: UnsafeRawBufferPointer) -> Int? {
        var decoder = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var offset = 0
        while true {
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .emptyInput: return nil
            case .error: return offset
            }
        }
    }

    // MARK: The grammar

    private mutating func document() throws(JSONError) {
        try value(depth: 0)
        skipSpace()
        if offset < bytes.count {
            throw fault("text after the end of the document")
        }
    }

    private mutating func value(depth: Int) throws(JSONError) {
        skipSpace()
        guard let byte = peek else { throw fault("the text ends where a value should be") }
        switch byte {
        case UInt8(ascii: "{"): try object(depth: depth)
        case UInt8(ascii: "["): try array(depth: depth)
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: throw fault("a value should be here, not \(quoted(byte))")
        }
    }

    private mutating func object(depth: Int) throws(JSONError) {
        try enter(depth)
        offset += 1
        var seen = Set<ExactText>()
        skipSpace()
        if take("}") { return }
        repeat {
            skipSpace()
            let start = offset
            guard peek == UInt8(ascii: "\"") else {
                throw fault("a member's name in double quotes should be here")
            }
            let key = try string()
            path.append(key)
            if !seen.insert(ExactText(key)).inserted {
                throw fault(.duplicateKey, "the name \"\(key)\" stands twice", at: start)
            }
            skipSpace()
            guard take(":") else { throw fault("a colon should be here") }
            try value(depth: depth + 1)
            path.removeLast()
            skipSpace()
        } while take(",")
        guard take("}") else { throw fault("a comma or } should be here") }
    }

    private mutating func array(depth: Int) throws(JSONError) {
        try enter(depth)
        offset += 1
        skipSpace()
        if take("]") { return }
        var index = 0
        repeat {
            path.append(String(index))
            try value(depth: depth + 1)
            path.removeLast()
            index += 1
            skipSpace()
        } while take(",")
        guard take("]") else { throw fault("a comma or ] should be here") }
    }

    private mutating func string() throws(JSONError) -> String {
        let start = offset
        offset += 1
        var content: [UInt8] = []
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                offset += 1
                try escape(into: &content)
            case 0..<0x20: throw fault("a control character in a string must be escaped")
            default:
                content.append(byte)
                offset += 1
            }
        }
        throw fault(.syntax, "this string has no end", at: start)
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
        guard let byte = peek else { throw fault("this string has no end") }
        let simple: [UInt8: UInt8] = [
            UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F,
            UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10,
            UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
        ]
        if let plain = simple[byte] {
            content.append(plain)
            offset += 1
        } else if byte == UInt8(ascii: "u") {
            var unit = try codeUnit()
            if (0xD800..<0xDC00).contains(unit) {
                guard take("\\"), peek == UInt8(ascii: "u") else {
                    throw fault("half of a surrogate pair")
                }
                let low = try codeUnit()
                guard (0xDC00..<0xE000).contains(low) else {
                    throw fault("half of a surrogate pair")
                }
                unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(unit) else { throw fault("half of a surrogate pair") }
            content.append(contentsOf: String(Character(scalar)).utf8)
        } else {
            throw fault("\\\(quoted(byte)) is no escape")
        }
    }

    /// Four hexadecimal digits after the `u` at the offset.
    private mutating func codeUnit() throws(JSONError) -> UInt32 {
        offset += 1
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("\\u wants four hexadecimal digits")
            }
            unit = unit << 4 + UInt32(digit)
            offset += 1
        }
        return unit
    }

    private mutating func number() throws(JSONError) {
        let start = offset
        _ = take("-")
        if take("0") {
            if let byte = peek, isDigit(byte) { throw fault("a number has no leading zeros") }
        } else {
            try digits()
        }
        var isInteger = true
        if take(".") {
            isInteger = false
            try digits()
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        let fits =
            isInteger
            ? Int64(text) != nil || UInt64(text) != nil : Double(text)?.isFinite ?? false
        if !fits {
            let shown = text.count > 40 ? text.prefix(40) + "…" : Substring(text)
            throw fault(
                .numberOutOfRange,
                "\(shown) does not fit; integers have 64 bits, other numbers are doubles", at: start
            )
        }
    }

    private mutating func digits() throws(JSONError) {
        guard let byte = peek, isDigit(byte) else { throw fault("a digit should be here") }
        while let byte = peek, isDigit(byte) { offset += 1 }
    }

    private mutating func word(_ word: StaticString) throws(JSONError) {
        let end = min(offset + word.utf8CodeUnitCount, bytes.count)
        let isIt = word.withUTF8Buffer { bytes[offset..<end].elementsEqual($0) }
        guard isIt else { throw fault("a value should be here; did you mean \(word)?") }
        offset = end
    }

    // MARK: Small things

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            offset += 1
        }
    }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private func quoted(_ byte: UInt8) -> String {
        byte < 0x80 ? "`\(Character(Unicode.Scalar(byte)))`" : "this character"
    }

    private func enter(_ depth: Int) throws(JSONError) {
        if depth >= maximumDepth {
            throw fault(.tooDeep, "more than \(maximumDepth) levels", at: offset)
        }
    }

    private func fault(_ message: String) -> JSONError { fault(.syntax, message, at: offset) }

    private func fault(_ code: JSONError.Code, _ message: String, at offset: Int) -> JSONError {
        JSONError(
            code: code, pointer: JSONPointer.text(path), offset: offset,
            message: "\(message) (byte \(offset))")
    }
}

/// The text of a JSON pointer (RFC 6901).
public enum JSONPointer {
    /// `["a", "0", "b/c"]` → `/a/0/b~1c`.
    public static func text(_ path: [String]) -> String {
        path.map { "/" + escape($0) }.joined()
    }

    /// One reference token, escaped: `~` is `~0`, `/` is `~1`.
    public static func escape(_ token: String) -> String {
        var result = ""
        for scalar in token.unicodeScalars {
            switch scalar {
            case "~": result += "~0"
            case "/": result += "~1"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
