/// Finds the nodes that do not depend on any variable.
enum Constancy {
    static func find(in ast: AST) -> [Bool] {
        // Children come before their parents, so one pass is enough.
        var isConstant = [Bool](repeating: false, count: ast.nodes.count)
        for (index, node) in ast.nodes.enumerated() {
            let children = ast.children(of: AST.NodeID(index))
            let areConstant = children.allSatisfy { isConstant[Int($0.index)] }
            isConstant[index] =
                switch node.kind {
                case .literal: true
                case .identifier, .select, .presence:
                    if case .constant? = node.reference {
                        true
                    } else {
                        node.reference == nil && areConstant && !children.isEmpty
                    }
                case .call:
                    if case .function(let name, _)? = node.reference {
                        areConstant && Library.functions[name] != nil
                    } else {
                        false
                    }
                case .list, .map, .structure: areConstant
                case .comprehension, .bind, .block, .invalid: false
                }
        }
        return isConstant
    }
}
