import CEL

/// Values that are known without an event.
enum Constants {
    /// The value of a literal, or of a literal with a sign; nil for anything else.
    static func value(_ program: Program, _ id: AST.NodeID) -> Value? {
        value(program.ast, id)
    }

    static func value(_ ast: AST, _ id: AST.NodeID) -> Value? {
        switch ast[id].kind {
        case .literal(let value): return value
        case .call("-_", nil, let arguments) where arguments.count == 1:
            switch value(ast, arguments[0]) {
            case .int(let value)?:
                let (negated, overflow) = Int64(0).subtractingReportingOverflow(value)
                return overflow ? nil : .int(negated)
            case .double(let value)?: return .double(-value)
            default: return nil
            }
        default: return nil
        }
    }

    /// The strings of a list of string literals; nil for anything else.
    static func strings(_ ast: AST, _ id: AST.NodeID) -> [String]? {
        guard case .list(let elements, let optional) = ast[id].kind, optional.isEmpty else {
            return nil
        }
        var result: [String] = []
        for element in elements {
            guard case .string(let text)? = value(ast, element) else { return nil }
            result.append(text)
        }
        return result
    }
}
