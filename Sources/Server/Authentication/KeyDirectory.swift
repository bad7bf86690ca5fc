import Engine
import Ledger
import Synchronization

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

/// A directory that remembers the keys it has found.
///
/// Unknown keys are not remembered: who tries random ones must not push out the good ones.
public final class CachedKeyDirectory: KeyDirectory {
    private let source: any KeyDirectory
    private let limit: Int
    private let found = Mutex<[Digest: Principal]>([:])

    /// Remembers up to `limit` keys of `source`.
    public init(_ source: any KeyDirectory, limit: Int) {
        self.source = source
        self.limit = limit
    }

    /// The owner, remembered or looked up.
    public func principal(for digest: Digest) -> Principal? {
        if let known = found.withLock({ $0[digest] }) { return known }
        guard let principal = source.principal(for: digest) else { return nil }
        found.withLock { found in
            if found.count >= limit { found.removeAll(keepingCapacity: true) }
            found[digest] = principal
        }
        return principal
    }

    /// Forgets everything; to be called after a key was issued or revoked, before that is
    /// answered, so that a revoked key is refused from then on.
    public func forgetAll() { found.withLock { $0.removeAll(keepingCapacity: true) } }
}
