import Ledger

extension KeyRecord {
    /// A new key with its record. The secret is shown once; the record knows only its hash.
    public static func issue(tenant: Tenant?, scopes: [Scope], name: String) -> (
        record: KeyRecord, secret: String
    ) {
        let prefix = tenant.map { $0.environment == .sandbox ? "sk_sandbox_" : "sk_live_" }
        let secret = (prefix ?? "sk_operator_") + Hex.encode(Random.bytes(32))
        let record = KeyRecord(
            keyID: "key-" + Hex.encode(Random.bytes(8)), hash: SHA256.hash(secret),
            tenant: tenant, scopes: scopes, name: name)
        return (record, secret)
    }

    /// The record of a key whose secret is known already.
    public static func known(secret: String, keyID: String, tenant: Tenant?, scopes: [Scope])
        -> KeyRecord
    {
        KeyRecord(
            keyID: keyID, hash: SHA256.hash(secret), tenant: tenant, scopes: scopes, name: keyID)
    }
}
