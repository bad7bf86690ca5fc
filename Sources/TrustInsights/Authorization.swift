import Time

/// Whether a person lets the app ask for insights of one category, as the device reports it.
public enum AuthorizationStatus: String, Sendable, CaseIterable {
    case notDetermined, authorized, deniedRequestable, denied, unavailable
}

/// The authorization of one subject for one category.
///
/// Somebody who is being coached may be told to switch the insight off. So leaving
/// `authorized` takes effect only after a cool-down; until then it still reads `authorized`,
/// with the instant at which it ends.
public struct Authorization: Sendable, Equatable {
    /// The status before any pending change.
    private var settled = AuthorizationStatus.notDetermined
    /// A status that is to come, and the last instant at which `settled` still holds.
    private var pending: (status: AuthorizationStatus, endsAt: Instant)?

    /// Nothing reported yet.
    public init() {}

    /// What it reads as at an instant. `endsAt` is there while a change is pending; that
    /// instant itself is still in time.
    public func status(at now: Instant) -> (status: AuthorizationStatus, endsAt: Instant?) {
        guard let pending else { return (settled, nil) }
        return now <= pending.endsAt ? (settled, pending.endsAt) : (pending.status, nil)
    }

    /// Takes a newly reported status.
    ///
    /// Switching off again, in whatever words, does not restart the cool-down; `authorized`
    /// cancels it; `unavailable` is a fact, not a wish, and holds at once.
    public mutating func report(
        _ status: AuthorizationStatus, at now: Instant, coolDown: Duration
    ) {
        let current = self.status(at: now)
        switch status {
        case .authorized, .unavailable:
            settled = status
            pending = nil
        case .notDetermined, .denied, .deniedRequestable:
            if current.status == .authorized {
                settled = .authorized
                pending = (status, current.endsAt ?? now + coolDown)
            } else {
                settled = status
                pending = nil
            }
        }
    }

    /// Same settled status and same pending change.
    public static func == (left: Authorization, right: Authorization) -> Bool {
        left.settled == right.settled && left.pending?.status == right.pending?.status
            && left.pending?.endsAt == right.pending?.endsAt
    }
}
