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

    /// One text for an instant or a span that is written out, in whatever zone and units; nil for
    /// anything else.
    static func time(_ ast: AST, _ id: AST.NodeID) -> String? {
        guard case .call(let function, nil, let arguments) = ast[id].kind,
            ["timestamp", "duration"].contains(function), arguments.count == 1,
            case .literal(.string)? = arguments.first.map({ ast[$0].kind })
        else { return nil }
        let environment = Environment()
        guard let program = environment.compile(ast.text(of: id)).program else { return nil }
        var activation = Activation(environment)
        switch program.evaluate(&activation).value {
        case .timestamp(let instant)?:
            return "timestamp(\(instant.seconds)s \(instant.nanoseconds)ns)"
        case .duration(let span)?: return "duration(\(span.totalNanoseconds)ns)"
        default: return nil
        }
    }
}
