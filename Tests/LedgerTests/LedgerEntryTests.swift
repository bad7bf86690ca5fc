import Ledger
import Testing
import Time

@Suite struct LedgerEntryTests {
    @Test func envelopeBytesAreCanonicalAndReadBack() throws {
        let envelope = Envelope(
            sequence: 7, at: Instant(milliseconds: 1_796_083_200_123), kind: "evaluation",
            app: "trans\"cripts", environment: "sandbox", actor: "key-1",
            payload: SHA256.hash("x"))
        #expect(
            String(decoding: envelope.bytes, as: UTF8.self)
                == #"{"actor":"key-1","app":"trans\"cripts","at":"2026-12-01T00:00:00.123Z","#
                + #""environment":"sandbox","kind":"evaluation","payload":""#
                + "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
                + #"","sequence":7,"version":1}"#)
        #expect(Envelope(bytes: envelope.bytes) == envelope)
        #expect(Envelope(bytes: Array("{}".utf8)) == nil)
    }

    @Test func anEntryCommitsToItsPayloadThroughTheSalt() {
        var tail = LedgerTail()
        let salt = [UInt8](repeating: 9, count: 16)
        let payload = Array("{}".utf8)
        let entry = tail.append(
            kind: "label", app: "a", environment: "sandbox", actor: "k", at: .epoch, salt: salt,
            payload: payload)
        #expect(entry.envelope.sequence == 1)
        #expect(entry.envelope.payload == SHA256.hash(salt + payload))
        #expect(entry.nodes == [MerkleTree.leaf(entry.envelopeBytes)])
        #expect(tail.nextSequence == 2)
        #expect(tail.frontier.root == entry.nodes[0])
    }
}

@Suite struct HashTests {
    @Test func hmacVectorsOfRFC4231() {
        let first = KeyedHash(key: [UInt8](repeating: 0x0B, count: 20))
        #expect(
            first.hash(Array("Hi There".utf8)).hex
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        let longKey = KeyedHash(key: [UInt8](repeating: 0xAA, count: 131))
        #expect(
            longKey.hash(Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)).hex
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func hexReadsBack() {
        #expect(Hex.decode("00ffAb") == [0, 255, 0xAB])
        #expect(Hex.decode("0") == nil)
        #expect(Hex.decode("0g") == nil)
        #expect(Hex.encode([0, 255, 0xAB]) == "00ffab")
    }
}
