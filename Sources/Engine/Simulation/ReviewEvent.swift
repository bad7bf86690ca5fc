import ReviewPrompts
import Time

/// A donation of a recorded or made-up stream, with what the app would do if it were asked to ask.
public struct ReviewEvent: Sendable {
    /// What an app reports of a grant.
    public enum Report: Sendable, Hashable {
        /// It asks.
        case requested
        /// It gives the grant back, for a reason.
        case notRequested(reason: String?)
        /// It says nothing; whether it asked is not known.
        case silent
    }

    /// The donation.
    public var donation: ReviewDonation
    /// When it comes in: the clock of the simulation. Events come in its order.
    public var receivedAt: Instant
    /// The environment of the key it comes with.
    public var environment: ReviewEnvironment
    /// Whether there is something to ask in. Where there is not, a grant is given back for
    /// `noActiveScene`, whatever ``report`` says.
    public var hasActiveScene: Bool
    /// What the app reports of a grant, at once.
    public var report: Report

    /// An event.
    public init(
        donation: ReviewDonation, receivedAt: Instant, environment: ReviewEnvironment = .production,
        hasActiveScene: Bool = true, report: Report = .requested
    ) {
        self.donation = donation
        self.receivedAt = receivedAt
        self.environment = environment
        self.hasActiveScene = hasActiveScene
        self.report = report
    }
}

/// How much a simulation remembers and counts apart. Each is tested on both sides.
public enum SimulationLimits {
    /// People and devices, together.
    public static let entities = 1_000_000
    /// Names of versions, of unknown reasons and of refusals that are counted one by one; further
    /// ones are counted together. As many versions are remembered of one device.
    public static let names = 1_000
}

/// Why a simulation ends before its stream does.
public enum SimulationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// An event came in before the one before it.
    case outOfOrder(Instant, after: Instant)
    /// There are more people and devices than ``SimulationLimits/entities``.
    case tooManyEntities

    /// What is wrong and what is allowed.
    public var description: String {
        switch self {
        case .outOfOrder(let instant, let last):
            "it came in at \(instant), before the event ahead of it (\(last)); events stand in the "
                + "order in which they came in"
        case .tooManyEntities:
            "more than \(SimulationLimits.entities) people and devices; simulate a part of them"
        }
    }
}
