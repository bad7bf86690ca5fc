/// A request target taken apart: path and query, strictly.
///
/// Half-readable targets are refused, not repaired: what one part of a system reads as `%2` and
/// another as `%` is how filters are passed by.
struct RequestTarget {
    var path: String
    var query: [QueryItem]

    /// Why a target cannot be read.
    enum Fault: Error, Equatable {
        case notAPath
        case malformedPercent(in: String)
        case tooManyItems(limit: Int)
    }

    init(_ target: String, limits: ServerLimits) throws(Fault) {
        guard target.utf8.first == UInt8(ascii: "/") else { throw .notAPath }
        let utf8 = target.utf8
        guard let mark = utf8.firstIndex(of: UInt8(ascii: "?")) else {
            path = target
            query = []
            return
        }
        path = String(target[..<mark])
        query = try Self.items(target[utf8.index(after: mark)...], limit: limits.queryItems)
    }

    private static func items(_ text: Substring, limit: Int) throws(Fault) -> [QueryItem] {
        var items: [QueryItem] = []
        for part in text.utf8.split(separator: UInt8(ascii: "&")) {
            guard items.count < limit else { throw .tooManyItems(limit: limit) }
            let sign = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let value = sign == part.endIndex ? part[sign...] : part[part.index(after: sign)...]
            guard let name = decode(part[..<sign], plusIsSpace: true) else {
                throw .malformedPercent(in: "query")
            }
            guard let value = decode(value, plusIsSpace: true) else {
                throw .malformedPercent(in: name)
            }
            items.append(QueryItem(name, value))
        }
        return items
    }

    /// Percent-decoded text, or nil where a `%` is not followed by two hexadecimal digits, the
    /// bytes are not UTF-8, or a control character comes out.
    static func decode(
        _ text: some Sequence<UInt8>, plusIsSpace: Bool
    ) -> String? {
        var bytes: [UInt8] = []
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            var decoded = byte
            if byte == UInt8(ascii: "%") {
                guard let high = iterator.next().flatMap(digit),
                    let low = iterator.next().flatMap(digit)
                else { return nil }
                decoded = high << 4 | low
            } else if byte == UInt8(ascii: "+"), plusIsSpace {
                decoded = UInt8(ascii: " ")
            }
            // Line ends may stand in a filter expression; no other control character has a use.
            guard decoded >= 0x20 || decoded == 0x0A || decoded == 0x0D || decoded == 0x09,
                decoded != 0x7F
            else { return nil }
            bytes.append(decoded)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
