import CEL

/// A plain CEL policy: the standard grammar without additions. `check`, `test` and `eval` run it;
/// the server does not act on it.
public struct PlainPolicy: Sendable {
    /// The policy's name.
    public let name: String
    /// What the policy is for, in prose; empty where the file says nothing.
    public let description: String
    /// What the expressions were compiled against: the inputs' slots, then those of variables.
    public let environment: Environment
    /// The rules.
    public let rule: PlainBlock
    /// The type of the outputs; an optional of it where the rules may give none.
    public let resultType: Type
    /// The file.
    public let source: PolicySource

    package init(
        name: String, description: String, environment: Environment,
        rule: PlainBlock, resultType: Type, source: PolicySource
    ) {
        self.name = name
        self.description = description
        self.environment = environment
        self.rule = rule
        self.resultType = resultType
        self.source = source
    }
}

/// One `rule:` of a plain policy. The first match gives the result. A nested block may give none:
/// one under a condition then ends the search all the same, one without goes on to the next match.
public struct PlainBlock: Sendable {
    /// Variables declared here, in file order.
    public let variables: [Variable]
    /// The matches in file order.
    public let matches: [PlainMatch]

    package init(variables: [Variable], matches: [PlainMatch]) {
        self.variables = variables
        self.matches = matches
    }

    /// Whether there may be no result.
    package var mayGiveNone: Bool {
        for match in matches {
            if case .block(let nested) = match.action, nested.mayGiveNone {
                if !match.isUnconditional { return true }
            } else if match.isUnconditional {
                return false
            }
        }
        return true
    }
}

/// One `match:` entry of a plain policy.
public struct PlainMatch: Sendable {
    /// What happens when the condition holds.
    public enum Action: Sendable {
        /// The expression's value is the result.
        case output(Expression)
        /// Goes on in a nested block.
        case block(PlainBlock)
    }

    /// The condition; nil holds always.
    public let condition: Expression?
    /// Whether the match is taken where the condition is false.
    public let isNegated: Bool
    /// What happens when the condition holds.
    public let action: Action
    /// A string expression that explains the result.
    public let explanation: Expression?
    /// Where the match starts in the file.
    public let position: SourcePosition

    package init(
        condition: Expression?, isNegated: Bool = false, action: Action, explanation: Expression?,
        position: SourcePosition
    ) {
        self.condition = condition
        self.isNegated = isNegated
        self.action = action
        self.explanation = explanation
        self.position = position
    }

    /// Whether the match is always taken: it has no condition, or one that is the literal true.
    package var isUnconditional: Bool {
        Self.isUnconditional(condition, isNegated: isNegated)
    }

    static func isUnconditional(_ condition: Expression?, isNegated: Bool) -> Bool {
        guard let program = condition?.program else { return true }
        guard !isNegated, case .literal(.bool(true)) = program.ast[program.root].kind else {
            return false
        }
        return true
    }
}
