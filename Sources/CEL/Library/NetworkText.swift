/// IP addresses and CIDR blocks as text.
enum NetworkText {
    struct Address {
        /// 4 or 16 bytes.
        var bytes: [UInt8]
        /// Of a block.
        var prefix: Int?
    }

    /// No address or block has more bytes: eight groups, of which the last two may be written as
    /// IPv4, and a prefix of three digits (45 + 4), and some room for a zone, which has a message.
    static let longest = 64

    enum Fault: Error {
        case malformed
        case zone
        case mapped
    }

    static func parse(_ text: String) -> Address? {
        do throws(Fault) {
            return text.utf8.contains(UInt8(ascii: "/")) ? try block(text) : try address(text)
        } catch {
            return nil
        }
    }

    /// An address. One of IPv6 may end in the form of IPv4, save where that is all it says
    /// (`::ffff:1.2.3.4`): that is taken only in hexadecimal, as in Kubernetes.
    static func address(_ text: String) throws(Fault) -> Address {
        if text.utf8.contains(UInt8(ascii: "%")) { throw .zone }
        guard text.utf8.contains(UInt8(ascii: ":")) else {
            guard let bytes = four(text[...]) else { throw .malformed }
            return Address(bytes: bytes)
        }
        guard let bytes = sixteen(try withoutPoints(text)) else { throw .malformed }
        if text.utf8.contains(UInt8(ascii: ".")), isMapped(bytes) { throw .mapped }
        return Address(bytes: bytes)
    }

    /// The text with a last part such as `1.2.3.4` as two groups in hexadecimal.
    private static func withoutPoints(_ text: String) throws(Fault) -> String {
        guard text.utf8.contains(UInt8(ascii: ".")) else { return text }
        guard let colon = text.lastIndex(of: ":"),
            let bytes = four(text[text.index(after: colon)...])
        else { throw .malformed }
        let words = [0, 2].map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        return text[...colon] + words.map { String($0, radix: 16) }.joined(separator: ":")
    }

    static func block(_ text: String) throws(Fault) -> Address {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .malformed }
        var result = try address(String(parts[0]))
        let digits = parts[1]
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy(Lexer.isDigit),
            digits == "0" || !digits.hasPrefix("0"), let prefix = Int(digits),
            prefix <= result.bytes.count * 8
        else { throw .malformed }
        if isMapped(result.bytes) { throw .mapped }
        result.prefix = prefix
        return result
    }

    static func isMapped(_ bytes: [UInt8]) -> Bool {
        bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 255
            && bytes[11] == 255
    }

    private static func four(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy(Lexer.isDigit),
                part == "0" || !part.hasPrefix("0"), let byte = UInt8(part)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func groups(_ text: Substring) -> [UInt8]? {
        if text.isEmpty { return [] }
        var bytes: [UInt8] = []
        for part in text.split(separator: ":", omittingEmptySubsequences: false) {
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy(Lexer.isHexDigit),
                let word = UInt16(part, radix: 16)
            else { return nil }
            bytes += [UInt8(word >> 8), UInt8(word & 255)]
        }
        return bytes
    }

    private static func sixteen(_ text: String) -> [UInt8]? {
        let utf8 = Array(text.utf8)
        let colon = UInt8(ascii: ":")
        let gap = utf8.indices.dropLast().first { utf8[$0] == colon && utf8[$0 + 1] == colon }
        guard let gap else {
            return groups(text[...]).flatMap { $0.count == 16 ? $0 : nil }
        }
        let head = String(decoding: utf8[..<gap], as: UTF8.self)
        let tail = String(decoding: utf8[(gap + 2)...], as: UTF8.self)
        guard let before = groups(head[...]), let after = groups(tail[...]),
            before.count + after.count <= 14
        else { return nil }
        return before + [UInt8](repeating: 0, count: 16 - before.count - after.count) + after
    }

    /// The canonical text (RFC 5952).
    static func text(_ cell: Cell) -> String {
        let bytes = Array(cell.bytes)
        let suffix = cell.tag == .cidr ? "/\(cell.extra)" : ""
        if bytes.count == 4 { return bytes.map { String($0) }.joined(separator: ".") + suffix }
        guard bytes.count == 16 else { return "" }
        if isMapped(bytes) {
            return "::ffff:" + bytes[12...].map { String($0) }.joined(separator: ".") + suffix
        }
        let words = (0..<8).map { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
        let gap = longestGap(words)
        let shown = { (range: Range<Int>) in
            words[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard gap.count >= 2 else { return shown(0..<8) + suffix }
        return shown(0..<gap.lowerBound) + "::" + shown(gap.upperBound..<8) + suffix
    }

    private static func longestGap(_ words: [UInt16]) -> Range<Int> {
        var best = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, words[end] == 0 { end += 1 }
            if end - start > best.count { best = start..<end }
            start = max(end, start + 1)
        }
        return best
    }
}
