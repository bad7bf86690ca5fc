import CEL
import JSON
import Time

/// Compiles `when:` of a reason.
struct DonationConditionReader {
    let sink: DiagnosticSink
    /// The names of the policy's reasons, each a count.
    let reasons: [String]

    func read(_ node: YAMLNode) -> DonationCondition? {
        let environment = self.environment
        var scope = ExpressionScope(
            environment: environment,
            checks: ExpressionChecks(unstored: [], outcomeSlot: nil, slotNames: [:]), sink: sink)
        guard let expression = scope.compile(node, .condition)?.expression else { return nil }
        let program = expression.program
        let slots = DonationSlots(environment: environment)
        return DonationCondition(
            source: expression.source,
            attributes: Self.attributes(readBy: program, environment),
            readsNow: Self.readsNow(program, environment), expression: expression,
            trace: { facts, traced in
                var activation = Activation(environment)
                slots.set(facts, &activation)
                return traced.evaluate(&activation)
            }
        ) { facts in
            var activation = Activation(environment)
            slots.set(facts, &activation)
            switch program.evaluateCondition(&activation) {
            case .matched: return .holds
            case .notMatched: return .doesNotHold
            case .failed(let error): return .unknown(reason: error.message)
            }
        }
    }

    /// The names that are read as `donation.attributes.name` or `donation.attributes["name"]`;
    /// nil if the map is used in any other way.
    private static func attributes(readBy program: Program, _ environment: Environment)
        -> Set<String>?
    {
        guard let slot = environment.slot("donation.attributes") else { return nil }
        let ast = program.ast
        let isMap = { (id: AST.NodeID) -> Bool in ast[id].reference == .slot(slot) }
        var names: Set<String> = []
        var pending = [program.root]
        while let id = pending.popLast() {
            if isMap(id) { return nil }
            switch ast[id].kind {
            case .select(let operand, let field, _) where isMap(operand),
                .presence(let operand, let field) where isMap(operand):
                names.insert(field)
            case .call("_[_]", nil, let arguments)
            where arguments.count == 2 && isMap(arguments[0]):
                guard case .string(let name)? = Constants.value(ast, arguments[1]) else {
                    return nil
                }
                names.insert(name)
            case .call("@in", nil, let arguments) where arguments.count == 2 && isMap(arguments[1]):
                guard case .string(let name)? = Constants.value(ast, arguments[0]) else {
                    return nil
                }
                names.insert(name)
            default: pending += ast.children(of: id)
            }
        }
        return names
    }

    private static func readsNow(_ program: Program, _ environment: Environment) -> Bool {
        guard let slot = environment.slot("now") else { return false }
        var pending = [program.root]
        while let id = pending.popLast() {
            if program.ast[id].reference == .slot(slot) { return true }
            pending += program.ast.children(of: id)
        }
        return false
    }

    private var environment: Environment {
        var environment = Environment()
        let counts = reasons.map { ObjectType.Field($0, .int) }
        let declarations: [(String, Type)] = [
            (
                "donation",
                .object(
                    ObjectType(
                        name: "donation",
                        fields: [
                            .init("reason", .string), .init("attributes", .map(.string, .dyn)),
                        ]))
            ),
            ("version", .string),
            (
                "history",
                .object(
                    ObjectType(
                        name: "history",
                        fields: [
                            .init("prompts", .int),
                            .init("lastPromptAt", .timestamp, isOptional: true),
                        ]))
            ),
            ("now", .timestamp),
            ("counts", .object(ObjectType(name: "counts", fields: counts))),
        ]
        for (name, type) in declarations {
            // A reason whose name is no identifier is refused where it stands.
            _ = try? environment.declare(name, type)
        }
        return environment
    }
}

/// Where the facts about a donation go.
private struct DonationSlots: Sendable {
    let environment: Environment

    func set(_ facts: DonationFacts, _ activation: inout Activation) {
        set("donation.reason") { activation.set($0, facts.reason) }
        set("donation.attributes") { activation.set($0, .map(Self.map(facts.attributes))) }
        set("version") { activation.set($0, facts.version) }
        set("history.prompts") { activation.set($0, Int64(facts.prompts)) }
        if let last = facts.lastPromptAt.flatMap(Self.timestamp) {
            set("history.lastPromptAt") { activation.set($0, last) }
        }
        if let now = Self.timestamp(facts.now) { set("now") { activation.set($0, now) } }
        for (reason, count) in facts.counts {
            set("counts." + reason) { activation.set($0, Int64(count)) }
        }
    }

    private func set(_ path: String, _ body: (Int) -> Void) {
        if let slot = environment.slot(path) { body(slot) }
    }

    private static func timestamp(_ instant: Instant) -> Timestamp? {
        let seconds = instant.seconds
        let rest = instant.milliseconds - seconds * 1_000
        return Timestamp(seconds: seconds, nanoseconds: Int32(rest * 1_000_000))
    }

    private static func map(_ object: JSONObject) -> ValueMap {
        ValueMap(object.members.map { .init(key: .string($0.key), value: value($0.value)) })
    }

    private static func value(_ json: JSONValue) -> Value {
        switch json {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .int(let number): .int(number)
        case .uint(let number): .uint(number)
        case .double(let number): .double(number)
        case .string(let text): .string(text)
        case .array(let items): .list(items.map(value))
        case .object(let object): .map(map(object))
        }
    }
}
