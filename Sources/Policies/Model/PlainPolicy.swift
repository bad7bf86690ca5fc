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
    /// The file.
    public let source: PolicySource

    package init(
        name: String, description: String, environment: Environment,
        rule: PlainBlock, source: PolicySource
    ) {
        self.name = name
        self.description = description
        self.environment = environment
        self.rule = rule
        self.source = source
    }
}

/// One `rule:` of a plain policy. The first match gives the result; a nested block without one
/// goes on to the next match.
public struct PlainBlock: Sendable {
    /// Variables declared here, in file order.
    public let variables: [Variable]
    /// The matches in file order.
    public let matches: [PlainMatch]

    package init(variables: [Variable], matches: [PlainMatch]) {
        self.variables = variables
        self.matches = matches
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
    /// What happens when the condition holds.
    public let action: Action
    /// A string expression that explains the result.
    public let explanation: Expression?
    /// Where the match starts in the file.
    public let position: SourcePosition

    package init(
        condition: Expression?, action: Action, explanation: Expression?, position: SourcePosition
    ) {
        self.condition = condition
        self.action = action
        self.explanation = explanation
        self.position = position
    }
}
