import CEL

/// What a condition says of single slots, and what else it says, as text.
struct ConditionFacts {
    /// For each slot that the condition speaks of, what it can be.
    private var domains: [Int: Domain] = [:]
    /// What slots can be before any condition. Shared by all facts of a policy, and looked at only
    /// for slots that some condition speaks of: rules are compared in pairs.
    private var declared: [Int: Domain] = [:]
    /// Conjuncts that are not simple, by their text.
    var other: Set<String> = []
    private var followed: Set<Int> = []
    /// Whether the condition can hold at all.
    var isImpossible = false

    /// What is known of slots before any condition: declared bounds and lists of values.
    init(declarationsOf policy: TrustPolicy) {
        declared[SlotLayout.Fixed.insightOutcome] = .strings(Set(Outcome.names))
        declared[SlotLayout.Fixed.contextCategory] = .strings(
            Set(policy.categories.map(\.rawValue)))
        declared[SlotLayout.Fixed.subjectAuthorization] = .strings(
            Set(TrustEnvironment.authorizations))
        declared[SlotLayout.Fixed.deviceValue] = .numbers(.init(low: 0, high: 1))
        for (index, attribute) in policy.attributes.enumerated() {
            let slot = policy.slots.attribute(index)
            switch attribute.type {
            case .string: declared[slot] = attribute.values.map { .strings(Set($0)) }
            case .bool: declared[slot] = .bools([true, false])
            case .int, .double:
                declared[slot] = .numbers(
                    .init(
                        low: Self.number(attribute.minimum) ?? -.infinity,
                        high: Self.number(attribute.maximum) ?? .infinity))
            case .timestamp: break
            }
        }
        for (index, window) in policy.velocity.enumerated() where window.isWhole {
            declared[policy.slots.velocity(index)] = .numbers(.init(low: 0))
        }
    }

    private static func number(_ bound: AttributeBound?) -> Double? {
        switch bound {
        case .int(let value)?: Double(value)
        case .double(let value)?: value
        case nil: nil
        }
    }

    /// Adds a condition; variables are followed into what they stand for.
    mutating func add(_ program: Program, variables: [Int: Variable]) {
        for node in program.ast.conjuncts(of: program.root) {
            add(program.ast, node, variables)
        }
    }

    private mutating func add(_ ast: AST, _ node: AST.NodeID, _ variables: [Int: Variable]) {
        if case .slot(let slot)? = ast[node].reference, let variable = variables[slot] {
            // Followed once: what holds twice holds once, and chains of variables that name each
            // other twice would double the work at every step.
            guard followed.insert(slot).inserted else { return }
            return add(variable.expression.program, variables: variables)
        }
        if case .bool(let constant)? = Constants.value(ast, node) {
            if !constant { isImpossible = true }
            return
        }
        guard let (slot, domain) = Self.comparison(ast, node) else {
            other.insert(ast.text(of: node).split(whereSeparator: \.isWhitespace).joined())
            return
        }
        restrict(slot, to: domain)
    }

    private func domain(of slot: Int) -> Domain? { domains[slot] ?? declared[slot] }

    /// Allows a slot only what the domain allows.
    mutating func restrict(_ slot: Int, to domain: Domain) {
        let result = self.domain(of: slot).map { $0.intersection(domain) ?? domain } ?? domain
        domains[slot] = result
        if result.isEmpty { isImpossible = true }
    }

    /// Whether this holds wherever `narrower` does.
    func covers(_ narrower: ConditionFacts) -> Bool {
        guard other.isSubset(of: narrower.other) else { return false }
        return domains.allSatisfy { slot, domain in
            narrower.domain(of: slot).map(domain.contains) ?? false
        }
    }

    /// Whether both are known to hold together for some event.
    func overlaps(_ second: ConditionFacts) -> Bool {
        guard other.isEmpty, second.other.isEmpty else { return false }
        return domains.allSatisfy { slot, domain in
            guard let theirs = second.domain(of: slot) else { return true }
            return domain.intersection(theirs).map { !$0.isEmpty } ?? false
        }
    }

    // MARK: - Simple comparisons

    private static func comparison(_ ast: AST, _ node: AST.NodeID) -> (Int, Domain)? {
        if case .presence = ast[node].kind { return nil }
        if case .slot(let slot)? = ast[node].reference {
            return ast[node].type == .bool ? (slot, .bools([true])) : nil
        }
        guard case .call(let function, nil, let arguments) = ast[node].kind else { return nil }
        switch function {
        case "!_":
            guard let (slot, domain) = comparison(ast, arguments[0]),
                let complement = domain.complement
            else { return nil }
            return (slot, complement)
        case "_||_":
            guard let (left, first) = comparison(ast, arguments[0]),
                let (right, second) = comparison(ast, arguments[1]), left == right,
                let union = first.union(second)
            else { return nil }
            return (left, union)
        case "@in":
            guard case .slot(let slot)? = ast[arguments[0]].reference,
                let values = Constants.strings(ast, arguments[1])
            else { return nil }
            return (slot, .strings(Set(values)))
        case "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_":
            return relation(ast, function, arguments[0], arguments[1])
                ?? relation(ast, mirrored(function), arguments[1], arguments[0])
        default: return nil
        }
    }

    private static func mirrored(_ function: String) -> String {
        switch function {
        case "_<_": "_>_"
        case "_<=_": "_>=_"
        case "_>_": "_<_"
        case "_>=_": "_<=_"
        default: function
        }
    }

    private static func relation(
        _ ast: AST, _ function: String, _ left: AST.NodeID, _ right: AST.NodeID
    ) -> (Int, Domain)? {
        guard case .presence = ast[left].kind else {
            guard case .slot(let slot)? = ast[left].reference,
                let value = Constants.value(ast, right),
                let domain = domain(function, value)
            else { return nil }
            return (slot, domain)
        }
        return nil
    }

    private static func domain(_ function: String, _ value: Value) -> Domain? {
        let number: Double
        switch value {
        case .string(let text):
            return function == "_==_"
                ? .strings([text])
                : function == "_!=_" ? .otherStrings([text]) : nil
        case .bool(let flag):
            return function == "_==_" ? .bools([flag]) : function == "_!=_" ? .bools([!flag]) : nil
        // Whole numbers beyond 2^53 would be rounded, and with them the conclusion.
        case .int(let whole):
            guard let exact = Double(exactly: whole) else { return nil }
            number = exact
        case .double(let double): number = double
        default: return nil
        }
        switch function {
        case "_==_": return .numbers(.init(low: number, high: number))
        case "_<_": return .numbers(.init(high: number, includesHigh: false))
        case "_<=_": return .numbers(.init(high: number))
        case "_>_": return .numbers(.init(low: number, includesLow: false))
        case "_>=_": return .numbers(.init(low: number))
        default: return nil
        }
    }
}
