/// Writes a tree as source text again, with the brackets that its shape needs.
struct ExpressionWriter {
    let ast: AST
    /// Whether brackets that the author wrote around an operand stay, though they change nothing.
    var keepsParentheses = true
    /// Whether `'a'` becomes `"a"`, where the content is the same in both.
    var normalisesQuotes = true
    /// Other text for a node, such as another name for what it refers to.
    var replacement: (AST.NodeID) -> String? = { _ in nil }
    /// Stands between the operands of the outermost `&&`, `||` or `?:`.
    var outerBreak = " "

    /// How tightly the parts of the grammar bind, loosest first.
    private enum Level: Int, Comparable {
        case choice, or, and, relation, sum, product, unary, member
        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
        var next: Level { Level(rawValue: rawValue + 1) ?? .member }
    }

    private static let binary: [String: (sign: String, level: Level)] = [
        "_||_": ("||", .or), "_&&_": ("&&", .and),
        "_==_": ("==", .relation), "_!=_": ("!=", .relation), "_<_": ("<", .relation),
        "_<=_": ("<=", .relation), "_>_": (">", .relation), "_>=_": (">=", .relation),
        "@in": ("in", .relation), "_+_": ("+", .sum), "_-_": ("-", .sum),
        "_*_": ("*", .product), "_/_": ("/", .product), "_%_": ("%", .product),
    ]

    /// The text of a node; nil where the tree has a place that could not be parsed.
    func text(of id: AST.NodeID) -> String? { write(id, between: outerBreak) }

    private func level(_ id: AST.NodeID) -> Level {
        guard replacement(id) == nil, case .call(let name, nil, _) = ast[id].kind else {
            return .member
        }
        if name == "_?_:_" { return .choice }
        if name == "!_" || name == "-_" { return .unary }
        return Self.binary[name]?.level ?? .member
    }

    private func write(_ id: AST.NodeID, between gap: String = " ") -> String? {
        if let other = replacement(id) { return other }
        switch ast[id].kind {
        case .literal(let value): return literal(id, value)
        case .identifier(let name): return identifier(name)
        case .select(let operand, let field, let isOptional):
            return operandText(operand, .member).map {
                $0 + (isOptional ? ".?" : ".") + Self.field(field)
            }
        case .presence(let operand, let field):
            return operandText(operand, .member).map { "has(\($0).\(Self.field(field)))" }
        case .call(let name, let target, let arguments):
            return call(id, name, target, arguments, gap)
        case .list(let elements, let optional):
            return items(elements, optional).map { "[\($0)]" }
        case .map(let parts, let optional): return map(parts, optional)
        case .structure(let name, let fields, let values, let optional):
            var parts: [String] = []
            for (index, field) in fields.enumerated() {
                guard let value = write(values[index]) else { return nil }
                parts.append(
                    (optional.contains(index) ? "?" : "") + Self.field(field) + ": " + value)
            }
            return "\(name){\(parts.joined(separator: ", "))}"
        case .comprehension(let loop): return comprehension(id, loop)
        case .bind(let variable, let initial, let body):
            guard let initial = write(initial), let body = write(body) else { return nil }
            return "cel.bind(\(identifier(variable)), \(initial), \(body))"
        case .block(let bindings, let body):
            guard let bindings = items(bindings, []), let body = write(body) else { return nil }
            return "cel.block([\(bindings)], \(body))"
        case .invalid: return nil
        }
    }

    // MARK: Operators

    private func call(
        _ id: AST.NodeID, _ name: String, _ target: AST.NodeID?, _ arguments: [AST.NodeID],
        _ gap: String
    ) -> String? {
        if let target {
            guard let operand = operandText(target, .member), let rest = items(arguments, []) else {
                return nil
            }
            return "\(operand).\(name)(\(rest))"
        }
        switch (name, arguments.count) {
        case ("_?_:_", 3):
            guard let condition = operandText(arguments[0], .or, isAtEdge: true),
                let whenTrue = operandText(arguments[1], .or), let whenFalse = write(arguments[2])
            else { return nil }
            return "\(condition)\(gap)? \(whenTrue)\(gap): \(whenFalse)"
        case ("!_", 1), ("-_", 1):
            guard var operand = operandText(arguments[0], .unary) else { return nil }
            let sign = name == "!_" ? "!" : "-"
            // A minus before a digit would become part of the number.
            if sign == "-", let first = operand.utf8.first, Lexer.isDigit(first) || first == 0x2E {
                operand = "(\(operand))"
            }
            return sign + operand
        case ("_[_]", 2), ("_[?_]", 2):
            guard let operand = operandText(arguments[0], .member), let index = write(arguments[1])
            else { return nil }
            return operand + (name == "_[_]" ? "[" : "[?") + index + "]"
        default:
            if let (sign, level) = Self.binary[name], arguments.count == 2 {
                return binary(id, name, sign, level, gap)
            }
            return items(arguments, []).map { "\(name)(\($0))" }
        }
    }

    private func binary(
        _ id: AST.NodeID, _ name: String, _ sign: String, _ level: Level, _ gap: String
    ) -> String? {
        guard case .call(_, _, let arguments) = ast[id].kind else { return nil }
        guard level <= .and else {
            guard let left = operandText(arguments[0], level, isAtEdge: true),
                let right = operandText(arguments[1], level.next)
            else { return nil }
            return "\(left) \(sign) \(right)"
        }
        // Chains are balanced trees; another shape was made by brackets, and needs them again.
        let chain = self.chain(id, name)
        let operands = chain.isBalanced ? chain.operands : arguments
        var parts: [String] = []
        for (index, operand) in operands.enumerated() {
            guard let text = operandText(operand, level.next, isAtEdge: index == 0) else {
                return nil
            }
            parts.append(text)
        }
        return parts.joined(separator: "\(gap)\(sign) ")
    }

    /// The operands of a chain of one operator, and whether the parser makes this very tree of them.
    private func chain(_ id: AST.NodeID, _ name: String)
        -> (operands: [AST.NodeID], isBalanced: Bool)
    {
        guard case .call(name, nil, let arguments) = ast[id].kind, replacement(id) == nil else {
            return ([id], true)
        }
        let left = chain(arguments[0], name)
        let right = chain(arguments[1], name)
        let count = left.operands.count + right.operands.count
        return (
            left.operands + right.operands,
            left.isBalanced && right.isBalanced && left.operands.count == (count + 1) / 2
        )
    }

    /// An operand, in brackets if it binds less tightly than it must or the author wrote them.
    private func operandText(_ id: AST.NodeID, _ least: Level, isAtEdge: Bool = false) -> String? {
        guard let text = write(id) else { return nil }
        let level = self.level(id)
        let isBracketed =
            keepsParentheses && level < .unary && least < .member
            && hasParentheses(id, isLeft: isAtEdge)
        return level < least || isBracketed ? "(\(text))" : text
    }

    /// Whether the operand stands in brackets in the source. Beside an operand without them stands
    /// its operator.
    private func hasParentheses(_ id: AST.NodeID, isLeft: Bool) -> Bool {
        let range = ast[id].range
        let isBlank = { (byte: UInt8) in [9, 10, 12, 13, 32].contains(byte) }
        if isLeft {
            return ast.source[range.upperBound...].first { !isBlank($0) } == UInt8(ascii: ")")
        }
        return ast.source[..<range.lowerBound].last { !isBlank($0) } == UInt8(ascii: "(")
    }

    // MARK: Parts

    private func items(_ ids: [AST.NodeID], _ optional: [Int]) -> String? {
        var parts: [String] = []
        for (index, id) in ids.enumerated() {
            guard let text = write(id) else { return nil }
            parts.append((optional.contains(index) ? "?" : "") + text)
        }
        return parts.joined(separator: ", ")
    }

    private func map(_ keysAndValues: [AST.NodeID], _ optional: [Int]) -> String? {
        var parts: [String] = []
        for index in 0..<keysAndValues.count / 2 {
            guard let key = write(keysAndValues[2 * index]),
                let value = write(keysAndValues[2 * index + 1])
            else { return nil }
            parts.append((optional.contains(index) ? "?" : "") + key + ": " + value)
        }
        return "{\(parts.joined(separator: ", "))}"
    }

    private func comprehension(_ id: AST.NodeID, _ loop: AST.Comprehension) -> String? {
        guard let range = operandText(loop.range, .member), let body = write(loop.body) else {
            return nil
        }
        var parts = [identifier(loop.variable)]
        if let second = loop.secondVariable { parts.append(identifier(second)) }
        if let filter = loop.filter {
            guard let text = write(filter) else { return nil }
            parts.append(text)
        }
        parts.append(body)
        return "\(range).\(macroName(id, loop.macro))(\(parts.joined(separator: ", ")))"
    }

    /// As the author spelt it: `existsOne` has two spellings.
    private func macroName(_ id: AST.NodeID, _ macro: AST.Comprehension.Macro) -> String {
        guard macro == .existsOne, keepsParentheses else { return macro.rawValue }
        let before = ast.source[..<min(ast[id].place, ast.source.count)]
        let name = before.reversed().drop { [9, 10, 12, 13, 32].contains($0) }
            .prefix(while: Lexer.isIdentifierByte)
        let text = String(decoding: name.reversed(), as: UTF8.self)
        return Parser.loops[text] == nil ? macro.rawValue : text
    }

    private func literal(_ id: AST.NodeID, _ value: Value) -> String {
        let text = ast.text(of: id)
        if text.hasPrefix("-") {
            // The sign belongs to the number, however far away it stands.
            return "-" + text.dropFirst().drop(while: \.isWhitespace)
        }
        guard normalisesQuotes, case .string(let content) = value, text.utf8.first == 0x27,
            !content.unicodeScalars.contains(where: {
                "\"\\'".unicodeScalars.contains($0) || $0.value < 32
            }),
            text.utf8.count == content.utf8.count + 2
        else { return text }
        return "\"\(content)\""
    }

    private func identifier(_ name: String) -> String {
        guard name.hasPrefix("@") else { return name }
        let parts = name.dropFirst().split(separator: ":")
        if parts.count == 3 { return "cel.\(parts[0])(\(parts[1]), \(parts[2]))" }
        return "cel.index(\(name.dropFirst("@index".count)))"
    }

    /// A field's name, in backticks where it is no plain name.
    private static func field(_ name: String) -> String {
        let isPlain =
            !name.utf8.isEmpty && !Lexer.isDigit(name.utf8.first ?? 0)
            && name.utf8.allSatisfy(Lexer.isIdentifierByte)
            && !["true", "false", "null", "in"].contains(name)
        return isPlain ? name : "`\(name)`"
    }
}
