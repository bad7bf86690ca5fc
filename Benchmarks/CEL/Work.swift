import CEL

/// How much time a unit of cost stands for, function by function.
///
/// Each overload of every function is called in a loop until the limit ends it, with texts of
/// several kinds and sizes for its arguments. What takes far longer for a unit than the others is
/// not paid for as it should be.
enum Work {
    private static let costLimit = 1_000_000

    /// Pieces that texts are made of: each is slow for some function.
    private static let pieces = [
        "a", "ab", "é", " ", "\u{3000}", "1s", "1", "1.", "::", "1:", "%s", "%", "AAAA", "\"", "/",
    ]
    private static let sizes = [16, 2_000, 120_000]

    /// Calls beyond those of the table: a pattern or a list of a kind of its own matters.
    private static let further = [
        "'%s'.format([b])", "'%s'.format([[1e308, t, d, 5u]])",
        "'%d %f %.1000e'.format([1e308, 1e308, 1.5])",
        "'%s'.format([{s: s, s + s: t}])", "'%s'.format([l])", "'%x'.format([s])",
        "s.matches('(a|b)*a(a|b){100}c')", "s.matches('^[a-z]+$')", "s.matches('x*y?b$')",
        "s.matches('a.{40}c')", "regex.extractAll(s, 'a')", "regex.replace(s, 'a|b', 'é')",
        "s == s + 'a'", "s < s + 'a'", "s in [s + 'a']", "l.map(x, x + s)", "{s: 1}[?s]",
        "l.sort()", "l.sortBy(x, x)", "string(1e300)", "string(t)", "string(d)", "timestamp(s)",
        "dyn(s).a", "l[9]", "m.k", "m['k']", "[s, s].join(s)",
    ]

    private static func argument(_ type: Type) -> String? {
        switch type {
        case .string, .param: "s"
        case .bytes: "b"
        case .int: "3"
        case .uint: "3u"
        case .double: "2.5"
        case .bool: "true"
        case .timestamp: "t"
        case .duration: "d"
        case .list(.int): "[1, 2, 3]"
        case .list(.uint): "[1u, 2u]"
        case .list(.double): "[1.5, 2.5]"
        case .list(.dyn): "[s, b, 1e308, t, d]"
        case .list(.optional): "[optional.of(s)]"
        case .list: "l"
        case .map: "m"
        case .optional(let inner): argument(inner).map { "optional.of(\($0))" }
        case .abstract("net.IP", _): "ip('2001:db8::1')"
        case .abstract("net.CIDR", _): "cidr('2001:db8::/64')"
        default: nil
        }
    }

    private static var calls: [String] {
        Function.standard.flatMap { function in
            function.overloads.compactMap { overload -> String? in
                let arguments = overload.parameters.compactMap(argument)
                guard arguments.count == overload.parameters.count,
                    function.name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "." })
                else { return nil }
                let rest = arguments.dropFirst(overload.isMember ? 1 : 0).joined(separator: ", ")
                return (overload.isMember ? arguments[0] + "." : "") + "\(function.name)(\(rest))"
            }
        } + further
    }

    /// Prints the calls that take the longest for a unit of cost, the worst last.
    static func run(matching part: String?) throws {
        var environment = Environment()
        for (name, type) in [
            ("s", Type.string), ("b", .bytes), ("t", .timestamp), ("d", .duration),
            ("l", .list(.string)), ("m", .map(.string, .string)),
        ] { try environment.declare(name, type) }
        var rows: [(nanoseconds: Double, text: String)] = []
        for call in calls where part.map(call.contains) ?? true {
            guard
                let program = environment.compile(
                    "lists.range(40000).all(i, [\(call)] == [] || true)"
                ).program
            else { fail("`\(call)` does not compile") }
            for size in sizes {
                for piece in pieces {
                    rows.append(
                        (
                            time(program, in: environment, piece, size),
                            "\(call) of \(size) bytes of `\(piece)`"
                        ))
                }
            }
        }
        for row in rows.sorted(by: { $0.nanoseconds < $1.nanoseconds }).suffix(60) {
            write("\(Int(row.nanoseconds)) ns per unit: \(row.text)\n", to: 1)
        }
    }

    /// `a` and `b` without order, which lets the automata of some patterns grow too large.
    private static func mixed(_ count: Int) -> String {
        var state: UInt64 = 1
        return String(
            decoding: (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(ascii: state >> 40 & 1 == 0 ? "a" : "b")
            }, as: UTF8.self)
    }

    private static func time(
        _ program: Program, in environment: Environment, _ piece: String, _ size: Int
    ) -> Double {
        let text =
            piece == "ab" ? mixed(size) : String(repeating: piece, count: size / piece.utf8.count)
        var activation = Activation(environment)
        activation.set(0, text)
        activation.set(
            1, .bytes(piece == "a" ? Array(repeating: 255, count: size) : Array(text.utf8)))
        activation.set(2, Timestamp(seconds: 253_402_300_799).map { .timestamp($0) } ?? .null)
        activation.set(3, .duration(CELDuration(totalNanoseconds: .min + 1)))
        activation.set(4, .list((0..<9).map { .string("\($0)\(text)") }))
        activation.set(5, .map(ValueMap([.init(key: .string("k"), value: .string(text))])))
        let start = nanoseconds()
        let result = program.evaluate(&activation, costLimit: costLimit)
        return (nanoseconds() - start) / Double(max(result.cost, 1))
    }
}
