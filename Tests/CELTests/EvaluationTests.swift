import CEL
import Testing

@Suite("Values of expressions")
struct EvaluationTests {
    typealias Row = (expression: String, expected: Outcome)

    static let numbers: [Row] = [
        ("9223372036854775807 + 1", .error(.overflow)),
        ("-9223372036854775808 - 1", .error(.overflow)),
        ("-(-9223372036854775808)", .error(.overflow)),
        ("-9223372036854775808 / -1", .error(.overflow)),
        ("-9223372036854775808 % -1", .error(.overflow)),
        ("0u - 1u", .error(.overflow)),
        ("1 / 0", .error(.divisionByZero)),
        ("1 % 0", .error(.divisionByZero)),
        ("1.0 / 0.0", .value(.double(.infinity))),
        ("dyn(9007199254740993) == 9007199254740992.0", .value(.bool(false))),
        ("9007199254740993 > 9007199254740992.0", .value(.bool(true))),
        ("dyn(9223372036854775807) == 9223372036854775808.0", .value(.bool(false))),
        ("dyn(1) == 1u && dyn(1u) == 1.0", .value(.bool(true))),
        ("-1 < 0u", .value(.bool(true))),
        ("double('NaN') == double('NaN')", .value(.bool(false))),
        ("double('NaN') < 1.0 || double('NaN') >= 1.0", .value(.bool(false))),
        ("[1, 2u, 3.0] == [1.0, 2, 3u]", .value(.bool(true))),
        ("2 * 0.3", .refused(["cel.type.overload"])),
        ("2.0 * 0.3", .value(.double(0.6))),
        ("string(3.7)", .value(.string("3.7"))),
        (
            "string(1e20) + string(1e22) + string(1e-7)",
            .value(.string("100000000000000000000" + "1e+22" + "1e-07"))
        ),
        ("int('0x10')", .error(.invalidArgument)),
        ("double('0x10')", .error(.invalidArgument)),
        ("int(9223372036854775807.0)", .error(.overflow)),
        ("uint(-1)", .error(.overflow)),
    ]

    static let strings: [Row] = [
        ("'e\\u0301' == '\\u00e9'", .value(.bool(false))),
        ("size('e\\u0301')", .value(.int(2))),
        ("size('👩‍👩‍👧')", .value(.int(5))),
        ("'héllo'.substring(1, 3)", .value(.string("él"))),
        ("'héllo'.indexOf('l', 3)", .value(.int(3))),
        ("'aaa'.replace('a', 'b', 2)", .value(.string("bba"))),
        ("'ab'.replace('', '-')", .value(.string("-a-b-"))),
        (
            "'a,b,,c'.split(',')",
            .value(.list([.string("a"), .string("b"), .string(""), .string("c")]))
        ),
        ("'äb'.split('')", .value(.list([.string("ä"), .string("b")]))),
        ("['a', 'b'].join('-')", .value(.string("a-b"))),
        ("'  \\u00a0x '.trim()", .value(.string("x"))),
        ("'%s %d %.2f %x'.format(['a', 1, 2.345, 255])", .value(.string("a 1 2.35 ff"))),
        ("'%.2000f'.format([1.0])", .error(.invalidArgument)),
        ("'%s'.format([])", .error(.invalidArgument)),
        ("string(b'\\xff')", .error(.invalidArgument)),
        ("regex.replace('hello', '(l+)', '<\\\\1>')", .value(.string("he<ll>o"))),
        ("regex.extract('a1b2', '[0-9]')", .value(.optional(.string("1")))),
        ("regex.extractAll('a1b2', '[0-9]')", .value(.list([.string("1"), .string("2")]))),
        ("'a'.matches(dyn('('))", .error(.invalidArgument)),
        ("'\\x00a'.contains('a')", .value(.bool(true))),
    ]

    static let errors: [Row] = [
        ("1 / 0 > 0 || true", .value(.bool(true))),
        ("true || 1 / 0 > 0", .value(.bool(true))),
        ("1 / 0 > 0 && false", .value(.bool(false))),
        ("1 / 0 > 0 && true", .error(.divisionByZero)),
        ("[0, 1].exists(x, 1 / x == 1)", .value(.bool(true))),
        ("[0, 2].exists(x, 1 / x == 1)", .error(.divisionByZero)),
        ("[0, 1].all(x, 1 / x == 2)", .value(.bool(false))),
        ("[1, 1].exists_one(x, x == 1)", .value(.bool(false))),
        ("[0, 1].map(x, 1 / x)", .error(.divisionByZero)),
        ("[1, 2][5]", .error(.indexOutOfRange)),
        ("{'a': 1}['b']", .error(.noSuchKey)),
        ("{'a': 1, 'a': 2}", .error(.duplicateKey)),
        ("{1: 1, 1u: 2}", .error(.duplicateKey)),
        ("dyn('a') + 1", .error(.noSuchOverload)),
        ("dyn(1) && true", .error(.notBool)),
        ("dyn(1) ? 2 : 3", .error(.notBool)),
        ("timestamp('2011-08-18T19:03:37.010+01:00').getHours('+05:99')", .error(.invalidArgument)),
        ("timestamp('2011-08-18T19:03:37.010+01:00').getHours()", .value(.int(18))),
        ("timestamp(0) + duration('10000000000000000s')", .error(.invalidArgument)),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1s')", .error(.overflow)),
    ]

    static let collections: [Row] = [
        ("[1, 2, 3].map(x, x > 1, x * 2)", .value(.list([.int(4), .int(6)]))),
        ("{'a': 1, 'b': 2}.filter(k, k != 'a')", .value(.list([.string("b")]))),
        ("[3, 1, 2].sort()", .value(.list([.int(1), .int(2), .int(3)]))),
        ("['bb', 'a'].sortBy(s, size(s))", .value(.list([.string("a"), .string("bb")]))),
        ("[1, [2, [3]]].flatten()", .value(.list([.int(1), .int(2), .list([.int(3)])]))),
        ("[1, 1.0, 2].distinct()", .value(.list([.int(1), .int(2)]))),
        ("lists.range(3)", .value(.list([.int(0), .int(1), .int(2)]))),
        ("lists.range(9223372036854775807)", .error(.sizeLimit)),
        ("[1, 2, 3].slice(1, 3)", .value(.list([.int(2), .int(3)]))),
        ("sets.contains([1, 2], [2.0])", .refused(["cel.type.overload"])),
        ("sets.equivalent([1, 2, 2], [2, 1])", .value(.bool(true))),
        ("[].first().hasValue()", .value(.bool(false))),
        ("lists.range(20).map(i, {string(i): i})[19]['19']", .value(.int(19))),
        ("lists.range(100).transformMap(i, v, v * 2)[99]", .value(.int(198))),
        ("dyn(99.0) in lists.range(100).transformMap(i, v, v)", .value(.bool(true))),
        ("dyn(99.5) in lists.range(100).transformMap(i, v, v)", .value(.bool(false))),
        ("optional.of(1).optMap(x, x + 1).orValue(0)", .value(.int(2))),
        ("cel.bind(x, 2, cel.bind(y, x + 1, x * y))", .value(.int(6))),
        ("[?optional.none(), 1]", .value(.list([.int(1)]))),
        ("type({}) == map", .value(.bool(true))),
        ("base64.decode('aGk')", .value(.bytes([104, 105]))),
        ("cidr('10.0.0.0/8').containsIP('10.1.2.3')", .value(.bool(true))),
    ]

    @Test(arguments: [numbers, strings, errors, collections])
    func table(_ rows: [Row]) {
        for row in rows {
            #expect(outcome(row.expression) == row.expected, "\(row.expression)")
        }
    }

    /// The traced form does no folding and records every step: a second way to the same result.
    @Test(arguments: [numbers, strings, errors, collections])
    func tracedProgramsAgree(_ rows: [Row]) {
        let environment = Environment()
        for row in rows {
            guard let program = environment.compile(row.expression).program else { continue }
            var activation = Activation(environment)
            let traced = program.traced().evaluate(&activation)
            switch (program.evaluate(&activation).outcome, traced.outcome) {
            case (.success(let plain), .success(let other)):
                #expect(plain.isIdentical(to: other), "\(row.expression)")
            case (.failure(let plain), .failure(let other)):
                #expect(plain == other, "\(row.expression)")
            default: Issue.record("\(row.expression): one gives an error, the other does not")
            }
            #expect(!traced.trace.isEmpty)
        }
    }

    /// Without checking, what is well typed gives the same.
    @Test(arguments: [numbers, strings, errors, collections])
    func uncheckedProgramsAgree(_ rows: [Row]) {
        var lenient = Environment()
        lenient.checking = .lenient
        for row in rows {
            if case .refused = row.expected { continue }
            #expect(outcome(row.expression, in: lenient) == row.expected, "\(row.expression)")
        }
    }
}
