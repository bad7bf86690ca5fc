import CEL
import Testing

@Suite("Types, values and names as text")
struct TextTests {
    @Test(arguments: [
        "int", "list(string)", "map(string, list(dyn))", "optional_type(int)", "wrapper(int)",
        "google.protobuf.Timestamp", "google.protobuf.Duration", "type(int)", "type", "null",
        "tuple(int, dyn)", "net.IP", "T", "any",
    ])
    func typesReadBack(_ text: String) throws {
        let type = try #require(Type(text: text))
        #expect(type.description == text)
    }

    @Test(arguments: [
        "", "list(", "list(int", "list(int))", "map(int,)", "(int)", "int int", "a b",
        String(repeating: "list(", count: 5000),
    ])
    func whatIsNoType(_ text: String) { #expect(Type(text: text) == nil) }

    @Test func equalityOfValues() {
        #expect(Value.int(1) == .uint(1) && Value.uint(1) == .double(1))
        #expect(Value.double(.nan) != .double(.nan))
        #expect(Value.double(.nan).isIdentical(to: .double(.nan)))
        #expect(!Value.int(1).isIdentical(to: .uint(1)))
        #expect(Value.double(0) == .double(-0.0) && !Value.double(0).isIdentical(to: .double(-0.0)))
        #expect(Value.string("é") != .string("e\u{301}"))
        #expect(Value.null != .bool(false))
        let map = Value.map(
            ValueMap([.init(key: .int(1), value: .null), .init(key: .string("a"), value: .int(2))]))
        let turned = Value.map(
            ValueMap([
                .init(key: .string("a"), value: .uint(2)), .init(key: .uint(1), value: .null),
            ]))
        #expect(map == turned && !map.isIdentical(to: turned))
        #expect(Value.optional(nil) == .optional(nil) && Value.optional(.null) != .optional(nil))
    }

    @Test func rangesOfTime() {
        #expect(Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999) != nil)
        #expect(Timestamp(seconds: 253_402_300_800) == nil)
        #expect(Timestamp(seconds: -62_135_596_801) == nil)
        #expect(Timestamp(seconds: 0, nanoseconds: 1_000_000_000) == nil)
        #expect(CELDuration(seconds: .max) == nil)
        #expect(CELDuration(seconds: -1, nanoseconds: -5)?.totalNanoseconds == -1_000_000_005)
        #expect(CELDuration(totalNanoseconds: -1_500_000_000).nanoseconds == -500_000_000)
    }

    @Test(
        arguments: [
            ("1h30m", 5_400_000_000_000), ("-1.5s", -1_500_000_000), ("100ms", 100_000_000),
            ("0", 0), (".5s", 500_000_000), ("1h1h", 7_200_000_000_000), ("+5us", 5000), ("7ns", 7),
            ("1.0000000001s", 1_000_000_000),
        ] as [(String, Int64)])
    func durations(_ text: String, _ nanoseconds: Int64) {
        #expect(
            outcome("duration('\(text)')")
                == .value(.duration(CELDuration(totalNanoseconds: nanoseconds))))
    }

    @Test(arguments: [
        "", "s", "1", "1d", "--1s", "1s ", "9223372037s", "1e3s", "-", "1.s.", "1h-5m",
    ])
    func whatIsNoDuration(_ text: String) {
        #expect(outcome("duration('\(text)')") == .error(.invalidArgument))
    }

    @Test(arguments: [
        ("0.1", "0.1"), ("100.0", "100"), ("-0.0", "-0"), ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"), ("1.5e300", "1.5e+300"), ("0.0001", "0.0001"), ("0.00001", "1e-05"),
        ("123456789.125", "123456789.125"), ("5e-324", "5e-324"), ("1e23", "1e+23"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ])
    func doublesAsText(_ literal: String, _ text: String) {
        #expect(outcome("string(\(literal))") == .value(.string(text)))
        #expect(outcome("double(string(\(literal))) == \(literal)") == .value(.bool(true)))
    }

    @Test(arguments: [
        "2001:db8::1", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "10.0.0.1", "2001:db8:0:1::",
    ])
    func addressesReadBack(_ text: String) {
        #expect(outcome("string(ip('\(text)'))") == .value(.string(text)))
        #expect(outcome("ip.isCanonical('\(text)')") == .value(.bool(true)))
    }

    @Test(arguments: [
        "1.2.3", "1.2.3.256", "01.2.3.4", ":::", "1::2::3", "g::", "1:2:3:4:5:6:7:8:9", "::%1", "",
    ])
    func whatIsNoAddress(_ text: String) {
        #expect(outcome("isIP('\(text)')") == .value(.bool(false)))
        #expect(outcome("ip('\(text)')") == .error(.invalidArgument))
    }

    @Test func containersResolveNames() throws {
        var environment = Environment()
        environment.container = "com.example"
        try environment.declare("com.example.x", .int)
        try environment.declare("x", .string)
        #expect(environment.compile("x").program?.resultType == .int)
        #expect(environment.compile(".x").program?.resultType == .string)
        #expect(environment.compile("[1].map(x, x)").program?.resultType == .list(.int))
        #expect(environment.compile("[true].map(x, .x)").program?.resultType == .list(.string))
    }

    /// What Unicode calls white space, and nothing else, is trimmed.
    @Test func whiteSpace() throws {
        var environment = Environment()
        try environment.declare("s", .string)
        let trim = try program("s.trim() == 'x'", in: environment)
        var activation = Activation(environment)
        for scalar in (UInt32(0)...0x1_FFFF).compactMap(Unicode.Scalar.init) {
            let isSpace = scalar.properties.isWhitespace
            // Of those that are none a sample is enough.
            guard isSpace || scalar.value < 0x3100 || scalar.value % 97 == 0 else { continue }
            activation.reset()
            activation.set(0, "\(Character(scalar))x\(Character(scalar))")
            #expect(trim.evaluate(&activation).value == .bool(isSpace), "\(scalar.value)")
        }
    }
}
