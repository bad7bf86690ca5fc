/// A word of the source.
struct Token {
    enum Kind: UInt8 {
        case end, invalid
        case identifier, quotedIdentifier, reserved
        case int, uint, double, string, bytes
        case `true`, `false`, null, `in`
        case dot, comma, colon, question
        case leftParen, rightParen, leftBracket, rightBracket, leftBrace, rightBrace
        case plus, minus, star, slash, percent, not
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, and, or
    }

    var kind: Kind
    var start: Int32
    var end: Int32
    var range: Range<Int> { Int(start)..<Int(end) }
}

/// Bytes to tokens. Every input gives a list of tokens that ends with `.end`; what cannot be read
/// gives a diagnostic and an `.invalid` token.
struct Lexer {
    let source: [UInt8]
    private(set) var tokens: [Token] = []
    private(set) var diagnostics: [Diagnostic] = []
    private var index = 0
    /// More faults of one text are of no use to anybody.
    private static let mostDiagnostics = 1_000

    init(source: [UInt8]) { self.source = source }

    private static let reserved: Set<String> = [
        "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
        "loop", "package", "namespace", "return", "var", "void", "while",
    ]

    static func isIdentifierByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "_")
    }
    static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }

    private func peek(_ distance: Int = 0) -> UInt8 {
        index + distance < source.count ? source[index + distance] : 0
    }

    mutating func run() {
        tokens.reserveCapacity(source.count / 3 + 1)
        while true {
            skipBlanks()
            guard index < source.count else { break }
            let start = index
            let kind = next()
            tokens.append(Token(kind: kind, start: Int32(start), end: Int32(index)))
        }
        let end = Int32(source.count)
        tokens.append(Token(kind: .end, start: end, end: end))
    }

    private mutating func skipBlanks() {
        while index < source.count {
            switch source[index] {
            case 9, 10, 12, 13, 32: index += 1
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"):
                while index < source.count, source[index] != 10, source[index] != 13 { index += 1 }
            default: return
            }
        }
    }

    private mutating func next() -> Token.Kind {
        let byte = source[index]
        if Self.isLetter(byte) || byte == UInt8(ascii: "_") { return word() }
        if Self.isDigit(byte) || (byte == UInt8(ascii: ".") && Self.isDigit(peek(1))) {
            return number()
        }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return quoted(.string, isRaw: false)
        case UInt8(ascii: "`"): return backticks()
        default: return punctuation()
        }
    }

    private mutating func word() -> Token.Kind {
        // r"…", b'…', rb"…" and their kin begin like identifiers.
        var ahead = 0
        var isRaw = false
        var isBytes = false
        while ahead < 2 {
            switch peek(ahead) | 0x20 {
            case UInt8(ascii: "r") where !isRaw: isRaw = true
            case UInt8(ascii: "b") where !isBytes: isBytes = true
            default:
                ahead += 10
                continue
            }
            ahead += 1
            if peek(ahead) == UInt8(ascii: "\"") || peek(ahead) == UInt8(ascii: "'") {
                index += ahead
                return quoted(isBytes ? .bytes : .string, isRaw: isRaw)
            }
        }
        let start = index
        while index < source.count, Self.isIdentifierByte(source[index]) { index += 1 }
        switch String(decoding: source[start..<index], as: UTF8.self) {
        case "true": return .true
        case "false": return .false
        case "null": return .null
        case "in": return .in
        case let text: return Self.reserved.contains(text) ? .reserved : .identifier
        }
    }

    private mutating func digits(_ isOne: (UInt8) -> Bool = Lexer.isDigit) {
        while index < source.count, isOne(source[index]) { index += 1 }
    }

    private mutating func number() -> Token.Kind {
        let start = index
        var kind = Token.Kind.int
        if peek() == UInt8(ascii: "0"), peek(1) | 0x20 == UInt8(ascii: "x"),
            Self.isHexDigit(peek(2))
        {
            index += 2
            digits(Self.isHexDigit)
        } else {
            digits()
            if peek() == UInt8(ascii: "."), Self.isDigit(peek(1)) {
                kind = .double
                index += 1
                digits()
            }
            if peek() | 0x20 == UInt8(ascii: "e") {
                let sign = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-") ? 1 : 0
                if Self.isDigit(peek(1 + sign)) {
                    kind = .double
                    index += 1 + sign
                    digits()
                }
            }
        }
        if kind == .int, peek() | 0x20 == UInt8(ascii: "u") {
            kind = .uint
            index += 1
        }
        if Self.isIdentifierByte(peek()) {
            digits(Self.isIdentifierByte)
            let text = String(decoding: source[start..<index], as: UTF8.self)
            report(start..<index, "cel.syntax.number", "`\(text)` is not a number")
            return .invalid
        }
        return kind
    }

    /// Finds the end of a string; its content is read by `Literals`.
    private mutating func quoted(_ kind: Token.Kind, isRaw: Bool) -> Token.Kind {
        let start = index
        let quote = source[index]
        let isTriple = peek(1) == quote && peek(2) == quote
        index += isTriple ? 3 : 1
        while index < source.count {
            let byte = source[index]
            if byte == UInt8(ascii: "\\"), !isRaw {
                index += 2
                continue
            }
            if byte == quote, !isTriple || (peek(1) == quote && peek(2) == quote) {
                index += isTriple ? 3 : 1
                return kind
            }
            if !isTriple, byte == 10 || byte == 13 { break }
            index += 1
        }
        index = min(index, source.count)
        report(
            start..<index, "cel.syntax.string", "this string has no end",
            help: isTriple ? nil : "a string over several lines needs triple quotes")
        return .invalid
    }

    private mutating func backticks() -> Token.Kind {
        let start = index
        index += 1
        let isAllowed = { (byte: UInt8) in
            Self.isIdentifierByte(byte) || [46, 45, 47, 32].contains(byte)
        }
        digits(isAllowed)
        if peek() == UInt8(ascii: "`"), index > start + 1 {
            index += 1
            return .quotedIdentifier
        }
        report(
            start..<index, "cel.syntax.identifier", "this quoted name has no end",
            help: "letters, digits, `_`, `.`, `-`, `/` and spaces may stand between backticks")
        return .invalid
    }

    private mutating func punctuation() -> Token.Kind {
        let byte = source[index]
        let second = peek(1)
        index += 1
        func pair(_ expected: Character, _ kind: Token.Kind, _ single: Token.Kind) -> Token.Kind {
            second == expected.asciiValue ? kind : single
        }
        let kind: Token.Kind
        switch byte {
        case UInt8(ascii: "."): return .dot
        case UInt8(ascii: ","): return .comma
        case UInt8(ascii: ":"): return .colon
        case UInt8(ascii: "?"): return .question
        case UInt8(ascii: "("): return .leftParen
        case UInt8(ascii: ")"): return .rightParen
        case UInt8(ascii: "["): return .leftBracket
        case UInt8(ascii: "]"): return .rightBracket
        case UInt8(ascii: "{"): return .leftBrace
        case UInt8(ascii: "}"): return .rightBrace
        case UInt8(ascii: "+"): return .plus
        case UInt8(ascii: "-"): return .minus
        case UInt8(ascii: "*"): return .star
        case UInt8(ascii: "/"): return .slash
        case UInt8(ascii: "%"): return .percent
        case UInt8(ascii: "!"): kind = pair("=", .notEqual, .not)
        case UInt8(ascii: "<"): kind = pair("=", .lessOrEqual, .less)
        case UInt8(ascii: ">"): kind = pair("=", .greaterOrEqual, .greater)
        case UInt8(ascii: "="): kind = pair("=", .equal, .invalid)
        case UInt8(ascii: "&"): kind = pair("&", .and, .invalid)
        case UInt8(ascii: "|"): kind = pair("|", .or, .invalid)
        default: return unknown(byte)
        }
        switch kind {
        case .not, .less, .greater: break
        case .invalid:
            let sign = Character(UnicodeScalar(byte))
            report(
                index - 1..<index, "cel.syntax.character", "`\(sign)` is no operator",
                help: "write `\(sign)\(sign)`")
        default: index += 1
        }
        return kind
    }

    private mutating func unknown(_ byte: UInt8) -> Token.Kind {
        let start = index - 1
        while index < source.count, source[index] & 0xC0 == 0x80 { index += 1 }
        let text = String(decoding: source[start..<index], as: UTF8.self)
        let isPrintable = byte > 32 && byte != 127
        report(
            start..<index, "cel.syntax.character",
            isPrintable
                ? "`\(text)` has no meaning here"
                : "a control character (\(byte)) has no meaning here")
        return .invalid
    }

    private mutating func report(
        _ range: Range<Int>, _ code: String, _ message: String, help: String? = nil
    ) {
        guard diagnostics.count < Self.mostDiagnostics else { return }
        diagnostics.append(Diagnostic(range: range, code: code, message: message, help: help))
    }
}
