import Ledger
import Time

/// An id that the service issues: a UUID of version 7 (RFC 9562, section 5.7) that carries
/// the ledger's number of the entry it was issued in.
///
/// Ids are issued in ledger order and lead straight to their entry, so finding one needs no
/// index. Layout: 48 bits of milliseconds, the version, 12 bits of chance, the variant,
/// 14 bits that tell ids of one entry apart, 48 bits of the entry's number.
public struct Identifier: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// What an id of an entry stands for.
    public enum Part: UInt16, Sendable {
        /// The entry itself: an evaluation, a grant, a key.
        case entry = 0
        /// The first insight of an evaluation; the others follow.
        case firstInsight = 1
    }

    /// The id of a part of an entry.
    public init(at: Instant, sequence: Int64, ordinal: UInt16, chance: UInt16) {
        let milliseconds = UInt64(truncatingIfNeeded: at.milliseconds) & 0xFFFF_FFFF_FFFF
        high = milliseconds << 16 | 0x7000 | UInt64(chance & 0xFFF)
        low =
            1 << 63 | UInt64(ordinal & 0x3FFF) << 48
            | UInt64(truncatingIfNeeded: sequence) & 0xFFFF_FFFF_FFFF
    }

    /// The id that a text gives; `nil` if it is none of ours.
    public init?(_ text: String) {
        var text = text
        guard let id = text.withUTF8({ Identifier(utf8: $0) }) else { return nil }
        self = id
    }

    /// The id that the bytes of a text give; `nil` if it is none of ours.
    init?(utf8 text: UnsafeBufferPointer<UInt8>) {
        guard text.count == 36 else { return nil }
        var value: (UInt64, UInt64) = (0, 0)
        for index in 0..<36 {
            let byte = text[index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x61...0x66: digit = byte - 0x61 + 10
            case 0x41...0x46: digit = byte - 0x41 + 10
            default: return nil
            }
            value = (value.0 << 4 | value.1 >> 60, value.1 << 4 | UInt64(digit))
        }
        guard value.0 & 0xF000 == 0x7000, value.1 >> 62 == 2 else { return nil }
        (high, low) = value
    }

    /// The number of the entry it was issued in.
    public var sequence: Int64 { Int64(low & 0xFFFF_FFFF_FFFF) }

    /// Which id of that entry it is.
    public var ordinal: UInt16 { UInt16(low >> 48 & 0x3FFF) }

    /// The id of another part of the same entry.
    public func part(_ ordinal: UInt16) -> Identifier {
        Identifier(high: high, low: low & ~(0x3FFF << 48) | UInt64(ordinal & 0x3FFF) << 48)
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 36 characters, lower case.
    public var text: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            buffer.baseAddress.map(write) ?? 0
        }
    }

    /// Writes the text to memory with room for 36 bytes, and gives their count.
    func write(to memory: UnsafeMutablePointer<UInt8>) -> Int {
        var place = 0
        for nibble in 0..<32 {
            if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                memory[place] = UInt8(ascii: "-")
                place += 1
            }
            memory[place] = Hex.digit(of: nibble < 16 ? high : low, at: nibble & 15)
            place += 1
        }
        return 36
    }
}
