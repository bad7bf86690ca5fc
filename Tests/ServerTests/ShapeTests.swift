import JSON
import Server
import Testing

@Suite struct ShapeTests {
    private static let shape = Shape.object([
        .required("name", .string(maxBytes: 5)),
        .optional("kind", .choice(["a", "b"])),
        .optional("count", .integer(1...3)),
        .optional("share", .number(0...1)),
        .optional("on", .bool),
        .optional("at", .instant),
        .optional("for", .duration),
        .optional("list", .list(.object([.required("x", .bool)]), max: 2)),
        .optional("attributes", .map(.scalar, max: 2)),
        .optional("free", .any),
    ])

    @Test(arguments: [
        #"{"name":"abcde"}"#,
        #"{"name":"é","kind":"a","count":3,"share":1,"on":false,"at":"2026-11-30T12:00:00Z"}"#,
        #"{"name":"n","for":"1h30m","list":[{"x":true}],"attributes":{"a":1,"b":"c"},"free":[{}]}"#,
        #"{"name":"n","kind":null,"list":null}"#,
        #"{"free":null,"name":"n"}"#,
    ])
    func whatFitsIsAccepted(text: String) throws {
        #expect(ShapeCheck.problem(try JSONReader.parse(Array(text.utf8)), Self.shape) == nil)
    }

    @Test(arguments: [
        ("{}", "missingField", "/name"),
        (#"{"name":null}"#, "missingField", "/name"),
        (#"{"name":""}"#, "invalidValue", "/name"),
        (#"{"name":"abcdef"}"#, "invalidValue", "/name"),
        (#"{"name":"a\u0000"}"#, "invalidValue", "/name"),
        (#"{"name":1}"#, "invalidValue", "/name"),
        (#"{"name":"n","kind":"c"}"#, "invalidValue", "/kind"),
        (#"{"name":"n","count":0}"#, "invalidValue", "/count"),
        (#"{"name":"n","count":1.5}"#, "invalidValue", "/count"),
        (#"{"name":"n","count":99999999999999999999}"#, "invalidValue", "/count"),
        (#"{"name":"n","share":1.01}"#, "invalidValue", "/share"),
        (#"{"name":"n","on":1}"#, "invalidValue", "/on"),
        (#"{"name":"n","at":"yesterday"}"#, "invalidValue", "/at"),
        (#"{"name":"n","for":"-1h"}"#, "invalidValue", "/for"),
        (#"{"name":"n","list":{}}"#, "invalidValue", "/list"),
        (#"{"name":"n","list":[{"x":true},{"x":true},{"x":true}]}"#, "invalidValue", "/list"),
        (#"{"name":"n","list":[{"x":true},{"x":2}]}"#, "invalidValue", "/list/1/x"),
        (#"{"name":"n","list":[{}]}"#, "missingField", "/list/0/x"),
        (#"{"name":"n","attributes":{"a/b~":[]}}"#, "invalidValue", "/attributes/a~1b~0"),
        (#"{"name":"n","attributes":{"a":1,"b":1,"c":1}}"#, "invalidValue", "/attributes"),
        (#"{"name":"n","nmae":1}"#, "unknownField", "/nmae"),
        ("[]", "invalidValue", ""),
        ("null", "invalidValue", ""),
    ])
    func whatDoesNotIsNamed(text: String, code: String, field: String) throws {
        let value = try? JSONReader.parse(Array(text.utf8))
        // What the reader itself refuses needs no shape.
        guard let value else { return }
        let problem = try #require(ShapeCheck.problem(value, Self.shape))
        #expect(problem.code.rawValue == code)
        #expect(problem.field == field)
    }

    @Test func theFirstFaultDoesNotDependOnTheOrderOfMembers() throws {
        for text in [
            #"{"zzz":1,"count":9,"kind":"c","name":"n"}"#,
            #"{"name":"n","kind":"c","count":9,"zzz":1}"#,
        ] {
            let value = try JSONReader.parse(Array(text.utf8))
            let problem = try #require(ShapeCheck.problem(value, Self.shape))
            #expect(problem.field == "/kind")
            #expect(problem.value == "c")
            #expect(problem.allowed == ["a", "b"])
            let errors = problem.members.first { $0.key == "errors" }?.value.arrayValue
            #expect(errors?.map { $0["field"] } == ["/kind", "/count", "/zzz"])
        }
    }

    @Test func exactlyOneOfSeveral() throws {
        let shape = Shape.object(
            [.optional("a", .id), .optional("b", .id)], oneOf: ["a", "b"])
        #expect(ShapeCheck.problem(["a": "x"], shape) == nil)
        #expect(ShapeCheck.problem(["a": "x", "b": .null], shape) == nil)
        #expect(ShapeCheck.problem([:] as JSONValue, shape)?.code == .missingField)
        #expect(ShapeCheck.problem(["a": "x", "b": "y"], shape)?.code == .invalidValue)
    }

    @Test func manyFaultsAreCutShort() throws {
        let members = (0..<1000).map { (key: "k\($0)", value: JSONValue.int(0)) }
        let problem = try #require(
            ShapeCheck.problem(.object(JSONObject(members)), .object([])))
        let errors = problem.members.first { $0.key == "errors" }?.value.arrayValue
        #expect(errors?.count == ShapeCheck.limit)
    }

    @Test func largeValuesAreNotEchoedWhole() throws {
        let long = JSONValue.string(String(repeating: "é", count: 4000))
        let problem = try #require(ShapeCheck.problem(["name": long], Self.shape))
        #expect((problem.value?.stringValue?.unicodeScalars.count ?? 0) == 101)
    }
}
