public import JSON

/// One file of CEL's conformance suite in its JSON form.
public struct ConformanceFile: Sendable {
    /// The file's name without its ending, such as `string_ext`.
    public let name: String
    /// All tests of all sections, in order.
    public let tests: [ConformanceTest]

    /// Why a file could not be read as a suite.
    public struct ShapeError: Error, Sendable {
        /// Where and what.
        public let message: String
    }

    /// A file's content.
    public init(name: String, _ json: JSONValue) throws(ShapeError) {
        guard let sections = json["sections"]?.arrayValue else {
            throw ShapeError(message: "\(name): /sections is missing")
        }
        self.name = name
        var tests: [ConformanceTest] = []
        for section in sections {
            for test in section["tests"]?.arrayValue ?? [] {
                tests.append(try ConformanceTest(test, file: name))
            }
        }
        self.tests = tests
    }
}

/// One test: an expression, what it may refer to, and what it must give.
public struct ConformanceTest: Sendable {
    /// `file/section/test`.
    public let id: String
    /// What an implementation must support to run it: `core`, or some of `check`, `ext`, `proto`,
    /// `wkt`.
    public let needs: [String]
    /// The expression.
    public let expression: String
    let json: JSONValue

    init(_ json: JSONValue, file: String) throws(ConformanceFile.ShapeError) {
        guard let id = json["id"]?.stringValue, let expression = json["expr"]?.stringValue else {
            throw ConformanceFile.ShapeError(message: "\(file): a test without `id` or `expr`")
        }
        self.id = id
        self.expression = expression
        self.json = json
        needs = json["needs"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    func flag(_ name: String) -> Bool { json[name]?.boolValue ?? false }
}

/// What became of one test.
public enum ConformanceOutcome: Sendable {
    /// As expected.
    case passed
    /// Not as expected.
    case failed(expected: String, actual: String)
    /// Not run, and why.
    case skipped(String)
}
