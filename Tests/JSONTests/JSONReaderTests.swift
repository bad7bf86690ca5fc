import JSON
import Testing

@Suite struct JSONReaderTests {
    static let texts: [(String, JSONValue)] = [
        ("null", JSONValue.null), ("true", true), (" [1, -2] ", [1, -2]),
        ("9007199254740993", .int(9_007_199_254_740_993)),
        ("18446744073709551615", .uint(.max)), ("5.0", .double(5)), ("3.7", .double(3.7)),
        (#"{"a":{"b":["x",{}]}}"#, ["a": ["b": ["x", [:]]]]),
        (#""A\u00e9\ud83d\ude00\n""#, "Aé😀\n"), ("[]", []), (#""a\u0000b""#, "a\u{0}b"),
    ]

    @Test(arguments: texts)
    func reads(text: String, expected: JSONValue) throws {
        #expect(try JSONReader.parse(Array(text.utf8)) == expected)
    }

    struct Fault: Sendable {
        var text: String
        var code: JSONError.Code
        var pointer: String
        var offset: Int
    }

    @Test(arguments: [
        Fault(text: "", code: .empty, pointer: "", offset: 0),
        Fault(text: "{", code: .syntax, pointer: "", offset: 1),
        Fault(text: #"{"a":1,}"#, code: .syntax, pointer: "", offset: 7),
        Fault(text: #"{"a":{"b":tru}}"#, code: .syntax, pointer: "/a/b", offset: 10),
        Fault(text: #"{"a":1,"a":2}"#, code: .duplicateKey, pointer: "/a", offset: 7),
        Fault(text: #"[1,1e999]"#, code: .numberOutOfRange, pointer: "/1", offset: 3),
        Fault(
            text: #"{"a/b":18446744073709551616}"#, code: .numberOutOfRange, pointer: "/a~1b",
            offset: 7),
        Fault(text: "[01]", code: .syntax, pointer: "/0", offset: 2),
        Fault(text: #"["\ud800"]"#, code: .syntax, pointer: "/0", offset: 8),
        Fault(text: "[\"a\nb\"]", code: .syntax, pointer: "/0", offset: 3),
        Fault(text: "1 2", code: .syntax, pointer: "", offset: 2),
        Fault(text: "NaN", code: .syntax, pointer: "", offset: 0),
    ])
    func refuses(fault: Fault) {
        let error = #expect(throws: JSONError.self) {
            try JSONReader.parse(Array(fault.text.utf8))
        }
        #expect(error?.code == fault.code)
        #expect(error?.pointer == fault.pointer)
        #expect(error?.offset == fault.offset)
    }

    @Test func refusesInvalidUTF8() {
        let error = #expect(throws: JSONError.self) {
            try JSONReader.parse([0x22, 0x61, 0xFF, 0x22])
        }
        #expect(error?.code == .invalidUTF8)
        #expect(error?.offset == 2)
    }

    @Test func depthHasALimitOnBothSides() throws {
        let limits = JSONLimits(bytes: 1 << 20, depth: 5)
        let fits = Array((String(repeating: "[", count: 5) + String(repeating: "]", count: 5)).utf8)
        #expect(throws: Never.self) { try JSONReader.parse(fits, limits: limits) }
        let deep = Array(String(repeating: "[", count: 100_000).utf8)
        let error = #expect(throws: JSONError.self) { try JSONReader.parse(deep, limits: limits) }
        #expect(error?.code == .tooDeep)
        #expect(error?.pointer == "/0/0/0/0/0")
    }

    @Test func sizeHasALimitOnBothSides() {
        let limits = JSONLimits(bytes: 4)
        #expect(throws: Never.self) { try JSONReader.parse(Array("1234".utf8), limits: limits) }
        let error = #expect(throws: JSONError.self) {
            try JSONReader.parse(Array("12345".utf8), limits: limits)
        }
        #expect(error?.code == .tooLarge)
    }

    @Test func manyMembersAreReadInLinearTimeAndDuplicatesStillFound() throws {
        let members = (0..<20_000).map { "\"k\($0)\":\($0)" }
        let text = "{" + members.joined(separator: ",") + "}"
        #expect(try JSONReader.parse(Array(text.utf8)).objectValue?.members.count == 20_000)
        let twice = "{" + members.joined(separator: ",") + ",\"k17\":0}"
        let error = #expect(throws: JSONError.self) { try JSONReader.parse(Array(twice.utf8)) }
        #expect(error?.code == .duplicateKey)
        #expect(error?.pointer == "/k17")
    }
}
