import Engine
import Ledger

/// Who a key speaks for.
public struct Principal: Sendable, Equatable {
    /// The key's id, as it stands in logs and in the ledger.
    public var keyID: String
    /// The app and environment; nil for an operator's key.
    public var tenant: Tenant?
    /// What it may do.
    public var scopes: Set<Scope>

    /// A principal from its parts.
    public init(keyID: String, tenant: Tenant?, scopes: Set<Scope>) {
        self.keyID = keyID
        self.tenant = tenant
        self.scopes = scopes
    }
}

/// Where keys are looked up. Only their digests are known: whoever reads the store learns no key.
public protocol KeyDirectory: Sendable {
    /// The owner of the key with that SHA-256 digest; nil if there is none, or it was revoked.
    func principal(for digest: Digest) -> Principal?
}
