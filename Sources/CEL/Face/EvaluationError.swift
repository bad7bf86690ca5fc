/// Why an evaluation gave no value.
///
/// Inside of an evaluation errors are values that `&&`, `||`, `all` and `exists` may absorb; this
/// is what the host sees of one that reached the top.
public struct EvaluationError: Error, Sendable, Equatable {
    /// The kind of error.
    public enum Code: UInt8, Sendable, CaseIterable {
        /// An absent slot was read; ``EvaluationError/missing`` names it.
        case missing = 1
        /// A field that the value does not have.
        case noSuchField
        /// A key that the map does not have.
        case noSuchKey
        /// A list index outside of the list.
        case indexOutOfRange
        /// `/` or `%` by the integer zero.
        case divisionByZero
        /// A result outside of its type's range.
        case overflow
        /// An argument that the function refuses.
        case invalidArgument
        /// No overload of the function takes arguments of these types.
        case noSuchOverload
        /// Two entries of a map with one key.
        case duplicateKey
        /// A name that is not declared (only where the expression was not checked).
        case undeclared
        /// A condition or operand that had to be a bool.
        case notBool
        /// The evaluation was given up: it cost more than its limit.
        case costLimit
        /// A value larger than the limits allow.
        case sizeLimit
        /// A host function failed.
        case hostFunction
    }

    /// The kind of error.
    public var code: Code
    /// What is wrong: lower case, no full stop.
    public var message: String
    /// The part of the source that gave the error: UTF-8 offsets.
    public var range: Range<Int>
    /// For ``Code/missing``: the paths of the absent slots, such as `attributes.accountAgeDays`.
    public var missing: [String]

    /// An error; host functions make these (the range is then filled in by the evaluator).
    public init(
        _ code: Code, _ message: String, range: Range<Int> = 0..<0, missing: [String] = []
    ) {
        self.code = code
        self.message = message
        self.range = range
        self.missing = missing
    }
}

/// What one evaluation gave and what it cost.
public struct EvaluationResult: Sendable {
    /// The value, or the error that reached the top.
    public var outcome: Result<Value, EvaluationError>
    /// Steps taken plus elements and bytes made, in the unit of ``Limits/cost``.
    public var cost: Int
    /// With a traced program: each node that was evaluated, in order; a node inside of a
    /// comprehension occurs once per round. Ends after 1,048,576 events; values for which
    /// ``Limits/memory`` leaves no room are errors of the code ``EvaluationError/Code/sizeLimit``.
    public var trace: [TraceEvent] = []

    /// The value, if there was no error.
    public var value: Value? { try? outcome.get() }
    /// The error, if there was one.
    public var error: EvaluationError? {
        if case .failure(let error) = outcome { error } else { nil }
    }
}

/// The value of one node of the tree in one traced evaluation.
public struct TraceEvent: Sendable {
    /// The node.
    public var node: AST.NodeID
    /// What it gave.
    public var outcome: Result<Value, EvaluationError>
}

/// The result of a condition, without making a `Value`. The error is behind a pointer so that the
/// usual results travel in a register.
public enum ConditionResult: Sendable {
    /// The condition gave true.
    case matched
    /// The condition gave false.
    case notMatched
    /// It gave an error, or something other than a bool.
    indirect case failed(EvaluationError)
}
