/// How an expression is laid out.
public struct ExpressionLayout: Sendable {
    /// Whether `'a'` is written `"a"` where the content is the same in both.
    public var normalisesQuotes = true
    /// What stands between the operands of the outermost `&&`, `||` or `?:`: a blank, or a line
    /// break.
    public var outerBreak = " "

    /// The usual layout: one line.
    public init() {}
}

extension AST {
    /// The expression laid out anew: one blank around operators and behind commas, no brackets
    /// around what needs none, those kept that an author wrote around an operand. Parsing the
    /// result gives the same tree.
    ///
    /// Nil where the text did not parse, and where it has comments, which are not in the tree.
    public func formatted(_ layout: ExpressionLayout = ExpressionLayout()) -> String? {
        guard !hasComments else { return nil }
        let writer = ExpressionWriter(
            ast: self, normalisesQuotes: layout.normalisesQuotes, outerBreak: layout.outerBreak)
        return writer.text(of: root)
    }

    /// The text of a node in one spelling: without brackets that are not needed, and with other
    /// text for the nodes that `replacement` knows. Nil where it did not parse.
    public func canonicalText(
        of id: NodeID, replacing replacement: @escaping (NodeID) -> String? = { _ in nil }
    ) -> String? {
        ExpressionWriter(ast: self, keepsParentheses: false, replacement: replacement)
            .text(of: id)
    }

    /// Whether there is a comment between the words of the source.
    public var hasComments: Bool {
        var lexer = Lexer(source: source)
        lexer.run()
        var end = 0
        for token in lexer.tokens {
            if source[end..<Int(token.start)].contains(UInt8(ascii: "/")) { return true }
            end = Int(token.end)
        }
        return false
    }

    /// Whether both are the same expression: the same tree, whatever the spelling.
    public func hasSameMeaning(as other: AST) -> Bool { isSame(root, other, other.root) }

    private func isSame(_ id: NodeID, _ other: AST, _ theirs: NodeID) -> Bool {
        guard Self.isSame(self[id].kind, other[theirs].kind) else { return false }
        let (left, right) = (children(of: id), other.children(of: theirs))
        return left.count == right.count
            && zip(left, right).allSatisfy { isSame($0, other, $1) }
    }

    /// Whether two nodes are the same but for their children.
    private static func isSame(_ left: Kind, _ right: Kind) -> Bool {
        switch (left, right) {
        case (.literal(let l), .literal(let r)):

            return l.isIdentical(to: r)
        case (.identifier(let l), .identifier(let r)): return l == r
        case (.select(_, let l, let lo), .select(_, let r, let ro)): return l == r && lo == ro
        case (.presence(_, let l), .presence(_, let r)): return l == r
        case (.call(let l, let lt, let la), .call(let r, let rt, let ra)):
            return l == r && (lt == nil) == (rt == nil) && la.count == ra.count
        case (.list(_, let l), .list(_, let r)): return l == r
        case (.map(_, let l), .map(_, let r)): return l == r
        case (.structure(let l, let lf, _, let lo), .structure(let r, let rf, _, let ro)):
            return l == r && lf == rf && lo == ro
        case (.comprehension(let l), .comprehension(let r)):
            return l.macro == r.macro && l.variable == r.variable
                && l.secondVariable == r.secondVariable && (l.filter == nil) == (r.filter == nil)
        case (.bind(let l, _, _), .bind(let r, _, _)): return l == r
        case (.block(let l, _), .block(let r, _)): return l.count == r.count
        case (.invalid, .invalid): return true
        default: return false
        }
    }
}
