/// Makes expressions of a wanted kind from a seed; now and then, on purpose, of another kind.
///
/// What it favours is what evaluators do specially: nests of short circuits with errors in them,
/// constant parts, constant lists to search, chains of selections and their tests, numbers of
/// different kinds at the ends of their ranges, variables that compute themselves.
struct ExpressionGenerator {
    enum Kind: CaseIterable {
        case bool, int, uint, double, string, ints, strings, anything, map, optional, time, span
    }

    private var random: RobustnessTests.Generator
    /// Variables of macros in scope.
    private var locals: [(name: String, kind: Kind)] = []
    private var named = 0
    /// Names of computed variables that may be read, by kind.
    var computed: [(name: String, kind: Kind)] = []
    /// Whether it writes what is ill-typed or not declared.
    var isCareless = true

    init(seed: UInt64) { random = RobustnessTests.Generator(state: seed) }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func one<T>(of choices: [T]) -> T { choices[below(choices.count)] }

    /// An expression that is of a kind, unless it is meant to go wrong.
    mutating func expression(_ kind: Kind, _ depth: Int) -> String {
        if isCareless, chance(3) {
            let other = one(of: Kind.allCases)
            return chance(70) ? "dyn(\(fitting(other, depth - 1)))" : fitting(other, depth - 1)
        }
        return fitting(kind, depth)
    }

    private mutating func fitting(_ kind: Kind, _ depth: Int) -> String {
        if depth <= 0 || chance(12) { return leaf(kind) }
        if chance(8) { return choice(kind, depth) }
        if chance(4) { return bound(kind, depth) }
        switch kind {
        case .bool: return bool(depth - 1)
        case .int: return int(depth - 1)
        case .uint: return chance(20) ? "uint(\(any(depth - 1)))" : arithmetic(.uint, depth - 1)
        case .double:
            return chance(20)
                ? "double(\(expression(.int, depth - 1)))" : arithmetic(.double, depth - 1)
        case .string: return string(depth - 1)
        case .ints, .strings: return list(kind, depth - 1)
        case .anything: return anything(depth - 1)
        case .map: return map(depth - 1)
        case .optional: return optional(depth - 1)
        case .time:
            return
                "(\(expression(.time, depth - 1)) \(one(of: ["+", "-"])) \(expression(.span, depth - 1)))"
        case .span:
            return chance(50)
                ? "(\(expression(.time, depth - 1)) - \(expression(.time, depth - 1)))"
                : "(\(expression(.span, depth - 1)) \(one(of: ["+", "-"])) \(expression(.span, depth - 1)))"
        }
    }

    private mutating func choice(_ kind: Kind, _ depth: Int) -> String {
        "(\(expression(.bool, depth - 1)) ? \(expression(kind, depth - 1)) : \(expression(kind, depth - 1)))"
    }

    private mutating func bound(_ kind: Kind, _ depth: Int) -> String {
        let initialKind = one(of: Kind.allCases)
        let initial = expression(initialKind, depth - 1)
        let name = enter(initialKind)
        defer { locals.removeLast() }
        return "cel.bind(\(name), \(initial), \(expression(kind, depth - 1)))"
    }

    private mutating func enter(_ kind: Kind) -> String {
        named += 1
        let name = chance(10) ? "i" : "x\(named % 5)"
        locals.append((name, kind))
        return name
    }

    // MARK: Leaves

    static let ints = [
        "0", "1", "-1", "2", "3", "7", "9223372036854775807", "-9223372036854775808",
        "9007199254740993", "9223372036854775295",
    ]
    static let uints = ["0u", "1u", "2u", "18446744073709551615u", "9223372036854775808u"]
    static let doubles = [
        "0.0", "-0.0", "1.0", "2.0", "0.5", "1.5", "-0.5", "-1.5", "1e308", "9007199254740992.0",
        "9223372036854775808.0", "18446744073709551616.0", "-9223372036854775808.0",
        "double('NaN')", "double('Infinity')",
    ]
    static let strings = ["''", "'a'", "'b'", "'ab'", "'abcab'", "'é'", "'äb€'", "'1'", "'k'"]

    private mutating func leaf(_ kind: Kind) -> String {
        let known = locals.filter { $0.kind == kind } + computed.filter { $0.kind == kind }
        if !known.isEmpty, chance(45) { return one(of: known.map(\.name)) }
        if isCareless, chance(1) { return one(of: ["nothing", "nothing.at", "nope(1)"]) }
        switch kind {
        case .bool: return one(of: ["true", "false", "f", "req.flag", "has(req.user.age)"])
        case .int: return chance(35) ? one(of: ["i", "j", "req.user.age"]) : one(of: Self.ints)
        case .uint: return chance(30) ? "u" : one(of: Self.uints)
        case .double: return chance(30) ? "d" : one(of: Self.doubles)
        case .string: return chance(35) ? one(of: ["s", "req.user.name"]) : one(of: Self.strings)
        case .ints: return chance(40) ? "l" : "[\(several(Self.ints))]"
        case .strings: return "[\(several(Self.strings))]"
        case .anything: return one(of: ["a", "b", "c", "a.k", "a.n.k", "c[0]", "m.k", "null"])
        case .map: return one(of: ["m", "dyn(a)", "{}", "{'k': 1}", "{1: 2, 'a': 'b', true: 3u}"])
        case .optional: return one(of: ["optional.none()", "a.?k", "c[?1]", "m[?'k']", "o"])
        case .time: return one(of: ["t", "timestamp(0)", "timestamp(253402300799)"])
        case .span:
            return one(of: ["duration('1s')", "duration('9223372036s')", "duration('-3s')"])
        }
    }

    private mutating func several(_ choices: [String]) -> String {
        let count = chance(15) ? 9 + below(12) : below(4)
        return (0..<count).map { _ in one(of: choices) }.joined(separator: ", ")
    }

    private mutating func any(_ depth: Int) -> String {
        expression(one(of: Kind.allCases), depth)
    }

    private mutating func number(_ depth: Int) -> String {
        let kind = one(of: [Kind.int, .uint, .double])
        // Neighbours meet more often where nothing is computed with them before.
        return chance(50) ? leaf(kind) : expression(kind, depth)
    }

    // MARK: Kinds

    private mutating func bool(_ depth: Int) -> String {
        switch below(16) {
        case 0...4:
            // A nest of them, deeper than wide.
            let sign = one(of: ["&&", "||"])
            var operands = [expression(.bool, depth)]
            for _ in 0..<1 + below(3) { operands.append(expression(.bool, depth - 1)) }
            return "(" + operands.joined(separator: " \(sign) ") + ")"
        case 5: return "!\(expression(.bool, depth))"
        case 6, 7:
            let sign = one(of: ["<", "<=", ">", ">=", "==", "!="])
            let (left, right) = (number(depth), number(depth))
            return chance(30) ? "(dyn(\(left)) \(sign) \(right))" : "(\(left) \(sign) \(right))"
        case 8:
            let kind = one(of: Kind.allCases)
            return
                "(\(expression(kind, depth)) \(one(of: ["==", "!="])) \(expression(kind, depth)))"
        case 9, 10:
            let kind = one(of: [Kind.ints, .strings])
            let element =
                chance(70) ? expression(kind == .ints ? .int : .string, depth) : any(depth)
            return "(\(element) in \(chance(60) ? leaf(kind) : expression(kind, depth)))"
        case 11: return "(\(any(depth)) in \(expression(.map, depth)))"
        case 12:
            return one(of: [
                "has(a.k)", "has(a.n.k)", "has(a.n.zz)", "has(m.k)", "has(b.k)",
                "has(req.user.age)",
                "(has(a.n) && has(a.n.k) && a.n.k == 1)", "has(a.?n.k)", "has(req.user)",
            ])
        case 13:
            let name = one(of: ["contains", "startsWith", "endsWith"])
            return "\(expression(.string, depth)).\(name)(\(expression(.string, depth)))"
        case 14:
            return
                "\(expression(.string, depth)).matches(\(one(of: ["'^a'", "'b+'", "'^$'", "dyn('(')"])))"
        default: return test(depth)
        }
    }

    private mutating func test(_ depth: Int) -> String {
        let macro = one(of: ["all", "exists", "exists_one"])
        let kind = one(of: [Kind.ints, .strings, .map])
        let range = expression(kind, depth)
        if chance(25) {
            let first = enter(kind == .map ? .anything : .int)
            let second = enter(kind == .ints ? .int : kind == .strings ? .string : .anything)
            defer { locals.removeLast(2) }
            if first == second { return "true" }
            return "\(range).\(macro)(\(first), \(second), \(expression(.bool, depth)))"
        }
        let name = enter(kind == .ints ? .int : .string)
        defer { locals.removeLast() }
        return "\(range).\(macro)(\(name), \(expression(.bool, depth)))"
    }

    private mutating func arithmetic(_ kind: Kind, _ depth: Int) -> String {
        let signs = kind == .double ? ["+", "-", "*", "/"] : ["+", "-", "*", "/", "%"]
        return "(\(expression(kind, depth)) \(one(of: signs)) \(expression(kind, depth)))"
    }

    private mutating func int(_ depth: Int) -> String {
        switch below(7) {
        case 0...3: return chance(15) ? "-\(expression(.int, depth))" : arithmetic(.int, depth)
        case 4:
            return "size(\(expression(one(of: [.string, .ints, .strings, .map]), depth)))"
        case 5: return "int(\(number(depth)))"
        default:
            let name = one(of: ["greatest", "least"])
            return "math.\(name)(\(expression(.int, depth)), \(expression(.int, depth)))"
        }
    }

    private mutating func string(_ depth: Int) -> String {
        let text = expression(.string, depth)
        switch below(8) {
        case 0...2: return "(\(text) + \(expression(.string, depth)))"
        case 3: return "\(text).substring(\(below(4)))"
        case 4: return "\(text).replace(\(expression(.string, depth)), \(leaf(.string)))"
        case 5: return "\(text).\(one(of: ["lowerAscii()", "upperAscii()", "reverse()"]))"
        case 6: return "\(expression(.strings, depth)).join(\(leaf(.string)))"
        default: return "string(\(expression(.int, depth)))"
        }
    }

    private mutating func list(_ kind: Kind, _ depth: Int) -> String {
        let element: Kind = kind == .ints ? .int : .string
        let range = expression(kind, depth)
        switch below(10) {
        case 0: return "(\(range) + \(expression(kind, depth)))"
        case 1:
            return "\(range).\(one(of: ["distinct()", "sort()", "reverse()", "slice(0, 1)"]))"
        case 2:
            return kind == .ints
                ? "lists.range(\(below(6)))" : "\(expression(.string, depth)).split('a')"
        case 3, 4:
            let name = enter(element)
            defer { locals.removeLast() }
            return "\(range).filter(\(name), \(expression(.bool, depth)))"
        case 5, 6:
            let name = enter(element)
            defer { locals.removeLast() }
            let filter = chance(30) ? "\(expression(.bool, depth)), " : ""
            return "\(range).map(\(name), \(filter)\(expression(element, depth)))"
        case 7:
            let name = enter(element)
            defer { locals.removeLast() }
            return "\(range).sortBy(\(name), \(expression(one(of: [.int, .string]), depth)))"
        case 8:
            let first = enter(.int)
            let second = enter(element)
            defer { locals.removeLast(2) }
            if first == second { return range }
            return "\(range).transformList(\(first), \(second), \(expression(element, depth)))"
        default:
            return
                "[\(expression(element, depth)), ?\(expression(.optional, depth)), \(expression(element, depth))]"
        }
    }

    private mutating func anything(_ depth: Int) -> String {
        switch below(6) {
        case 0: return "dyn(\(any(depth)))"
        case 1: return "\(expression(.map, depth))[\(one(of: ["'k'", "1", "1u", "1.0", "true"]))]"
        case 2:
            let index = chance(50) ? expression(.int, depth) : "dyn(\(number(depth)))"
            return "\(expression(.ints, depth))[\(chance(20) ? "?" : "")\(index)]"
        case 3: return "\(expression(.optional, depth)).\(one(of: ["value()", "orValue(1)"]))"
        case 4: return "\(expression(.map, depth)).\(one(of: ["k", "n", "n.k", "zz"]))"
        default: return leaf(.anything)
        }
    }

    private mutating func map(_ depth: Int) -> String {
        switch below(4) {
        case 0:
            let keys = ["'k'", "'n'", "1", "1u", "true", "s", "i", "u", "d"]
            let entries = (0..<1 + below(3)).map { _ in "\(one(of: keys)): \(any(depth))" }
            return "{" + entries.joined(separator: ", ") + "}"
        case 1: return "{?'k': \(expression(.optional, depth)), 'n': \(any(depth))}"
        case 2:
            let range = expression(one(of: [.map, .ints]), depth)
            let first = enter(.anything)
            let second = enter(.anything)
            defer { locals.removeLast(2) }
            if first == second { return "{}" }
            return "\(range).transformMap(\(first), \(second), \(any(depth)))"
        default:
            let range = expression(.strings, depth)
            let first = enter(.int)
            let second = enter(.string)
            defer { locals.removeLast(2) }
            if first == second { return "m" }
            return "\(range).transformMapEntry(\(first), \(second), {\(second): \(first)})"
        }
    }

    private mutating func optional(_ depth: Int) -> String {
        switch below(5) {
        case 0: return "optional.of(\(any(depth)))"
        case 1: return "\(expression(.map, depth)).?\(one(of: ["k", "n", "n.?k"]))"
        case 2: return "\(expression(.ints, depth))[?\(expression(.int, depth))]"
        case 3: return "\(expression(.ints, depth)).\(one(of: ["first()", "last()"]))"
        default:
            let range = expression(.optional, depth)
            let name = enter(.anything)
            defer { locals.removeLast() }
            return chance(50)
                ? "\(range).optMap(\(name), \(any(depth)))"
                : "\(range).optFlatMap(\(name), \(expression(.optional, depth)))"
        }
    }
}
