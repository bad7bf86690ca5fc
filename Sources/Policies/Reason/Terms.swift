import CEL

/// The terms that conditions speak of, each with everything it can be. Terms have the same number
/// in every policy that shares them, so that conditions of two policies can be compared.
///
/// A class because every condition that is looked at may add to it.
package final class Terms {
    private var numbers: [String: Int] = [:]
    /// Everything that each term can be.
    private(set) var universes: [ValueSet] = []
    /// The value that a term is, as policies name it; nil for an expression, of which nothing is
    /// known but that it is the same wherever it stands.
    private(set) var names: [String?] = []
    /// How many pairs of boxes may still be looked at. Policies of hundreds of entangled rules
    /// would take minutes; what is not looked at is not concluded.
    private var patience = 100_000

    package init() {}

    /// Whether so many pairs of boxes may be looked at.
    func allows(_ pairs: Int) -> Bool {
        patience -= max(1, pairs)
        return patience > 0
    }

    /// The number of the term under this key.
    func number(_ key: String, _ universe: @autoclosure () -> ValueSet) -> Int {
        if let known = numbers[key] { return known }
        numbers[key] = universes.count
        universes.append(universe())
        names.append(nil)
        return universes.count - 1
    }

    /// Declares a value of a policy. What two policies declare under one name can be either.
    fileprivate func declare(_ name: String, _ type: String, _ universe: ValueSet) -> Int {
        let key = name + ": " + type
        guard let known = numbers[key] else {
            let number = number(key, universe)
            names[number] = name
            return number
        }
        universes[known] = universes[known].union(universe)
        return known
    }

    /// Declares what the rules of a policy can read: for each slot its term, none for variables.
    func declare(_ policy: TrustPolicy) -> [Int] {
        let slots = policy.environment.slots
        return (0..<policy.slots.firstVariable).map { index in
            let slot = slots[index]
            let universe = ValueSet(
                values: Self.values(of: policy.slots.slots[index].source, slot, in: policy),
                mayFail: slot.isOptional)
            return declare(slot.path, "\(slot.type)", universe)
        }
    }

    private static func values(
        of source: SlotSource, _ slot: Environment.Slot, in policy: TrustPolicy
    ) -> ValueSet.Values {
        let any = values(of: slot.type) ?? ValueSet.anyText
        switch source {
        case .deviceValue: return between(0, 1, any)
        case .velocity(let index) where policy.velocity[index].isWhole:
            return between(0, nil, any)
        case .attribute(let index):
            let attribute = policy.attributes[index]
            return between(number(attribute.minimum), number(attribute.maximum), any)
                .limited(to: attribute.values)
        default: return any.limited(to: slot.values)
        }
    }

    private static func between(
        _ low: Double?, _ high: Double?, _ values: ValueSet.Values
    ) -> ValueSet.Values {
        guard case .numbers(let numbers) = values else { return values }
        let interval = NumberSet.Interval(low: low ?? -.infinity, high: high ?? .infinity)
        return .numbers(NumberSet([interval], isWhole: numbers.isWhole))
    }

    private static func number(_ bound: AttributeBound?) -> Double? {
        switch bound {
        // A bound that would be rounded is no bound.
        case .int(let value)?: Double(exactly: value)
        case .double(let value)?: value
        case nil: nil
        }
    }

    /// All values that an expression of a type can have; nil for types of which nothing is known.
    static func values(computedOf type: Type) -> ValueSet.Values? {
        type == .double ? .numbers(.doubles) : values(of: type)
    }

    /// All values of a type that conditions can say something of; nil for other types.
    static func values(of type: Type) -> ValueSet.Values? {
        switch type {
        case .bool: .bools([true, false])
        case .int, .uint: .numbers(.all(isWhole: true))
        case .double: .numbers(.all(isWhole: false))
        case .string: ValueSet.anyText
        default: nil
        }
    }
}

extension ValueSet.Values {
    fileprivate func limited(to texts: [String]?) -> Self {
        guard case .texts = self, let texts else { return self }
        return ValueSet.texts(texts)
    }
}
