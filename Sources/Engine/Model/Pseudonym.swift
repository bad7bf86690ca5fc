import Ledger

/// What stands for a person, a device or a value that must not be written down: the first
/// 128 bits of a keyed hash. Without the key nobody can tell whom it means.
public struct Pseudonym: Hashable, Sendable, BitwiseCopyable {
    let high: UInt64
    let low: UInt64

    init(_ digest: Digest) {
        (high, low) = digest.withBytes {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// The pseudonym of 32 hexadecimal digits; `nil` for any other text.
    public init?(_ text: String) {
        guard text.utf8.count == 32, let bytes = Hex.decode(text) else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The pseudonym of the bytes of 32 hexadecimal digits.
    init?(hexadecimal bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for index in 0..<32 {
            let byte = bytes[index]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            if index < 16 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
        }
        (high, low) = halves
    }

    /// 32 hexadecimal digits.
    public var text: String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            buffer.baseAddress.map(write) ?? 0
        }
    }

    /// Writes the text to memory with room for 32 bytes, and gives their count.
    func write(to memory: UnsafeMutablePointer<UInt8>) -> Int {
        for nibble in 0..<32 {
            memory[nibble] = Hex.digit(of: nibble < 16 ? high : low, at: nibble & 15)
        }
        return 32
    }
}

/// Makes pseudonyms. The key lives beside the database, never in it.
public struct Pseudonymizer: Sendable {
    private let hash: KeyedHash

    /// Pseudonyms under a secret key of at least 16 bytes.
    public init(key: [UInt8]) { hash = KeyedHash(key: key) }

    /// The pseudonym of a caller's id of a person.
    public func subject(_ id: String, of tenant: Tenant) -> Pseudonym {
        pseudonym("subject", [id], tenant)
    }

    /// The pseudonym of a caller's id of a device.
    public func device(_ id: String, of tenant: Tenant) -> Pseudonym {
        pseudonym("device", [id], tenant)
    }

    /// What stands for the value of an attribute that is not stored.
    public func value(_ text: String, of attribute: String, tenant: Tenant) -> Pseudonym {
        pseudonym("value", [attribute, text], tenant)
    }

    /// What stands for a whole action, to tell a retry from another request under its id.
    public func action(_ canonical: [UInt8], tenant: Tenant) -> Pseudonym {
        pseudonym("action", [String(decoding: canonical, as: UTF8.self)], tenant)
    }

    /// Parts are separated by a byte that no UTF-8 text contains, so that no two lists of
    /// parts give the same message.
    private func pseudonym(_ purpose: String, _ parts: [String], _ tenant: Tenant) -> Pseudonym {
        var message: [UInt8] = []
        message.reserveCapacity(256)
        message.append(contentsOf: purpose.utf8)
        message.append(0xFF)
        message.append(contentsOf: tenant.app.utf8)
        message.append(0xFF)
        message.append(contentsOf: tenant.environment.rawValue.utf8)
        for part in parts {
            message.append(0xFF)
            message.append(contentsOf: part.utf8)
        }
        return Pseudonym(hash.hash(message))
    }
}
