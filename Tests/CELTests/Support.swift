import CEL
import Foundation
import Testing
import Time

/// What an expression gives without variables: a value, or an error's code.
enum Outcome: Equatable, CustomStringConvertible {
    case value(Value)
    case error(EvaluationError.Code)
    case refused([String])

    static func == (left: Outcome, right: Outcome) -> Bool {
        switch (left, right) {
        case (.value(let l), .value(let r)): l.isIdentical(to: r)
        case (.error(let l), .error(let r)): l == r
        case (.refused(let l), .refused(let r)): l == r
        default: false
        }
    }

    var description: String {
        switch self {
        case .value(let value): "\(value)"
        case .error(let code): "error \(code)"
        case .refused(let codes): "refused \(codes)"
        }
    }
}

func outcome(_ expression: String, in environment: Environment = Environment()) -> Outcome {
    let compiled = environment.compile(expression)
    guard let program = compiled.program else {
        return .refused(compiled.diagnostics.map(\.code))
    }
    var activation = Activation(environment)
    switch program.evaluate(&activation).outcome {
    case .success(let value): return .value(value)
    case .failure(let error): return .error(error.code)
    }
}

func program(_ expression: String, in environment: Environment) throws -> Program {
    let compiled = environment.compile(expression)
    return try #require(compiled.program, "\(expression): \(compiled.diagnostics)")
}

extension Environment {
    /// The names that policies use, in small.
    static func payment() throws -> Environment {
        var environment = Environment()
        let attributes = ObjectType(
            name: "attributes",
            fields: [
                .init("amount", .double), .init("newPayee", .bool),
                .init("accountAgeDays", .int, isOptional: true),
                .init("payee", .string, isOptional: true),
            ])
        let insight = ObjectType(
            name: "insight",
            fields: [
                .init("outcome", .string, values: ["unknown", "medium", "high"]),
                .init("score", .double, isOptional: true),
            ])
        try environment.declare("attributes", .object(attributes))
        try environment.declare("insight", .object(insight))
        try environment.declare("now", .timestamp)
        return environment
    }
}

/// A text with its marked part: `a + «b»` gives `a + b` and the range of `b`.
func unmark(_ marked: String) -> (text: String, range: Range<Int>?) {
    var bytes: [UInt8] = []
    var start: Int?
    var end: Int?
    for scalar in marked.unicodeScalars {
        switch scalar {
        case "«": start = bytes.count
        case "»": end = bytes.count
        default: bytes += Array(String(scalar).utf8)
        }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let start, let end else { return (text, nil) }
    return (text, start..<end)
}

/// Each expression gives true: an example of what the specification says.
func holds(
    _ expressions: [String], in environment: Environment = Environment(),
    sourceLocation: SourceLocation = #_sourceLocation
) {
    for expression in expressions {
        #expect(
            outcome(expression, in: environment) == .value(.bool(true)), "\(expression)",
            sourceLocation: sourceLocation)
    }
}

/// Each expression gives an error when it is evaluated.
func fails(
    _ code: EvaluationError.Code, _ expressions: [String],
    in environment: Environment = Environment(),
    sourceLocation: SourceLocation = #_sourceLocation
) {
    for expression in expressions {
        #expect(
            outcome(expression, in: environment) == .error(code), "\(expression)",
            sourceLocation: sourceLocation)
    }
}

/// No expression gets past the compiler; each has a finding of that code.
func isRefused(
    _ code: String, _ expressions: [String], in environment: Environment = Environment(),
    sourceLocation: SourceLocation = #_sourceLocation
) {
    for expression in expressions {
        let compiled = environment.compile(expression)
        #expect(
            compiled.program == nil && compiled.diagnostics.contains { $0.code == code },
            "\(expression): \(compiled.diagnostics.map(\.code))", sourceLocation: sourceLocation)
    }
}
