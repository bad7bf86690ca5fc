import CCrypto

/// A SHA-256 digest: 32 bytes.
public struct Digest: Sendable, Hashable, BitwiseCopyable, CustomStringConvertible {
    /// The bytes, as four words in memory order.
    private var words: (UInt64, UInt64, UInt64, UInt64)

    fileprivate init() { words = (0, 0, 0, 0) }

    /// The digest of exactly 32 bytes; `nil` for any other count.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        self.init()
        withMutableBytes { $0.copyBytes(from: bytes) }
    }

    /// The digest written as 64 hexadecimal digits; `nil` for anything else.
    public init?(hex: String) {
        guard let bytes = Hex.decode(hex) else { return nil }
        self.init(bytes: bytes)
    }

    /// The bytes, in place.
    public func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        withUnsafeBytes(of: words, body)
    }

    fileprivate mutating func withMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R
    {
        withUnsafeMutableBytes(of: &words, body)
    }

    /// 64 hexadecimal digits.
    public var hex: String { withBytes { Hex.encode($0) } }

    /// The first eight bytes, as a key for derived indexes.
    public var prefix: Int64 { Int64(bitPattern: words.0.bigEndian) }

    /// 64 hexadecimal digits.
    public var description: String { hex }

    /// Byte-wise equality.
    public static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }

    /// Feeds the first word: the bytes are evenly spread already.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// SHA-256 (FIPS 180-4) by libcrypto, which uses the processor's own instructions for it.
public enum SHA256 {
    /// The digest of the parts, one after the other.
    public static func hash(_ parts: UnsafeRawBufferPointer...) -> Digest { hash(parts) }

    /// The digest of the bytes.
    public static func hash(_ bytes: [UInt8]) -> Digest {
        bytes.withUnsafeBytes { hash([$0]) }
    }

    /// The digest of the text's UTF-8.
    public static func hash(_ text: String) -> Digest { hash(Array(text.utf8)) }

    private static func hash(_ parts: [UnsafeRawBufferPointer]) -> Digest {
        var digest = Digest()
        var context = SHA256_CTX()
        discern_sha256_init(&context)
        for part in parts { discern_sha256_update(&context, part.baseAddress, part.count) }
        digest.withMutableBytes { bytes in
            discern_sha256_final(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, &context)
        }
        return digest
    }
}

/// HMAC-SHA-256 (RFC 2104) under one key: how personal ids become pseudonyms.
public struct KeyedHash: Sendable {
    private let inner: [UInt8]
    private let outer: [UInt8]

    /// A keyed hash; keys longer than 64 bytes are hashed first, as the RFC says.
    public init(key: [UInt8]) {
        var block = key.count > 64 ? SHA256.hash(key).withBytes { Array($0) } : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        inner = block.map { $0 ^ 0x36 }
        outer = block.map { $0 ^ 0x5C }
    }

    /// The keyed digest of the bytes.
    public func hash(_ message: [UInt8]) -> Digest {
        let innerDigest = inner.withUnsafeBytes { inner in
            message.withUnsafeBytes { SHA256.hash(inner, $0) }
        }
        return outer.withUnsafeBytes { outer in
            innerDigest.withBytes { SHA256.hash(outer, $0) }
        }
    }
}

/// Random bytes of cryptographic quality.
public enum Random {
    /// That many bytes from libcrypto's generator.
    public static func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // Fails only when the system has no entropy source, in which case no key or salt
        // may be made at all.
        precondition(RAND_bytes(&bytes, Int32(count)) == 1, "no source of randomness")
        return bytes
    }
}

/// Hexadecimal text, lower case.
public enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// The digit of a word at a place from the left, 0…15.
    public static func digit(of word: UInt64, at place: Int) -> UInt8 {
        let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - place * 4)) & 15
        return digit < 10 ? 0x30 + digit : 0x61 + digit - 10
    }

    /// Two digits for each byte.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            var index = 0
            for byte in bytes {
                buffer[index] = digits[Int(byte >> 4)]
                buffer[index + 1] = digits[Int(byte & 15)]
                index += 2
            }
            return index
        }
    }

    /// The bytes of an even number of digits; `nil` for anything else.
    public static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            let digit: UInt8
            switch character {
            case 0x30...0x39: digit = character - 0x30
            case 0x61...0x66: digit = character - 0x61 + 10
            case 0x41...0x46: digit = character - 0x41 + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}
