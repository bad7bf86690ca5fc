import CEL

/// Compiles the expressions of one policy: what names mean at the place being read, what each
/// variable needs, and what has been used so far.
struct ExpressionScope {
    /// What the expression is for; decides its type and what it may read.
    enum Role {
        case condition
        case explanation
        case variable
        case output

        var noun: String {
            switch self {
            case .condition: "the condition"
            case .explanation: "the explanation"
            case .variable: "the variable"
            case .output: "the output"
            }
        }
    }

    /// A compiled expression with its places, for findings about parts of it.
    struct Compiled {
        var expression: Expression
        let map: ScalarMap
    }

    let sink: DiagnosticSink
    let checks: ExpressionChecks
    /// Whether what can only fail is refused. Plain policies may have it, as they may elsewhere.
    var refusesFailing = true
    /// How many variables and nested rules there may be together; nil where other limits hold.
    var nestedLimit: Int?
    private var nestedCount = 0
    private(set) var environment: Environment
    private(set) var variables: [Variable] = []
    /// For each slot of a variable, the variable's index.
    private(set) var variableOfSlot: [Int: Int] = [:]
    /// Every slot that some expression reads or tests.
    private(set) var used: Set<Int> = []
    /// Variables in sight: name to slot.
    private var visible: [String: Int] = [:]
    private var variableRanges: [Int: SourceRange] = [:]
    private var declared = 0

    init(environment: Environment, checks: ExpressionChecks, sink: DiagnosticSink) {
        self.environment = environment
        self.checks = checks
        self.sink = sink
    }

    /// Runs `body` with names of its own: what it declares is out of sight afterwards, and what it
    /// hid is in sight again.
    mutating func nested<Result>(_ body: (inout ExpressionScope) -> Result) -> Result {
        let outer = visible
        let result = body(&self)
        for name in visible.keys where outer[name] != visible[name] {
            environment.hide("variables." + name)
        }
        for (name, slot) in outer where visible[name] != slot {
            environment.show("variables." + name, slot: slot)
        }
        visible = outer
        return result
    }

    /// Where the variable of this slot is declared.
    func declaration(ofVariable index: Int) -> SourceRange? { variableRanges[index] }

    /// Declares a variable under the name, hiding an outer one of the same name.
    mutating func declare(_ name: String, _ node: YAMLNode, nameNode: YAMLNode) -> Variable? {
        let nameRange = nameNode.range
        let compiled = compile(node, .variable)
        countNested("variable", at: nameRange, place: place(of: nameNode))
        if visible[name] != nil { environment.hide("variables." + name) }
        let slot = environment.slots.count
        declared += 1
        if declared == PolicyLimits.variables + 1 {
            sink.error(
                .tooMany, "a policy has at most \(PolicyLimits.variables) variables", at: nameRange)
        }
        visible[name] = slot
        guard let compiled else {
            // Anything may be done with a variable that is wrong: one mistake, one finding.
            _ = try? environment.declare("variables." + name, .dyn)
            return nil
        }
        let program = compiled.expression.program
        let values = checks.outcomeValues(program)
        _ = try? environment.declare("variables." + name, computedBy: program, values: values)
        let variable = Variable(
            name: name, index: variables.count, expression: compiled.expression)
        variableOfSlot[slot] = variable.index
        variableRanges[variable.index] = nameRange
        variables.append(variable)
        checks.note(program, slot: slot)
        return variable
    }

    /// Counts a variable or a nested rule.
    mutating func countNested(_ what: String, at range: SourceRange, place: SourcePosition) {
        nestedCount += 1
        guard let nestedLimit, nestedCount == nestedLimit + 1 else { return }
        sink.error(
            .tooMany, "\(what) exceeds nested expression limit", at: range, place: place,
            help: "at most \(nestedLimit) variables and nested rules")
    }

    /// Where findings about the value of a node are reported.
    func place(of node: YAMLNode) -> SourcePosition {
        node.scalar.map { ScalarMap($0, range: node.range, source: sink.text).place }
            ?? node.range.start
    }

    /// Reports a variable of a name that the block has already. Its expression is checked as well.
    mutating func refuse(_ name: String, again node: YAMLNode?, at range: SourceRange) {
        if let node { _ = compile(node, .variable) }
        countNested("variable", at: range, place: range.start)
        sink.error(
            .duplicateName,
            "invalid variable declaration: overlapping identifier for name 'variables.\(name)'",
            at: range, help: "a block declares each name once")
    }

    /// Compiles the expression of a node; nil where it cannot be used, with the reasons in the sink.
    mutating func compile(_ node: YAMLNode, _ role: Role) -> Compiled? {
        guard let scalar = node.scalar, !scalar.isNull else {
            sink.error(
                .wrongType, "\(role.noun) must be an expression, not \(node.typeName)",
                at: node.range)
            return nil
        }
        let map = ScalarMap(scalar, range: node.range, source: sink.text)
        guard map.text.utf8.count <= PolicyLimits.expressionBytes else {
            sink.error(
                .tooLarge, "an expression has at most \(PolicyLimits.expressionBytes) bytes",
                at: node.range, help: "split it with `variables`")
            return nil
        }
        let result = environment.compile(map.text)
        report(result, map)
        guard let program = result.program else { return nil }
        let use = program.slotUse
        used.formUnion(use.read)
        used.formUnion(use.tested)
        checkType(program, role, node)
        checks.check(
            program, map, environment: environment, sink: sink)
        let expression = Expression(
            source: map.text, program: program, reads: use.read.sorted(),
            deepReads: deepReads(use.read), deepTests: deepTests(use), map: map)
        return Compiled(expression: expression, map: map)
    }

    /// What can only fail is refused here, where it would be a rule that never does its work; to
    /// the language alone it is doubtful.
    private func report(_ result: CompileResult, _ map: ScalarMap) {
        let failing = "cel.alwaysFails"
        for finding in result.diagnostics {
            let isError =
                finding.severity == .error || finding.code == failing && refusesFailing
            sink.add(
                isError ? .error : .warning, finding.code, finding.message,
                map.range(utf8: finding.range), at: map.position(utf8: finding.place),
                finding.help)
        }
        guard let program = result.program else { return }
        let known = result.diagnostics.filter { $0.code == failing }.map(\.range)
        for failure in ConstantFailures(program: program).find()
        where !known.contains(where: { $0.overlaps(failure.range) }) {
            sink.add(
                refusesFailing ? .error : .warning, failing,
                "this can only fail: \(failure.message)", map.range(utf8: failure.range), nil)
        }
    }

    private func checkType(_ program: Program, _ role: Role, _ node: YAMLNode) {
        switch (role, program.resultType) {
        case (.condition, .bool), (.condition, .dyn), (.explanation, .string), (.explanation, .dyn),
            (.variable, _), (.output, _):
            break
        case (.condition, let type):
            sink.error(
                .conditionNotBool, "the condition must be a bool, not `\(type)`", at: node.range)
        case (.explanation, let type):
            sink.error(
                .explanationNotString, "the explanation must be a string, not `\(type)`",
                at: node.range, help: "write `string(…)` around it")
        }
    }

    /// What is read once variables are replaced by what they stand for.
    func deepReads(_ slots: Set<Int>) -> [Int] {
        var result: Set<Int> = []
        for slot in slots {
            if let index = variableOfSlot[slot] {
                result.formUnion(variables[index].expression.deepReads)
            } else {
                result.insert(slot)
            }
        }
        return result.sorted()
    }

    /// What is asked for by `has()`, here or in a variable that is read.
    func deepTests(_ use: AST.SlotUse) -> [Int] {
        var result = use.tested
        for slot in use.read {
            if let index = variableOfSlot[slot] {
                result.formUnion(variables[index].expression.deepTests)
            }
        }
        return result.sorted()
    }
}
