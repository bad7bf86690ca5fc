import CEL
import Testing

/// The protobuf messages that the language itself knows.
@Suite("Well-known messages")
struct MessageTests {
    private static let google = "google.protobuf."

    @Test(arguments: [
        ("BoolValue", "true", "false", "bool"), ("Int32Value", "-5", "0", "int"),
        ("Int64Value", "-5", "0", "int"), ("UInt32Value", "5u", "0u", "uint"),
        ("UInt64Value", "5u", "0u", "uint"), ("FloatValue", "1.5", "0.0", "double"),
        ("DoubleValue", "1.5", "0.0", "double"), ("StringValue", "'a'", "''", "string"),
        ("BytesValue", "b'a'", "b''", "bytes"),
    ])
    func wrappers(_ name: String, _ value: String, _ zero: String, _ type: String) {
        let full = Self.google + name
        holds([
            "\(full){value: \(value)} == \(value)", "\(full){} == \(zero)", "\(full){} != null",
            "type(\(full){}) == \(type)", "[\(full){value: \(value)}] == [\(value)]",
            "\(full){value: dyn(\(value))} == \(value)", ".\(full){value: \(value)} == \(value)",
        ])
        isRefused("cel.type", ["\(full){value: null}", "\(full){value: [1]}"])
        isRefused("cel.type.select", ["\(full){}.value"])
        isRefused("cel.undeclared.field", ["\(full){other: \(value)}"])
        isRefused("cel.type.duplicateField", ["\(full){value: \(value), value: \(value)}"])
        fails(.noSuchOverload, ["\(full){value: dyn([1])}"])
    }

    @Test func rangesOfWrappers() {
        holds([
            "google.protobuf.Int32Value{value: 2147483647} == 2147483647",
            "google.protobuf.Int32Value{value: -2147483648} == -2147483648",
            "google.protobuf.UInt32Value{value: 4294967295u} == 4294967295u",
            "google.protobuf.FloatValue{value: 1.1} != 1.1",
            "google.protobuf.FloatValue{value: 1e300} == double('Infinity')",
        ])
        fails(
            .overflow,
            [
                "google.protobuf.Int32Value{value: 2147483648}",
                "google.protobuf.Int32Value{value: -2147483649}",
                "google.protobuf.UInt32Value{value: 4294967296u}",
            ])
    }

    @Test func wrappersAreScalars() {
        holds([
            "google.protobuf.Int64Value{value: 3} + 4 == 7",
            "google.protobuf.StringValue{value: 'a'} + 'b' == 'ab'",
            "google.protobuf.BoolValue{value: true} ? true : false",
            "google.protobuf.BytesValue{value: b'ab'}.size() == 2",
            "google.protobuf.Int32Value{value: 1} < 2.5",
            "google.protobuf.UInt64Value{value: 1u} in {1: 'a'}.map(k, uint(k))",
        ])
    }

    @Test func jsonValues() {
        holds([
            "google.protobuf.Value{} == null",
            "google.protobuf.Value{null_value: google.protobuf.NullValue.NULL_VALUE} == null",
            "google.protobuf.Value{number_value: 1.5} == 1.5",
            "google.protobuf.Value{string_value: 'a'} == 'a'",
            "google.protobuf.Value{bool_value: true} == true",
            "google.protobuf.Value{struct_value: {'a': 1}} == {'a': 1.0}",
            "google.protobuf.Value{list_value: [1, 2u, 'a', null]} == [1.0, 2.0, 'a', null]",
            "type(google.protobuf.Value{list_value: [1]}[0]) == double",
            "google.protobuf.Struct{} == {} && google.protobuf.ListValue{} == []",
            "google.protobuf.Struct{fields: {'a': {'b': [1]}}}.a.b[0] == 1.0",
            "has(google.protobuf.Struct{fields: {'a': 1}}.a)",
            "!has(google.protobuf.Struct{}.a)",
            "google.protobuf.Value{struct_value: google.protobuf.Struct{fields: {'a': 1}}}.a == 1",
        ])
        fails(
            .invalidArgument,
            [
                "google.protobuf.Value{number_value: 1.0, string_value: 'a'}",
                "google.protobuf.Struct{fields: {'a': type(1)}}",
                "google.protobuf.Struct{fields: dyn({1: 2})}",
                "google.protobuf.ListValue{values: [optional.of(1)]}",
            ])
        fails(
            .noSuchOverload,
            [
                "google.protobuf.Value{bool_value: dyn(null)}",
                "google.protobuf.Value{struct_value: dyn(null)}",
                "google.protobuf.Value{null_value: 'a'}",
                "google.protobuf.Value{null_value: 2147483648}",
                "google.protobuf.ListValue{values: dyn({})}",
                "google.protobuf.Timestamp{seconds: dyn(null)}",
            ])
        isRefused("cel.type", ["google.protobuf.Struct{fields: {1: 2}}"])
    }

    /// What JSON lacks becomes what protobuf's JSON form has for it.
    @Test(arguments: [
        ("9007199254740991", "9007199254740991.0"), ("9007199254740992", "'9007199254740992'"),
        ("-9007199254740991", "-9007199254740991.0"),
        ("-9007199254740992", "'-9007199254740992'"), ("9007199254740993u", "'9007199254740993'"),
        ("double('NaN')", "'NaN'"), ("double('Infinity')", "'Infinity'"),
        ("double('-Infinity')", "'-Infinity'"), (#"b'\xff\x00a'"#, "'/wBh'"),
        ("timestamp(1)", "'1970-01-01T00:00:01Z'"), ("duration('90.5s')", "'90.5s'"),
        ("google.protobuf.Empty{}", "{}"),
        ("google.protobuf.FieldMask{paths: ['a', 'foo_bar.b_c']}", "'a,fooBar.bC'"),
        ("google.protobuf.Int64Value{value: 3}", "3.0"),
    ])
    func jsonConversion(_ value: String, _ expected: String) {
        holds([
            "google.protobuf.ListValue{values: [\(value)]}[0] == \(expected)",
            "google.protobuf.Struct{fields: {'a': \(value)}}.a == \(expected)",
        ])
    }

    @Test func messagesOfTheirOwn() {
        holds([
            "google.protobuf.Empty{} == google.protobuf.Empty{}",
            "type(google.protobuf.Empty{}) == google.protobuf.Empty",
            "dyn(google.protobuf.Empty{}) != google.protobuf.FieldMask{}",
            "google.protobuf.Empty{} != null",
            "!optional.ofNonZeroValue(google.protobuf.FieldMask{}).hasValue()",
            "optional.ofNonZeroValue(google.protobuf.FieldMask{paths: ['a']}).hasValue()",
            "google.protobuf.FieldMask{paths: ['a', 'b.c']}.paths == ['a', 'b.c']",
            "google.protobuf.FieldMask{}.paths == []",
            "has(google.protobuf.FieldMask{paths: ['a']}.paths)",
            "!has(google.protobuf.FieldMask{}.paths)",
            "google.protobuf.FieldMask{paths: []} == google.protobuf.FieldMask{}",
            "google.protobuf.FieldMask{paths: ['a']} != google.protobuf.FieldMask{paths: ['b']}",
            "google.protobuf.FieldMask{}.?paths == optional.none()",
            "dyn(google.protobuf.FieldMask{paths: ['a']}).paths[0] == 'a'",
            "google.protobuf.FieldMask{?paths: optional.of(['a'])}.paths.size() == 1",
            "google.protobuf.FieldMask{?paths: optional.none()} == google.protobuf.FieldMask{}",
        ])
        isRefused(
            "cel.undeclared.field",
            ["google.protobuf.Empty{}.a", "google.protobuf.FieldMask{}.other"])
        fails(
            .noSuchField,
            ["dyn(google.protobuf.Empty{}).a", "has(dyn(google.protobuf.FieldMask{}).other)"])
        isRefused("cel.undeclared.type", ["google.protobuf.Other{}", "foo{}"])
    }

    @Test func timestampsAndDurations() {
        holds([
            "google.protobuf.Timestamp{} == timestamp(0)",
            "google.protobuf.Timestamp{seconds: 1, nanos: 5} == timestamp('1970-01-01T00:00:01.000000005Z')",
            "google.protobuf.Duration{seconds: -1, nanos: -500000000} == duration('-1.5s')",
            "type(google.protobuf.Timestamp{}) == google.protobuf.Timestamp",
        ])
        fails(
            .overflow,
            [
                "google.protobuf.Timestamp{seconds: 253402300800}",
                "google.protobuf.Timestamp{seconds: -62135596801}",
                "google.protobuf.Duration{seconds: 315576000001}",
                "google.protobuf.Duration{nanos: 2147483648}",
            ])
        isRefused("cel.type.select", ["google.protobuf.Timestamp{}.seconds"])
    }

    /// Bytes by hand from protobuf's encoding.
    @Test(arguments: [
        ("Int32Value", #"\x08\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01"#, "-5"),
        ("Int64Value", #"\x08\x96\x01"#, "150"), ("UInt32Value", #"\x08\x05"#, "5u"),
        ("UInt64Value", #"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"#, "18446744073709551615u"),
        ("BoolValue", #"\x08\x01"#, "true"), ("StringValue", #"\x0a\x03\xc3\xa9a"#, "'éa'"),
        ("BytesValue", #"\x0a\x01\xff"#, #"b'\xff'"#),
        ("FloatValue", #"\x0d\x00\x00\xc0\x3f"#, "1.5"),
        ("DoubleValue", #"\x09\x00\x00\x00\x00\x00\x00\xf8\x3f"#, "1.5"), ("Int64Value", "", "0"),
        ("Timestamp", #"\x08\x02\x10\x05"#, "timestamp('1970-01-01T00:00:02.000000005Z')"),
        ("Duration", #"\x08\x02"#, "duration('2s')"), ("Value", #"\x08\x00"#, "null"),
        ("Value", #"\x1a\x01a"#, "'a'"), ("Value", #"\x20\x01"#, "true"), ("Value", "", "null"),
        ("Value", #"\x32\x04\x0a\x02\x20\x00"#, "[false]"),
        ("Struct", #"\x0a\x08\x0a\x01a\x12\x03\x1a\x01b"#, "{'a': 'b'}"),
        (
            "Struct", #"\x0a\x07\x0a\x01a\x12\x02\x20\x00\x0a\x07\x0a\x01a\x12\x02\x20\x01"#,
            "{'a': true}"
        ),
        ("ListValue", #"\x0a\x02\x08\x00\x0a\x02\x20\x01"#, "[null, true]"),
        ("FieldMask", #"\x0a\x01a\x0a\x01b"#, "google.protobuf.FieldMask{paths: ['a', 'b']}"),
        ("Empty", "", "google.protobuf.Empty{}"),
        ("Int64Value", #"\x78\x01\x08\x05"#, "5"),
        (
            "Any", #"\x0a\x1agoogle.protobuf.Int64Value\x12\x02\x08\x07"#, "7"
        ),
    ])
    func packed(_ name: String, _ bytes: String, _ expected: String) {
        let url = "type.googleapis.com/google.protobuf.\(name)"
        holds([
            "google.protobuf.Any{type_url: '\(url)', value: b'\(bytes)'} == dyn(\(expected))",
            "type(google.protobuf.Any{type_url: '\(url)', value: b'\(bytes)'}) == type(\(expected))",
        ])
    }

    @Test(arguments: [
        ("Int64Value", #"\x08"#), ("Int64Value", #"\x08\xff"#), ("StringValue", #"\x0a\x05a"#),
        ("StringValue", #"\x0a\x01\xff"#), ("Int64Value", #"\x0b"#), ("Int64Value", #"\x00\x01"#),
        ("DoubleValue", #"\x09\x00"#), ("Other", ""),
        ("Int64Value", #"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"#),
    ])
    func whatCannotBeUnpacked(_ name: String, _ bytes: String) {
        fails(
            .invalidArgument,
            ["google.protobuf.Any{type_url: 'a/google.protobuf.\(name)', value: b'\(bytes)'}"])
    }

    @Test func anEmptyAnyHoldsNothing() {
        fails(.invalidArgument, ["google.protobuf.Any{}"])
    }

    /// Nesting within the bytes uses the native stack.
    @Test func packedValuesHaveALimitOfDepth() throws {
        var bytes: [UInt8] = []
        for _ in 0..<2000 {
            for tag in [UInt8(0x0A), 0x32] {
                var length = bytes.count
                var prefix = [tag]
                while length >= 0x80 {
                    prefix.append(UInt8(length & 0x7F) | 0x80)
                    length >>= 7
                }
                bytes = prefix + [UInt8(length)] + bytes
            }
        }
        var environment = Environment()
        let slot = try environment.declare("bytes", .bytes).lowerBound
        let program = try program(
            "google.protobuf.Any{type_url: 'google.protobuf.Value', value: bytes}",
            in: environment)
        var activation = Activation(environment)
        activation.set(slot, .bytes(bytes))
        #expect(program.evaluate(&activation).error?.code == .invalidArgument)
    }

    @Test func messagesOfTheHost() throws {
        var environment = Environment()
        let slot = try environment.declare(
            "mask", .abstract("google.protobuf.FieldMask", [])
        ).lowerBound
        let program = try program("[mask][0].paths[0] + 'c'", in: environment)
        let paths = ValueMap.Entry(key: .string("paths"), value: .list([.string("ab")]))
        var activation = Activation(environment)
        activation.set(
            slot, .message(type: "google.protobuf.FieldMask", fields: ValueMap([paths])))
        #expect(program.evaluate(&activation).value == .string("abc"))
        #expect(
            outcome("google.protobuf.FieldMask{paths: ['ab']}")
                == .value(.message(type: "google.protobuf.FieldMask", fields: ValueMap([paths]))))
    }

    @Test func wrappersMayBeNull() throws {
        var environment = Environment()
        let slot = try environment.declare("x", .wrapper(.int)).lowerBound
        let rows: [(String, whenNull: Outcome, whenFive: Outcome)] = [
            ("x == null", .value(.bool(true)), .value(.bool(false))),
            ("x == 5", .value(.bool(false)), .value(.bool(true))),
            ("x != null && x > 4", .value(.bool(false)), .value(.bool(true))),
            ("x + 1", .error(.noSuchOverload), .value(.int(6))),
            ("[x, 5][0]", .value(.null), .value(.int(5))),
            ("type(x) == null_type", .value(.bool(true)), .value(.bool(false))),
            (
                "google.protobuf.Int64Value{value: dyn(x)}", .error(.noSuchOverload),
                .value(.int(5))
            ),
        ]
        for (expression, whenNull, whenFive) in rows {
            let program = try program(expression, in: environment)
            for (value, expected) in [(Value.null, whenNull), (.int(5), whenFive)] {
                var activation = Activation(environment)
                activation.set(slot, value)
                switch program.evaluate(&activation).outcome {
                case .success(let value): #expect(.value(value) == expected, "\(expression)")
                case .failure(let error): #expect(.error(error.code) == expected, "\(expression)")
                }
            }
        }
    }

    @Test func unpackingCosts() throws {
        var environment = Environment()
        let slot = try environment.declare("bytes", .bytes).lowerBound
        let program = try program(
            "google.protobuf.Any{type_url: 'google.protobuf.ListValue', value: bytes}.size()",
            in: environment)
        var activation = Activation(environment)
        activation.set(slot, .bytes(Array(repeating: [0x0A, 0x00], count: 50_000).flatMap { $0 }))
        #expect(program.evaluate(&activation).value == .int(50_000))
        #expect(program.evaluate(&activation, costLimit: 10_000).error?.code == .costLimit)
    }

    @Test func enumerationsAreInts() {
        holds([
            "google.protobuf.NullValue.NULL_VALUE == 0",
            "type(google.protobuf.NullValue.NULL_VALUE) == int",
        ])
    }

    @Test func containersResolveMessages() throws {
        var environment = Environment()
        environment.container = "google.protobuf"
        holds(
            [
                "Int32Value{value: 1} == 1", "Value{null_value: NullValue.NULL_VALUE} == null",
                ".google.protobuf.Int32Value{value: 1} == 1",
                "type(timestamp(0)) == Timestamp",
            ], in: environment)
    }
}
