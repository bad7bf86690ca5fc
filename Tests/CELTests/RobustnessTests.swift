import CEL
import Foundation
import Synchronization
import Testing

@Suite("No input brings it down")
struct RobustnessTests {
    /// A small generator with a seed, so that a failure can be run again.
    struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    static let seeds = [
        "attributes.amount > 5.0 && insight.outcome in ['high', 'medium'] ? 1 : 2",
        "[1, 2, 3].map(x, x > 1, x * 2).exists(y, y == 4) || {'a': b'x', 'c': null}.size() > 1u",
        "cel.bind(x, timestamp('2020-01-01T00:00:00Z'), x + duration('1h')).getHours('UTC') == 1",
        "'%s %.2f'.format(['a', 2.0]) + 'abc'.replace('b', \"\\u00e9\") + r'\\d' + string(-0x1F)",
        "optional.of({?'k': optional.none()}).?k.optMap(v, v + 1).orValue(3) - -9223372036854775808",
        "google.protobuf.Value{struct_value: {'a': [1, 2.5e3, true]}} != null",
        "google.protobuf.Any{type_url: 'google.protobuf.Value', value: b'\\x32\\x04\\x0a\\x02\\x20\\x00'}",
        "has(google.protobuf.FieldMask{paths: ['a', \"\\ud83d\\ude2c\"]}.paths) // \r || true",
        "cel.block([1, cel.index(0) + 1], [3].transformMap(i, v, v / cel.index(1)))",
    ]

    private func survive(_ source: [UInt8], in environment: Environment) {
        let compiled = environment.compile(utf8: source)
        #expect(
            (compiled.program == nil) == compiled.diagnostics.contains { $0.severity == .error })
        for diagnostic in compiled.diagnostics {
            #expect(
                diagnostic.range.lowerBound >= 0 && diagnostic.range.upperBound <= source.count + 1)
            _ = SourceText(source).render(diagnostic)
        }
        guard let program = compiled.program else { return }
        var activation = Activation(environment)
        _ = program.evaluate(&activation, costLimit: 20_000)
        _ = program.traced().evaluate(&activation, costLimit: 20_000)
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func mutatedExpressions(seed: UInt64) throws {
        var generator = Generator(state: seed)
        var lenient = try Environment.payment()
        lenient.checking = .lenient
        let strict = try Environment.payment()
        let pieces = Self.seeds.map { Array($0.utf8) }
        let tokens = [
            "(", ")", "[", "]", "{", "}", "?", ":", ".", ",", "!", "-", "&&", "||", " in ", "has(",
        ]
        for _ in 0..<1500 {
            var source = pieces.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &generator) where !source.isEmpty {
                let place = Int.random(in: 0..<source.count, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: source[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: source.remove(at: place)
                case 2:
                    source.insert(
                        contentsOf: (tokens.randomElement(using: &generator) ?? "").utf8, at: place)
                case 3:
                    let end = Int.random(
                        in: place...min(source.count, place + 12), using: &generator)
                    source.insert(contentsOf: Array(source[place..<end]), at: place)
                default:
                    let other = pieces.randomElement(using: &generator) ?? []
                    source =
                        Array(source[..<place])
                        + other.suffix(
                            Int.random(in: 0...other.count, using: &generator))
                }
            }
            survive(source, in: lenient)
            survive(source, in: strict)
        }
    }

    @Test func randomBytes() {
        var generator = Generator(state: 7)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...40, using: &generator)
            let isText = Bool.random(using: &generator)
            let source = (0..<count).map { _ in
                UInt8.random(in: isText ? 32...126 : 0...255, using: &generator)
            }
            survive(source, in: Environment())
        }
    }

    @Test(arguments: [
        ("(", "1", ")"), ("[", "", "]"), ("-", "x", ""), ("!", "true", ""), ("{1: ", "1", "}"),
        ("a.b(", "1", ")"), ("[1].map(x, ", "x", ")"), ("true ? ", "1", " : 2"), ("1 + ", "1", ""),
        ("", "a", ".b"), ("", "a", "[0]"), ("true && ", "true", ""), ("", "1", " + 1"),
        ("cel.bind(x, 1, ", "x", ")"), ("A{b: ", "1", "}"), ("has(", "a.b", ")"), ("'", "", "'"),
        ("", "x", "{"), ("(", "", ""), ("[?", "", ""), ("", "", "}"),
    ])
    func deepNesting(_ parts: (open: String, middle: String, close: String)) {
        let count = 100_000
        let source =
            String(repeating: parts.open, count: count) + parts.middle
            + String(repeating: parts.close, count: count)
        survive(Array(source.utf8), in: Environment())
    }

    @Test func depthIsADiagnosticAndLongChainsAreNot() {
        let deep =
            String(repeating: "(", count: 100_000) + "1" + String(repeating: ")", count: 100_000)
        #expect(Environment().compile(deep).diagnostics.map(\.code) == ["cel.limit.depth"])
        let chain = Array(repeating: "true", count: 10_000).joined(separator: " && ")
        #expect(outcome(chain) == .value(.bool(true)))
        let nested = String(repeating: "(", count: 150) + "1" + String(repeating: ")", count: 150)
        #expect(outcome(nested) == .value(.int(1)))
    }

    @Test func costIsLimited() throws {
        let environment = Environment()
        for expression in [
            "lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, true)))",
            "lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).exists(c, false)) || true)",
            "lists.range(100000).map(x, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' + string(x)).size() + lists.range(9000000).size()",
            "cel.bind(a, lists.range(3000), a.map(x, a.map(y, [x, y]))).size()",
            "cel.bind(a, lists.range(100000), a.distinct().size())",
            "lists.range(1000).all(i, 'x'.matches('x{' + string(i) + '}') || true)",
            "lists.range(1000).all(i, regex.extractAll('aaaaaaaaaaaaaaaaaaaaaaa', 'a*' + string(i)) != [] || true)",
        ] {
            var activation = Activation(environment)
            let result = try program(expression, in: environment).evaluate(
                &activation, costLimit: 1_000_000)
            let code = try #require(result.error?.code, "\(expression)")
            #expect(code == .costLimit || code == .sizeLimit, "\(expression)")
        }
        var activation = Activation(environment)
        let small = try program("[1, 2, 3].all(x, x > 0)", in: environment)
        let cost = small.evaluate(&activation).cost
        #expect(small.evaluate(&activation, costLimit: cost).error == nil)
        #expect(small.evaluate(&activation, costLimit: cost - 1).error?.code == .costLimit)
    }
}

@Suite("Values that nest")
struct NestingTests {
    /// Computed variables can build on each other without end; their values cannot.
    @Test func computedVariablesCannotNestValuesWithoutEnd() throws {
        var environment = Environment()
        let open = String(repeating: "[", count: 100)
        let close = String(repeating: "]", count: 100)
        var last = "1"
        for index in 0..<20 {
            let step = try program("dyn(" + open + last + close + ")", in: environment)
            try environment.declare("v\(index)", computedBy: step)
            last = "v\(index)"
        }
        var activation = Activation(environment)
        let fine = try program("v3 == v3", in: environment)
        #expect(fine.evaluate(&activation).value == .bool(true))
        let deep = try program("v19", in: environment)
        #expect(deep.evaluate(&activation).error?.code == .sizeLimit)
    }

    @Test func hostValuesCannotNestWithoutEnd() throws {
        var environment = Environment()
        try environment.declare("x", .dyn)
        var value = Value.int(1)
        for _ in 0..<400 { value = .list([value]) }
        var activation = Activation(environment)
        let read = try program("[x] == [x]", in: environment)
        activation.set(0, value)
        #expect(read.evaluate(&activation).value == .bool(true))
        for _ in 0..<200 { value = .list([value]) }
        activation.set(0, value)
        #expect(read.evaluate(&activation).error?.code == .sizeLimit)
    }
}

@Suite("Values that share their parts", .timeLimit(.minutes(2)))
struct SharingTests {
    /// `v0 = seed, v1 = f(v0), …`: each takes a few cells and stands for twice as much.
    private func doubled(_ count: Int, _ seed: String, _ step: String, _ last: String) -> String {
        var text = ""
        for index in 0..<count {
            let value = index == 0 ? seed : step.replacing("#", with: "v\(index - 1)")
            text += "cel.bind(v\(index), \(value), "
        }
        return text + last.replacing("#", with: "v\(count - 1)")
            + String(repeating: ")", count: count)
    }

    @Test(arguments: [
        "# == #", "# == [#[0], #[1]]", "[#] == [[#[0], #[1]]]", "# in [#]", "[#, #].distinct()",
        "'%s'.format([#])", "google.protobuf.Value{list_value: #}", "#.flatten(1000)",
        "sets.contains([#], [#])", "{1: #} == {1: #}", "optional.of(#) == optional.of(#)",
        "#", "[#]", "{'k': #}", "optional.of(#)", "host(#)",
    ])
    func theyAreGivenUp(_ last: String) throws {
        var environment = Environment()
        environment.limits.memory = 1 << 20
        environment.limits.cost = 100_000
        environment.declare(
            Function(
                name: "host",
                overloads: [.init(id: "host_dyn", parameters: [.dyn], result: .dyn)]
            ) { _ in .success(.null) })
        let program = try program(
            doubled(60, "[1.0, 1.0]", "[#, #]", last), in: environment)
        var activation = Activation(environment)
        let result = program.evaluate(&activation)
        #expect(result.error?.code == .costLimit || result.error?.code == .sizeLimit)
        #expect(activation.memoryInUse == 0)
        // The values of a trace share the memory of one.
        if last == "#" {
            let traced = program.traced().evaluate(&activation)
            #expect(traced.trace.count > 60)
            #expect(traced.trace.contains { (try? $0.outcome.get()) == nil })
        }
    }

    @Test(arguments: ["{#: #}", "{1: #, 2: #}", "[{'a': #}, {'b': #}]"])
    func typesOfThemAreDyn(_ step: String) throws {
        let source = doubled(60, "{1: 1}", step, "dyn(1)")
        #expect(Environment().compile(source).program != nil)
    }

    @Test func textsThatGrowLeaveNothingBehind() throws {
        var environment = Environment()
        try environment.declare("s", .string)
        let double = try program("size(s + s + s)", in: environment)
        var activation = Activation(environment)
        for count in 1...60 {
            activation.reset()
            activation.set(0, String(repeating: "a", count: 20_000 * count))
            #expect(double.evaluate(&activation).value == .int(Int64(60_000 * count)))
        }
        #expect(activation.memoryReserved < 24 << 20)
    }
}

@Suite("Work is paid for", .timeLimit(.minutes(2)))
struct PaidWorkTests {
    private static let text = "cel.bind(s, lists.range(2000).map(x, 'aaaaaaaaaaaaaaaa').join(), "
    private static let rounds = "lists.range(100000).all(i, "

    /// Each of these does much work at little cost, unless all of it counts.
    @Test(arguments: [
        "int(s) == 1", "uint(s) == 1u", "double(s) == 1.0", "bool(s)",
        "timestamp(s) == timestamp(0)",
        "duration(s) == duration('0s')", "timestamp(0).getHours(s) == 1", "ip(s) == ip(s)",
        "isCIDR(s)",
        "s in {'k': 1}", "{s: 1} == {}", "{'k': 1}[?s].hasValue()", "s.trim() == ''",
        "base64.decode(s) == b''", "s.lastIndexOf('b') == 1", "'%x'.format([s]) == ''",
        "s.charAt(1) == ''", "isIP(s)", "cidr('::/0').containsIP(s)", "s.reverse() == ''",
        "'%s'.format([bytes(s)]) == ''", "s == s + ''", "s < s", "s.split('b').size() == 1",
        "s.quote() == ''",
        "s.matches('b')", "regex.extract(s, 'b').hasValue()", "s.replace('b', '') == ''",
    ])
    func readingTexts(_ test: String) throws {
        let source =
            Self.text + Self.rounds
            + test.replacing("s.quote()", with: "strings.quote(s)") + " || true))"
        try expectGivenUp(source)
    }

    @Test(arguments: [
        "l.join() == ''", "optional.unwrap([optional.of(l)]).size() == 1", "l.sort().size() == 1",
        "sets.contains([''], l)", "sets.intersects(l, ['b'])", "sets.equivalent(l, [''])",
        "l == l + []", "'b' in l", "l.distinct().size() == 1", "l.reverse().size() == 1",
        "l.map(x, x).size() == 1", "math.greatest(l.map(x, 1)) == 1", "{'k': l} == {'k': l}",
    ])
    func goingOverLists(_ test: String) throws {
        try expectGivenUp(
            "cel.bind(l, lists.range(20000).map(x, ''), " + Self.rounds + test + " || true))")
    }

    /// A search that reads to the end for every match.
    @Test(arguments: [
        "regex.extractAll(s, 'a.*b|a')", "regex.replace(s, 'a.*b|a', '')",
        "regex.replace(s, 'a', '\\\\0\\\\0')",
    ])
    func regularExpressions(_ search: String) throws {
        let long = Self.text.replacing("2000", with: "30000")
        try expectGivenUp(long + search + ".size())")
        try expectGivenUp(
            "lists.range(4000).all(i, 'x'.matches('(a{500}){' + string(i) + '}') || true)")
    }

    /// Texts of numbers are longer than the numbers.
    @Test(arguments: [
        "'%s'.format([lists.range(100000).map(i, 1e308)])",
        "lists.range(100000).all(i, '%d'.format([1e308 + double(i)]) != '')",
        "lists.range(100000).all(i, '%.1000f'.format([1e308 + double(i)]) != '')",
        "'%s'.format([lists.range(100000).map(i, timestamp(i))])",
        "'%s'.format([lists.range(100000).map(i, duration('-1s'))])",
        "'%s'.format([lists.range(100000).map(i, ip('::1'))])",
    ])
    func textsOfNumbers(_ source: String) throws {
        try expectGivenUp(source)
    }

    /// An automaton that grows too large is followed state by state.
    @Test func largeRegularExpressionsCostMore() throws {
        func cost(_ pattern: String) throws -> Int {
            let environment = Environment()
            var activation = Activation(environment)
            let source = Self.text + "s.matches('\(pattern)'))"
            return try program(source, in: environment).evaluate(&activation).cost
        }
        let small = try cost("^tx-[0-9a-f]+$")
        #expect(try cost("(a|b)*a(a|b){100}c") > 3 * small)
        #expect(try cost("b") * 2 > small)
    }

    private func expectGivenUp(_ source: String) throws {
        let environment = Environment()
        var activation = Activation(environment)
        let result = try program(source, in: environment).evaluate(
            &activation, costLimit: 1_000_000)
        let code = result.error?.code
        #expect(code == .costLimit || code == .sizeLimit, "\(source): \(result)")
    }
}

@Suite("Compiling is bounded", .timeLimit(.minutes(2)))
struct CompileBoundsTests {
    private func repeated(_ text: String, _ count: Int, _ separator: String = " && ") -> String {
        (0..<count).map { text.replacing("#", with: "\($0)") }.joined(separator: separator)
    }

    @Test func manyPartsTakeLittleTime() throws {
        var environment = Environment()
        try environment.declare("s", .string)
        for source in [
            repeated("[] == []", 20_000), repeated("[#] == [#]", 10_000),
            "cel.block([" + repeated("1", 20_000, ", ") + "], ["
                + repeated("cel.index(#)", 20_000, ", ") + "])",
            "{" + repeated("#: 1", 20_000, ", ") + "}.size()",
        ] { #expect(environment.compile(source).program != nil) }
        let faults = environment.compile(repeated("unknown#()", 20_000))
        #expect(faults.diagnostics.count == environment.limits.diagnostics)
        let signs = environment.compile(String(repeating: "¤", count: 100_000))
        #expect(signs.diagnostics.count == environment.limits.diagnostics)
    }

    @Test func regularExpressionsAreCounted() throws {
        var environment = Environment()
        try environment.declare("s", .string)
        let limit = environment.limits.regexes
        #expect(environment.compile(repeated("s.matches('a#')", limit)).program != nil)
        // The same one counts once.
        #expect(environment.compile(repeated("s.matches('a')", 2 * limit)).program != nil)
        let many = environment.compile(repeated("s.matches('a#')", limit + 1))
        #expect(many.diagnostics.map(\.code) == ["cel.limit.regex"])
        let wrong = environment.compile(repeated("s.matches('(#')", 1_000))
        #expect(wrong.program == nil)
        #expect(wrong.diagnostics.count == environment.limits.diagnostics)
    }

    static let nests: [(open: String, middle: String, close: String, count: Int)] = [
        ("(", "1", ")", 195), ("[", "1", "]", 195), ("!", "dyn(true)", "", 345),
        ("", "dyn(1)", " + dyn(1)", 345), ("", "s", ".trim()", 345), ("", "a", "[0]", 345),
        ("", "a", ".b", 345), ("", "[1]", ".map(x, [x])", 345), ("", "a", ".map(x, x)", 345),
        ("[1].map(x, ", "x", ")", 190), ("cel.bind(x, [1], ", "x", ")", 190),
        ("{1: ", "1", "}", 190), ("optional.of(", "1", ")", 190), ("twice(", "1", ")", 190),
        ("dyn(true) ? 1 : ", "2", "", 190), ("dyn([", "1", "])", 95), ("a.f(", "1", ")", 190),
        ("google.protobuf.Value{list_value: [", "1", "]}", 95), ("a in [", "1", "]", 170),
        ("[1].all(x, has(x.y) || ", "true", ")", 170), ("[?optional.of(", "1", ")]", 95),
    ]

    /// The depth that the limits allow fits the stack of a thread that has little. Frames are several
    /// times as large where nothing is optimised.
    @Test(arguments: nests)
    func nestsFitSmallStacks(_ nest: (open: String, middle: String, close: String, count: Int))
        throws
    {
        let text = { @Sendable (count: Int) in
            String(repeating: nest.open, count: count) + nest.middle
                + String(repeating: nest.close, count: count)
        }
        let source = text(nest.count)
        try onSmallStack {
            var environment = Environment()
            environment.checking = .lenient
            try environment.declare("a", .dyn)
            try environment.declare("s", .string)
            var activation = Activation(environment)
            activation.set(1, "text")
            let program = try #require(environment.compile(source).program, "\(nest)")
            _ = program.evaluate(&activation)
            _ = program.traced().evaluate(&activation)
            _ = program.part(program.root)
            _ = program.costEstimate()
            environment.checking = .strict
            for diagnostic in environment.compile(source).diagnostics { _ = diagnostic.message }
            // What is deeper gets a diagnostic.
            #expect(environment.compile(text(100_000)).program == nil)
        }
    }

    /// The deepest values there can be: compared, shown, copied, sorted, given to the host.
    @Test func deepValuesFitSmallStacks() throws {
        try onSmallStack {
            var environment = Environment()
            var last = "dyn(1)"
            for index in 0..<16 {
                let open = String(repeating: "[", count: 30)
                let close = String(repeating: "]", count: 30)
                try environment.declare(
                    "v\(index)", computedBy: program(open + last + close, in: environment))
                last = "dyn(v\(index))"
            }
            var activation = Activation(environment)
            for source in [
                "v15", "v15 == v15", "'%s'.format([v15])", "v15.flatten(1000)",
                "[v15, v15].distinct()",
                "google.protobuf.Value{list_value: v15} == v15", "v15 in [v15]",
                "{'k': v15} == {'k': v15}",
            ] {
                let result = try program(source, in: environment).evaluate(&activation)
                #expect(result.error == nil, "\(source): \(result.outcome)")
            }
        }
    }

    private func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
        #if DEBUG
            let bytes = 4 << 20
        #else
            let bytes = 512 << 10
        #endif
        let failure = Mutex<(any Error)?>(nil)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            do { try body() } catch { failure.withLock { $0 = error } }
            done.signal()
        }
        thread.stackSize = bytes
        thread.start()
        done.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
