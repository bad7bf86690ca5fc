/// Base64 of RFC 4648 with its standard alphabet.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// What each byte stands for; 64 where it is no letter of the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        for (index, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(index) }
        return values
    }()

    static func encode(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let alphabet = alphabet
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var word: UInt32 = 0
            for index in 0..<3 {
                word = word << 8 | (index < count ? UInt32(bytes[start + index]) : 0)
            }
            for index in 0..<4 {
                text.append(
                    index <= count
                        ? alphabet[Int(word >> (18 - 6 * UInt32(index)) & 63)] : UInt8(ascii: "="))
            }
        }
        return text
    }

    /// Padding may be left out.
    static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var end = text.count
        if end % 4 == 0 {
            var padding = 0
            while padding < 2, end > 0, text[end - 1] == UInt8(ascii: "=") {
                end -= 1
                padding += 1
            }
        }
        guard end % 4 != 1 else { return nil }
        let values = values
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end / 4 * 3 + 2)
        var word: UInt32 = 0
        var bits = 0
        for index in 0..<end {
            let value = values[Int(text[index])]
            guard value < 64 else { return nil }
            word = word << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            }
        }
        return bytes
    }
}
