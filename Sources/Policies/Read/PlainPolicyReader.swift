import CEL

/// Reads and checks a plain CEL policy.
struct PlainPolicyReader {
    let sink: DiagnosticSink
    /// The root of `config.yaml` in the same folder; nil if there is none.
    let environment: YAMLNode?

    static let keys = ["name", "description", "display_name", "imports", "metadata", "rule"]

    /// Nil where anything is refused, with the reasons in the sink.
    func read(_ root: YAMLNode, source: PolicySource) -> PlainPolicy? {
        guard let fields = Fields(root, "a policy", keys: Self.keys, sink: sink) else { return nil }
        let name = fields.requiredString("name")
        guard let rule = fields.required("rule") else { return nil }
        let environment =
            environment.map { PlainEnvironment(node: $0).make() }
            ?? PlainEnvironment.anyNames(in: rule, sink: sink)
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
}

/// Reads `rule:` of a plain policy.
private struct PlainRuleReader {
    var scope: ExpressionScope
    let sink: DiagnosticSink
    /// The type of the first output; all others must have it too.
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
        case (nil, let rule?): action = block(rule, depth: depth + 1).map(PlainMatch.Action.block)
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

    private mutating func output(_ node: YAMLNode) -> Expression? {
        guard let expression = scope.compile(node, .output)?.expression else { return nil }
        let type = expression.program.resultType
        guard let expected = outputType else {
            outputType = type
            return expression
        }
        if expected != type, expected != .dyn, type != .dyn {
            sink.error(
                .incompatibleOutputs,
                "the output is `\(type)`, outputs before it are `\(expected)`", at: node.range)
        }
        return expression
    }

    /// Whatever follows a match that always gives a result can never be reached.
    private func checkReachable(_ items: [YAMLNode], _ matches: [PlainMatch]) {
        guard items.count == matches.count,
            let last = matches.firstIndex(where: Self.alwaysGives), last + 1 < matches.count
        else { return }
        sink.error(
            .unreachableRule, "this match creates outputs that can never be reached",
            at: items[last].range, help: "move it to the end")
    }

    private static func alwaysGives(_ match: PlainMatch) -> Bool {
        guard match.condition == nil else { return false }
        switch match.action {
        case .output: return true
        case .block(let block): return block.matches.contains(where: alwaysGives)
        }
    }
}

/// The names a plain policy may use.
struct PlainEnvironment {
    let node: YAMLNode

    /// The variables that `config.yaml` declares. What is wrong in it is reported where the
    /// policy uses it: an environment is not ours to judge.
    func make() -> Environment {
        var environment = Environment()
        guard case .mapping(let entries) = node.content,
            case .sequence(let variables)? = entries.first(where: { $0.key == "variables" })?.value
                .content
        else { return environment }
        for variable in variables {
            guard case .mapping(let fields) = variable.content,
                let name = fields.first(where: { $0.key == "name" })?.value.scalar?.text
            else { continue }
            let type = fields.first { $0.key == "type" }?.value ?? variable
            _ = try? environment.declare(name, Self.type(type, depth: 0))
        }
        return environment
    }

    private static func type(_ node: YAMLNode, depth: Int) -> Type {
        guard depth < 10 else { return .dyn }
        if let name = node.scalar?.text { return named(name, []) }
        guard case .mapping(let fields) = node.content,
            let name = fields.first(where: { $0.key == "type_name" })?.value.scalar?.text
        else { return .dyn }
        var parameters: [Type] = []
        if case .sequence(let items)? = fields.first(where: { $0.key == "params" })?.value.content {
            parameters = items.map { type($0, depth: depth + 1) }
        }
        return named(name, parameters)
    }

    private static func named(_ name: String, _ parameters: [Type]) -> Type {
        switch name {
        case "bool": .bool
        case "int": .int
        case "uint": .uint
        case "double": .double
        case "string": .string
        case "bytes": .bytes
        case "null_type": .null
        case "timestamp", "google.protobuf.Timestamp": .timestamp
        case "duration", "google.protobuf.Duration": .duration
        case "list": .list(parameters.first ?? .dyn)
        case "map": .map(parameters.first ?? .dyn, parameters.dropFirst().first ?? .dyn)
        default: .dyn
        }
    }

    /// Without a `config.yaml` every name that occurs may be anything.
    static func anyNames(in rule: YAMLNode, sink: DiagnosticSink) -> Environment {
        var lenient = Environment()
        lenient.checking = .lenient
        var names: Set<String> = []
        collect(rule, &names, lenient, sink)
        var environment = Environment()
        for name in names.sorted() where name != "variables" {
            _ = try? environment.declare(name, .dyn)
        }
        return environment
    }

    private static func collect(
        _ node: YAMLNode, _ names: inout Set<String>, _ environment: Environment,
        _ sink: DiagnosticSink
    ) {
        switch node.content {
        case .scalar(let scalar):
            let map = ScalarMap(scalar, range: node.range, source: sink.text)
            guard map.text.utf8.count <= PolicyLimits.expressionBytes else { return }
            for node in environment.compile(map.text).ast.nodes {
                if case .identifier(let name) = node.kind, !name.hasPrefix(".") { names.insert(name) }
            }
        case .sequence(let items):
            for item in items { collect(item, &names, environment, sink) }
        case .mapping(let entries):
            for entry in entries
            where ["variables", "match", "rule", "condition", "output", "expression", "explanation"]
                .contains(entry.key)
            {
                collect(entry.value, &names, environment, sink)
            }
        }
    }
}
