import CEL
import Testing

/// A comparison with a constant has forms of its own in a program, and the constant may stand on
/// either side. All of them must say what the plain form says.
@Suite struct ComparisonFormTests {
    static let constants: [(text: String, value: Value)] = [
        ("1", .int(1)), ("-7", .int(-7)), ("1u", .uint(1)), ("1.0", .double(1)),
        ("double('NaN')", .double(.nan)), ("'a'", .string("a")), ("'ab'", .string("ab")),
        ("true", .bool(true)), ("false", .bool(false)), ("null", .null),
        ("duration('1s')", .duration(CELDuration(totalNanoseconds: 1_000_000_000))),
        ("timestamp(1)", Timestamp(seconds: 1).map { .timestamp($0) } ?? .null),
        ("b'a'", .bytes([0x61])), ("[1]", .list([.int(1)])),
    ]

    @Test(arguments: ["==", "!=", "<", "<=", ">", ">="])
    func everyFormSaysTheSame(_ name: String) throws {
        var environment = Environment()
        try environment.declare("x", .dyn)
        try environment.declare("y", .dyn)
        environment.checking = .lenient
        var activation = Activation(environment)
        var errors = 0
        for left in Self.constants {
            for right in Self.constants {
                activation.set(0, left.value)
                activation.set(1, right.value)
                let plain = try result("x \(name) y", environment, &activation)
                for text in ["x \(name) \(right.text)", "\(left.text) \(name) y"] {
                    let found = try result(text, environment, &activation)
                    #expect(found == plain, "\(text), x = \(left.text), y = \(right.text)")
                    // A short circuit, a branch and a loop read the result each in its own way.
                    for (wrapped, whenTrue, whenFalse) in [
                        ("(\(text)) && true", "true", "false"),
                        ("true && (\(text))", "true", "false"),
                        ("(\(text)) || false", "true", "false"),
                        ("false || (\(text))", "true", "false"),
                        ("(\(text)) ? 'yes' : 'no'", "yes", "no"),
                        ("[0].exists(i, \(text))", "true", "false"),
                        ("[0].all(i, \(text))", "true", "false"),
                        ("size([0].filter(i, \(text))) == 1", "true", "false"),
                        ("[0].exists_one(i, \(text))", "true", "false"),
                    ] {
                        let wanted =
                            plain == "true" ? whenTrue : plain == "false" ? whenFalse : plain
                        #expect(
                            try result(wrapped, environment, &activation) == wanted, "\(wrapped)")
                    }
                }
                if plain.hasPrefix("`") { errors += 1 }
            }
        }
        #expect(["==", "!="].contains(name) ? errors == 0 : errors > 50)
    }

    /// The value as text, or the message of the error; in both the plain and the traced form.
    private func result(
        _ text: String, _ environment: Environment, _ activation: inout Activation
    ) throws -> String {
        let program = try #require(environment.compile(text).program, "\(text)")
        var texts: [String] = []
        for form in [program, program.traced()] {
            switch form.evaluate(&activation).outcome {
            case .success(.bool(let value)): texts.append(String(value))
            case .success(.string(let value)): texts.append(value)
            case .success(let value): texts.append("\(value)")
            case .failure(let error): texts.append(error.message)
            }
        }
        #expect(texts[0] == texts[1], "\(text), traced")
        return texts[0]
    }
}
