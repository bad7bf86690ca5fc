import Policies
import Time

/// A reservation: the permission to ask once, until its lease ends.
public struct ReviewGrant: Sendable, Hashable {
    /// What was reported of it.
    public enum Report: String, Sendable, Hashable, CaseIterable {
        /// Nothing yet.
        case none
        /// The app has asked. Whether something was shown or rated cannot be known.
        case requested
        /// The app gave it back in time.
        case returned

        /// The outcome that was reported, as callers name it.
        public var outcome: String { self == .returned ? "notRequested" : rawValue }
    }

    /// Its state at an instant.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The app may ask.
        case open
        /// The app has asked.
        case requested
        /// The app gave it back.
        case notRequested
        /// The lease ended without a report, or another grant took its place in a merge.
        case silent
    }

    /// The engine's id.
    public var id: String
    /// The pseudonym of the subject it was given to; empty in the ledger of a device.
    public var subject: String
    /// The pseudonym of the device it was given to.
    public var device: String
    /// The reason of the donation that earned it.
    public var reason: String
    /// The app's version, as the caller wrote it.
    public var version: String
    /// When it was given.
    public var grantedAt: Instant
    /// The last instant at which it is open.
    public var leaseEndsAt: Instant
    /// What silence means, by the policy that gave it.
    public var silence: ReviewLease.Silence
    /// What it does to the counts once it is counting, by the policy that gave it.
    public var afterGrant: AfterGrant
    /// What was reported of it.
    public var report: Report = .none
    /// When that was reported, or when it was given back too late.
    public var reportedAt: Instant?
    /// The reason it was given back for.
    public var returnReason: String?
    /// Whether the report came after the lease, or against an earlier one.
    public var isLate = false
    /// Whether another open grant took its place when two subjects were merged.
    public var isSuperseded = false
    /// Whether its subject was erased.
    public var isErased = false

    /// A grant as it is given.
    public init(
        id: String, subject: String, device: String, reason: String, version: String,
        grantedAt: Instant, leaseEndsAt: Instant, silence: ReviewLease.Silence,
        afterGrant: AfterGrant
    ) {
        self.id = id
        self.subject = subject
        self.device = device
        self.reason = reason
        self.version = version
        self.grantedAt = grantedAt
        self.leaseEndsAt = leaseEndsAt
        self.silence = silence
        self.afterGrant = afterGrant
    }

    /// Its state at an instant, derived: time alone writes nothing.
    public func state(at now: Instant) -> State {
        switch report {
        case .requested: .requested
        case .returned: .notRequested
        case .none: isSuperseded || now > leaseEndsAt ? .silent : .open
        }
    }

    /// The last instant at which it counts although its subject is erased; nil if it is not.
    public var countsErasedUntil: Instant? {
        isErased ? grantedAt + ReviewPromptLimits.erasedGrantAge : nil
    }

    /// Whether caps count it: open and requested ones, and silent ones where silence counts.
    ///
    /// Those of an erased subject count for ``ReviewPromptLimits/erasedGrantAge`` only.
    public func isCounting(at now: Instant) -> Bool {
        if let end = countsErasedUntil, now > end { return false }
        return switch state(at: now) {
        case .open, .requested: true
        case .notRequested: false
        case .silent: silence == .count
        }
    }
}
