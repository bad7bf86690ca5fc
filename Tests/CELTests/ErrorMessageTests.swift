import CEL
import Testing

/// What errors of an evaluation say.
@Suite("Messages of errors")
struct ErrorMessageTests {
    @Test(arguments: [
        ("string(dyn(null))", "`string` cannot be applied to (null_type)"),
        ("int(dyn(null))", "`int` cannot be applied to (null_type)"),
        ("uint(dyn([]))", "`uint` cannot be applied to (list)"),
        ("bytes(dyn(1))", "`bytes` cannot be applied to (int)"),
        (
            "timestamp(dyn(true))",
            "`timestamp` cannot be applied to (bool)"
        ),
        ("base64.encode(dyn(1))", "`base64.encode` cannot be applied to (int)"),
        ("math.abs(dyn('a'))", "`math.abs` cannot be applied to (string)"),
        ("lists.range(dyn('a'))", "`lists.range` cannot be applied to (string)"),
        ("dyn(1).join()", "`join` cannot be applied to (int)"),
        ("dyn(1) + dyn('a')", "`+` cannot be applied to (int, string)"),
        ("'%é'.format([1])", "`%é` is no clause of `format`"),
        ("'%d'.format([true])", "`%d` cannot show bool"),
        ("isIP(dyn(1))", "`isIP` cannot be applied to (int)"),
        ("'abc'.indexOf('', 100)", "index 100 is outside of the string"),
    ])
    func says(_ row: (expression: String, message: String)) throws {
        let environment = Environment()
        var activation = Activation(environment)
        let error = try program(row.expression, in: environment).evaluate(&activation).error
        #expect(error?.message == row.message)
    }

    @Test func aTextThatGrowsTooLongIsGivenUp() {
        var environment = Environment()
        environment.limits.stringBytes = 10_000
        #expect(
            outcome("'%s'.format([lists.range(40).map(i, 1e308)])", in: environment)
                == .error(.sizeLimit))
        #expect(
            outcome("size('%s'.format([lists.range(20).map(i, 1e308)]))", in: environment)
                == .value(.int(6220)))
    }

    /// No message names a function as the evaluator calls it inside.
    @Test func namesAreThoseOfTheTable() throws {
        let names = Set(Function.standard.map(\.name))
        for function in Function.standard
        where function.name.allSatisfy({ $0.isLetter || $0 == "." }) {
            for overload in function.overloads {
                let environment = Environment()
                // Of no function a type can be an argument, save of those that take anything.
                let arguments = overload.parameters.map { _ in "dyn(type(1))" }
                let rest = arguments.dropFirst(overload.isMember ? 1 : 0).joined(separator: ", ")
                let call =
                    (overload.isMember ? "dyn(type(1))." : "") + "\(function.name)(\(rest))"
                guard let program = environment.compile(call).program else { continue }
                var activation = Activation(environment)
                guard let error = program.evaluate(&activation).error,
                    error.code == .noSuchOverload
                else { continue }
                let named = error.message.split(separator: "`").first.map(String.init) ?? ""
                #expect(names.contains(named), "\(call): \(error.message)")
            }
        }
    }

    @Test(arguments: [
        ("list(strnig)", "strnig", "string"), ("map(string, itn)", "itn", "int"),
        ("optional_type(timestmp)", "timestmp", "timestamp"), ("A", "A", nil),
        ("quite.Another", "quite.Another", nil),
    ])
    func unknownNamesOfTypes(_ row: (text: String, name: String, nearest: String?)) throws {
        let unknown = try #require(Type(text: row.text)?.unknownName)
        #expect(unknown.name == row.name && (row.nearest == nil || unknown.nearest == row.nearest))
    }

    @Test(arguments: [
        "int", "list(map(string, double))", "net.IP", "google.protobuf.Timestamp", "type",
        "google.protobuf.FieldMask", "optional(duration)", "wrapper(int)", "dyn",
    ])
    func knownNamesOfTypes(_ text: String) throws {
        let type = try #require(Type(text: text))
        #expect(type.unknownName == nil)
    }

    @Test func macrosAreNamed() {
        #expect(Function.macros.isSuperset(of: ["has", "map", "all", "sortBy", "cel.bind"]))
        #expect(Function.macros.isDisjoint(with: Function.standard.map(\.name)))
    }
}
