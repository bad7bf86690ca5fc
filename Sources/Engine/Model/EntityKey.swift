import Ledger

/// What entries can be found by: the first 64 bits of a hash of what they are about.
///
/// Two things may share a key; whoever reads entries by key checks that they are about the
/// thing that was meant.
public struct EntityKey: Hashable, Sendable, BitwiseCopyable {
    /// The key as the index stores it.
    public let value: Int64

    /// A key read from an index.
    public init(value: Int64) { self.value = value }

    private init(_ kind: StaticString, _ tenant: Tenant, _ id: String) {
        var message: [UInt8] = []
        message.reserveCapacity(96)
        kind.withUTF8Buffer { message.append(contentsOf: $0) }
        for part in [tenant.app, tenant.environment.rawValue, id] {
            message.append(0xFF)
            message.append(contentsOf: part.utf8)
        }
        value = SHA256.hash(message).prefix
    }

    /// Evaluations under a caller's requestID.
    public static func request(_ id: String, of tenant: Tenant) -> EntityKey {
        EntityKey("request", tenant, id)
    }

    /// A person's authorizations.
    public static func authorizations(of subject: Pseudonym, _ tenant: Tenant) -> EntityKey {
        EntityKey("authorization", tenant, subject.text)
    }

    /// The reports and labels of a person's evaluations.
    public static func reports(about subject: Pseudonym, of tenant: Tenant) -> EntityKey {
        EntityKey("report", tenant, subject.text)
    }

    /// A person's evaluations.
    public static func subject(_ subject: Pseudonym, of tenant: Tenant) -> EntityKey {
        EntityKey("subject", tenant, subject.text)
    }

    /// What the review flow knows of a person, by the text of the pseudonym.
    public static func reviewSubject(_ subject: String, of tenant: Tenant) -> EntityKey {
        EntityKey("reviewSubject", tenant, subject)
    }

    /// What the review flow knows of a device, by the text of the pseudonym.
    public static func device(_ device: String, of tenant: Tenant) -> EntityKey {
        EntityKey("device", tenant, device)
    }

    /// What came after an evaluation: its report, its labels.
    public static func evaluation(_ id: Identifier, of tenant: Tenant) -> EntityKey {
        EntityKey("evaluation", tenant, id.text)
    }

    /// What was reported of a grant.
    public static func grant(_ id: Identifier, of tenant: Tenant) -> EntityKey {
        EntityKey("grant", tenant, id.text)
    }

    /// Labels under a caller's labelID.
    public static func label(_ id: String, of tenant: Tenant) -> EntityKey {
        EntityKey("label", tenant, id)
    }

    /// Donations under a caller's idempotency key.
    public static func donation(_ id: String, of tenant: Tenant) -> EntityKey {
        EntityKey("donation", tenant, id)
    }
}

extension EntityKey {
    /// Every key under which entries about a person or a device can stand.
    public static func all(about pseudonym: Pseudonym, of tenant: Tenant) -> [EntityKey] {
        [
            .subject(pseudonym, of: tenant), .authorizations(of: pseudonym, tenant),
            .reports(about: pseudonym, of: tenant), .reviewSubject(pseudonym.text, of: tenant),
            .device(pseudonym.text, of: tenant),
        ]
    }
}
