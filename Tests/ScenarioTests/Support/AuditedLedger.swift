import JSON
import Ledger
import Testing

/// An entry as the audit shows it, with the exact bytes that were stored.
struct AuditedEntry: Sendable {
    var envelope: JSONValue
    var envelopeBytes: [UInt8]
    var payload: JSONValue
    var payloadBytes: [UInt8]
    var salt: [UInt8]
    var leafHash: String

    var sequence: Int64 { envelope["sequence"]?.intValue ?? 0 }
    var kind: String { envelope["kind"]?.stringValue ?? "" }
    var command: JSONValue { payload["command"] ?? .null }
    var result: JSONValue { payload["result"] ?? .null }

    init(raw: [UInt8]) throws {
        let members = RawJSON.members(of: raw)
        envelopeBytes = Array(try #require(members["envelope"]))
        payloadBytes = Array(try #require(members["payload"]))
        envelope = try JSONReader.parse(envelopeBytes)
        payload = try JSONReader.parse(payloadBytes)
        let whole = try JSONReader.parse(raw)
        salt = try #require(whole["salt"]?.stringValue.flatMap(Hex.decode))
        leafHash = try #require(whole["leafHash"]?.stringValue)
    }
}

/// All that the ledger holds, read over HTTP page by page.
struct AuditedLedger {
    private(set) var entries: [AuditedEntry] = []
    /// How many of them `verify` has seen.
    private var verified = 0

    /// Where it begins: behind that entry.
    private let start: Int64

    /// What the key may see, behind an entry. Pages of an uneven size, so that their edges are tried
    /// too.
    init(_ client: Client, after start: Int64 = 0, pageSize: Int = 997) throws {
        self.start = start
        try readOn(client, pageSize: pageSize)
    }

    /// Reads what was appended since.
    mutating func readOn(_ client: Client, pageSize: Int = 997) throws {
        var cursor = entries.last.map { String($0.sequence) } ?? (start > 0 ? "\(start)" : nil)
        repeat {
            let more = cursor.map { "&cursor=\($0)" } ?? ""
            let answer = try client.get("/v1/audit/entries?limit=\(pageSize)\(more)")
            try #require(answer.status == 200, "\(answer.text)")
            let list = try #require(RawJSON.members(of: answer.body)["entries"])
            entries += try RawJSON.elements(of: Array(list)).map {
                try AuditedEntry(raw: Array($0))
            }
            cursor = answer.string("next")
        } while cursor != nil
    }

    func of(kind: String) -> [AuditedEntry] { entries.filter { $0.kind == kind } }

    /// Checks what can be checked from outside: numbers without a gap, times that never
    /// go back, digests of salt and payload, leaf hashes. For an operator's view; what was
    /// verified before is not looked at again, but for its order.
    mutating func verify(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(
            entries.map(\.sequence) == Array(start + 1...start + Int64(max(entries.count, 1))),
            "the ledger has a gap", sourceLocation: sourceLocation)
        let times = entries.map { $0.envelope["at"]?.stringValue ?? "" }
        #expect(times == times.sorted(), "time went back", sourceLocation: sourceLocation)
        for entry in entries[verified...] {
            let digest = SHA256.hash(entry.salt + entry.payloadBytes).hex
            #expect(
                entry.envelope["payload"]?.stringValue == digest,
                "entry \(entry.sequence): the payload's digest", sourceLocation: sourceLocation)
            #expect(
                entry.leafHash == SHA256.hash([0] + entry.envelopeBytes).hex,
                "entry \(entry.sequence): the leaf's hash", sourceLocation: sourceLocation)
            #expect(entry.salt.count == 16, sourceLocation: sourceLocation)
        }
        #expect(
            Set(entries.map(\.salt)).count == entries.count, "a salt was used twice",
            sourceLocation: sourceLocation)
        verified = entries.count
    }
}

/// Cuts JSON text into its parts without reading them, so that bytes stay what they were.
enum RawJSON {
    /// The members of an object.
    static func members(of bytes: [UInt8]) -> [String: ArraySlice<UInt8>] {
        var members: [String: ArraySlice<UInt8>] = [:]
        for part in parts(of: bytes) {
            let name = end(of: bytes, from: part.lowerBound)
            let key = String(decoding: bytes[part.lowerBound + 1..<name - 1], as: UTF8.self)
            members[key] = bytes[name + 1..<part.upperBound]
        }
        return members
    }

    /// The elements of an array.
    static func elements(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        parts(of: bytes).map { bytes[$0] }
    }

    /// What stands between the commas of the outermost brackets. The service writes no spaces.
    private static func parts(of bytes: [UInt8]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var index = 1
        var start = 1
        while index < bytes.count - 1 {
            switch bytes[index] {
            case UInt8(ascii: ","):
                parts.append(start..<index)
                index += 1
                start = index
            case UInt8(ascii: ":"): index += 1
            default: index = end(of: bytes, from: index)
            }
        }
        if start < bytes.count - 1 { parts.append(start..<bytes.count - 1) }
        return parts
    }

    /// Behind the value that begins there.
    private static func end(of bytes: [UInt8], from start: Int) -> Int {
        var depth = 0
        var index = start
        var isText = false
        while index < bytes.count {
            let byte = bytes[index]
            if isText {
                if byte == UInt8(ascii: "\\") { index += 1 }
                if byte == UInt8(ascii: "\"") { isText = false }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return index }
                    depth -= 1
                case UInt8(ascii: ","), UInt8(ascii: ":"): if depth == 0 { return index }
                default: break
                }
            }
            index += 1
            if depth == 0, !isText, bytes[index - 1] == UInt8(ascii: "\"") { return index }
        }
        return index
    }
}
