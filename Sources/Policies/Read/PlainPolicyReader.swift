import CEL

/// Reads and checks a plain CEL policy.
struct PlainPolicyReader {
    let sink: DiagnosticSink
    /// The roots of `config.yaml` and its like in the same folder.
    let environments: [YAMLNode]
    let options: PlainOptions

    static let keys = ["name", "description", "display_name", "imports", "metadata", "rule"]

    /// Nil where anything is refused, with the reasons in the sink.
    func read(_ root: YAMLNode, source: PolicySource) -> PlainPolicy? {
        let isAdmission = options.readsAdmissionPolicies && AdmissionPolicy.isOne(root)
        let root = isAdmission ? AdmissionPolicy.plain(root) : root
        guard let fields = Fields(root, "a policy", keys: Self.keys, sink: sink) else { return nil }
        let name = fields.requiredString("name")
        guard let rule = fields.required("rule") else { return nil }
        let imports = Imports(sink: sink).read(fields)
        var environment =
            environments.isEmpty
            ? PlainEnvironment.anyNames(in: rule, sink: sink)
            : PlainEnvironment(nodes: environments, functions: options.functions).make()
        environment.abbreviations.merge(imports) { $1 }
        let checks = ExpressionChecks(unstored: [], outcomeSlot: nil, slotNames: [:])
        var scope = ExpressionScope(environment: environment, checks: checks, sink: sink)
        scope.refusesFailing = false
        scope.nestedLimit = options.nestedLimit
        var reader = PlainRuleReader(scope: scope, sink: sink, isAdmission: isAdmission)
        let block = reader.block(rule, depth: 1)
        guard let name, let block, !sink.hasErrors else { return nil }
        let type = block.outputType ?? .dyn
        return PlainPolicy(
            name: name, description: fields.string("description") ?? "",
            environment: reader.scope.environment, rule: block.block,
            resultType: block.block.mayGiveNone ? .optional(type) : type, source: source)
    }
}

/// What the reading of plain policies depends on beside the files.
package struct PlainOptions: Sendable {
    /// Functions that an environment may declare and that have a body here.
    package var functions: [Function] = []
    /// The most variables and nested rules of one policy.
    package var nestedLimit = PolicyLimits.nestedExpressions
    /// Whether `kind: ValidatingAdmissionPolicy` is read.
    package var readsAdmissionPolicies = false

    package init() {}
}

/// Reads `rule:` of a plain policy.
private struct PlainRuleReader {
    var scope: ExpressionScope
    let sink: DiagnosticSink
    let isAdmission: Bool

    /// A block and the type of its first output; nil where that could not be read.
    struct TypedBlock {
        var block: PlainBlock
        var outputType: Type?
    }

    /// What is known about an item of `match`, be it right or wrong.
    struct ReadMatch {
        /// Nil where it cannot be used.
        var match: PlainMatch?
        var outputType: Type?
        /// Whether nothing after it can be reached.
        var endsSearch = false
    }

    mutating func block(_ node: YAMLNode, depth: Int) -> TypedBlock? {
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
        let block = scope.nested { scope -> TypedBlock in
            inner.scope = scope
            let variables = VariableReader(sink: inner.sink).read(fields, scope: &inner.scope)
            let items = fields.items("match")
            if items.isEmpty {
                inner.sink.error(.emptyRule, "`match` lists no rules", at: list.range)
            }
            let matches = items.map { inner.match($0, depth: depth) }
            scope = inner.scope
            let type = inner.agreedType(items, matches.map { $0?.outputType })
            inner.checkReachable(items, matches)
            let block = PlainBlock(variables: variables, matches: matches.compactMap { $0?.match })
            return TypedBlock(block: block, outputType: type)
        }
        return block
    }

    private mutating func match(_ node: YAMLNode, depth: Int) -> ReadMatch? {
        let known = ["condition", "output", "rule", "explanation"]
        guard
            let fields = Fields(
                node, "a match", keys: isAdmission ? known + [AdmissionPolicy.unless] : known,
                sink: sink)
        else { return nil }
        let unless = fields[AdmissionPolicy.unless]
        let given = unless ?? fields["condition"]
        let condition = given.flatMap { scope.compile($0, .condition)?.expression }
        let explanation = fields["explanation"].flatMap {
            scope.compile($0, .explanation)?.expression
        }
        if explanation != nil, fields.has("rule"), let entry = fields.entry("explanation") {
            sink.error(
                .invalidValue,
                "explanation can only be set on output match cases, not nested rules",
                at: entry.keyRange, help: "give it to the matches inside")
        }
        let isUnconditional =
            PlainMatch.isUnconditional(condition, isNegated: unless != nil)
            && (given == nil) == (condition == nil)
        guard let (action, type) = action(fields, depth: depth) else {
            let isExpression = fields["output"]?.scalar.map { !$0.isNull } ?? false
            return ReadMatch(endsSearch: isUnconditional && isExpression)
        }
        var read = ReadMatch(outputType: type, endsSearch: isUnconditional)
        if case .block(let nested) = action, nested.mayGiveNone { read.endsSearch = false }
        if given == nil || condition != nil {
            read.match = PlainMatch(
                condition: condition, isNegated: unless != nil, action: action,
                explanation: explanation, position: fields.headRange.start)
        }
        return read
    }

    private mutating func action(_ fields: Fields, depth: Int) -> (PlainMatch.Action, Type?)? {
        switch (fields["output"], fields["rule"]) {
        case (let output?, nil):
            return scope.compile(output, .output).map {
                (.output($0.expression), $0.expression.program.resultType)
            }
        case (nil, let rule?):
            let nested = block(rule, depth: depth + 1)
            let head = Self.headRange(rule)
            scope.countNested("rule", at: head, place: head.start)
            return nested.map { (.block($0.block), $0.outputType) }
        case (_?, _?):
            sink.error(
                .invalidValue, "only the rule or the output may be set",
                at: fields.entry("rule")?.keyRange ?? fields.headRange)
        case (nil, nil):
            sink.error(
                .emptyRule, "match does not specify a rule or output", at: fields.headRange)
        }
        return nil
    }

    /// The type of the outputs: the first one that is known. The others must go with it; a nested
    /// block is held against it as a whole, where it begins.
    private func agreedType(_ items: [YAMLNode], _ types: [Type?]) -> Type? {
        guard let expected = types.first(where: { $0 != nil }) ?? nil else { return nil }
        for (item, type) in zip(items, types) {
            guard let type, !Self.go(type, expected) else { continue }
            guard let fields = Fields(match: item, sink: sink) else { continue }
            let output = fields["output"]
            let head = fields["rule"].map(Self.headRange) ?? item.range
            sink.error(
                .incompatibleOutputs,
                "incompatible output types: block has output type \(type), but previous outputs "
                    + "have type \(expected)",
                at: output.map { SourceRange(start: scope.place(of: $0), end: $0.range.end) }
                    ?? head)
            break
        }
        return expected
    }

    /// Whether values of both types may come from one place.
    private static func go(_ left: Type, _ right: Type) -> Bool {
        switch (left, right) {
        case (.dyn, _), (_, .dyn), (.any, _), (_, .any), (.error, _), (_, .error): true
        case (.list(let left), .list(let right)), (.optional(let left), .optional(let right)):
            go(left, right)
        case (.map(let leftKey, let left), .map(let rightKey, let right)):
            go(leftKey, rightKey) && go(left, right)
        case (.wrapper(let scalar), let other), (let other, .wrapper(let scalar)):
            other == scalar || other == .null || other == .wrapper(scalar)
        default: left == right
        }
    }

    private static func headRange(_ node: YAMLNode) -> SourceRange {
        if case .mapping(let entries) = node.content, let first = entries.first {
            first.keyRange
        } else {
            node.range
        }
    }

    /// Whatever follows a match that always gives a result can never be reached. The last such
    /// match is reported.
    private func checkReachable(_ items: [YAMLNode], _ matches: [ReadMatch?]) {
        let last = zip(items, matches).dropLast().last { $1?.endsSearch ?? false }
        guard let (item, _) = last else { return }
        let rule = Fields(match: item, sink: sink)?["rule"]
        sink.error(
            .unreachableRule,
            "\(rule == nil ? "match" : "rule") creates unreachable outputs",
            at: Self.headRange(rule ?? item), help: "move it to the end")
    }
}

extension Fields {
    /// A mapping that has been read before.
    fileprivate init?(match node: YAMLNode, sink: DiagnosticSink) {
        guard case .mapping(let entries) = node.content else { return nil }
        self.init(node, "a match", keys: entries.map(\.key), sink: sink)
    }
}
