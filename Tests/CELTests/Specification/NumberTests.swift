import CEL
import Testing

/// Arithmetic, comparison and conversion of numbers.
@Suite("Numbers")
struct NumberTests {
    @Test func arithmetic() {
        holds([
            "-7 / 2 == -3", "-7 % 3 == -1", "7 % -3 == 1", "7u / 2u == 3u", "7u % 2u == 1u",
            "1.0 / 0.0 == double('Infinity')", "-1.0 / 0.0 == double('-Infinity')",
            "0.0 / 0.0 != 0.0 / 0.0", "0.0 == -0.0", "1e308 * 10.0 == double('Infinity')",
            "9223372036854775806 + 1 == 9223372036854775807",
        ])
        fails(
            .overflow,
            [
                "9223372036854775807 + 1", "-9223372036854775808 - 1", "9223372036854775807 * 2",
                "-9223372036854775808 * -1", "-9223372036854775808 / -1", "0u - 1u",
                "18446744073709551615u + 1u", "18446744073709551615u * 2u",
                "-dyn(-9223372036854775808)",
            ])
        fails(.divisionByZero, ["1 / 0", "1 % 0", "1u / 0u", "1u % 0u"])
        fails(
            .noSuchOverload,
            ["dyn(1) + 1u", "dyn(1.0) % dyn(2.0)", "-dyn(1u)", "dyn(1) * dyn('a')"])
    }

    @Test func equalityAcrossKinds() {
        holds([
            "dyn(1) == 1u", "dyn(1) == 1.0", "dyn(1u) == 1.0", "dyn(-1) != 1u", "dyn(1) != 1.5",
            "dyn(18446744073709551615u) != -1", "dyn(9007199254740993) != 9007199254740992.0",
            "dyn(18446744073709551615u) != 18446744073709551616.0", "dyn(1) != 'a'",
            "dyn(1) != null", "dyn(null) != false", "dyn('a') != b'a'", "dyn([]) != {}",
            "double('NaN') != double('NaN')", "!(double('NaN') == double('NaN'))",
            "[double('NaN')] != [double('NaN')]", "!(double('NaN') in [double('NaN')])",
            "[dyn(1), 2u] == [1.0, 2]", "[1] != [1, 2]", "[1, 2] != [2, 1]", "[[1]] == [[dyn(1u)]]",
            "{'a': 1, 'b': 2} == {'b': 2, 'a': dyn(1.0)}", "{1: 'a'} == {dyn(1u): 'a'}",
            "{'a': 1} != {'a': 2}", "{'a': 1} != {'b': 1}", "{'a': 1} != {'a': 1, 'b': 1}",
            "dyn(timestamp(0)) != duration('0s')", "type(1) != type(1u)",
        ])
    }

    @Test func orderAcrossKinds() {
        holds([
            "1 < 2u", "-1 < 0u", "1 <= 1.0", "1u >= 1.0", "1.5 > 1", "2u > 1.5",
            "9223372036854775807 < 9223372036854775808u", "1 < double('Infinity')",
            "-1 > double('-Infinity')", "18446744073709551615u > -1",
            "!(1 < double('NaN')) && !(1 >= double('NaN'))", "dyn(2u) > 1", "false < true",
            "'a' < 'b' && 'Z' < 'a' && 'a' < 'aa' && '\\uffff' < '\\U00010000'",
            "b'a' < b'b' && b'' < b'\\x00'", "duration('1m') < duration('61s')",
            "timestamp(1) > timestamp(0)",
        ])
        fails(.noSuchOverload, ["dyn(1) < 'a'", "dyn([1]) < dyn([2])", "dyn(null) < dyn(null)"])
    }

    @Test func membershipAcrossKinds() {
        holds([
            "dyn(1u) in [1]", "dyn(1.0) in [1]", "!(dyn(1.5) in [1])", "dyn(1u) in {1: 2}",
            "dyn(1.0) in {1u: 2}", "!(dyn(1.5) in {1: 2})", "!('a' in {})", "!(1 in [])",
            "dyn('a') in ['a', dyn(1)]", "{1: 2}[dyn(1.0)] == 2", "{1u: 2}[dyn(1)] == 2",
            "[7, 8][dyn(1u)] == 8", "[7, 8][dyn(1.0)] == 8", "!(dyn([1]) in {1: 2})",
        ])
        fails(.noSuchKey, ["{1: 2}[dyn(1.5)]", "{1: 2}[dyn('a')]", "{'a': 1}['b']", "{}.a"])
        fails(.indexOutOfRange, ["[1][1]", "[1][-1]", "[][0]"])
        fails(
            .invalidArgument, ["[1][dyn(0.5)]", "{dyn(1.0): 2}", "{dyn(null): 1}", "{dyn([1]): 1}"])
        fails(.noSuchOverload, ["[1][dyn('a')]", "dyn(1)[0]", "1 in dyn(1)"])
        fails(.duplicateKey, ["{'a': 1, 'a': 2}", "{1: 1, 1u: 2}", "{true: 1, true: 1}"])
    }

    @Test func conversions() {
        holds([
            "int(1u) == 1", "int(-1.9) == -1", "int(1.9) == 1", "int('-5') == -5",
            "int('-9223372036854775808') == -9223372036854775808", "int(9223372036854774784.0) > 0",
            "int(timestamp('1969-12-31T23:59:59.5Z')) == -1", "int(duration('1.5s')) == 1500000000",
            "uint(1) == 1u", "uint(1.9) == 1u",
            "uint('18446744073709551615') == 18446744073709551615u",
            "uint(18446744073709549568.0) > 0u", "double(1) == 1.0", "double(1u) == 1.0",
            "double('-1.5e3') == -1500.0", "double('.5') == 0.5",
            "double(9007199254740993) == 9007199254740992.0",
            "double('inf') == double('Infinity')", "string(double('nan')) == 'NaN'",
            "double('-Infinity') == -1.0 / 0.0", "string(-0.0) == '-0'", "string(1.0) == '1'",
            "string(1e21) == '1e+21'", "string(0.00001) == '1e-05'", "string(123.456) == '123.456'",
            "string(-7) == '-7'", "string(18446744073709551615u) == '18446744073709551615'",
            "string(true) == 'true'", "string(b'\\xc3\\xa9') == 'é'", "bytes('é') == b'\\xc3\\xa9'",
            "bool('true') && bool('TRUE') && bool('True') && bool('t') && bool('T') && bool('1')",
            "!bool('false') && !bool('FALSE') && !bool('False') && !bool('f') && !bool('F') && !bool('0')",
            "dyn(1) == 1", "type(dyn(1u)) == uint",
        ])
        fails(
            .overflow,
            [
                "int(9223372036854775808u)", "int(1e19)", "int(-1e19)",
                "int(9223372036854775808.0)",
                "int(-9223372036854775808.0)", "int(double('NaN'))", "int(double('Infinity'))",
                "uint(-1)", "uint(-0.5)", "uint(18446744073709551616.0)", "uint(double('NaN'))",
            ])
        fails(
            .invalidArgument,
            [
                "int('')", "int('1.0')", "int('0x1')", "int(' 1')", "int('9223372036854775808')",
                "uint('-1')", "uint('1u')", "double('')", "double('0x1p3')", "double('1,5')",
                "double('infinit')", "double(' 1')", "bool('yes')", "bool('tRUE')", "bool('')",
                "string(b'\\xff')", "string(b'\\xed\\xa0\\x80')",
            ])
        fails(
            .noSuchOverload,
            ["int(dyn(true))", "string(dyn([1]))", "bool(dyn(1))", "bytes(dyn(1))"])
    }

    @Test func mathFunctions() {
        holds([
            "math.greatest(1, 2u, 2.5) == 2.5", "math.least(1, dyn(1.0)) == 1",
            "type(math.greatest(1, 1.0)) == int", "math.greatest([1, 5, 3]) == 5",
            "math.greatest(dyn([1, 2u])) == 2u", "math.greatest(-0.0) == 0.0",
            "math.round(2.5) == 3.0 && math.round(-2.5) == -3.0 && math.round(2.4) == 2.0",
            "math.trunc(-1.9) == -1.0", "math.ceil(-1.2) == -1.0", "math.floor(-1.2) == -2.0",
            "math.isNaN(math.ceil(0.0 / 0.0)) && math.isNaN(math.sign(0.0 / 0.0))",
            "math.isInf(-1.0 / 0.0) && !math.isInf(1.0) && !math.isFinite(0.0 / 0.0)",
            "math.abs(-3) == 3 && math.abs(3u) == 3u && math.abs(-3.5) == 3.5",
            "math.sign(-3) == -1 && math.sign(3u) == 1u && math.sign(-0.0) == 0.0",
            "math.sqrt(81) == 9.0 && math.sqrt(2u) > 1.414 && math.isNaN(math.sqrt(-1.0))",
            "math.bitAnd(-3, -5) == -7 && math.bitOr(-2, -4) == -2 && math.bitXor(3u, 5u) == 6u",
            "math.bitNot(0u) == 18446744073709551615u && math.bitNot(1) == -2",
            "math.bitShiftLeft(-1, 2) == -4 && math.bitShiftLeft(1u, 200) == 0u",
            "math.bitShiftRight(-1024, 3) == 2305843009213693824 && math.bitShiftRight(-1, 64) == 0",
        ])
        fails(.overflow, ["math.abs(-9223372036854775808)"])
        fails(.invalidArgument, ["math.bitShiftLeft(1, -1)", "math.bitShiftRight(1u, -1)"])
        fails(.invalidArgument, ["math.greatest([])", "math.least(dyn([]))"])
        fails(
            .noSuchOverload,
            [
                "math.greatest(dyn('a'))", "math.least([dyn(1), 'a'])", "math.ceil(dyn(1))",
                "math.bitAnd(dyn(1), 2u)", "math.isNaN(dyn(1))", "math.sqrt(dyn('a'))",
            ])
        isRefused(
            "cel.type.overload",
            ["math.greatest()", "math.greatest('a')", "math.greatest([1], 2)", "math.round(1)"])
    }
}
