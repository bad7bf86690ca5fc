import CCrypto

/// Signatures by Ed25519 (RFC 8032), which need no randomness: the same key and message give the
/// same signature.
public enum Ed25519 {
    /// Bytes of a private or public key.
    public static let keyLength = 32
    /// Bytes of a signature.
    public static let signatureLength = 64

    /// A private key.
    public final class PrivateKey: @unchecked Sendable {
        // Unchecked: libcrypto's key is not changed after it is made, and signing with one key on
        // several threads is what its locks are for.
        private let key: OpaquePointer
        /// The public key that belongs to it.
        public let publicKey: PublicKey

        /// The key of a seed of 32 bytes; `nil` for any other count.
        public init?(seed: [UInt8]) {
            guard seed.count == Ed25519.keyLength,
                let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
            else { return nil }
            var bytes = [UInt8](repeating: 0, count: Ed25519.keyLength)
            var count = bytes.count
            guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1,
                let publicKey = PublicKey(bytes: bytes)
            else {
                EVP_PKEY_free(key)
                return nil
            }
            self.key = key
            self.publicKey = publicKey
        }

        deinit { EVP_PKEY_free(key) }

        /// The signature of a message; `nil` if libcrypto has no memory.
        public func signature(of message: [UInt8]) -> [UInt8]? {
            guard let context = EVP_MD_CTX_new() else { return nil }
            defer { EVP_MD_CTX_free(context) }
            var signature = [UInt8](repeating: 0, count: Ed25519.signatureLength)
            var count = signature.count
            guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
                EVP_DigestSign(context, &signature, &count, message, message.count) == 1
            else { return nil }
            return signature
        }
    }

    /// A public key.
    public struct PublicKey: Sendable, Hashable {
        /// Its 32 bytes.
        public let bytes: [UInt8]

        /// The key of 32 bytes; `nil` for any other count.
        public init?(bytes: [UInt8]) {
            guard bytes.count == Ed25519.keyLength else { return nil }
            self.bytes = bytes
        }

        /// Whether a signature is one of the message by the owner of this key.
        public func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
            guard signature.count == Ed25519.signatureLength,
                let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
            else { return false }
            defer { EVP_PKEY_free(key) }
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            return EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
                && EVP_DigestVerify(
                    context, signature, signature.count, message, message.count) == 1
        }
    }
}

/// Base64 with padding (RFC 4648, section 4), by libcrypto.
public enum Base64 {
    /// The text of bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = EVP_EncodeBlock(&text, bytes, Int32(clamping: bytes.count))
        return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }

    /// The bytes of a text; `nil` where it is not what ``encode(_:)`` gives.
    public static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count % 4 == 0, characters.count < 1 << 20 else { return nil }
        var bytes = [UInt8](repeating: 0, count: characters.count / 4 * 3 + 1)
        let count = EVP_DecodeBlock(&bytes, characters, Int32(characters.count))
        guard count >= 0 else { return nil }
        // libcrypto counts the bytes that padding stands for.
        let padding = characters.suffix(2).count { $0 == UInt8(ascii: "=") }
        let decoded = Array(bytes.prefix(Int(count) - padding))
        return encode(decoded) == text ? decoded : nil
    }
}
