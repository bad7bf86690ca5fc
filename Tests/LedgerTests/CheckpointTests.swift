import Ledger
import Testing

@Suite struct CheckpointTests {
    /// RFC 8032, section 7.1, test 2.
    @Test func knownSignature() throws {
        let seed = try #require(
            Hex.decode("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
        let key = try #require(Ed25519.PrivateKey(seed: seed))
        #expect(
            Hex.encode(key.publicKey.bytes)
                == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        let signature = try #require(key.signature(of: [0x72]))
        #expect(
            Hex.encode(signature)
                == "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")
        #expect(key.publicKey.verifies(signature, of: [0x72]))
        #expect(!key.publicKey.verifies(signature, of: [0x73]))
        #expect(!key.publicKey.verifies(Array(signature.dropLast()), of: [0x72]))
        #expect(Ed25519.PrivateKey(seed: [1, 2]) == nil)
    }

    /// The example that implementations of signed notes share.
    @Test func knownNote() throws {
        let verifier = try #require(
            NoteVerifier("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"))
        let text = """
            If you think cryptography is the answer to your problem,
            then you don't know what your problem is.

            — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=

            """
        let note = try #require(SignedNote(text))
        #expect(note.isSigned(by: verifier))
        #expect(note.note == text)
        let changed = try #require(SignedNote(text.replacing("your", with: "our")))
        #expect(!changed.isSigned(by: verifier))
    }

    @Test func aCheckpointIsSignedAndReadBack() throws {
        let key = try #require(Ed25519.PrivateKey(seed: [UInt8](repeating: 7, count: 32)))
        let signer = try #require(NoteSigner(name: "discern/test", key: key))
        let checkpoint = Checkpoint(
            origin: "discern/test", size: 1_234, root: MerkleTree.leaf([1, 2, 3]))
        let note = try #require(SignedNote(checkpoint.text, by: signer))
        let read = try #require(SignedNote(note.note))
        #expect(read == note)
        #expect(read.isSigned(by: signer.verifier))
        #expect(Checkpoint(text: read.text) == checkpoint)
        // Whoever has another key of that name is not believed.
        let other = try #require(Ed25519.PrivateKey(seed: [UInt8](repeating: 8, count: 32)))
        let forger = try #require(NoteSigner(name: "discern/test", key: other))
        #expect(!read.isSigned(by: forger.verifier))
        #expect(NoteVerifier(signer.verifier.description) == signer.verifier)
    }

    @Test(arguments: [
        "", "\n\n", "a\n", "a\n1\n", "a\n01\nAAAA\n", "a\n-1\nAAAA\n",
        "a\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU\n",
        "\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
        "a\n18446744073709551616\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
    ])
    func whatIsNoCheckpoint(text: String) { #expect(Checkpoint(text: text) == nil) }

    @Test(arguments: [
        "", "a", "a\n", "a\n\n", "a\n\nb\n", "a\n\n— x\n", "a\n\n— x !!!!\n", "a\n\n— x AAAA\n",
        "a\n\n— x AAAAAAAA", "a\n\n— x AAAAAAAA y\n",
    ])
    func whatIsNoNote(text: String) { #expect(SignedNote(text) == nil) }

    @Test(arguments: [
        "", "a", "a+b+c", "a b+00000000+AQ==",
        "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeuman+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+AhpC2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    ])
    func whatIsNoVerifier(text: String) { #expect(NoteVerifier(text) == nil) }

    @Test(arguments: [[], [0], [0, 1], [0, 1, 2], [255, 254, 253, 252]] as [[UInt8]])
    func base64GoesBothWays(bytes: [UInt8]) {
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }

    @Test(arguments: ["=", "A", "AA", "AA=", "AAA", "AB==", "A===", "AA=A", "AAA=AAAA", " AAA"])
    func whatIsNoBase64(text: String) { #expect(Base64.decode(text) == nil) }
}
