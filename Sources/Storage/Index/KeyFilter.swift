/// Says of most keys that a run does not have that it does not, without a look at the disk: a Bloom
/// filter, all of whose bits for one key lie in one line of the processor's cache.
struct KeyFilter: Sendable {
    /// Words of one block: 512 bits.
    static let blockWords = 8
    /// Bits set for a key.
    private static let probes = 6

    /// Bits of room for each key, with which some 3 % are looked for in vain.
    private static let bitsPerKey = 8

    private(set) var words: [UInt64]

    /// An empty filter with room for so many keys.
    init(keys: Int) {
        let blocks = max(1, (keys * Self.bitsPerKey + 511) / 512)
        words = Array(repeating: 0, count: blocks * Self.blockWords)
    }

    /// A filter that was stored.
    init(words: [UInt64]) { self.words = words }

    mutating func add(_ key: Int64) {
        let start = Self.block(of: key, words: words.count)
        var bits = Self.mix(key)
        for _ in 0..<Self.probes {
            words[start + Int(bits >> 6 & 7)] |= 1 << (bits & 63)
            bits >>= 9
        }
    }

    /// False if the key is surely not there.
    func mayContain(_ key: Int64) -> Bool {
        words.withUnsafeBufferPointer { words in
            let start = Self.block(of: key, words: words.count)
            return Self.mayContain(
                key, block: UnsafeBufferPointer(rebasing: words[start..<start + Self.blockWords]))
        }
    }

    /// The same of the one block that matters.
    static func mayContain(_ key: Int64, block: UnsafeBufferPointer<UInt64>) -> Bool {
        var bits = mix(key)
        for _ in 0..<probes {
            if block[Int(bits >> 6 & 7)] & 1 << (bits & 63) == 0 { return false }
            bits >>= 9
        }
        return true
    }

    /// The first word of the block of a key, in a filter of so many words.
    static func block(of key: Int64, words: Int) -> Int {
        let blocks = UInt64(words / blockWords)
        return Int(UInt64(bitPattern: key).multipliedFullWidth(by: blocks).high) * blockWords
    }

    /// Keys are hashes already; but tests use small numbers, and the block is chosen by the same bits.
    private static func mix(_ key: Int64) -> UInt64 {
        var bits = UInt64(bitPattern: key)
        bits = (bits ^ bits >> 31) &* 0x9E37_79B9_7F4A_7C15
        return bits ^ bits >> 29
    }
}
