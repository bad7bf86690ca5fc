/// Reads `variables:` of a block.
struct VariableReader {
    let sink: DiagnosticSink

    func read(_ fields: Fields, scope: inout ExpressionScope) -> [Variable] {
        var seen: Set<String> = []
        var result: [Variable] = []
        for item in fields.items("variables") {
            guard
                let entry = Fields(
                    item, "a variable", keys: ["name", "expression", "description"], sink: sink)
            else { continue }
            let name = entry.requiredString("name")
            let expression = entry.required("expression")
            guard let name, let nameNode = entry["name"] else {
                if let expression { _ = scope.compile(expression, .variable) }
                continue
            }
            guard Names.checkIdentifier(name, "the variable", at: nameNode.range, sink) else {
                continue
            }
            guard seen.insert(name).inserted else {
                scope.refuse(name, again: expression, at: entry.headRange)
                continue
            }
            guard let expression else { continue }
            if let variable = scope.declare(name, expression, nameNode: nameNode) {
                result.append(variable)
            }
        }
        return result
    }
}
