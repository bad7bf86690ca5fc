import CEL
import Time

/// Compares the rules of two trust policies: which there are, when they match, what they decide.
struct RuleComparison {
    private let old: TrustPolicy
    private let new: TrustPolicy
    private let terms = Terms()
    private var before: Reasoner
    private var after: Reasoner
    private var changes: [PolicyChange] = []

    init(_ old: TrustPolicy, _ new: TrustPolicy) {
        self.old = old
        self.new = new
        // Both are declared before any condition is looked at: what terms can be is known by then.
        before = Reasoner(old, terms)
        after = Reasoner(new, terms)
    }

    /// A match with the block around it.
    private struct Rule {
        let match: Match
        let parent: String
        let block: RuleBlock
    }

    func run() -> [PolicyChange] {
        var run = self
        run.compareStrategy("", old.rule, new.rule)
        run.compareVariables()
        let pairs = run.pairs()
        for (mine, theirs) in pairs { run.compare(mine, theirs) }
        run.compareOrder(
            pairs.compactMap { mine, theirs in
                mine.flatMap { mine in theirs.map { (mine, $0) } }
            })
        return run.changes
    }

    private static func rules(_ block: RuleBlock, _ parent: String) -> [Rule] {
        block.matches.flatMap { match -> [Rule] in
            let rule = Rule(match: match, parent: parent, block: block)
            guard case .block(let inner) = match.action else { return [rule] }
            return [rule] + rules(inner, match.id)
        }
    }

    /// Rules of the same id; of those without one, rules with the same condition, then rules with
    /// the same output, since their ids follow from what they say.
    private mutating func pairs() -> [(Rule?, Rule?)] {
        var rest = Self.rules(new.rule, "")
        var mine = Self.rules(old.rule, "").map { (rule: $0, partner: Rule?.none) }
        func pair(where isPair: (Rule, Rule) -> Bool) {
            for index in mine.indices where mine[index].partner == nil {
                guard let found = rest.firstIndex(where: { isPair(mine[index].rule, $0) }) else {
                    continue
                }
                mine[index].partner = rest.remove(at: found)
            }
        }
        pair { $0.match.id == $1.match.id }
        pair { left, right in
            !left.match.isNamed && !right.match.isNamed && left.match.id != "default"
                && right.match.id != "default"
                && left.match.condition?.source == right.match.condition?.source
        }
        pair { left, right in
            !left.match.isNamed && !right.match.isNamed && left.match.output != nil
                && left.match.output == right.match.output
                && (left.match.condition == nil) == (right.match.condition == nil)
        }
        return mine.map { ($0.rule, $0.partner) } + rest.map { (nil, $0) }
    }

    // MARK: One rule

    private mutating func compare(_ mine: Rule?, _ theirs: Rule?) {
        guard let mine, let theirs else {
            let match = (mine ?? theirs)?.match
            let text = match.map(Self.text)
            changes.append(
                PolicyChange(
                    mine == nil ? .added : .removed, "rule", match?.id ?? "",
                    old: mine == nil ? nil : text, new: mine == nil ? text : nil))
            return
        }
        let (left, right) = (mine.match, theirs.match)
        let name = right.id
        compareCondition(name, left.condition, right.condition)
        note(name, "output", left.output.map(\.text), right.output.map(\.text))
        note(name, "mode", left.mode.rawValue, right.mode.rawValue)
        if left.condition != nil, right.condition != nil {
            note(name, "onMissing", left.onMissing.rawValue, right.onMissing.rawValue)
        }
        if before.meaning(of: left.explanation) != after.meaning(of: right.explanation) {
            note(name, "explanation", left.explanation?.text, right.explanation?.text)
        }
        if mine.parent != theirs.parent { note(name, "inside of", mine.parent, theirs.parent) }
        if case .block(let inner) = left.action, case .block(let other) = right.action {
            compareStrategy(name, inner, other)
        }
    }

    private mutating func note(_ name: String, _ field: String, _ old: String?, _ new: String?) {
        guard old != new else { return }
        changes.append(
            PolicyChange(.changed, "rule", name, field: field, old: old, new: new))
    }

    private mutating func compareCondition(
        _ name: String, _ mine: Expression?, _ theirs: Expression?
    ) {
        guard before.meaning(of: mine) != after.meaning(of: theirs) else { return }
        let relation = self.relation(mine, theirs)
        guard relation != .equivalent || (mine == nil) != (theirs == nil) else { return }
        changes.append(
            PolicyChange(
                .changed, "rule", name, field: "condition", old: mine?.text ?? "none",
                new: theirs?.text ?? "none", relation: relation))
    }

    private mutating func relation(_ mine: Expression?, _ theirs: Expression?)
        -> PolicyChange.Relation
    {
        let left = mine.map { before.truth(of: $0) } ?? .always
        let right = theirs.map { after.truth(of: $0) } ?? .always
        let isNarrower = right.isTrue.isInside(left.isTrue, terms)
        let isWider = left.isTrue.isInside(right.isTrue, terms)
        if isNarrower, isWider {
            let isSame =
                left.isFalse.isInside(right.isFalse, terms)
                && right.isFalse.isInside(left.isFalse, terms)
            // They hold alike, and fail for other events.
            return isSame ? .equivalent : .different
        }
        return isNarrower ? .narrower : isWider ? .wider : .different
    }

    // MARK: Blocks

    private mutating func compareStrategy(_ name: String, _ mine: RuleBlock, _ theirs: RuleBlock) {
        guard mine.strategy != theirs.strategy else { return }
        changes.append(
            PolicyChange(
                .changed, name.isEmpty ? "strategy" : "rule", name,
                field: name.isEmpty ? nil : "strategy", old: mine.strategy.rawValue,
                new: theirs.strategy.rawValue))
    }

    /// Variables are what rules read; one of a nested block may have the name of an outer one.
    private mutating func compareVariables() {
        var rest = new.variables
        for mine in old.variables {
            guard let index = rest.firstIndex(where: { $0.name == mine.name }) else {
                changes.append(
                    PolicyChange(.removed, "variable", mine.name, old: mine.expression.text))
                continue
            }
            let theirs = rest.remove(at: index)
            // What changed of a variable within it is said of that variable.
            let isSame = ExpressionText.isSame(mine.expression.source, theirs.expression.source)
            guard !(isSame ?? (mine.expression.text == theirs.expression.text)) else { continue }
            let isBool =
                mine.expression.program.resultType == .bool
                && theirs.expression.program.resultType == .bool
            let relation = isBool ? relation(mine.expression, theirs.expression) : nil
            guard relation != .equivalent else { continue }
            changes.append(
                PolicyChange(
                    .changed, "variable", mine.name, old: mine.expression.text,
                    new: theirs.expression.text, relation: relation))
        }
        for theirs in rest {
            changes.append(
                PolicyChange(.added, "variable", theirs.name, new: theirs.expression.text))
        }
    }

    /// Under `firstMatch` the order of rules matters, where two of them can match one event.
    private mutating func compareOrder(_ pairs: [(Rule, Rule)]) {
        let parents = Set(pairs.map(\.1.parent)).sorted()
        for parent in parents {
            let inside = pairs.filter {
                $0.0.parent == $0.1.parent && $0.1.parent == parent
                    && $0.0.block.strategy == .firstMatch && $0.1.block.strategy == .firstMatch
                    && $0.0.match.mode == .enforce && $0.1.match.mode == .enforce
            }
            let mine = inside.sorted { $0.0.match.index < $1.0.match.index }.map(\.1.match)
            let isSwapped = mine.indices.contains { first in
                mine[(first + 1)...].contains { later in
                    later.index < mine[first].index && canMeet(mine[first], later)
                }
            }
            guard isSwapped else { continue }
            let theirs = mine.sorted { $0.index < $1.index }
            changes.append(
                PolicyChange(
                    .changed, parent.isEmpty ? "order" : "rule", parent,
                    field: parent.isEmpty ? nil : "order",
                    old: mine.map(\.id).joined(separator: ", "),
                    new: theirs.map(\.id).joined(separator: ", ")))
        }
    }

    private mutating func canMeet(_ first: Match, _ second: Match) -> Bool {
        guard let left = first.condition, let right = second.condition else { return true }
        // One that fails may match as well; only what is false for sure excludes the other.
        let (one, other) = (after.truth(of: left), after.truth(of: right))
        guard let open = Region.everything.subtracting(one.isFalse, terms) else { return true }
        return !open.isInside(other.isFalse, terms)
    }

    private static func text(_ match: Match) -> String {
        let condition = match.condition.map { "if \($0.text): " } ?? ""
        return condition + (match.output?.text ?? "nested rules")
    }
}

extension Expression {
    /// The expression in one line.
    fileprivate var text: String {
        program.ast.formatted()
            ?? source.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

extension DecisionOutput {
    /// The output as a policy writes it, in one line; names in the order of the alphabet.
    package var text: String {
        var parts = ["friction: \(friction.name)"]
        if !steps.isEmpty {
            parts.append("steps: [\(steps.steps.map(\.name).joined(separator: ", "))]")
        }
        if let holdFor { parts.append("holdFor: \(holdFor.policyText)") }
        if !notify.isEmpty {
            parts.append("notify: [\(notify.sorted().joined(separator: ", "))]")
        }
        return "{\(parts.joined(separator: ", "))}"
    }
}
