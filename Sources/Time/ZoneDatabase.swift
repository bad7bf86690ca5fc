/// An immutable set of time zones by name. The bytes come from outside; nothing is read here.
public struct ZoneDatabase: Sendable {
    private let zones: [String: ZoneRules]
    /// Names the data, so that a recorded decision can say which zone rules it used. Given by
    /// whoever read the bytes (their SHA-256, in hexadecimal); `none` without any.
    public let digest: String

    /// UTC and fixed offsets only.
    public static let utc = ZoneDatabase(zones: [:], digest: "none")

    /// A database with these zones beside UTC and the fixed offsets.
    public init(zones: [String: ZoneRules], digest: String) {
        self.zones = zones
        self.digest = digest
    }

    /// The zone of that name: `Europe/London`, `UTC`, or a fixed offset such as `+05:30`.
    ///
    /// Names are compared byte for byte, as tzdata spells them. Nil if there is none.
    public subscript(name: String) -> ZoneRules? {
        if let zone = zones[name] { return zone }
        if name == "UTC" || name == "Z" { return .utc }
        return ZoneRules.fixedOffset(name)
    }

    /// The names of the zones that were given, sorted.
    public var names: [String] { zones.keys.sorted() }
}
