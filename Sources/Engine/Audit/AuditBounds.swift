import Time

/// Where entries must lie to be of interest: what a store can look up, without reading payloads.
public struct AuditBounds: Sendable, Equatable {
    /// The kinds.
    public var kinds = Set(RecordKind.allCases)
    /// The apps; `nil` for all.
    public var apps: Set<String>?
    /// The environments; the empty name stands for the service as a whole.
    public var environments = Self.allEnvironments
    /// Whether the payload was erased: which of the two.
    public var erased: Set<Bool> = [true, false]
    /// The lowest number.
    public var first: Int64 = 1
    /// The highest number.
    public var last = Int64.max
    /// The earliest time of recording.
    public var since = Instant.min
    /// The latest time of recording.
    public var until = Instant.max
    /// The earliest time of receipt, by the app's clock.
    var receivedSince = Instant.min

    static let allEnvironments = Set(DataEnvironment.allCases.map(\.rawValue) + [""])

    /// No bounds.
    public init() {}

    static var nothing: AuditBounds {
        var bounds = AuditBounds()
        bounds.kinds = []
        return bounds
    }

    /// Whether no entry can lie there.
    public var isEmpty: Bool {
        kinds.isEmpty || apps?.isEmpty == true || environments.isEmpty || erased.isEmpty
            || first > last || since > until
    }

    /// Whether all kinds are of interest.
    public var hasAllKinds: Bool { kinds.count == RecordKind.allCases.count }

    /// Whether only entries about the service and its apps are of interest.
    public var isOfService: Bool { kinds.allSatisfy(\.isOfService) }

    /// What lies in both.
    func meeting(_ other: AuditBounds) -> AuditBounds {
        var both = self
        both.kinds.formIntersection(other.kinds)
        both.environments.formIntersection(other.environments)
        both.erased.formIntersection(other.erased)
        if let apps = other.apps { both.apps = both.apps?.intersection(apps) ?? apps }
        both.first = max(first, other.first)
        both.last = min(last, other.last)
        both.since = max(since, other.since)
        both.until = min(until, other.until)
        both.receivedSince = max(receivedSince, other.receivedSince)
        return both
    }

    /// Bounds around what lies in either.
    func joining(_ other: AuditBounds) -> AuditBounds {
        if isEmpty { return other }
        if other.isEmpty { return self }
        var either = self
        either.kinds.formUnion(other.kinds)
        either.environments.formUnion(other.environments)
        either.erased.formUnion(other.erased)
        either.apps = apps.flatMap { apps in other.apps.map { apps.union($0) } }
        either.first = min(first, other.first)
        either.last = max(last, other.last)
        either.since = min(since, other.since)
        either.until = max(until, other.until)
        either.receivedSince = min(receivedSince, other.receivedSince)
        return either
    }

    /// The same with what a bound on the app's clock says about the engine's: a sandbox's may be
    /// ahead, the one of production never is.
    func settled() -> AuditBounds {
        var bounds = self
        let ahead =
            environments.contains(DataEnvironment.sandbox.rawValue)
            ? EngineLimits.sandboxClockAhead : .zero
        bounds.since = max(since, receivedSince - ahead)
        return bounds
    }

    /// Whether a row lies within, by what its columns repeat of the envelope.
    public func admits(kind: String, app: String, environment: String, isErased: Bool) -> Bool {
        (hasAllKinds || RecordKind(rawValue: kind).map(kinds.contains) ?? false)
            && apps?.contains(app) ?? true && environments.contains(environment)
            && erased.contains(isErased)
    }
}
