/// What kind of action is about to happen. A closed set: a request with any other name is refused.
public enum Category: String, Sendable, Hashable, CaseIterable {
    case payment
    case account
    case resourceUse
    case communication
    case other

    /// The names a caller may use, in the order in which messages list them.
    public static var names: [String] { allCases.map(\.rawValue) }
}
