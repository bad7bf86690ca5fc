import Policies
import Time

/// The rules of the article that review prompts go back to, as they run on a device.
///
/// ``ReviewPrompts`` decides on a server: about a person, by the server's clock, with a reservation.
/// The article's code decides on a device: about an install, by the device's clock, at once. This
/// is that code's behaviour and nothing more, so that a simulation can show what it does; see
/// `docs/decisions/0012-treaty-on-the-device.md`. It is pure, and never acts in a server.
public struct Treaty: Sendable, Hashable {
    /// A reason and the count at which it asks.
    public struct Trigger: Sendable, Hashable {
        /// The reason's name.
        public var reason: String
        /// The count at which it asks, 1 or more.
        public var count: Int

        /// A trigger.
        public init(reason: String, count: Int) {
            self.reason = reason
            self.count = count
        }
    }

    /// The reasons. The article has three, with the counts 3, 3 and 1.
    public var triggers: [Trigger]
    /// How many days must lie between two prompts. The article has 7.
    public var days: Int

    /// Rules with those reasons.
    public init(triggers: [Trigger], days: Int = 7) {
        self.triggers = triggers
        self.days = days
    }

    /// The rules that a policy with `preset: treaty` names: reasons that need a plain count of their
    /// own, one interval in days of the calendar, one prompt a version. Nil for any other policy.
    public init?(_ policy: ReviewPromptPolicy) {
        guard policy.faults == .treaty, policy.isEnabled, policy.holdout.percent == 0,
            policy.whileThrottled == .drop, policy.afterGrant == .none,
            policy.resetOnVersion == .none, policy.zone == .subject, policy.limits.count == 2
        else { return nil }
        triggers = []
        for reason in policy.reasons {
            guard case .count(reason.name, let count, nil) = reason.requirement, reason.when == nil
            else { return nil }
            triggers.append(Trigger(reason: reason.name, count: count))
        }
        var days: Int?
        var isOncePerVersion = false
        for limit in policy.limits {
            switch limit.kind {
            case .interval(.calendarDays(let count), _): days = count
            case .perVersion(1, .full, _): isOncePerVersion = true
            default: return nil
            }
        }
        guard let days, isOncePerVersion else { return nil }
        self.days = days
    }
}

extension Treaty {
    /// What an install remembers. It is gone when the app is removed.
    public struct Install: Sendable, Hashable {
        /// When it last asked, by the device's clock.
        public var lastRequestAt: Instant?
        /// The version it last asked in, as text.
        public var lastVersion: String?
        /// What was counted, by reason. Nothing ever starts anew.
        public var counts: [String: Int] = [:]
        /// When the app was installed; another instant is another install.
        public var installedAt: Instant?
        /// The zone last named.
        public var zone: String?

        /// A new install.
        public init() {}
    }

    /// Why it does not ask.
    public enum Hold: String, Sendable, Hashable, CaseIterable {
        /// Within so many days of the last prompt, before or after it. Nothing is counted.
        case tooSoon
        /// The last prompt was in this version. Nothing is counted.
        case alreadyPrompted
        /// The count is not the reason's, and may have passed it for good.
        case countDiffers
        /// The count is the reason's, and there is no active scene. Nothing is counted.
        case noActiveScene
    }

    /// What comes of a donation.
    public struct Decision: Sendable, Hashable {
        /// Why it does not ask; nil if it asks.
        public var hold: Hold?
        /// The reason's count, this donation included.
        public var have: Int
        /// The count at which the reason asks.
        public var need: Int
        /// What the install remembers now.
        public var install: Install

        /// Whether it asks.
        public var asks: Bool { hold == nil }
    }

    /// Judges a donation and counts it.
    ///
    /// Its time is `occurredAt`, what the device believed it was. Where the app came from, how old
    /// the donation is when it arrives and who made it are not looked at.
    /// - Parameter hasActiveScene: whether there was something to ask in.
    public func decide(
        _ donation: ReviewDonation, install: Install, hasActiveScene: Bool, zones: ZoneDatabase
    ) throws(ReviewPromptError) -> Decision {
        guard let trigger = triggers.first(where: { $0.reason == donation.reason }) else {
            throw .unknownReason(given: donation.reason, allowed: triggers.map(\.reason))
        }
        var install = install
        if let installedAt = donation.installedAt, installedAt != install.installedAt {
            if install.installedAt != nil { install = Install() }
            install.installedAt = installedAt
        }
        guard let name = donation.zone ?? install.zone else { throw .missingZone }
        guard let zone = zones[name] else { throw .unknownZone(name) }
        install.zone = name
        // Only a missing version is read as 1.0.0. Any other text is a version, compared as text.
        let version = donation.version.isEmpty ? "1.0.0" : donation.version
        let have = install.counts[donation.reason, default: 0] + 1
        var decision = Decision(hold: nil, have: have, need: trigger.count, install: install)

        if let last = install.lastRequestAt,
            zone.calendarDays(from: last, to: donation.occurredAt).magnitude < UInt64(days)
        {
            decision.hold = .tooSoon
            return decision
        }
        if install.lastVersion == version {
            decision.hold = .alreadyPrompted
            return decision
        }
        if have == trigger.count {
            guard hasActiveScene else {
                decision.hold = .noActiveScene
                return decision
            }
            decision.install.lastRequestAt = donation.occurredAt
            decision.install.lastVersion = version
        } else {
            decision.hold = .countDiffers
        }
        decision.install.counts[donation.reason] = min(have, ReviewPromptLimits.count)
        return decision
    }
}
