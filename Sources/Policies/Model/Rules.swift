import CEL

/// How the matches of one block are combined.
public enum Strategy: String, Sendable, Hashable, CaseIterable {
    /// The first match decides; what follows is not evaluated.
    case firstMatch
    /// All matches are combined, the strictest parts of each.
    case strictest
}

/// Whether a rule acts.
public enum RuleMode: String, Sendable, Hashable, CaseIterable {
    /// The rule acts.
    case enforce
    /// The rule is evaluated and recorded and never acts.
    case shadow
}

/// What becomes of a rule whose condition failed because a caller's value is absent.
public enum OnMissing: String, Sendable, Hashable, CaseIterable {
    case noMatch
    case match
    case error
}

/// An expression that was parsed and checked, with what it reads.
public final class Expression: Sendable {
    /// The text of the expression.
    public let source: String
    /// The compiled program; its slots are those of the policy's ``SlotLayout``.
    public let program: Program
    /// The slots it reads, ascending, without those only asked for by `has()`; variables as such.
    public let reads: [Int]
    /// The slots of `reads` and of every variable it needs, variables replaced by what they read.
    public let deepReads: [Int]
    /// The slots that it, or a variable it needs, only asks for by `has()`.
    public let deepTests: [Int]
    private let map: ScalarMap

    package init(
        source: String, program: Program, reads: [Int], deepReads: [Int], deepTests: [Int],
        map: ScalarMap
    ) {
        self.source = source
        self.program = program
        self.reads = reads
        self.deepReads = deepReads
        self.deepTests = deepTests
        self.map = map
    }

    /// Where it starts in the file; for a part of an expression, where the whole starts.
    public var position: SourcePosition { map.position(atScalar: 0) }

    /// Where a part of the program's source stands in the file, by UTF-8 offsets as the nodes of
    /// its tree and the errors of its evaluation have them.
    public func place(of offsets: Range<Int>) -> SourceRange { map.range(utf8: offsets) }

    /// The same expression's part at a node, over the same slots and places; nil where the node
    /// cannot stand alone.
    package func part(
        _ node: AST.NodeID, reads: [Int], deepReads: [Int], deepTests: [Int]
    ) -> Expression? {
        program.part(node).map {
            Expression(
                source: program.ast.text(of: node), program: $0, reads: reads,
                deepReads: deepReads, deepTests: deepTests, map: map)
        }
    }
}

/// A named expression, evaluated at most once per event and only if something reads it.
public struct Variable: Sendable {
    /// The name under `variables.`.
    public let name: String
    /// The index in ``TrustPolicy/variables``.
    public let index: Int
    /// What it stands for.
    public let expression: Expression

    package init(name: String, index: Int, expression: Expression) {
        self.name = name
        self.index = index
        self.expression = expression
    }
}

/// One `rule:` of a policy: variables and matches.
public final class RuleBlock: Sendable {
    /// How its matches are combined. A nested block has its own.
    public let strategy: Strategy
    /// Variables declared here, in file order; each may read those before it.
    public let variables: [Variable]
    /// The matches in file order; never empty.
    public let matches: [Match]
    /// Whether a rule in it, or nested in it, is in shadow.
    public let holdsShadow: Bool

    package init(strategy: Strategy, variables: [Variable], matches: [Match]) {
        self.strategy = strategy
        self.variables = variables
        self.matches = matches
        holdsShadow = matches.contains { match in
            if match.mode == .shadow { return true }
            guard case .block(let nested) = match.action else { return false }
            return nested.holdsShadow
        }
    }
}

/// One entry of `match:`.
public final class Match: Sendable {
    /// What happens when the condition holds.
    public enum Action: Sendable {
        /// Decides.
        case output(DecisionOutput)
        /// Goes on in a nested block.
        case block(RuleBlock)
    }

    /// The index in policy order (``TrustPolicy/rules``): the place of its verdict letter.
    public let index: Int
    /// The rule's stable name: as given, else derived from its content.
    public let id: String
    /// Whether `id` was given in the file.
    public let isNamed: Bool
    /// The condition; nil for a default, which under `strictest` counts only if nothing else did.
    public let condition: Expression?
    /// What happens when the condition holds.
    public let action: Action
    /// A string expression for the reason's text.
    public let explanation: Expression?
    /// Whether the rule acts. Inside a shadow rule everything is shadow.
    public let mode: RuleMode
    /// What becomes of the rule when a caller's value is absent: as given, else the safe one.
    public let onMissing: OnMissing
    /// Whether the rule, or one nested in it, raises friction.
    public let raisesFriction: Bool
    /// For an output with `block`: conjuncts of the condition that read no insight value. One of
    /// them must be true from a value that is present, else `block` becomes `manualReview`.
    public let otherEvidence: [Expression]
    /// Where the match starts in the file.
    public let position: SourcePosition

    package init(
        index: Int, id: String, isNamed: Bool, condition: Expression?, action: Action,
        explanation: Expression?, mode: RuleMode, onMissing: OnMissing, raisesFriction: Bool,
        otherEvidence: [Expression], position: SourcePosition
    ) {
        self.index = index
        self.id = id
        self.isNamed = isNamed
        self.condition = condition
        self.action = action
        self.explanation = explanation
        self.mode = mode
        self.onMissing = onMissing
        self.raisesFriction = raisesFriction
        self.otherEvidence = otherEvidence
        self.position = position
    }

    /// The output, where the match decides by itself.
    public var output: DecisionOutput? {
        if case .output(let output) = action { output } else { nil }
    }
}

/// What is known of a rule without the tree: one per match, in policy order.
public struct RuleSummary: Sendable, Hashable {
    /// The rule's stable name.
    public let id: String
    /// The index of the match that holds the block this rule stands in; nil at the top.
    public let parent: Int?
    /// Whether the rule acts.
    public let mode: RuleMode
    /// The output, where the match decides by itself.
    public let output: DecisionOutput?
    /// Whether the condition, variables expanded, reads an insight value.
    public let readsInsight: Bool

    package init(
        id: String, parent: Int?, mode: RuleMode, output: DecisionOutput?, readsInsight: Bool
    ) {
        self.id = id
        self.parent = parent
        self.mode = mode
        self.output = output
        self.readsInsight = readsInsight
    }
}
