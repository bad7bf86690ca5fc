/// Tokens to a tree, by recursive descent with a limit on depth. After a fault it goes on at the
/// next comma or closing bracket, so that several faults of one text are reported at once.
struct Parser {
    let source: [UInt8]
    let limits: Limits
    let expandsMacros: Bool
    /// See ``Environment/extensions``.
    let extensions: [String: Int]?
    var ast = AST()
    private(set) var diagnostics: [Diagnostic] = []
    private(set) var tokens: [Token] = []
    var position = 0
    private var nesting = 0
    /// Set once the text nests too deep: the rest is skipped, since it could only repeat that.
    private(set) var gaveUp = false

    init(source: [UInt8], environment: Environment) {
        self.source = source
        limits = environment.limits
        expandsMacros = environment.expandsMacros
        extensions = environment.extensions
    }

    mutating func parse() -> AST {
        ast.source = source
        guard source.count <= limits.sourceBytes else {
            report(
                0..<0, "cel.limit.source",
                "the expression has \(source.count) bytes, more than \(limits.sourceBytes)")
            return finish(add(.invalid, 0..<0))
        }
        if let fault = UTF8Check.firstFault(source) {
            report(
                fault..<fault + 1, "cel.syntax.utf8",
                "byte \(fault) (0x\(String(source[fault], radix: 16))) is not valid UTF-8")
            return finish(add(.invalid, 0..<0))
        }
        var lexer = Lexer(source: source)
        lexer.run()
        tokens = lexer.tokens
        for diagnostic in lexer.diagnostics { append(diagnostic) }
        let root = expression()
        if current.kind != .end, !gaveUp { unexpected("an operator or the end") }
        return finish(root)
    }

    private mutating func finish(_ root: AST.NodeID) -> AST {
        ast.root = root
        diagnostics.sort { $0.range.lowerBound < $1.range.lowerBound }
        return ast
    }

    // MARK: Tokens

    var current: Token { tokens[min(position, tokens.count - 1)] }
    func ahead(_ distance: Int) -> Token.Kind {
        tokens[min(position + distance, tokens.count - 1)].kind
    }
    var lastEnd: Int { position > 0 ? Int(tokens[position - 1].end) : 0 }

    mutating func accept(_ kind: Token.Kind) -> Bool {
        guard current.kind == kind else { return false }
        position += 1
        return true
    }

    func text(_ token: Token) -> String {
        String(decoding: source[token.range], as: UTF8.self)
    }

    mutating func expect(_ kind: Token.Kind, _ name: String, opened: Token) {
        if accept(kind) || gaveUp { return }
        unexpected("`\(name)`", help: "to close the `\(text(opened))` of offset \(opened.start)")
        if ahead(1) == kind {
            // One token too many.
            position += 2
            return
        }
        // The bracket counts as closed: what can follow a closed one is read on from there.
        recover { $0 == .dot || $0 == .question || Self.isOperator($0) }
        _ = accept(kind)
    }

    /// Skips to a comma or closing bracket of this level, or another token that will do.
    mutating func recover(orAt stops: (Token.Kind) -> Bool = { _ in false }) {
        var depth = 0
        while true {
            switch current.kind {
            case .end: return
            case .leftParen, .leftBracket, .leftBrace: depth += 1
            case .rightParen, .rightBracket, .rightBrace:
                if depth == 0 { return }
                depth -= 1
            case .comma where depth == 0: return
            case let kind where depth == 0 && stops(kind): return
            default: break
            }
            position += 1
        }
    }

    private static func isOperator(_ kind: Token.Kind) -> Bool {
        kind == .and || kind == .or || binary(kind) != nil
    }

    // MARK: Reports and nodes

    mutating func report(
        _ range: Range<Int>, _ code: String, _ message: String, help: String? = nil
    ) {
        append(Diagnostic(range: range, code: code, message: message, help: help))
    }

    private mutating func append(_ diagnostic: Diagnostic) {
        if diagnostics.count < limits.diagnostics { diagnostics.append(diagnostic) }
    }

    mutating func unexpected(_ wanted: String, help: String? = nil) {
        let token = current
        // The lexer has spoken about it already, or we have.
        if token.kind == .invalid || diagnostics.contains(where: { $0.range == token.range }) {
            return
        }
        let found = token.kind == .end ? "the end of the expression" : "`\(text(token))`"
        report(
            token.range, "cel.syntax", "expected \(wanted), found \(found)",
            help: token.kind == .reserved ? "`\(text(token))` is a reserved word" : help)
    }

    mutating func add(
        _ kind: AST.Kind, _ range: Range<Int>, at place: Token? = nil
    ) -> AST.NodeID {
        var node = AST.Node(
            kind: kind, range: range, place: place.map { Int($0.start) } ?? range.lowerBound)
        ast.nodes.append(node)
        let id = AST.NodeID(ast.nodes.count - 1)
        node.depth = (ast.children(of: id).map { ast[$0].depth }.max() ?? 0) + 1
        ast.nodes[Int(id.index)].depth = node.depth
        if Int(node.depth) > limits.treeDepth {
            giveUp(range, "the expression is a tree of more than \(limits.treeDepth) levels")
        } else if ast.nodes.count > limits.nodes {
            giveUp(range, "the expression has more than \(limits.nodes) parts")
        }
        return id
    }

    private mutating func giveUp(_ range: Range<Int>, _ message: String) {
        if !gaveUp { report(range, "cel.limit.depth", message) }
        gaveUp = true
        position = tokens.count - 1
    }

    // MARK: Expressions

    mutating func expression() -> AST.NodeID {
        guard enter() else { return add(.invalid, current.range) }
        defer { nesting -= 1 }
        let condition = chain(.or, "_||_") { parser in
            parser.chain(.and, "_&&_") { $0.relation(minimum: 1) }
        }
        let question = current
        guard accept(.question) else { return condition }
        let whenTrue = chain(.or, "_||_") { parser in
            parser.chain(.and, "_&&_") { $0.relation(minimum: 1) }
        }
        if !accept(.colon) {
            if !gaveUp { unexpected("`:` of the conditional") }
            return condition
        }
        let whenFalse = expression()
        return call("_?_:_", [condition, whenTrue, whenFalse], at: question)
    }

    private mutating func enter() -> Bool {
        nesting += 1
        if nesting <= limits.nesting { return true }
        nesting -= 1
        giveUp(current.range, "the expression nests deeper than \(limits.nesting) levels")
        return false
    }

    /// `a && b && c` as a balanced tree: long chains stay shallow, and since the operators absorb
    /// errors from either side, grouping does not matter.
    private mutating func chain(
        _ kind: Token.Kind, _ name: String, _ operand: (inout Parser) -> AST.NodeID
    ) -> AST.NodeID {
        let first = operand(&self)
        guard current.kind == kind else { return first }
        var operands = [first]
        var signs: [Token] = []
        while current.kind == kind {
            signs.append(current)
            position += 1
            operands.append(operand(&self))
        }
        return balance(operands[...], signs, name)
    }

    private mutating func balance(
        _ operands: ArraySlice<AST.NodeID>, _ signs: [Token], _ name: String
    ) -> AST.NodeID {
        guard operands.count > 1 else { return operands[operands.startIndex] }
        let middle = operands.startIndex + (operands.count + 1) / 2
        let left = balance(operands[..<middle], signs, name)
        let right = balance(operands[middle...], signs, name)
        return call(name, [left, right], at: signs[middle - 1])
    }

    private mutating func call(
        _ name: String, _ arguments: [AST.NodeID], at sign: Token
    ) -> AST.NodeID {
        let start = ast[arguments[0]].range.lowerBound
        return add(
            .call(function: name, target: nil, arguments: arguments), start..<max(start, lastEnd),
            at: sign)
    }

    private static func binary(_ kind: Token.Kind) -> (name: String, precedence: Int)? {
        switch kind {
        case .equal: ("_==_", 1)
        case .notEqual: ("_!=_", 1)
        case .less: ("_<_", 1)
        case .lessOrEqual: ("_<=_", 1)
        case .greater: ("_>_", 1)
        case .greaterOrEqual: ("_>=_", 1)
        case .in: ("@in", 1)
        case .plus: ("_+_", 2)
        case .minus: ("_-_", 2)
        case .star: ("_*_", 3)
        case .slash: ("_/_", 3)
        case .percent: ("_%_", 3)
        default: nil
        }
    }

    private mutating func relation(minimum: Int) -> AST.NodeID {
        var left = unary()
        while let (name, precedence) = Self.binary(current.kind), precedence >= minimum, !gaveUp {
            let sign = current
            position += 1
            let right = precedence == 3 ? unary() : relation(minimum: precedence + 1)
            left = call(name, [left, right], at: sign)
        }
        return left
    }

    private mutating func unary() -> AST.NodeID {
        var operators: [Token] = []
        while current.kind == .not || current.kind == .minus {
            // A minus before a number belongs to the number: -9223372036854775808 is an int.
            let next = ahead(1)
            if current.kind == .minus, next == .int || next == .double { break }
            operators.append(current)
            position += 1
        }
        var operand = member()
        for token in operators.reversed() {
            guard !gaveUp else { break }
            operand = add(
                .call(
                    function: token.kind == .not ? "!_" : "-_", target: nil, arguments: [operand]),
                Int(token.start)..<max(Int(token.start), lastEnd))
        }
        return operand
    }

    private mutating func member() -> AST.NodeID {
        var operand = primary()
        while !gaveUp {
            let start = ast[operand].range.lowerBound
            let sign = current
            if accept(.dot) {
                operand = selection(of: operand, from: start, at: sign)
            } else if current.kind == .leftBracket {
                position += 1
                let isOptional = accept(.question)
                let index = expression()
                expect(.rightBracket, "]", opened: sign)
                operand = add(
                    .call(
                        function: isOptional ? "_[?_]" : "_[_]", target: nil,
                        arguments: [operand, index]), start..<max(start, lastEnd), at: sign)
            } else if current.kind == .leftBrace, let name = typeName(operand) {
                operand = structure(name, from: start)
            } else {
                break
            }
        }
        return operand
    }

    private mutating func selection(
        of operand: AST.NodeID, from start: Int, at dot: Token
    ) -> AST.NodeID {
        let isOptional = accept(.question)
        let token = current
        switch token.kind {
        case .identifier, .reserved, .quotedIdentifier: position += 1
        default:
            unexpected("the name of a field")
            return operand
        }
        var name = text(token)
        if token.kind == .quotedIdentifier { name = String(name.dropFirst().dropLast()) }
        if token.kind != .quotedIdentifier, !isOptional, current.kind == .leftParen {
            return invocation(name, at: token, target: operand, from: start)
        }
        return add(
            .select(operand: operand, field: name, isOptional: isOptional),
            start..<max(start, lastEnd), at: dot)
    }

    mutating func invocation(
        _ name: String, at token: Token, target: AST.NodeID?, from start: Int
    ) -> AST.NodeID {
        let opening = current
        position += 1
        let arguments = self.arguments(until: .rightParen, ")", opened: opening).elements
        let range = start..<max(start, lastEnd)
        if expandsMacros, !gaveUp,
            let expanded = expandMacro(
                name, at: token.range, opening: opening, target: target, arguments: arguments,
                range: range)
        {
            return expanded
        }
        return add(
            .call(function: name, target: target, arguments: arguments), range, at: opening)
    }

    mutating func arguments(
        until close: Token.Kind, _ name: String, opened: Token, allowsOptional: Bool = false
    ) -> (elements: [AST.NodeID], optional: [Int]) {
        var elements: [AST.NodeID] = []
        var optional: [Int] = []
        while current.kind != close, current.kind != .end, !gaveUp {
            if allowsOptional, accept(.question) { optional.append(elements.count) }
            elements.append(expression())
            if current.kind != .comma, current.kind != close, !gaveUp {
                unexpected("`,` or `\(name)`")
                recover()
            }
            if !accept(.comma) { break }
            if close == .rightParen, current.kind == close { unexpected("an argument") }
        }
        expect(close, name, opened: opened)
        return (elements, optional)
    }
}
