/// What is known about type variables while an expression is checked.
///
/// A type variable is a type parameter whose name begins with `$`. Assignability is gradual: `dyn`
/// goes with everything.
struct Substitution {
    private var bound: [String: Type] = [:]
    /// What variables stood for before the latest assignment bound them, to take that back where it
    /// fails.
    private var recent: [(name: String, before: Type?)] = []
    private var count = 0

    /// Types share their parts through variables, so a short text can spell one that is too large
    /// to walk through. What lies beyond these counts as `dyn`.
    private static let deepest = 64
    private static let steps = 1_000

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

    /// The type, or `dyn` for one that nests too deep or has too many parts.
    func limited(_ type: Type) -> Type {
        switch type {
        case .list, .map, .optional, .type, .abstract, .param:
            var left = 256
            return isSmall(type, 0, &left) ? type : .dyn
        default: return type
        }
    }

    private func isSmall(_ type: Type, _ depth: Int, _ left: inout Int) -> Bool {
        left -= 1
        guard left > 0, depth < Self.deepest else { return false }
        switch head(type) {
        case .list(let inner), .optional(let inner), .type(let inner?):
            return isSmall(inner, depth + 1, &left)
        case .map(let key, let value):
            return isSmall(key, depth + 1, &left) && isSmall(value, depth + 1, &left)
        case .abstract(_, let parameters):
            return parameters.allSatisfy { isSmall($0, depth + 1, &left) }
        default: return true
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
        var left = Self.steps
        return resolve(type, isFinal, 0, &left)
    }

    private func resolve(_ type: Type, _ isFinal: Bool, _ depth: Int, _ left: inout Int) -> Type {
        left -= 1
        guard left > 0, depth < 2 * Self.deepest else { return .dyn }
        switch type {
        case .param(let name):
            if let known = bound[name] { return resolve(known, isFinal, depth + 1, &left) }
            return isFinal && name.hasPrefix("$") ? .dyn : type
        case .list(let element): return .list(resolve(element, isFinal, depth + 1, &left))
        case .map(let key, let value):
            return .map(
                resolve(key, isFinal, depth + 1, &left), resolve(value, isFinal, depth + 1, &left))
        case .optional(let wrapped): return .optional(resolve(wrapped, isFinal, depth + 1, &left))
        case .type(let inner?): return .type(resolve(inner, isFinal, depth + 1, &left))
        case .abstract(let name, let parameters) where !parameters.isEmpty:
            return .abstract(name, parameters.map { resolve($0, isFinal, depth + 1, &left) })
        default: return type
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
        assign([given], to: [wanted])
    }

    mutating func assign(_ given: [Type], to wanted: [Type]) -> Bool {
        guard given.count == wanted.count else { return false }
        recent.removeAll(keepingCapacity: true)
        for (given, wanted) in zip(given, wanted) where !isAssignable(given, wanted) {
            takeBack()
            return false
        }
        return true
    }

    private mutating func takeBack() {
        for (name, before) in recent.reversed() { bound[name] = before }
    }

    private mutating func isAssignable(_ given: Type, _ wanted: Type) -> Bool {
        var left = Self.steps
        return isAssignable(given, wanted, &left)
    }

    private mutating func isAssignable(_ given: Type, _ wanted: Type, _ left: inout Int) -> Bool {
        left -= 1
        if left < 0 { return true }
        let from = head(given)
        let to = head(wanted)
        if case .param(let name) = to, name.hasPrefix("$") { return bind(name, to: from) }
        if case .param(let name) = from, name.hasPrefix("$") { return bind(name, to: to) }
        guard agree(from, to, &left) else { return false }
        widen(given, by: to)
        widen(wanted, by: from)
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
        if general != known, !occurs(last, in: general) { set(last, to: general) }
    }

    private mutating func agree(_ given: Type, _ wanted: Type, _ left: inout Int) -> Bool {
        if given.isDyn || wanted.isDyn { return true }
        switch (given, wanted) {
        case (.list(let given), .list(let wanted)): return isAssignable(given, wanted, &left)
        case (.map(let givenKey, let givenValue), .map(let wantedKey, let wantedValue)):
            return isAssignable(givenKey, wantedKey, &left)
                && isAssignable(givenValue, wantedValue, &left)
        case (.optional(let given), .optional(let wanted)):
            return isAssignable(given, wanted, &left)
        case (.type, .type): return true
        case (.abstract(let given, let givenParts), .abstract(let wanted, let wantedParts)):
            guard given == wanted, givenParts.count == wantedParts.count else { return false }
            for (given, wanted) in zip(givenParts, wantedParts)
            where !isAssignable(given, wanted, &left) {
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
            return isAssignable(.string, key, &left)
                && given.fields.allSatisfy { isAssignable($0.type, value, &left) }
        default: return given == wanted
        }
    }

    /// Binds a variable. If it already stood for something (seen through `head`), this is not
    /// reached; a variable never becomes part of itself.
    private mutating func bind(_ name: String, to type: Type) -> Bool {
        if type == .param(name) { return true }
        if occurs(name, in: type) { return false }
        set(name, to: type)
        return true
    }

    private mutating func set(_ name: String, to type: Type) {
        recent.append((name, bound[name]))
        bound[name] = limited(type)
    }

    /// A type that is too large to tell could hold the variable.
    private func occurs(_ name: String, in type: Type) -> Bool {
        var left = Self.steps
        return occurs(name, in: type, 0, &left)
    }

    private func occurs(_ name: String, in type: Type, _ depth: Int, _ left: inout Int) -> Bool {
        left -= 1
        guard left > 0, depth < 2 * Self.deepest else { return true }
        switch head(type) {
        case .param(let other): return other == name
        case .list(let inner), .optional(let inner), .type(let inner?):
            return occurs(name, in: inner, depth + 1, &left)
        case .map(let key, let value):
            return occurs(name, in: key, depth + 1, &left)
                || occurs(name, in: value, depth + 1, &left)
        case .abstract(_, let parameters):
            return parameters.contains { occurs(name, in: $0, depth + 1, &left) }
        default: return false
        }
    }

    /// The type of a list that holds both: the more general one, else `dyn`.
    mutating func join(_ left: Type, _ right: Type) -> Type {
        guard assign(right, to: left) || assign(left, to: right) else { return .dyn }
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
