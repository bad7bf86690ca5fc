import CEL

/// The nodes of one expression that coverage looks at.
///
/// Literals are left out: they are what they are. Only one that is an expression by itself, or
/// a branch of `?:`, says that something was reached. Chains of one operator are flat, so that
/// parentheses and the order of parsing do not count.
struct ExpressionSites: Sendable {
    struct Site: Sendable {
        var node: AST.NodeID
        var isCondition: Bool
    }

    private(set) var sites: [Site] = []
    private let ast: AST

    /// A condition counts as one whatever the checker knows of its type.
    init(_ program: Program, _ role: TracedPolicy.Role) {
        ast = program.ast
        let isCondition = role == .condition || role == .when
        visit(
            program.root, isCondition: isCondition || ast[program.root].type.isBool, isChoice: true)
    }

    private mutating func visit(_ id: AST.NodeID, isCondition: Bool, isChoice: Bool = false) {
        let node = ast[id]
        if isConstant(node) {
            if isChoice { sites.append(Site(node: id, isCondition: false)) }
            return
        }
        // A name without meaning is a part of a longer one, and nothing evaluates it.
        if case .identifier = node.kind, node.reference == nil { return }
        sites.append(Site(node: id, isCondition: isCondition))
        switch node.reference {
        case .slot?, .object?, .local?: return
        default: break
        }
        switch node.kind {
        case .call(let function, nil, _) where function == "_&&_" || function == "_||_":
            for term in ast.terms(of: id, joinedBy: function) { visit(term, isCondition: true) }
        case .call("!_", nil, let arguments):
            for argument in arguments { visit(argument, isCondition: true) }
        case .call("_?_:_", nil, let arguments) where arguments.count == 3:
            visit(arguments[0], isCondition: true)
            visit(arguments[1], isCondition: isCondition, isChoice: true)
            visit(arguments[2], isCondition: isCondition, isChoice: true)
        case .call(let function, let target, let arguments):
            if let target, !isNamespace(node, function) { visit(target, isCondition: false) }
            for argument in arguments { visit(argument, isCondition: false) }
        case .comprehension(let loop):
            visit(loop.range, isCondition: false)
            if let filter = loop.filter { visit(filter, isCondition: true) }
            visit(loop.body, isCondition: loop.macro.isPredicate)
        default:
            for child in ast.children(of: id) { visit(child, isCondition: false) }
        }
    }

    private func isConstant(_ node: AST.Node) -> Bool {
        if case .constant? = node.reference { return true }
        if case .literal = node.kind { return true }
        return false
    }

    /// Whether what stands before the dot is part of the function's name: `math.greatest(…)`.
    private func isNamespace(_ node: AST.Node, _ function: String) -> Bool {
        guard case .function(let full, _)? = node.reference else { return false }
        return full != function && full.hasSuffix("." + function)
    }
}

extension AST {
    /// The operands of a chain of one operator, left to right, however it is nested.
    func terms(of id: NodeID, joinedBy function: String) -> [NodeID] {
        var found: [NodeID] = []
        var pending = [id]
        while let next = pending.popLast() {
            if case .call(function, nil, let arguments) = self[next].kind {
                pending.append(contentsOf: arguments.reversed())
            } else {
                found.append(next)
            }
        }
        return found
    }
}

extension AST.Comprehension.Macro {
    /// Whether its body is a condition.
    fileprivate var isPredicate: Bool {
        switch self {
        case .all, .exists, .existsOne, .filter: true
        case .map, .transformList, .transformMap, .transformMapEntry, .sortBy, .optMap, .optFlatMap:
            false
        }
    }
}

extension Type {
    fileprivate var isBool: Bool { if case .bool = self { true } else { false } }
}
