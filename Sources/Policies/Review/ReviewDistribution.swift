/// Where the app came from.
public enum ReviewDistribution: String, Sendable, Hashable, CaseIterable {
    case appStore
    case testFlight
    case development
}
