/// What is known about type variables while an expression is checked.
///
/// A type variable is a type parameter whose name begins with `$`. Assignability is gradual: `dyn`
/// goes with everything.
struct Substitution {
    private var bound: [String: Type] = [:]
    private var count = 0

    mutating func fresh() -> Type {
        count += 1
        return .param("$\(count)")
    }

    /// A signature with fresh variables in place of its type parameters.
    mutating func instantiate(_ types: [Type]) -> [Type] {
        var names: [String: Type] = [:]
        return types.map {
            replace($0) { name in
                if let known = names[name] { return known }
                let variable = fresh()
                names[name] = variable
                return variable
            }
        }
    }

    private func replace(_ type: Type, _ parameter: (String) -> Type) -> Type {
        switch type {
        case .param(let name): parameter(name)
        case .list(let element): .list(replace(element, parameter))
        case .map(let key, let value): .map(replace(key, parameter), replace(value, parameter))
        case .optional(let wrapped): .optional(replace(wrapped, parameter))
        case .type(let inner?): .type(replace(inner, parameter))
        case .abstract(let name, let parameters) where !parameters.isEmpty:
            .abstract(name, parameters.map { replace($0, parameter) })
        default: type
        }
    }

    /// The type with what is known filled in; at the end unknown variables become `dyn`.
    func resolve(_ type: Type, isFinal: Bool = false) -> Type {
        replace(type) { name in
            if let known = bound[name] { return resolve(known, isFinal: isFinal) }
            return isFinal && name.hasPrefix("$") ? .dyn : .param(name)
        }
    }

    /// The type behind a chain of variables, its parts left alone.
    func head(_ type: Type) -> Type {
        var type = type
        while case .param(let name) = type, let known = bound[name] { type = known }
        return type
    }

    /// Whether values of a type can stand where another is wanted; binds variables if so.
    mutating func assign(_ given: Type, to wanted: Type) -> Bool {
        let saved = bound
        if isAssignable(given, wanted) { return true }
        bound = saved
        return false
    }

    mutating func assign(_ given: [Type], to wanted: [Type]) -> Bool {
        guard given.count == wanted.count else { return false }
        let saved = bound
        for (given, wanted) in zip(given, wanted) where !isAssignable(given, wanted) {
            bound = saved
            return false
        }
        return true
    }

    private mutating func isAssignable(_ given: Type, _ wanted: Type) -> Bool {
        let left = head(given)
        let right = head(wanted)
        if case .param(let name) = right, name.hasPrefix("$") { return bind(name, to: left) }
        if case .param(let name) = left, name.hasPrefix("$") { return bind(name, to: right) }
        guard agree(left, right) else { return false }
        widen(given, by: right)
        widen(wanted, by: left)
        return true
    }

    /// A variable comes to stand for the most general of the types that it met: `c ? 1 : dyn(2)` is
    /// `dyn`, whichever comes first.
    private mutating func widen(_ type: Type, by other: Type) {
        var last: String?
        var type = type
        while case .param(let name) = type, let next = bound[name] { (last, type) = (name, next) }
        guard let last else { return }
        let known = resolve(type)
        let general = generalised(known, resolve(other))
        if general != known, !occurs(last, in: general) { bound[last] = general }
    }

    private mutating func agree(_ given: Type, _ wanted: Type) -> Bool {
        if given.isDyn || wanted.isDyn { return true }
        switch (given, wanted) {
        case (.list(let given), .list(let wanted)): return isAssignable(given, wanted)
        case (.map(let givenKey, let givenValue), .map(let wantedKey, let wantedValue)):
            return isAssignable(givenKey, wantedKey) && isAssignable(givenValue, wantedValue)
        case (.optional(let given), .optional(let wanted)): return isAssignable(given, wanted)
        case (.type, .type): return true
        case (.abstract(let given, let givenParts), .abstract(let wanted, let wantedParts)):
            guard given == wanted, givenParts.count == wantedParts.count else { return false }
            for (given, wanted) in zip(givenParts, wantedParts)
            where !isAssignable(given, wanted) {
                return false
            }
            return true
        case (.wrapper(let given), .wrapper(let wanted)): return given == wanted
        case (.wrapper(let scalar), let other), (let other, .wrapper(let scalar)):
            return other == scalar || other == .null
        case (.null, let other), (let other, .null):
            switch other {
            case .null, .timestamp, .duration, .abstract, .object, .optional: return true
            default: return false
            }
        case (.object(let given), .map(let key, let value)):
            return isAssignable(.string, key)
                && given.fields.allSatisfy { isAssignable($0.type, value) }
        default: return given == wanted
        }
    }

    /// Binds a variable that stands for nothing yet; a variable never becomes part of itself.
    private mutating func bind(_ name: String, to type: Type) -> Bool {
        if type == .param(name) { return true }
        if occurs(name, in: type) { return false }
        bound[name] = type
        return true
    }

    private func occurs(_ name: String, in type: Type) -> Bool {
        switch head(type) {
        case .param(let other): other == name
        case .list(let element): occurs(name, in: element)
        case .map(let key, let value): occurs(name, in: key) || occurs(name, in: value)
        case .optional(let wrapped): occurs(name, in: wrapped)
        case .type(let inner?): occurs(name, in: inner)
        case .abstract(_, let parameters): parameters.contains { occurs(name, in: $0) }
        default: false
        }
    }

    /// The type of a list that holds both: the more general one, else `dyn`.
    mutating func join(_ left: Type, _ right: Type) -> Type {
        let saved = bound
        guard isAssignable(right, left) || isAssignable(left, right) else {
            bound = saved
            return .dyn
        }
        return generalised(resolve(left), resolve(right))
    }

    /// The least general type that both of two agreeing types can stand as.
    private func generalised(_ left: Type, _ right: Type) -> Type {
        switch (left, right) {
        case (.null, let other), (let other, .null): return other
        case (.wrapper, .wrapper): return left == right ? left : .dyn
        case (.dyn, _), (_, .dyn): return .dyn
        case (.any, _), (_, .any): return .any
        case (.wrapper, _): return left
        case (_, .wrapper): return right
        case (.list(let left), .list(let right)): return .list(generalised(left, right))
        case (.optional(let left), .optional(let right)):
            return .optional(generalised(left, right))
        case (.map(let leftKey, let left), .map(let rightKey, let right)):
            return .map(generalised(leftKey, rightKey), generalised(left, right))
        case (.abstract(let name, let left), .abstract(let other, let right))
        where name == other && left.count == right.count:
            return .abstract(name, zip(left, right).map { generalised($0, $1) })
        case (.type(let left?), .type(let right?)): return .type(left == right ? left : .dyn)
        default: return left == right ? left : .dyn
        }
    }
}
