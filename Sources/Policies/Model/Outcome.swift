/// What an insight says. `unknown` is lack of evidence, never low risk. Outside the service the set
/// is open (clients must tolerate new names); inside it is what thresholds can give.
///
/// Deliberately not `Comparable`: outcomes are names, and `unknown` has no place in an order.
public enum Outcome: String, Sendable, Hashable, CaseIterable {
    case unknown
    case medium
    case high

    /// The names a rule can meet today.
    public static var names: [String] { allCases.map(\.rawValue) }
}

/// The model a policy acts on, with the thresholds that belong to that model version.
public struct ModelReference: Sendable, Hashable {
    /// The model's name.
    public let name: String
    /// The model's version, from 1.
    public let version: Int
    /// The lowest score that is `medium`, in 0…1.
    public let medium: Double
    /// The lowest score that is `high`, in 0…1, above `medium`.
    public let high: Double

    /// A reference as a policy states it.
    public init(name: String, version: Int, medium: Double, high: Double) {
        self.name = name
        self.version = version
        self.medium = medium
        self.high = high
    }

    /// The highest threshold at or below the score, else `unknown`. Not a number is `unknown`.
    public func outcome(score: Double) -> Outcome {
        if score >= high { return .high }
        if score >= medium { return .medium }
        return .unknown
    }
}
