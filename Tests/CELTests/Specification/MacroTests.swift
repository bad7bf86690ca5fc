import CEL
import Testing

/// Macros, logic, optionals, resolution of names.
@Suite("Macros, logic and optionals")
struct MacroTests {
    @Test func logicAbsorbsErrors() {
        holds([
            "true || 1 / 0 > 0", "1 / 0 > 0 || true", "!(false && 1 / 0 > 0)",
            "!(1 / 0 > 0 && false)",
            "dyn(1) || true", "!(dyn('a') && false)", "true ? true : 1 / 0 > 0",
            "[0, 1].exists(x, 1 / x == 1)", "![0, 1].all(x, 1 / x == 2)",
            "!([1, 'a'].all(x, x > 1)) || true", "[dyn(1), 'a', 3].exists(x, x == 3)",
        ])
        fails(
            .divisionByZero,
            [
                "false || 1 / 0 > 0", "1 / 0 > 0 && true", "1 / 0 > 0 ? 1 : 2", "[1 / 0]",
                "{'a': 1 / 0}",
                "[0, 2].exists(x, 1 / x == 1)", "[0, 1].all(x, 1 / x == 1)",
                "[0, 1].exists_one(x, 1 / x == 1)",
                "[0, 1].map(x, 1 / x)", "[0, 1].filter(x, 1 / x > 0)", "[0].map(x, 1 / x > 0, x)",
            ])
        fails(
            .notBool,
            [
                "!dyn(1)", "dyn(1) && true", "dyn(1) || false", "dyn(1) ? 1 : 2",
                "[1].all(x, dyn(x))",
            ])
        fails(.noSuchOverload, ["dyn(1).all(x, true)", "dyn('a').map(x, x)"])
    }

    @Test func oneVariable() {
        holds([
            "[].all(x, 1 / 0 > 0)", "![].exists(x, 1 / 0 > 0)", "![].exists_one(x, 1 / 0 > 0)",
            "[1, 2, 3].exists_one(x, x == 2)", "![1, 2, 2].exists_one(x, x == 2)",
            "[1, 2].existsOne(x, x == 2)", "{'a': 1, 'b': 2}.all(k, k < 'c')",
            "{'a': 1}.exists(k, k == 'a')", "{'a': 1, 'b': 2}.map(k, k + 'x') == ['ax', 'bx']",
            "[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]", "[1, 2, 3].filter(x, x % 2 == 1) == [1, 3]",
            "{'a': 1, 'b': 2}.filter(k, k == 'b') == ['b']",
            "[[1, 2], [3]].map(l, l.map(x, x * 2)) == [[2, 4], [6]]",
            "[1].exists(x, [0].exists(x, x == 0) && x == 1)",
            "[1, 2].sortBy(x, -x) == [2, 1] && [].sortBy(x, x) == []",
        ])
        isRefused(
            "cel.macro.variable",
            ["[1].all(x.y, true)", "[1].map(1, 2)", "[1].exists(.x, true)", "[1].all('x', true)"])
    }

    @Test func twoVariables() {
        holds([
            "[1, 2].all(i, v, v == i + 1)", "{'a': 1}.all(k, v, k == 'a' && v == 1)",
            "[1, 2].exists(i, v, i == 1 && v == 2)", "{'a': 1}.exists(k, v, v == 1)",
            "[1, 2].existsOne(i, v, v > 1)", "[1, 2].exists_one(i, v, v > 1)",
            "[1, 2].transformList(i, v, i * v) == [0, 2]",
            "[1, 2].transformList(i, v, i > 0, v) == [2]",
            "{'a': 1}.transformList(k, v, [k, string(v)]) == [['a', '1']]",
            "[1, 2].transformMap(i, v, v * 2) == {0: 2, 1: 4}",
            "{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 2) == {'b': 4}",
            "{'a': 1}.transformMapEntry(k, v, {v: k}) == {1: 'a'}",
            "['a', 'b'].transformMapEntry(i, v, i > 0, {v: i}) == {'b': 1}",
            "['a'].transformMapEntry(i, v, {v: i, v + v: i}) == {'a': 0, 'aa': 0}",
            "['a', 'b'].transformMapEntry(i, v, i == 0 ? {} : {v: i}) == {'b': 1}",
            "lists.range(50).transformMapEntry(i, v, {i: v, -1 - i: v})[-50] == 49",
        ])
        fails(
            .duplicateKey,
            [
                "{'a': 'x', 'b': 'x'}.transformMapEntry(k, v, {v: k})",
                "[1, 2].transformMapEntry(i, v, {'a': i})",
                "{'a': 1, 'b': dyn(1u)}.transformMapEntry(k, v, {v: k})",
            ])
        fails(.noSuchOverload, ["[1].transformMapEntry(i, v, dyn(1))"])
        fails(.divisionByZero, ["[0].transformMapEntry(i, v, {1 / v: i})"])
        isRefused("cel.macro.variable", ["[1].all(i, i, true)", "[1].transformList(1, v, v)"])
        isRefused("cel.type", ["[1].transformMapEntry(i, v, v)"])
    }

    /// A result that outgrows the room which its loop took moves, in steps that double.
    @Test func manyEntriesInEachRound() {
        let expression =
            "lists.range(2000).transformMapEntry(i, v, {i: v, -1 - i: v}).size() == 4000"
        holds([expression])
        var environment = Environment()
        environment.limits.memory = 200_000
        fails(.sizeLimit, [expression], in: environment)
    }

    @Test func presence() {
        holds([
            "has({'a': null}.a)", "!has({}.a)", "!has({'a': {}}.a.b)", "has({'a': {'b': 1}}.a.b)",
            "has({'a': optional.none()}.a)", "!has(optional.none().a)",
            "has(optional.of({'a': 1}).a)",
            "!has(optional.of({}).a)", "has({'a': {'b': 1}}.?a.b)", "!has({}.?a.b)",
        ])
        fails(.noSuchKey, ["has({}.a.b)"])
        fails(.noSuchField, ["has(dyn(1).a)", "dyn(1).a", "dyn([1]).a"])
        isRefused("cel.macro.has", ["has(1)", "has({}['a'])", "has()", "has({}.a, {}.b)"])
    }

    @Test func bindings() {
        holds([
            "cel.bind(x, 1, x + 1) == 2", "cel.bind(x, 1, cel.bind(x, x + 1, x)) == 2",
            "cel.bind(x, 1 / 0, true)", "cel.bind(x, [1, 2], x.exists(y, y in x))",
            "cel.block([1, cel.index(0) + 1], cel.index(1)) == 2", "cel.block([], true)",
            "cel.block([1 / 0], true)",
            "[1, 2].map(cel.iterVar(0, 0), cel.iterVar(0, 0) * 2) == [2, 4]",
            "[5].transformList(cel.iterVar(0, 0), cel.iterVar(0, 1), cel.iterVar(0, 0) + cel.iterVar(0, 1)) == [5]",
        ])
        isRefused(
            "cel.undeclared", ["cel.index(0)", "cel.block([cel.index(0)], 1)", "cel.iterVar(0, 0)"])
        isRefused("cel.macro.variable", ["cel.bind(x.y, 1, 2)", "cel.bind(1, 1, 2)"])
    }

    @Test func optionals() {
        holds([
            "optional.of(1).value() == 1", "optional.of(null).hasValue()",
            "!optional.none().hasValue()", "optional.of(1).orValue(2) == 1",
            "optional.none().or(optional.of(2)) == optional.of(2)",
            "optional.of(1).or(optional.none()) == optional.of(1)",
            "optional.of(1) != optional.none() && optional.none() == optional.none()",
            "optional.of(1) == optional.of(dyn(1u))",
            "optional.of(optional.of(1)).value().value() == 1",
            "[dyn(0), 0u, 0.0, '', b'', false, null, [], {}, duration('0s'), timestamp(0), optional.none()]"
                + ".all(x, optional.ofNonZeroValue(x) == optional.none())",
            "[dyn(1), 'a', true, [0], {0: 0}].all(x, optional.ofNonZeroValue(x).hasValue())",
            "{'a': 1}.?a == optional.of(1) && {}.?a == optional.none()",
            "[1][?0] == optional.of(1) && [1][?1] == optional.none() && [1][?-1] == optional.none()",
            "{1: 2}[?1] == optional.of(2) && {1: 2}[?dyn(1.0)] == optional.of(2)",
            "{'a': {'b': [1]}}.?a.b[0] == optional.of(1)", "{}.?a.b.c[3] == optional.none()",
            "optional.of([1])[?0] == optional.of(1) && optional.of({'a': 1}).?a == optional.of(1)",
            "optional.of(1).optMap(x, x + 1) == optional.of(2)",
            "optional.none().optMap(x, x + 1) == optional.none()",
            "optional.of({'a': 1}).optFlatMap(m, m.?a) == optional.of(1)",
            "optional.of({}).optFlatMap(m, m.?a) == optional.none()",
            "[?optional.of(1), ?optional.none(), 2] == [1, 2]",
            "{?'a': optional.of(1), ?'b': optional.none()} == {'a': 1}",
            "google.protobuf.Int32Value{?value: optional.none()} == 0",
            "optional.unwrap([optional.of(1), optional.none()]) == [1]",
            "[optional.of(1), optional.none()].unwrapOpt() == [1]",
            "[1, 2].first() == optional.of(1) && [1, 2].last() == optional.of(2)",
            "[].first() == optional.none()", "type(optional.none()) == optional_type",
        ])
        fails(.invalidArgument, ["optional.none().value()", "{}.?a.value()"])
        fails(.noSuchKey, ["{'a': {}}.?a.orValue({}).b", "{'a': {}}.?a.value().b"])
        fails(
            .noSuchOverload,
            ["[?dyn(1)]", "{?'a': dyn(1)}", "optional.of(dyn(1)).optFlatMap(x, x)", "dyn(1)[?0]"])
        fails(
            .divisionByZero, ["optional.of(0).optMap(x, 1 / x)", "optional.none().orValue(1 / 0)"])
        isRefused("cel.type", ["[?1]", "{?'a': 1}", "[1].optMap(x, x)"])
    }

    @Test func names() throws {
        var environment = Environment()
        environment.container = "a.b"
        for (name, value) in [
            ("x", Type.int), ("a.x", .string), ("a.b.x", .bool), ("y.z", .int),
            ("a.y", .map(.string, .string)),
        ] { try environment.declare(name, value) }
        let rows: [(String, Type)] = [
            ("x", .bool), (".x", .int), ("a.x", .string), (".a.x", .string), ("b.x", .bool),
            ("[1.0].map(x, x)[0]", .double), ("[1.0].map(x, .x)[0]", .int),
            (".y.z", .int), ("y.z", .int), ("[{'z': 1u}].map(y, y.z)[0]", .uint),
            ("[1.0].map(b, b)[0]", .double), ("int(x ? 1 : 2)", .int), ("size('a')", .int),
            (".size('a')", .int), (".math.abs(1)", .int),
        ]
        for (expression, type) in rows {
            #expect(environment.compile(expression).program?.resultType == type, "\(expression)")
        }
    }

    @Test func macrosCanBeOff() {
        var environment = Environment()
        environment.expandsMacros = false
        isRefused("cel.undeclared.function", ["[1].all(1, true)", "has({}.a)"], in: environment)
    }

    @Test func uncheckedExpressionsFindOutAtRunTime() {
        var environment = Environment()
        environment.checking = .lenient
        fails(.undeclared, ["x", "x.y", "f(1)", "foo{}"], in: environment)
        fails(.noSuchOverload, ["1 + 'a'", "'a'.size(1)"], in: environment)
        fails(
            .noSuchField, ["google.protobuf.Int32Value{value: 1, value: 2}", "1.a"], in: environment
        )
        holds(["f() || true", "1 == 1.0", "[1, 'a'].size() == 2", "1 != 'a'"], in: environment)
    }
}
