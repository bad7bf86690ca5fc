/// What a term of a condition can be: some values, and whether it may fail to have any, because it
/// is absent or its evaluation fails.
struct ValueSet: Equatable {
    enum Values: Equatable {
        /// One of these texts, or any text but these. Terms of which only the presence is spoken of
        /// are texts as well.
        case texts(Set<String>, isComplement: Bool)
        case bools(Set<Bool>)
        case numbers(NumberSet)
    }

    var values: Values
    /// Whether the term may be without a value.
    var mayFail: Bool

    static func texts(_ texts: [String]) -> Values { .texts(Set(texts), isComplement: false) }

    static let anyText = Values.texts([], isComplement: true)

    var isEmpty: Bool { !mayFail && values.isEmpty }

    var complement: ValueSet { ValueSet(values: values.complement, mayFail: !mayFail) }

    func intersection(_ other: ValueSet) -> ValueSet {
        ValueSet(values: values.intersection(other.values), mayFail: mayFail && other.mayFail)
    }

    func union(_ other: ValueSet) -> ValueSet {
        complement.intersection(other.complement).complement
    }
}

extension ValueSet.Values {
    var isEmpty: Bool {
        switch self {
        case .texts(let texts, let isComplement): !isComplement && texts.isEmpty
        case .bools(let bools): bools.isEmpty
        case .numbers(let numbers): numbers.isEmpty
        }
    }

    /// What is not in it, of values of its kind.
    var complement: Self {
        switch self {
        case .texts(let texts, let isComplement): .texts(texts, isComplement: !isComplement)
        case .bools(let bools): .bools(Set([true, false]).subtracting(bools))
        case .numbers(let numbers): .numbers(numbers.complement)
        }
    }

    /// Nothing of its kind.
    var none: Self { intersection(complement) }

    /// What is in both. A term has values of one kind only.
    func intersection(_ other: Self) -> Self {
        switch (self, other) {
        case (.texts(let left, false), .texts(let right, false)):
            .texts(left.intersection(right), isComplement: false)
        case (.texts(let left, false), .texts(let right, true)),
            (.texts(let right, true), .texts(let left, false)):
            .texts(left.subtracting(right), isComplement: false)
        case (.texts(let left, true), .texts(let right, true)):
            .texts(left.union(right), isComplement: true)
        case (.bools(let left), .bools(let right)): .bools(left.intersection(right))
        case (.numbers(let left), .numbers(let right)): .numbers(left.intersection(right))
        default: self
        }
    }
}
