/// The two worlds an app lives in. Data, limits, counters and quotas never mix.
public enum DataEnvironment: String, Sendable, CaseIterable {
    case sandbox, production
}

/// An app in one environment: whose data it is. Part of every key.
public struct Tenant: Hashable, Sendable {
    /// The app's id, as registered.
    public var app: String
    /// The environment.
    public var environment: DataEnvironment

    /// That app in that environment.
    public init(app: String, environment: DataEnvironment) {
        self.app = app
        self.environment = environment
    }
}

/// What a key may do.
public enum Scope: String, Sendable, CaseIterable {
    case evaluate, report, label, review, audit, admin
}

extension Scope {
    /// All names, for messages.
    public static var names: [String] { allCases.map(\.rawValue) }
}
