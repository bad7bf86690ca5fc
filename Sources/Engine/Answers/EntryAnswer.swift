import JSON
import Ledger

extension LedgerEntry {
    /// Writes the entry as audits see it: the envelope, and beside it what it commits to.
    public func writeAnswer(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("envelope")
        writer.raw(envelopeBytes)
        if !nodes.isEmpty { writer.member("leafHash", nodes[0].hex) }
        if payload.isEmpty {
            writer.key("erased")
            writer.bool(true)
        } else {
            writer.member("salt", Hex.encode(salt))
            writer.key("payload")
            writer.raw(payload)
        }
        writer.endObject()
    }
}
