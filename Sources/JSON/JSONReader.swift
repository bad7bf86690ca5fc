import CSimdjson

/// Why a text is not acceptable JSON, and where.
public struct JSONError: Error, Sendable, Equatable {
    /// The kinds of fault.
    public enum Code: String, Sendable {
        case syntax, invalidUTF8, duplicateKey, numberOutOfRange, tooDeep, tooLarge, empty
    }

    /// What kind of fault it is.
    public var code: Code
    /// Where in the document, as a JSON pointer (RFC 6901); empty for the document itself.
    public var pointer: String
    /// Where in the text: bytes before the fault.
    public var offset: Int
    /// What is wrong, in words.
    public var message: String
}

/// How much a document may ask of the reader.
public struct JSONLimits: Sendable {
    /// Bytes of text at most.
    public var bytes: Int
    /// Arrays and objects within each other at most.
    public var depth: Int

    /// Limits of the caller's choice.
    public init(bytes: Int, depth: Int = 64) {
        self.bytes = bytes
        self.depth = depth
    }

    /// 8 MiB, 64 levels.
    public static let `default` = JSONLimits(bytes: 8 << 20)
}

/// A strict reader of JSON (RFC 8259): UTF-8 only, no duplicate names, no number that a
/// double or a 64-bit integer cannot hold.
///
/// simdjson does the reading. It refuses without saying where, so a refused text is read
/// again by ``JSONFault``, which finds the place.
public enum JSONReader {
    /// Reads one whole document.
    public static func parse(_ bytes: [UInt8], limits: JSONLimits = .default) throws(JSONError)
        -> JSONValue
    {
        let result = bytes.withUnsafeBytes { buffer -> Result<JSONValue, JSONError> in
            Result { () throws(JSONError) in try parse(buffer, limits: limits) }
        }
        return try result.get()
    }

    /// Reads one whole document.
    public static func parse(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits = .default)
        throws(JSONError) -> JSONValue
    {
        guard bytes.count <= limits.bytes else {
            throw JSONError(
                code: .tooLarge, pointer: "", offset: limits.bytes,
                message: "the document has \(bytes.count) bytes; at most \(limits.bytes) are read")
        }
        guard let start = bytes.baseAddress, bytes.count > 0 else {
            throw JSONError(
                code: .empty, pointer: "", offset: 0, message: "the document is empty")
        }
        var document = discern_json_document()
        // simdjson counts the document itself as a level.
        let status = discern_json_parse(
            start.assumingMemoryBound(to: UInt8.self), bytes.count, limits.depth + 1, &document)
        guard status == 0 else { throw JSONFault.find(in: bytes, depth: limits.depth) }
        var tape = Tape(document: document)
        do {
            return try tape.value()
        } catch {
            throw JSONFault.find(in: bytes, depth: limits.depth)
        }
    }
}

/// A walk over simdjson's tape: words of a type in the top byte and a payload below.
private struct Tape {
    let document: discern_json_document
    /// The next word; word 0 is the root.
    var index = 1

    struct DuplicateKey: Error {}

    mutating func value() throws(DuplicateKey) -> JSONValue {
        let word = document.tape[index]
        let type = UInt8(truncatingIfNeeded: word >> 56)
        index += 1
        switch type {
        case UInt8(ascii: "\""): return .string(string(at: word))
        case UInt8(ascii: "l"): return .int(Int64(bitPattern: number()))
        case UInt8(ascii: "u"): return .uint(number())
        case UInt8(ascii: "d"): return .double(Double(bitPattern: number()))
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "{"): return .object(try object(opening: word))
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            elements.reserveCapacity(count(of: word))
            let end = Int(UInt32(truncatingIfNeeded: word))
            while index < end - 1 { elements.append(try value()) }
            index = end
            return .array(elements)
        default: return .null
        }
    }

    private mutating func object(opening word: UInt64) throws(DuplicateKey) -> JSONObject {
        var members: [(key: String, value: JSONValue)] = []
        members.reserveCapacity(count(of: word))
        let end = Int(UInt32(truncatingIfNeeded: word))
        var seen = Set<ExactText>()
        while index < end - 1 {
            let key = string(at: document.tape[index])
            index += 1
            // Few members are compared one by one; many would take quadratic time.
            if members.count < 16 {
                for member in members
                where member.key == key && ExactText(member.key) == ExactText(key) {
                    throw DuplicateKey()
                }
            } else {
                if seen.isEmpty { seen = Set(members.map { ExactText($0.key) }) }
                if seen.contains(ExactText(key)) { throw DuplicateKey() }
            }
            if !seen.isEmpty { seen.insert(ExactText(key)) }
            members.append((key, try value()))
        }
        index = end
        return JSONObject(members)
    }

    private mutating func number() -> UInt64 {
        defer { index += 1 }
        return document.tape[index]
    }

    private func count(of word: UInt64) -> Int { Int((word >> 32) & 0xFF_FFFF) }

    private func string(at word: UInt64) -> String {
        let start = document.strings + Int(word & 0xFF_FFFF_FFFF_FFFF)
        let length = UnsafeRawPointer(start).loadUnaligned(as: UInt32.self)
        let bytes = UnsafeBufferPointer(start: start + 4, count: Int(length))
        return String(decoding: bytes, as: UTF8.self)
    }
}
