import CEL
import Policies
import Time

/// A policy's expressions in the form that records the value of every node, and the parts they
/// belong to. Immutable; any number of threads may run it.
struct TracedPolicy: Sendable {
    /// What an expression is to its part.
    enum Role: String, Sendable {
        case condition, explanation, variable, output, when
    }

    struct Item: Sendable {
        var kind: PolicyCoverage.PartKind
        var name: String
        var depth = 0
        var position: SourcePosition?
        /// Its expressions, by their place in `expressions`.
        var expressions: [(role: Role, index: Int)] = []
        /// Names of the counts that a reason is made of, if there are several.
        var counts: [String] = []
        /// Whether the verdict itself is a condition, as that of a limit.
        var hasVerdict = false

        func expression(_ role: Role) -> Int? {
            expressions.first { $0.role == role }?.index
        }
    }

    private(set) var items: [Item] = []
    private(set) var expressions: [Expression] = []
    /// The same, traced.
    private(set) var programs: [Program] = []
    /// Where rules of a trust policy and matches of a plain one stand in `items`, in policy order.
    private(set) var itemOfRule: [Int] = []
    private var expressionOfSlot: [Int: Int] = [:]

    init(_ policy: TrustPolicy) {
        let slots = policy.environment.computedSlots
        add(policy.rule, depth: 0, slots)
    }

    init(_ policy: PlainPolicy) {
        add(policy.rule, "match", depth: 0, policy.environment.computedSlots)
    }

    init(_ policy: ReviewPromptPolicy) {
        for limit in policy.limits {
            items.append(
                Item(
                    kind: .limit, name: limit.name, position: policy.positions[limit.name],
                    hasVerdict: true))
        }
        if case .requireMore = policy.afterGrant {
            items.append(Item(kind: .limit, name: ReviewRuleName.requireMore, hasVerdict: true))
        }
        for reason in policy.reasons {
            var item = Item(
                kind: .reason, name: reason.name, position: policy.positions[reason.name],
                hasVerdict: true)
            let counts = reason.requirement.counts
            if counts.count > 1 { item.counts = counts }
            if let expression = reason.when?.expression { add(expression, .when, to: &item) }
            items.append(item)
        }
    }

    // MARK: Reading a policy

    private mutating func add(_ expression: Expression, _ role: Role, to item: inout Item) {
        item.expressions.append((role, expressions.count))
        expressions.append(expression)
        programs.append(expression.program.traced())
    }

    private mutating func add(_ variables: [Variable], depth: Int, _ slots: [Int]) {
        for variable in variables {
            var item = Item(
                kind: .variable, name: "variables." + variable.name, depth: depth,
                position: variable.expression.position)
            if variable.index < slots.count {
                expressionOfSlot[slots[variable.index]] = expressions.count
            }
            add(variable.expression, .variable, to: &item)
            items.append(item)
        }
    }

    private mutating func add(_ block: RuleBlock, depth: Int, _ slots: [Int]) {
        add(block.variables, depth: depth, slots)
        for match in block.matches {
            var item = Item(kind: .rule, name: match.id, depth: depth, position: match.position)
            if let condition = match.condition { add(condition, .condition, to: &item) }
            if let explanation = match.explanation { add(explanation, .explanation, to: &item) }
            itemOfRule.append(items.count)
            items.append(item)
            if case .block(let nested) = match.action { add(nested, depth: depth + 1, slots) }
        }
    }

    private mutating func add(_ block: PlainBlock, _ path: String, depth: Int, _ slots: [Int]) {
        add(block.variables, depth: depth, slots)
        for (number, match) in block.matches.enumerated() {
            let name = path == "match" ? "match \(number + 1)" : "\(path).\(number + 1)"
            var item = Item(kind: .rule, name: name, depth: depth, position: match.position)
            if let condition = match.condition { add(condition, .condition, to: &item) }
            if case .output(let output) = match.action { add(output, .output, to: &item) }
            if let explanation = match.explanation { add(explanation, .explanation, to: &item) }
            itemOfRule.append(items.count)
            items.append(item)
            if case .block(let nested) = match.action { add(nested, name, depth: depth + 1, slots) }
        }
    }

    // MARK: Running

    /// Evaluates an expression and the variables that it reads, each once for a run.
    func evaluate(_ index: Int, _ activation: inout Activation, into run: inout PolicyRun) {
        guard run.results[index] == nil else { return }
        let program = programs[index]
        let result = program.evaluate(&activation)
        run.results[index] = result
        for event in result.trace {
            guard case .slot(let slot)? = program.ast[event.node].reference,
                let variable = expressionOfSlot[slot]
            else { continue }
            evaluate(variable, &activation, into: &run)
        }
    }

    /// The expression of the variable that a node reads.
    func variable(readBy node: AST.Node) -> Int? {
        if case .slot(let slot)? = node.reference { expressionOfSlot[slot] } else { nil }
    }
}

/// What the expressions of a policy gave for one event.
struct PolicyRun: Sendable {
    /// By the place of the expression; those that were not evaluated are not there.
    var results: [Int: EvaluationResult] = [:]
    /// How often items were reached and did their work, by the place of the item.
    var items: [Int: ItemHits] = [:]
}

/// How often an item was reached and did its work.
struct ItemHits: Sendable {
    var reached = 0
    var matched = 0
    /// Of the counts that a reason is made of: how often each was met, and not.
    var counts: [(met: Int, unmet: Int)] = []
}

extension Environment {
    /// The slots of variables, in the order of their declaration.
    fileprivate var computedSlots: [Int] { slots.indices.filter { slots[$0].program != nil } }
}

extension ReviewRequirement {
    /// The counts that it is made of, in the order of verdicts' parts, as text.
    fileprivate var counts: [String] {
        switch self {
        case .count(let reason, let atLeast, let window):
            ["\(reason) at least \(atLeast)" + (window.map { " within \($0.policyText)" } ?? "")]
        case .distinctDays(let reason, let atLeast, let window):
            ["\(reason) on \(atLeast) of \(window) days"]
        case .weighted(let points, let atLeast, let window):
            [
                "\(ReviewPoints.text(points)) at least \(atLeast)"
                    + (window.map { " within \($0.policyText)" } ?? "")
            ]
        case .all(let parts), .any(let parts): parts.flatMap(\.counts)
        case .not(let part): part.counts
        }
    }
}
