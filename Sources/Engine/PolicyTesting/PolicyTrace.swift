import CEL
import Policies
import TrustInsights

/// How every rule of a policy came to its verdict: the value of each sub-expression that
/// mattered, and what was not evaluated.
public struct PolicyTrace: Sendable {
    /// A sub-expression.
    public struct Node: Sendable {
        /// Its text, on one line.
        public var text: String
        /// Its values as text, in the order of evaluation; several inside of a macro, none if it
        /// was not evaluated.
        public var values: [String]
        /// Whether the values are errors' messages.
        public var isError: Bool
        /// What it is made of, left to right, constants left out.
        public var children: [Node]
        /// Whether it is a variable whose parts were shown before.
        public var isShownBefore = false

        /// Whether it was evaluated.
        public var isEvaluated: Bool { !values.isEmpty }
    }

    /// A rule.
    public struct Rule: Sendable {
        /// Its id.
        public var name: String
        /// How deep it is nested, from 0.
        public var depth: Int
        /// `matched`, `notMatched`, `notEvaluated` or `error`.
        public var verdict: String
        /// Whether it is in shadow.
        public var isShadow: Bool
        /// Why it was not evaluated, or what decided in the condition's place.
        public var cause: String?
        /// The caller's values that were missing.
        public var missing: [String]
        /// What failed.
        public var error: String?
        /// Its condition; nil for a default.
        public var condition: Node?
        /// The text of its explanation, if it was made.
        public var explanation: String?
        /// Of a plain policy: the result, if this match gave it.
        public var output: Node?
    }

    /// All rules, in policy order.
    public var rules: [Rule]

    /// How a recorded evaluation came about. The recorded verdicts are the truth; the conditions
    /// are evaluated again, which gives what they gave then.
    init(_ record: EvaluationRecord, _ policy: TrustPolicy) {
        let traced = TracedPolicy(policy)
        let run = traced.run(record, of: policy)
        var nodes = TraceNodes(traced: traced, run: run)
        rules = policy.rule.allMatches.map { match in
            let place = traced.itemOfRule[match.index]
            let verdict =
                match.index < record.verdicts.count ? record.verdicts[match.index] : .skipped
            let condition = traced.items[place].expression(.condition)
            var rule = Rule(
                name: match.id, depth: traced.items[place].depth, verdict: verdict.name,
                isShadow: policy.rules[match.index].mode == .shadow,
                cause: Self.cause(verdict, policy.rules[match.index], record),
                missing: [], condition: condition.map { nodes.tree($0) })
            if let error = condition.flatMap({ run.results[$0]?.error }) {
                if error.code == .missing { rule.missing = error.missing }
                rule.error = error.message
            }
            if let explanation = traced.items[place].expression(.explanation),
                case .string(let text)? = run.results[explanation]?.value
            {
                rule.explanation = text
            }
            return rule
        }
    }

    private static func cause(
        _ verdict: Verdict, _ rule: RuleSummary, _ record: EvaluationRecord
    ) -> String? {
        switch verdict {
        case .matched, .failed: return nil
        // A shadow rule whose own condition was not looked at.
        case .notMatched:
            return record.isNotEntered(rule) ? "the rule around it did not match" : nil
        case .missing: return "a value is missing, and `onMissing` says no match"
        case .matchedOnMissing: return "a value is missing, and `onMissing` says match"
        case .matchedOnFailure: return "failed; counts as matched, since it raises friction"
        case .skipped:
            return record.isNotEntered(rule)
                ? "the rule around it did not match" : "an earlier rule decided"
        }
    }

    /// How a plain policy comes to its result.
    public init(_ policy: PlainPolicy, _ inputs: [(name: String, value: Value)]) {
        let traced = TracedPolicy(policy)
        let run = traced.run(policy, inputs)
        var nodes = TraceNodes(traced: traced, run: run)
        rules = traced.itemOfRule.map { place in
            let item = traced.items[place]
            let hits = run.items[place]
            let condition = item.expression(.condition)
            let error = condition.flatMap { run.results[$0]?.error }
            let output = item.expression(.output).flatMap { run.results[$0] == nil ? nil : $0 }
            let verdict =
                hits == nil
                ? "notEvaluated"
                : error != nil ? "error" : hits?.matched == 1 ? "matched" : "notMatched"
            return Rule(
                name: item.name, depth: item.depth, verdict: verdict, isShadow: false,
                cause: hits == nil ? "not reached" : nil, missing: error?.missing ?? [],
                error: error?.message, condition: condition.map { nodes.tree($0) },
                output: output.map { nodes.tree($0) })
        }
    }
}

/// Makes trees of what was traced.
private struct TraceNodes {
    let traced: TracedPolicy
    let run: PolicyRun
    private var shown: Set<Int> = []

    init(traced: TracedPolicy, run: PolicyRun) {
        self.traced = traced
        self.run = run
    }

    mutating func tree(_ expression: Int) -> PolicyTrace.Node {
        let program = traced.programs[expression]
        var events: [AST.NodeID: [TraceEvent]] = [:]
        for event in run.results[expression]?.trace ?? [] {
            events[event.node, default: []].append(event)
        }
        return node(program.root, program.ast, events)
    }

    private mutating func node(
        _ id: AST.NodeID, _ ast: AST, _ events: [AST.NodeID: [TraceEvent]]
    ) -> PolicyTrace.Node {
        let found = events[id] ?? []
        var isError = false
        let values = found.map { event in
            switch event.outcome {
            case .success(let value): return value.text
            case .failure(let error):
                isError = true
                return error.message
            }
        }
        let text = ast.text(of: id).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        var node = PolicyTrace.Node(text: text, values: values, isError: isError, children: [])
        if let variable = traced.variable(readBy: ast[id]) {
            guard node.isEvaluated else { return node }
            if shown.insert(variable).inserted {
                node.children = [tree(variable)]
            } else {
                node.isShownBefore = true
            }
            return node
        }
        node.children = parts(of: id, ast).map { self.node($0, ast, events) }
        return node
    }

    /// Whether it is a literal, or a list or map of them.
    private func isWritten(_ id: AST.NodeID, _ ast: AST) -> Bool {
        switch ast[id].kind {
        case .literal: true
        case .list, .map: ast.children(of: id).allSatisfy { isWritten($0, ast) }
        default: false
        }
    }

    /// The parts worth showing.
    private func parts(of id: AST.NodeID, _ ast: AST) -> [AST.NodeID] {
        switch ast[id].reference {
        case .slot?, .object?, .local?, .constant?: return []
        default: break
        }
        switch ast[id].kind {
        case .call(let function, nil, _) where function == "_&&_" || function == "_||_":
            return ast.terms(of: id, joinedBy: function)
        default:
            return ast.children(of: id).filter { child in
                let node = ast[child]
                if isWritten(child, ast) { return false }
                switch node.reference {
                case .constant?: return false
                case nil: if case .identifier = node.kind { return false }
                default: break
                }
                return true
            }
        }
    }
}

extension RuleBlock {
    /// Its matches and all nested ones, in policy order.
    fileprivate var allMatches: [Match] {
        matches.flatMap { match -> [Match] in
            if case .block(let nested) = match.action { return [match] + nested.allMatches }
            return [match]
        }
    }
}
