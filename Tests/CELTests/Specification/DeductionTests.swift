import CEL
import Testing

/// The types that the checker finds.
@Suite("Deduced types")
struct DeductionTests {
    @Test(arguments: [
        ("1", "int"), ("1u", "uint"), ("1.0", "double"), ("''", "string"), ("b''", "bytes"),
        ("true", "bool"), ("null", "null"), ("[]", "list(dyn)"), ("{}", "map(dyn, dyn)"),
        ("[1, 2]", "list(int)"), ("[1, 2u]", "list(dyn)"), ("[1, dyn(2)]", "list(dyn)"),
        ("{'a': 1}", "map(string, int)"), ("{'a': 1, 1: 'b'}", "map(dyn, dyn)"),
        ("[1, null]", "list(dyn)"), ("[null, duration('1s')][0]", "google.protobuf.Duration"),
        ("[timestamp(0), null]", "list(google.protobuf.Timestamp)"),
        ("[[], [1]]", "list(list(int))"), ("[[[]], []]", "list(list(list(dyn)))"),
        ("[{}, {'a': 1}]", "list(map(string, int))"),
        ("[{'a': dyn(1)}, {'b': 2}]", "list(map(string, dyn))"),
        ("[{1: dyn(2)}, {dyn(1): 2}]", "list(map(dyn, dyn))"), ("[[1], ['a']]", "list(dyn)"),
        ("int", "type(int)"), ("type(1)", "type(int)"), ("type([1])", "type(list(int))"),
        ("type(int)", "type(type(int))"), ("timestamp(0)", "google.protobuf.Timestamp"),
        ("dyn(1)", "dyn"), ("dyn(1) + dyn(2)", "dyn"), ("1 + dyn(2)", "int"),
        ("dyn('a').size()", "int"), ("-dyn(1)", "dyn"), ("dyn([1])[0]", "dyn"),
        ("{'a': 1}.a", "int"), ("{'a': [1u]}.a[0]", "uint"), ("[].map(x, x)", "list(dyn)"),
        ("([] + [1] + [])[0]", "int"), ("[1].map(x, [x, x]).map(y, [y])", "list(list(list(int)))"),
    ])
    func plain(_ expression: String, _ type: String) {
        #expect(Environment().compile(expression).program?.resultType.description == type)
    }

    /// A type parameter stands for the most general type that it met, whatever the order.
    @Test(arguments: [
        ("true ? 1 : dyn(2)", "dyn"), ("true ? dyn(1) : 2", "dyn"),
        ("true ? [1] : [dyn(1)]", "list(dyn)"), ("true ? [dyn(1)] : [1]", "list(dyn)"),
        ("true ? [] : [1]", "list(int)"), ("true ? {} : {'a': 1}", "map(string, int)"),
        ("true ? optional.of(1) : optional.of(dyn(1))", "optional_type(dyn)"),
        ("true ? optional.of(dyn(1)) : optional.of(1)", "optional_type(dyn)"),
        ("true ? optional.none() : optional.of(1)", "optional_type(int)"),
        ("optional.of(1).or(optional.of(dyn(2)))", "optional_type(dyn)"),
        ("true ? null : duration('1s')", "google.protobuf.Duration"),
        ("true ? duration('1s') : null", "google.protobuf.Duration"),
        ("[1] + [dyn(2)]", "list(dyn)"), ("[dyn(1)] + [2]", "list(dyn)"),
    ])
    func generality(_ expression: String, _ type: String) {
        #expect(Environment().compile(expression).program?.resultType.description == type)
    }

    @Test(arguments: [
        ("google.protobuf.Int32Value{}", "wrapper(int)"),
        ("google.protobuf.Int64Value{} + 1", "int"),
        ("[google.protobuf.Int64Value{}, 1]", "list(wrapper(int))"),
        ("[1, google.protobuf.Int64Value{}]", "list(wrapper(int))"),
        ("[google.protobuf.Int64Value{}, null]", "list(wrapper(int))"),
        ("[google.protobuf.Int64Value{}, google.protobuf.StringValue{}]", "list(dyn)"),
        ("[google.protobuf.Int64Value{}, dyn(1)]", "list(dyn)"),
        ("true ? google.protobuf.Int64Value{} : 1", "wrapper(int)"),
        ("true ? 1 : google.protobuf.Int64Value{}", "wrapper(int)"),
        ("true ? google.protobuf.Int64Value{} : null", "wrapper(int)"),
        ("true ? null : google.protobuf.Int64Value{}", "wrapper(int)"),
        ("google.protobuf.Value{}", "dyn"), ("google.protobuf.Any{}", "any"),
        ("google.protobuf.Struct{}", "map(string, dyn)"), ("google.protobuf.Struct{}.a", "dyn"),
        ("google.protobuf.ListValue{}", "list(dyn)"),
        ("google.protobuf.FieldMask{}", "google.protobuf.FieldMask"),
        ("google.protobuf.FieldMask{}.paths", "list(string)"),
        ("[google.protobuf.FieldMask{}, null]", "list(google.protobuf.FieldMask)"),
        ("google.protobuf.NullValue.NULL_VALUE", "int"),
    ])
    func messages(_ expression: String, _ type: String) {
        #expect(Environment().compile(expression).program?.resultType.description == type)
    }

    @Test(arguments: [
        ("[1].map(x, string(x))", "list(string)"), ("[1].map(x, true, 1u)", "list(uint)"),
        ("{'a': 1}.map(k, k)", "list(string)"), ("[1].filter(x, true)", "list(int)"),
        ("{'a': 1}.filter(x, true)", "list(string)"), ("[1].exists_one(x, true)", "bool"),
        ("['a'].transformList(i, v, i)", "list(int)"),
        ("{'a': 1u}.transformList(k, v, v)", "list(uint)"),
        ("['a'].transformMap(i, v, v)", "map(int, string)"),
        ("{'a': 1u}.transformMapEntry(k, v, {v: k})", "map(uint, string)"),
        ("['a'].sortBy(x, size(x))", "list(string)"),
        ("{'a': 1}.?a", "optional_type(int)"), ("{1: 'a'}[?1]", "optional_type(string)"),
        ("[1u][?0]", "optional_type(uint)"), ("{'a': {'b': 1}}.?a.b", "optional_type(int)"),
        ("optional.of([1]).optMap(x, x[0])", "optional_type(int)"),
        ("optional.of({'a': 1}).optFlatMap(x, x.?a)", "optional_type(int)"),
        ("optional.none()", "optional_type(dyn)"), ("optional.none().orValue(1)", "int"),
        ("[optional.of(1), null][0]", "optional_type(int)"),
        ("[?optional.of(1), 2]", "list(int)"), ("{?'a': optional.of(1)}", "map(string, int)"),
        ("cel.bind(x, [1], x[0])", "int"),
        ("cel.block([1, [cel.index(0)]], cel.index(1))", "list(int)"),
        ("math.greatest(1, 2)", "int"), ("math.greatest(1, 2u)", "dyn"),
        ("math.least([1.0])", "double"), ("math.greatest(1, 2, 3)", "int"),
        ("[1].first()", "optional_type(int)"), ("[optional.of(1)].unwrapOpt()", "list(int)"),
        ("ip('1.1.1.1')", "net.IP"), ("cidr('1.1.1.1/8').masked()", "net.CIDR"),
        ("regex.extract('a', 'a')", "optional_type(string)"),
    ])
    func macrosAndFunctions(_ expression: String, _ type: String) {
        #expect(Environment().compile(expression).program?.resultType.description == type)
    }

    /// What `type` gives when it is evaluated has no parameters.
    @Test(arguments: [
        ("true", "bool"), ("1", "int"), ("1u", "uint"), ("1.0", "double"), ("''", "string"),
        ("b''", "bytes"), ("null", "null_type"), ("[1]", "list"), ("{1: 2}", "map"),
        ("int", "type"), ("type", "type"), ("timestamp(0)", "google.protobuf.Timestamp"),
        ("duration('1s')", "google.protobuf.Duration"), ("optional.of(1)", "optional_type"),
        ("ip('::1')", "net.IP"), ("cidr('::1/8')", "net.CIDR"),
        ("google.protobuf.Empty{}", "google.protobuf.Empty"),
    ])
    func typesAreValues(_ expression: String, _ name: String) {
        holds([
            "type(\(expression)) == \(name)", "type(dyn(\(expression))) == \(name)",
            "'%s'.format([type(\(expression))]) == '\(name)'", "type(\(name)) == type",
        ])
    }

    @Test func parametersOfDeclaredFunctions() throws {
        var environment = Environment()
        let parameters = ["A", "B"].map { Type.param($0) }
        environment.declare(
            Function(
                name: "pair",
                overloads: [
                    .init(id: "pair", parameters: parameters, result: .abstract("pair", parameters))
                ]))
        environment.declare(
            Function(
                name: "same",
                overloads: [
                    .init(
                        id: "same", parameters: [.abstract("pair", [.param("T"), .param("T")])],
                        result: .list(.param("T")))
                ]))
        let rows = [
            ("pair(1, 'a')", "pair(int, string)"), ("same(pair(1, 2))", "list(int)"),
            ("same(pair(1, dyn(2)))", "list(dyn)"), ("same(pair(dyn(1), 2))", "list(dyn)"),
            ("[pair(1, 2), pair(dyn(1), 2)]", "list(pair(dyn, int))"),
            ("[pair(dyn(1), 2), pair(1, dyn(2))]", "list(pair(dyn, dyn))"),
            ("[pair(1, 2), null]", "list(pair(int, int))"),
            ("pair(1, 2) == pair(dyn(1), dyn(2))", "bool"),
            ("[pair(1, []), pair(1, [2])]", "list(pair(int, list(int)))"),
        ]
        for (expression, type) in rows {
            #expect(
                environment.compile(expression).program?.resultType.description == type,
                "\(expression)")
        }
        isRefused("cel.type.overload", ["same(pair(1, 'a'))", "pair(1, 2) == 1"], in: environment)
    }

    @Test func whatDoesNotCheck() {
        isRefused(
            "cel.type.overload",
            [
                "1 == 'a'", "1 == 1u", "[1] == ['a']", "1 == null", "null == 1", "1 + 1u",
                "1.0 % 2.0", "'a' in [1]", "{1: 2}['a']", "[1]['a']", "[1][1u]", "true ? 1 : 'a'",
                "1 ? 2 : 3", "!1", "size(1)", "[1] + ['a']", "{} + {}",
                "'a' < 1", "[1] < [2]", "optional.of(1).orValue('a')", "duration(5)",
                "timestamp(0) + timestamp(0)", "bool(1)", "string([1])", "bytes(1)",
            ])
        isRefused(
            "cel.type.condition",
            ["[1].all(x, x)", "[1].filter(x, 1)", "[1].map(x, 1, x)", "'a' && true"])
        isRefused("cel.type.range", ["1.all(x, true)", "'a'.map(x, x)"])
        isRefused("cel.type.select", ["1.a", "'a'.b", "has([1].a)"])
        isRefused("cel.undeclared", ["x", "x.y", "[1].all(x)"])
        isRefused("cel.undeclared.function", ["f(1)", "1.f()", "[1].all()", "charAt('a', 1)"])
    }
}
