import JSON

/// The parsed test file of a plain CEL policy.
public struct PlainTests: Sendable {
    /// The name of the policy under test.
    public let policy: String
    /// `section:`, in file order.
    public let sections: [Section]
    /// The path of the test file.
    public let path: String

    /// Tests under one heading.
    public struct Section: Sendable {
        /// `name:`.
        public let name: String
        /// `tests:`, in file order.
        public let tests: [Test]
    }

    /// Inputs and the result they must give.
    public struct Test: Sendable {
        /// `name:`.
        public let name: String
        /// `input:`, in file order; a name may have dots.
        public let input: [(name: String, value: Operand)]
        /// `context_expr:`, an expression over nothing whose fields are inputs as well.
        public let context: String?
        /// `output:`.
        public let output: Expectation
        /// Where the test starts in the file.
        public let position: SourcePosition
    }

    /// A value, written out or as an expression.
    public enum Operand: Sendable {
        /// `value: …`.
        case value(JSONValue)
        /// `expr: …`, an expression over nothing.
        case expression(String)
    }

    /// What a test expects.
    public enum Expectation: Sendable {
        /// A result.
        case result(Operand)
        /// `error_set: […]`: a failure whose message contains one of the texts; any, if there are
        /// none.
        case failure([String])
    }
}

/// Reads a test file of a plain CEL policy.
struct PlainTestReader {
    let sink: DiagnosticSink

    func read(_ fields: Fields, reference: String) -> PlainTests {
        let sections = TestSections(sink: sink).read(fields) { test(in: $0) }
        return PlainTests(
            policy: reference,
            sections: sections.map { PlainTests.Section(name: $0.name, tests: $0.tests) },
            path: sink.file)
    }

    private func test(in node: YAMLNode) -> (name: String, test: PlainTests.Test)? {
        guard
            let fields = Fields(
                node, "a test",
                keys: ["name", "description", "input", "context_expr", "output"], sink: sink)
        else { return nil }
        let name = fields.requiredString("name")
        let input = fields.mapping("input").compactMap { entry in
            operand(entry.value, "an input").map { (name: entry.key, value: $0) }
        }
        guard let node = fields["output"], !node.isNull else {
            sink.error(.noExpectation, "the test states no `output`", at: fields.headRange)
            return nil
        }
        guard let name, let output = expectation(node) else { return nil }
        return (
            name,
            PlainTests.Test(
                name: name, input: input, context: fields.string("context_expr"), output: output,
                position: fields.headRange.start)
        )
    }

    private func expectation(_ node: YAMLNode) -> PlainTests.Expectation? {
        let known = ["value", "expr", "error_set", "unknown_set"]
        guard let fields = Fields(node, "an output", keys: known, sink: sink) else { return nil }
        if let entry = fields.entry("unknown_set") {
            sink.error(
                .invalidValue, "`unknown_set` cannot be tested: a missing input is an error here",
                at: entry.keyRange, help: "write `error_set: []`")
            return nil
        }
        if fields.has("error_set") {
            return .failure(fields.strings("error_set").map(\.text))
        }
        return operand(fields).map { .result($0) }
    }

    private func operand(_ node: YAMLNode, _ what: String) -> PlainTests.Operand? {
        Fields(node, what, keys: ["value", "expr"], sink: sink).flatMap(operand)
    }

    private func operand(_ fields: Fields) -> PlainTests.Operand? {
        if let value = fields["value"] { return Scalars.json(value, sink).map { .value($0) } }
        return fields.requiredString("expr").map { .expression($0) }
    }
}
