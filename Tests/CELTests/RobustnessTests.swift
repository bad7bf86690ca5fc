import CEL
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
