import CEL

/// Reads and checks a plain CEL policy.
struct PlainPolicyReader {
    let sink: DiagnosticSink
    /// The roots of `config.yaml` and its like in the same folder.
    let environments: [YAMLNode]

    static let keys = ["name", "description", "display_name", "imports", "metadata", "rule"]

    /// Nil where anything is refused, with the reasons in the sink.
    func read(_ root: YAMLNode, source: PolicySource) -> PlainPolicy? {
        guard let fields = Fields(root, "a policy", keys: Self.keys, sink: sink) else { return nil }
        let name = fields.requiredString("name")
        guard let rule = fields.required("rule") else { return nil }
        checkImports(fields)
        let environment =
            environments.isEmpty
            ? PlainEnvironment.anyNames(in: rule, sink: sink)
            : PlainEnvironment(nodes: environments).make()
        let checks = ExpressionChecks(unstored: [], outcomeSlot: nil, slotNames: [:])
        var reader = PlainRuleReader(
            scope: ExpressionScope(environment: environment, checks: checks, sink: sink),
            sink: sink)
        let block = reader.block(rule, depth: 1)
        guard let name, let block, !sink.hasErrors else { return nil }
        return PlainPolicy(
            name: name, description: fields.string("description") ?? "",
            environment: reader.scope.environment, rule: block, source: source)
    }

    /// Imports name types of other systems; only their spelling can be checked here.
    private func checkImports(_ fields: Fields) {
        for item in fields.items("imports") {
            guard let entry = Fields(item, "an import", keys: ["name"], sink: sink),
                let name = entry.requiredString("name"), let node = entry["name"],
                let scalar = node.scalar
            else { continue }
            let trimmed = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let isFine = trimmed.split(separator: ".", omittingEmptySubsequences: false).allSatisfy
            {
                !$0.isEmpty && $0.utf8.allSatisfy(Names.isWord)
            }
            guard !isFine else { continue }
            let map = ScalarMap(scalar, range: node.range, source: sink.text)
            let place = map.position(atScalar: 0)
            sink.error(
                .badName, "`\(trimmed)` is no name of the form `qualified.name`",
                at: SourceRange(start: place, end: node.range.end))
        }
    }
}

/// Reads `rule:` of a plain policy.
private struct PlainRuleReader {
    var scope: ExpressionScope
    let sink: DiagnosticSink
    /// The type of the outputs so far; all others must have it too.
    private var outputType: Type?

    init(scope: ExpressionScope, sink: DiagnosticSink) {
        self.scope = scope
        self.sink = sink
    }

    mutating func block(_ node: YAMLNode, depth: Int) -> PlainBlock? {
        guard
            let fields = Fields(
                node, "a rule", keys: ["id", "description", "variables", "match"], sink: sink)
        else { return nil }
        guard depth <= PolicyLimits.ruleDepth else {
            sink.error(
                .tooDeep, "rules nest at most \(PolicyLimits.ruleDepth) deep", at: fields.headRange)
            return nil
        }
        guard let list = fields["match"], !list.isNull else {
            sink.error(.emptyRule, "the rule has no `match`", at: fields.headRange)
            return nil
        }
        var inner = self
        let block = scope.nested { scope -> PlainBlock in
            inner.scope = scope
            let variables = VariableReader(sink: inner.sink).read(fields, scope: &inner.scope)
            let items = fields.items("match")
            if items.isEmpty {
                inner.sink.error(.emptyRule, "`match` lists no rules", at: list.range)
            }
            let matches = items.compactMap { inner.match($0, depth: depth) }
            inner.checkReachable(items, matches)
            scope = inner.scope
            return PlainBlock(variables: variables, matches: matches)
        }
        outputType = inner.outputType
        return block
    }

    private mutating func match(_ node: YAMLNode, depth: Int) -> PlainMatch? {
        guard
            let fields = Fields(
                node, "a match", keys: ["condition", "output", "rule", "explanation"], sink: sink)
        else { return nil }
        let condition = fields["condition"].flatMap { scope.compile($0, .condition)?.expression }
        let action: PlainMatch.Action?
        switch (fields["output"], fields["rule"]) {
        case (let output?, nil): action = self.output(output).map(PlainMatch.Action.output)
        case (nil, let rule?): action = nestedBlock(rule, depth: depth + 1)
        case (_?, _?):
            sink.error(
                .invalidValue, "a match has `output` or `rule`, not both",
                at: fields.entry("rule")?.keyRange ?? fields.headRange)
            action = nil
        case (nil, nil):
            sink.error(
                .emptyRule, "the match has neither `output` nor `rule`", at: fields.headRange)
            action = nil
        }
        let explanation = fields["explanation"].flatMap {
            scope.compile($0, .explanation)?.expression
        }
        return action.map {
            PlainMatch(
                condition: condition, action: $0, explanation: explanation,
                position: fields.headRange.start)
        }
    }

    /// A nested block is held against the outputs before it as a whole, where it begins.
    private mutating func nestedBlock(_ rule: YAMLNode, depth: Int) -> PlainMatch.Action? {
        let before = outputType
        outputType = nil
        let block = block(rule, depth: depth)
        let inner = outputType
        outputType = before
        if let inner { agree(inner, at: Self.headRange(rule)) }
        return block.map(PlainMatch.Action.block)
    }

    private mutating func output(_ node: YAMLNode) -> Expression? {
        guard let compiled = scope.compile(node, .output) else { return nil }
        let start = compiled.expression.position
        agree(
            compiled.expression.program.resultType,
            at: SourceRange(start: start, end: max(start, node.range.end)))
        return compiled.expression
    }

    private mutating func agree(_ type: Type, at range: SourceRange) {
        guard let expected = outputType else {
            outputType = type
            return
        }
        if expected != type, expected != .dyn, type != .dyn {
            sink.error(
                .incompatibleOutputs,
                "outputs must be of one type: this is `\(type)`, those before are `\(expected)`",
                at: range)
        }
    }

    private static func headRange(_ node: YAMLNode) -> SourceRange {
        if case .mapping(let entries) = node.content, let first = entries.first {
            first.keyRange
        } else {
            node.range
        }
    }

    /// Whatever follows a match that always gives a result can never be reached; nor can anything
    /// come of a condition that is the literal false.
    private func checkReachable(_ items: [YAMLNode], _ matches: [PlainMatch]) {
        guard items.count == matches.count else { return }
        for (index, match) in matches.enumerated() where index + 1 < matches.count {
            guard Self.alwaysGives(match) else { continue }
            var range = Self.headRange(items[index])
            if case .block = match.action, case .mapping(let entries) = items[index].content,
                let rule = entries.first(where: { $0.key == "rule" })
            {
                range = Self.headRange(rule.value)
            }
            sink.error(
                .unreachableRule, "what follows this match can never be reached", at: range,
                help: "move it to the end")
        }
    }

    private static func alwaysGives(_ match: PlainMatch) -> Bool {
        guard match.condition == nil else { return false }
        switch match.action {
        case .output: return true
        case .block(let block): return block.matches.contains(where: alwaysGives)
        }
    }
}
