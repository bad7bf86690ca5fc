import CEL
import Time

/// Finds where entries must lie so that a condition can be anything but false.
///
/// Outside of the bounds the condition is false, whatever is absent there: `false && error` is false.
/// The one exception are bounds on the app's clock, outside of which an entry that has no such time
/// is left out where it would be undecided.
struct BoundsFinder: ~Copyable {
    private let program: Program
    private var ast: AST { program.ast }
    private var constants: Activation

    /// Bounds, and whether the condition is true of all that lies within.
    struct Found {
        var bounds = AuditBounds()
        var isExact = false
    }

    init(_ program: Program, now: Instant) {
        self.program = program
        constants = Activation(AuditFilter.language)
        constants.set(AuditVariable.now.slot, Value.timestamp(now))
    }

    mutating func find(_ node: AST.NodeID) -> Found {
        let use = ast.slotUse(below: node)
        let read = AuditVariables(slots: use.read.union(use.tested))
        if let found = byTrying(node, read) { return found }
        guard case .call(let function, nil, let arguments) = ast[node].kind, arguments.count == 2
        else { return Found() }
        switch function {
        case "_&&_":
            let (left, right) = (find(arguments[0]), find(arguments[1]))
            return Found(
                bounds: left.bounds.meeting(right.bounds), isExact: left.isExact && right.isExact)
        case "_||_":
            let (left, right) = (find(arguments[0]), find(arguments[1]))
            return Found(bounds: left.bounds.joining(right.bounds))
        case "@in": return membership(arguments[0], arguments[1]) ?? Found()
        default: return comparison(function, arguments[0], arguments[1]) ?? Found()
        }
    }

    // MARK: A closed set of values

    /// What reads one variable of few values, and nothing else, is asked about each of them.
    private mutating func byTrying(_ node: AST.NodeID, _ read: AuditVariables) -> Found? {
        let others = read.all.filter { $0 != .now }
        guard others.count <= 1, let part = program.part(node) else { return nil }
        var found = Found(isExact: true)
        guard let variable = others.first else {
            switch part.evaluateCondition(&constants) {
            case .matched: break
            case .notMatched: found.bounds = .nothing
            case .failed: found.isExact = false
            }
            return found
        }
        let slot = variable.slot
        defer { constants.clear(slot) }
        switch variable {
        case .kind:
            found.bounds.kinds = found.bounds.kinds.filter { kind in
                constants.set(slot, kind.rawValue)
                return isPossible(part, &found.isExact)
            }
        case .environment:
            found.bounds.environments = found.bounds.environments.filter { name in
                constants.set(slot, name)
                return isPossible(part, &found.isExact)
            }
        case .erased:
            found.bounds.erased = found.bounds.erased.filter { flag in
                constants.set(slot, flag)
                return isPossible(part, &found.isExact)
            }
        default: return nil
        }
        return found
    }

    private mutating func isPossible(_ part: Program, _ isExact: inout Bool) -> Bool {
        switch part.evaluateCondition(&constants) {
        case .matched: return true
        case .notMatched: return false
        case .failed:
            isExact = false
            return true
        }
    }

    // MARK: Comparisons with what is known beforehand

    private mutating func constant(_ node: AST.NodeID) -> Value? {
        let use = ast.slotUse(below: node)
        guard use.tested.isEmpty, use.read.isSubset(of: [AuditVariable.now.slot]) else {
            return nil
        }
        return program.part(node)?.evaluate(&constants).value
    }

    private func variable(_ node: AST.NodeID) -> AuditVariable? {
        guard case .identifier = ast[node].kind, case .slot(let slot)? = ast[node].reference,
            AuditVariable.allCases.indices.contains(slot)
        else { return nil }
        return AuditVariable.allCases[slot]
    }

    private mutating func membership(_ element: AST.NodeID, _ list: AST.NodeID) -> Found? {
        guard variable(element) == .app, case .list(let values)? = constant(list) else {
            return nil
        }
        var found = Found(isExact: true)
        found.bounds.apps = []
        for case .string(let app) in values { found.bounds.apps?.insert(app) }
        return found
    }

    private mutating func comparison(_ sign: String, _ left: AST.NodeID, _ right: AST.NodeID)
        -> Found?
    {
        let turned = [
            "_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_", "_==_": "_==_",
        ]
        guard let opposite = turned[sign] else { return nil }
        if let variable = variable(left), let value = constant(right) {
            return Self.found(variable, sign, value)
        }
        if let variable = variable(right), let value = constant(left) {
            return Self.found(variable, opposite, value)
        }
        return nil
    }

    private static func found(_ variable: AuditVariable, _ sign: String, _ value: Value) -> Found? {
        var found = Found(isExact: true)
        switch (variable, value) {
        case (.app, .string(let app)) where sign == "_==_": found.bounds.apps = [app]
        case (.sequence, .int(let number)):
            let range = range(sign, floor: number, isWhole: true)
            (found.bounds.first, found.bounds.last) = (range.lower ?? 1, range.upper ?? .max)
        case (.at, .timestamp(let time)):
            let range = range(sign, floor: time.milliseconds, isWhole: time.isWhole)
            found.bounds.since = range.lower.map { Instant(milliseconds: $0) } ?? .min
            found.bounds.until = range.upper.map { Instant(milliseconds: $0) } ?? .max
        case (.receivedAt, .timestamp(let time)):
            let range = range(sign, floor: time.milliseconds, isWhole: time.isWhole)
            found.bounds.receivedSince = range.lower.map { Instant(milliseconds: $0) } ?? .min
            // No app's clock is behind the engine's.
            found.bounds.until = range.upper.map { Instant(milliseconds: $0) } ?? .max
            found.isExact = false
        default: return nil
        }
        return found
    }

    /// The whole numbers that compare so with a number, given as what it is rounded down.
    private static func range(_ sign: String, floor: Int64, isWhole: Bool) -> (
        lower: Int64?, upper: Int64?
    ) {
        let above = floor == .max ? floor : floor + 1
        let below = floor == .min ? floor : floor - 1
        return switch sign {
        // Nothing is beyond the ends of the range.
        case "_<_": floor == .min && isWhole ? (.max, .min) : (nil, isWhole ? below : floor)
        case "_<=_": (nil, floor)
        case "_>_": floor == .max ? (.max, .min) : (above, nil)
        case "_>=_": (isWhole ? floor : above, nil)
        default: isWhole ? (floor, floor) : (.max, .min)
        }
    }
}

extension Timestamp {
    /// In whole milliseconds, rounded towards the past.
    fileprivate var milliseconds: Int64 { seconds * 1_000 + Int64(nanoseconds / 1_000_000) }

    fileprivate var isWhole: Bool { nanoseconds % 1_000_000 == 0 }
}
