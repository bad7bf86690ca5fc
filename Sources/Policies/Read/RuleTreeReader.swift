import CEL
import Ledger

/// Reads `rule:` of a trust policy: blocks, matches and their expressions, in file order.
struct RuleTreeReader {
    let sink: DiagnosticSink
    var scope: ExpressionScope
    /// One per match, in policy order.
    private(set) var rules: [RuleSummary] = []
    /// Where each rule stands, for findings about pairs of them.
    private(set) var ranges: [SourceRange] = []
    private var takenIDs: [String: SourceRange] = [:]

    init(scope: ExpressionScope, sink: DiagnosticSink) {
        self.scope = scope
        self.sink = sink
    }

    /// What a block inherits from the matches around it.
    private struct Around {
        var parent: Int?
        var depth = 1
        var isShadow = false
        /// The conditions that hold wherever the block is reached.
        var conditions: [Expression] = []
        /// The text that ids are derived from.
        var path = ""
    }

    /// Nil where nothing of it can be used, with the reasons in the sink.
    mutating func read(_ node: YAMLNode) -> RuleBlock? { block(node, Around()) }

    private mutating func block(_ node: YAMLNode, _ around: Around) -> RuleBlock? {
        guard
            let fields = Fields(
                node, "a rule", keys: ["id", "description", "strategy", "variables", "match"],
                sink: sink)
        else { return nil }
        guard around.depth <= PolicyLimits.ruleDepth else {
            sink.error(
                .tooDeep, "rules nest at most \(PolicyLimits.ruleDepth) deep", at: fields.headRange)
            return nil
        }
        let strategy = fields.choice("strategy", Strategy.self) ?? .firstMatch
        guard let list = fields["match"], !list.isNull else {
            sink.error(.emptyRule, "the rule has no `match`", at: fields.headRange)
            return nil
        }
        return withNames { reader in
            let variables = VariableReader(sink: reader.sink).read(fields, scope: &reader.scope)
            let items = fields.items("match")
            if items.isEmpty {
                reader.sink.error(.emptyRule, "`match` lists no rules", at: list.range)
            }
            let matches = items.compactMap { reader.match($0, around) }
            return RuleBlock(strategy: strategy, variables: variables, matches: matches)
        }
    }

    /// As `ExpressionScope.nested`, for a body that reads rules.
    private mutating func withNames<Result>(
        _ body: (inout RuleTreeReader) -> Result
    ) -> Result {
        var inner = self
        let result = scope.nested { scope in
            inner.scope = scope
            let result = body(&inner)
            scope = inner.scope
            return result
        }
        let outerScope = scope
        self = inner
        scope = outerScope
        return result
    }

    private mutating func match(_ node: YAMLNode, _ around: Around) -> Match? {
        guard
            let fields = Fields(
                node, "a match",
                keys: ["id", "condition", "output", "rule", "explanation", "mode", "onMissing"],
                sink: sink)
        else { return nil }
        let index = rules.count
        if index == PolicyLimits.rules {
            sink.error(
                .tooMany, "a policy has at most \(PolicyLimits.rules) rules", at: fields.headRange)
        }
        let condition = fields["condition"].flatMap { scope.compile($0, .condition)?.expression }
        let mode = fields.choice("mode", RuleMode.self) ?? .enforce
        let isShadow = around.isShadow || mode == .shadow
        let (id, isNamed) = self.id(fields, condition, around)
        // The place in policy order is taken before nested rules take theirs.
        rules.append(
            RuleSummary(
                id: id, parent: around.parent, mode: isShadow ? .shadow : .enforce, output: nil,
                readsInsight: readsInsight(condition)))
        ranges.append(fields.headRange)
        var inner = around
        inner.parent = index
        inner.depth += 1
        inner.isShadow = isShadow
        inner.conditions += condition.map { [$0] } ?? []
        inner.path += id + "/"
        let action = self.action(fields, inner)
        let explanation = fields["explanation"].flatMap {
            scope.compile($0, .explanation)?.expression
        }
        if explanation != nil, fields.has("rule"), let entry = fields.entry("explanation") {
            sink.error(
                .invalidValue, "a match with a nested `rule` has no `explanation` of its own",
                at: entry.keyRange, help: "give it to the rules inside")
        }
        guard let action else { return nil }
        return finish(
            Draft(
                index: index, id: id, isNamed: isNamed, condition: condition, action: action,
                explanation: explanation, mode: mode, fields: fields,
                conditions: inner.conditions))
    }

    private struct Draft {
        var index: Int
        var id: String
        var isNamed: Bool
        var condition: Expression?
        var action: Match.Action
        var explanation: Expression?
        var mode: RuleMode
        var fields: Fields
        var conditions: [Expression]
    }

    private mutating func finish(_ draft: Draft) -> Match {
        let fields = draft.fields
        let raises = raisesFriction(draft.action)
        let onMissing = fields.choice("onMissing", OnMissing.self)
        if raises, onMissing == .noMatch, let entry = fields.entry("onMissing") {
            sink.warning(
                .raisesButNoMatch,
                "a rule that raises friction does not match when a value is missing",
                at: entry.keyRange,
                help: "leaving a field out makes life easier; remove `onMissing` for the safe way")
        }
        var evidence: [Expression] = []
        if case .output(let output) = draft.action {
            let summary = rules[draft.index]
            rules[draft.index] = RuleSummary(
                id: summary.id, parent: summary.parent, mode: summary.mode, output: output,
                readsInsight: summary.readsInsight)
            if output.steps.contains(.block) {
                evidence = EvidenceFinder(scope: scope).find(draft.conditions)
                if evidence.isEmpty { refuseBlock(fields) }
            }
        }
        return Match(
            index: draft.index, id: draft.id, isNamed: draft.isNamed, condition: draft.condition,
            action: draft.action, explanation: draft.explanation, mode: draft.mode,
            onMissing: onMissing ?? (raises ? .match : .noMatch), raisesFriction: raises,
            otherEvidence: evidence, position: fields.headRange.start)
    }

    private func refuseBlock(_ fields: Fields) {
        // A condition that could not be compiled has been reported; what it reads is not known.
        if fields.has("condition"), sink.hasErrors(in: fields["condition"]?.range) { return }
        sink.error(
            .blockNeedsOtherEvidence,
            "`block` needs a condition with a conjunct that reads no insight value",
            at: fields.entry("output")?.keyRange ?? fields.headRange,
            help: "add `&& …` about an attribute or a velocity, or use `manualReview`")
    }

    private mutating func action(_ fields: Fields, _ inner: Around) -> Match.Action? {
        switch (fields["output"], fields["rule"]) {
        case (let output?, nil):
            return OutputReader(sink: sink).read(output).map(Match.Action.output)
        case (nil, let rule?): return block(rule, inner).map(Match.Action.block)
        case (_?, _?):
            sink.error(
                .invalidValue, "a match has `output` or `rule`, not both",
                at: fields.entry("rule")?.keyRange ?? fields.headRange)
            return nil
        case (nil, nil):
            sink.error(
                .emptyRule, "the match has neither `output` nor `rule`", at: fields.headRange)
            return nil
        }
    }

    private func readsInsight(_ condition: Expression?) -> Bool {
        condition.map { $0.deepReads + $0.deepTests }?.contains {
            $0 <= SlotLayout.Fixed.insightModelVersion
        } ?? false
    }

    private func raisesFriction(_ action: Match.Action) -> Bool {
        switch action {
        case .output(let output): output.friction == .increased
        case .block(let block): block.matches.contains(where: \.raisesFriction)
        }
    }

    // MARK: - Names

    private mutating func id(
        _ fields: Fields, _ condition: Expression?, _ around: Around
    ) -> (id: String, isNamed: Bool) {
        guard let node = fields["id"] else { return (derivedID(fields, condition, around), false) }
        guard let id = fields.string("id"), Names.check(id, "the id", at: node.range, sink) else {
            return (derivedID(fields, condition, around), false)
        }
        if let first = takenIDs[id] {
            sink.error(
                .duplicateID, "the id `\(id)` is given twice", at: node.range,
                help: "the first is on line \(first.start.line)")
        }
        takenIDs[id] = node.range
        return (id, true)
    }

    /// A name from what the rule says, not from where it stands or how it is laid out, so that
    /// neither moving rules about nor `fmt` changes it. Rules that say the same are numbered.
    private mutating func derivedID(
        _ fields: Fields, _ condition: Expression?, _ around: Around
    ) -> String {
        let isDefault = condition == nil && around.parent == nil && fields.has("output")
        var text = around.path + "\u{0}"
        text +=
            condition.map { $0.program.ast.canonicalText(of: $0.program.root) ?? $0.source } ?? ""
        if let output = fields["output"] { text += "\u{0}" + Self.words(of: output) }
        let base =
            isDefault ? "default" : "rule-" + String(SHA256.hash(text).hex.prefix(8))
        var id = base
        var number = 1
        while takenIDs[id] != nil {
            number += 1
            id = "\(base)-\(number)"
        }
        takenIDs[id] = fields.headRange
        return id
    }

    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func words(of node: YAMLNode) -> String {
        switch node.content {
        case .scalar(let scalar): words(scalar.text)
        case .sequence(let items): "[" + items.map(words(of:)).joined(separator: ",") + "]"
        case .mapping(let entries):
            "{" + entries.map { $0.key + ":" + words(of: $0.value) }.sorted().joined(separator: ",")
                + "}"
        }
    }
}
