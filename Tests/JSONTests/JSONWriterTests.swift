import JSON
import Testing

@Suite struct JSONWriterTests {
    static let texts: [(JSONValue, String)] = [
        (JSONValue.double(900), "900.0"), (.double(0.1 + 0.2), "0.30000000000000004"),
        (.double(2 * 0.3), "0.6"), (.double(1e300), "1e+300"), (.double(.nan), "null"),
        (.int(.min), "-9223372036854775808"), (.uint(.max), "18446744073709551615"),
        (.string("a\"\\\n\u{1}é😀"), #""a\"\\\n\u0001é😀""#),
        (["b": 1, "a": [true, nil]], #"{"b":1,"a":[true,null]}"#),
    ]

    @Test(arguments: texts)
    func writes(value: JSONValue, text: String) {
        #expect(value.text == text)
    }

    @Test func canonicalSortsNamesByBytesAtEveryDepth() {
        let value: JSONValue = ["b": ["z": 1, "a": 2], "B": 3, "é": 4, "a": 5]
        #expect(
            String(decoding: value.canonicalBytes, as: UTF8.self)
                == #"{"B":3,"a":5,"b":{"a":2,"z":1},"é":4}"#)
    }

    @Test func everyNumberReadsBackTheSame() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let double = Double(bitPattern: generator.next())
            guard double.isFinite else { continue }
            let bytes = JSONValue.double(double).canonicalBytes
            guard case .double(let back) = try JSONReader.parse(bytes) else {
                Issue.record(
                    "\(double) did not stay a double: \(String(decoding: bytes, as: UTF8.self))")
                return
            }
            #expect(back.bitPattern == double.bitPattern)
        }
    }
}
