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

    @Test func everyTextReadsBackTheSameHoweverItIsPlaced() throws {
        var generator = SystemRandomNumberGenerator()
        let alphabet = "ab\"\\\n\u{0}\u{1F}\u{7F}\u{80}é€😀 !#[]~".unicodeScalars.map { $0 }
        for length in 0..<64 {
            for _ in 0..<40 {
                var text = ""
                for _ in 0..<length {
                    // Mostly plain, so that runs of eight bytes without an escape occur.
                    let scalar: Unicode.Scalar =
                        Int.random(in: 0..<6, using: &generator) == 0
                        ? alphabet.randomElement(using: &generator) ?? "x" : "x"
                    text.unicodeScalars.append(scalar)
                }
                let bytes = JSONValue.array([.string(text), .int(1)]).canonicalBytes
                #expect(try JSONReader.parse(bytes) == [.string(text), 1])
                // Only what must be escaped is.
                let escapes = text.utf8.count { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }
                #expect(bytes.count { $0 == 0x5C } >= escapes)
            }
        }
    }
}
