/// What an expression begins with: literals, names, brackets.
extension Parser {
    mutating func primary() -> AST.NodeID {
        let token = current
        let start = Int(token.start)
        switch token.kind {
        case .leftParen:
            position += 1
            let inner = expression()
            expect(.rightParen, ")", opened: token)
            return inner
        case .leftBracket:
            position += 1
            let (elements, optional) = arguments(
                until: .rightBracket, "]", opened: token, allowsOptional: true)
            return add(
                .list(elements: elements, optional: optional), start..<max(start, lastEnd))
        case .leftBrace:
            return map(from: token)
        case .dot:
            position += 1
            return name(prefix: ".", from: start)
        case .identifier:
            return name(prefix: "", from: start)
        case .minus, .int, .uint, .double, .string, .bytes, .true, .false, .null:
            return literal()
        default:
            unexpected("an expression")
            // A closing bracket or comma is for whoever opened; anything else is one token too many.
            switch token.kind {
            case .rightParen, .rightBracket, .rightBrace, .comma, .colon, .end: break
            default:
                position += 1
                if Self.beginsPrimary(current.kind) { return primary() }
            }
            return add(.invalid, token.range)
        }
    }

    private static func beginsPrimary(_ kind: Token.Kind) -> Bool {
        switch kind {
        case .leftParen, .leftBracket, .leftBrace, .identifier, .int, .uint, .double, .string,
            .bytes, .true, .false, .null:
            true
        default: false
        }
    }

    private mutating func name(prefix: String, from start: Int) -> AST.NodeID {
        let token = current
        guard token.kind == .identifier else {
            unexpected("a name")
            return add(.invalid, token.range)
        }
        position += 1
        let name = prefix + text(token)
        if current.kind == .leftParen {
            return invocation(name, at: token, target: nil, from: start)
        }
        return add(.identifier(name), start..<Int(token.end), at: token)
    }

    private mutating func map(from opening: Token) -> AST.NodeID {
        position += 1
        var parts: [AST.NodeID] = []
        var optional: [Int] = []
        while current.kind != .rightBrace, current.kind != .end, !gaveUp {
            if accept(.question) { optional.append(parts.count / 2) }
            let key = expression()
            if !accept(.colon) {
                unexpected("`:` after the key")
                recover()
            }
            let isMissing = [.comma, .rightBrace, .end].contains(current.kind)
            let value = isMissing ? add(.invalid, current.range) : expression()
            if isMissing, !gaveUp { unexpected("a value") }
            parts += [key, value]
            if current.kind != .comma, current.kind != .rightBrace, !gaveUp {
                unexpected("`,` or `}`")
                recover()
            }
            if !accept(.comma) { break }
        }
        expect(.rightBrace, "}", opened: opening)
        let start = Int(opening.start)
        return add(.map(keysAndValues: parts, optional: optional), start..<max(start, lastEnd))
    }

    /// The dotted name that an operand spells, if it does: `a.b.C` before `{`.
    func typeName(_ id: AST.NodeID) -> String? {
        var parts: [String] = []
        var next = id
        while true {
            switch ast[next].kind {
            case .identifier(let name):
                return ([name] + parts.reversed()).joined(separator: ".")
            case .select(let operand, let field, false):
                parts.append(field)
                next = operand
            default: return nil
            }
        }
    }

    mutating func structure(_ name: String, from start: Int) -> AST.NodeID {
        let opening = current
        position += 1
        var fields: [String] = []
        var values: [AST.NodeID] = []
        var optional: [Int] = []
        while current.kind != .rightBrace, current.kind != .end, !gaveUp {
            if accept(.question) { optional.append(fields.count) }
            let token = current
            switch token.kind {
            case .identifier, .reserved, .in: fields.append(text(token))
            case .quotedIdentifier: fields.append(String(text(token).dropFirst().dropLast()))
            default:
                unexpected("the name of a field")
                recover()
                if !accept(.comma) { break }
                continue
            }
            guard [.identifier, .reserved, .in, .quotedIdentifier].contains(token.kind) else {
                break
            }
            position += 1
            if !accept(.colon) {
                unexpected("`:` after the field")
                recover()
            }
            values.append(expression())
            if !accept(.comma) { break }
        }
        expect(.rightBrace, "}", opened: opening)
        return add(
            .structure(name: name, fields: fields, values: values, optional: optional),
            start..<max(start, lastEnd), at: opening)
    }

    private mutating func literal() -> AST.NodeID {
        let start = Int(current.start)
        let isNegative = accept(.minus)
        let token = current
        position += 1
        let range = start..<Int(token.end)
        let text = Substring(self.text(token))
        let value: Value?
        switch token.kind {
        case .true: value = .bool(true)
        case .false: value = .bool(false)
        case .null: value = .null
        case .int:
            value = Literals.magnitude(text).flatMap { magnitude in
                isNegative
                    ? (magnitude <= 1 << 63 ? .int(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil)
                    : Int64(exactly: magnitude).map { .int($0) }
            }
        case .uint: value = Literals.magnitude(text.dropLast()).map { .uint($0) }
        case .double:
            let number = Double(text) ?? .infinity
            value = number.isFinite ? .double(isNegative ? -number : number) : nil
        default: value = quoted(token)
        }
        guard let value else {
            if token.kind != .string, token.kind != .bytes {
                report(
                    range, "cel.syntax.number", "`\(text)` does not fit its type",
                    help: "an int has 64 bits with a sign, a uint 64 bits, a double up to 1.8e308")
            }
            return add(.invalid, range)
        }
        return add(.literal(value), range)
    }

    private mutating func quoted(_ token: Token) -> Value? {
        do throws(Literals.Fault) {
            let isBytes = token.kind == .bytes
            let bytes = try Literals.unquote(source, token.range, isBytes: isBytes)
            return isBytes ? .bytes(bytes) : .string(String(decoding: bytes, as: UTF8.self))
        } catch {
            report(error.range, "cel.syntax.escape", error.message)
            return nil
        }
    }
}
