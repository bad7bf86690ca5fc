import CEL
import Policies
import Testing

/// What `config.yaml` and imports make of expressions.
@Suite struct PlainEnvironmentTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let config: String
        let expression: String
        /// The type of the result, or a part of the message that refuses it.
        let gives: String
    }

    private static let decimal = "{type_name: list, params: [{type_name: double}]}"

    static let cases: [Case] = [
        Case(
            testDescription: "a type in the declaration",
            config: "variables: [{name: x, type_name: list, params: [{type_name: int}]}]",
            expression: "x", gives: "list(int)"),
        Case(
            testDescription: "a type below `type`",
            config: "variables: [{name: x, type: \(decimal)}]", expression: "x",
            gives: "list(double)"),
        Case(
            testDescription: "a short type",
            config: "variables: [{name: x, type: \"map(string, int)\"}]",
            expression: "x", gives: "map(string, int)"),
        Case(
            testDescription: "names with dots",
            config: "variables: [{name: a.b.c, type: int}, {name: a.d, type: string}]",
            expression: "a.b.c + a.d.size()", gives: "int"),
        Case(
            testDescription: "a message of another program may hold anything",
            config: "variables: [{name: x, type_name: my.Message}]",
            expression: "x.field", gives: "dyn"),
        Case(
            testDescription: "overloads are told apart",
            config: """
                functions:
                  - name: twice
                    overloads:
                      - {id: a, args: [{type_name: int}], return: {type_name: int}}
                      - {id: b, target: {type_name: string}, return: {type_name: string}}
                """,
            expression: "'a'.twice() + string(twice(1))", gives: "string"),
        Case(
            testDescription: "a function of a type parameter",
            config: """
                functions:
                  - name: pick
                    overloads:
                      - id: a
                        args: [{type_name: list, params: [{type_name: T, is_type_param: true}]}]
                        return: {type_name: T, is_type_param: true}
                """,
            expression: "pick([1, 2])", gives: "int"),
        Case(
            testDescription: "an extension must be listed", config: "name: c",
            expression: "'a'.charAt(0)", gives: "undeclared reference to 'charAt'"),
        Case(
            testDescription: "its first version has not all",
            config: "extensions: [{name: strings}]",
            expression: "'%s'.format(['a'.charAt(0)])", gives: "undeclared reference to 'format'"),
        Case(
            testDescription: "a version by number",
            config: "extensions: [{name: strings, version: 1}]",
            expression: "'%s'.format(['a'.charAt(0)])", gives: "string"),
        Case(
            testDescription: "the latest version",
            config: "extensions: [{name: strings, version: latest}]",
            expression: "'%s'.format(['a'.reverse()])", gives: "string"),
        Case(
            testDescription: "macros of an extension", config: "name: c",
            expression: "[1].exists(i, v, i < v)", gives: "undeclared reference"),
        Case(
            testDescription: "macros of an extension that is listed",
            config: "extensions: [{name: two-var-comprehensions}]",
            expression: "[1].exists(i, v, i < v)", gives: "bool"),
        Case(
            testDescription: "optionals and `cel.bind` are always there", config: "name: c",
            expression: "cel.bind(m, {'a': 1}, m[?'b'].orValue(2))", gives: "int"),
        Case(
            testDescription: "a container",
            config: "container: a.b\nvariables: [{name: a.b.x, type: int}]",
            expression: "x + 'a'", gives: "'_+_' applied to '(int, string)'"),
        Case(
            testDescription: "an import of the environment",
            config: "imports: [{name: google.protobuf.Timestamp}]",
            expression: "type(timestamp(0)) == Timestamp", gives: "bool"),
    ]

    @Test(arguments: cases) func checks(_ example: Case) {
        let load = plain(
            "name: p\nrule:\n  match:\n    - output: |\n        \(example.expression)\n",
            config: example.config)
        if let policy = load.plainPolicy {
            #expect("\(policy.resultType)" == example.gives)
        } else {
            let messages = load.diagnostics.map(\.message)
            #expect(messages.contains { $0.contains(example.gives) }, "\(load.rendered())")
        }
    }

    @Test func withoutAnEnvironmentEveryExtensionIsThere() {
        let load = plain("name: p\nrule: {match: [{output: \"'%s'.format(['a'.reverse()])\"}]}")
        #expect(load.diagnostics == [], "\(load.rendered())")
    }

    @Test func severalFilesMakeOneEnvironment() {
        let files = [
            ("policy.yaml", "name: p\nrule: {match: [{output: \"f(x) + 'a'.charAt(0)\"}]}"),
            (
                "base_config.yaml",
                "variables: [{name: x, type: string}]\nextensions: [{name: sets}]"
            ),
            (
                "more_config.yaml",
                """
                extensions: [{name: strings}]
                functions:
                  - name: f
                    overloads: [{id: f, args: [{type_name: string}], return: {type_name: string}}]
                """
            ),
        ]
        let load = PolicyLoader().load(
            files.map { PolicyLoader.File(path: $0.0, bytes: Array($0.1.utf8)) })
        #expect(load.diagnostics == [], "\(load.rendered())")
        #expect(load.plainPolicy?.resultType == .string)
    }

    @Test func importsShortenNames() {
        let load = plain(
            """
            name: p
            imports: [{name: " google.protobuf.Duration "}]
            rule: {match: [{output: "type(duration('1s')) == Duration"}]}
            """, config: "name: c")
        #expect(load.diagnostics == [], "\(load.rendered())")
    }

    @Test func importsAreChecked() {
        expectFindings(
            in: """
                name: p
                imports:
                  - name: >
                «1»      some.Thing!
                  - name: «2»Short
                  - name: "«3»two words"
                  - name: a.Same
                  - name: «4»b.Same
                rule: {match: [{output: "1"}]}

                """,
            [
                Expected(1, "policy.badName", "invalid qualified name: some.Thing!, wanted name"),
                Expected(2, "policy.badName", "invalid qualified name: Short, wanted name"),
                Expected(3, "policy.badName", "invalid qualified name: two words, wanted name"),
                Expected(4, "policy.badName", "abbreviation collides with existing reference"),
            ], at: \.place)
    }
}
