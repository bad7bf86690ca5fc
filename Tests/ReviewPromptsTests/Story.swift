import Foundation
import JSON
import Policies
import ReviewPrompts
import Testing
import Time

/// The zones of the system's tzdata that the tests use; without the package only UTC is there.
enum TestZones {
    static let folder = "/usr/share/zoneinfo/"
    static let arePresent = FileManager.default.fileExists(atPath: folder + "Europe/London")
    static let names = [
        "Africa/Casablanca", "America/Havana", "America/Los_Angeles", "America/New_York",
        "America/Sao_Paulo", "America/St_Johns", "Asia/Beirut", "Asia/Kathmandu", "Asia/Tokyo",
        "Australia/Lord_Howe", "Europe/London", "Pacific/Apia", "Pacific/Kiritimati",
        "Pacific/Pago_Pago",
    ]
    static let database: ZoneDatabase = {
        var zones: [String: ZoneRules] = [:]
        for name in names {
            guard let data = FileManager.default.contents(atPath: folder + name) else { continue }
            zones[name] = try? ZoneRules(name: name, tzif: Array(data))
        }
        return ZoneDatabase(zones: zones, digest: "test")
    }()
}

func instant(_ text: String) -> Instant {
    guard let instant = Instant(rfc3339: text.contains("T") ? text : text + "T12:00:00Z") else {
        Issue.record("not an instant: \(text)")
        return .epoch
    }
    return instant
}

/// Some subjects and devices in one environment, driven by explicit times.
struct Story {
    var policy: ReviewPromptPolicy
    var environment = ReviewEnvironment.production
    var zone: String? = "UTC"
    var installedAt: Instant?
    var subjects: [String: ReviewSubjectState] = [:]
    var devices: [String: ReviewDeviceState] = [:]
    var grants: [ReviewGrant] = []
    private var grantNumber = 0

    init(_ policy: ReviewPromptPolicy) { self.policy = policy }

    func donation(
        _ reason: String, at now: Instant, version: String = "1.0", subject: String = "anna",
        device: String = "phone", distribution: ReviewDistribution = .appStore,
        occurredAt: Instant? = nil, attributes: JSONObject = JSONObject()
    ) -> ReviewDonation {
        ReviewDonation(
            reason: reason, subject: subject, device: device, version: version,
            distribution: distribution, zone: zone, occurredAt: occurredAt ?? now,
            installedAt: installedAt, attributes: attributes)
    }

    @discardableResult
    mutating func donate(
        _ reason: String, at now: Instant, version: String = "1.0", subject: String = "anna",
        device: String = "phone", distribution: ReviewDistribution = .appStore,
        occurredAt: Instant? = nil, attributes: JSONObject = JSONObject()
    ) throws -> ReviewDecision {
        let donation = donation(
            reason, at: now, version: version, subject: subject, device: device,
            distribution: distribution, occurredAt: occurredAt, attributes: attributes)
        grantNumber += 1
        let decision = try ReviewPrompts.decide(
            donation, device: devices[device] ?? ReviewDeviceState(),
            subject: subjects[subject] ?? ReviewSubjectState(), policy: policy,
            zones: TestZones.database, environment: environment, now: now,
            grantID: "g\(grantNumber)")
        subjects[subject] = decision.subject
        devices[device] = decision.device
        if case .ask(let grant) = decision.answer { grants.append(grant) }
        return decision
    }

    func status(
        _ reason: String, at now: Instant, version: String = "1.0", subject: String = "anna",
        device: String = "phone"
    ) throws -> ReviewStatus {
        try ReviewPrompts.status(
            donation(reason, at: now, version: version, subject: subject, device: device),
            device: devices[device] ?? ReviewDeviceState(),
            subject: subjects[subject] ?? ReviewSubjectState(), policy: policy,
            zones: TestZones.database, environment: environment, now: now)
    }

    /// Reports the outcome of the last grant, or of the one given.
    @discardableResult
    mutating func report(
        _ outcome: ReviewOutcome, of grant: ReviewGrant? = nil, at now: Instant,
        subject: String? = nil
    ) throws -> ReviewOutcomeResult {
        let grant = try #require(grant ?? grants.last)
        let subject = subject ?? grant.subject
        let result = try ReviewPrompts.recordOutcome(
            outcome, of: grant, device: devices[grant.device] ?? ReviewDeviceState(),
            subject: subjects[subject] ?? ReviewSubjectState(), policy: policy, now: now)
        subjects[subject] = result.subject
        devices[grant.device] = result.device
        return result
    }

    /// Donates until the app is asked to ask, then reports `requested`.
    mutating func prompt(
        _ reason: String = "use", at now: Instant, version: String = "1.0",
        subject: String = "anna", device: String = "phone"
    ) throws {
        let decision = try donate(
            reason, at: now, version: version, subject: subject, device: device)
        try #require(decision.asks, "\(decision.failing)")
        try report(.requested, at: now)
    }
}

extension ReviewPromptPolicy {
    /// A policy with one reason `use` that needs so many donations.
    static func uses(
        _ atLeast: Int, _ limits: [ReviewLimit] = [], whileThrottled: WhileThrottled = .keep,
        afterGrant: AfterGrant = .none, zone: ReviewZone = .subject
    ) -> ReviewPromptPolicy {
        ReviewPromptPolicy(
            name: "test", version: 1, zone: zone, limits: limits,
            reasons: [
                ReviewReason(
                    name: "use",
                    requirement: .count(reason: "use", atLeast: atLeast, within: nil))
            ],
            whileThrottled: whileThrottled, afterGrant: afterGrant)
    }
}

extension ReviewLimit {
    static func later(_ length: Duration) -> ReviewLimit {
        ReviewLimit(
            name: "later",
            kind: .suppression(
                ReviewSuppression(
                    after: .notRequested(reason: "userPostponed"), until: .elapsed(length))))
    }
    static func interval(_ interval: ReviewInterval, _ scope: ReviewScope = .both) -> ReviewLimit {
        ReviewLimit(name: "interval", kind: .interval(interval, scope: scope))
    }
    static func cap(_ count: Int, _ window: Duration?, _ scope: ReviewScope = .device)
        -> ReviewLimit
    {
        ReviewLimit(name: "cap", kind: .max(count: count, within: window, scope: scope))
    }
    static func version(_ grain: VersionGrain = .full) -> ReviewLimit {
        ReviewLimit(name: "version", kind: .perVersion(count: 1, grain: grain, scope: .both))
    }
    static func settled(_ length: Duration) -> ReviewLimit {
        ReviewLimit(name: "settled", kind: .sinceInstall(length))
    }
}

/// The shipped policy of the documentation, without its condition language.
extension ReviewPromptPolicy {
    static let transcripts = ReviewPromptPolicy(
        name: "transcripts-review", version: 1, zone: .subject,
        limits: [
            ReviewLimit(
                name: "apple", kind: .max(count: 3, within: .days(365), scope: .device)),
            ReviewLimit(
                name: "version", kind: .perVersion(count: 1, grain: .full, scope: .both)),
            .interval(.calendarDays(7)), .settled(.days(2)),
            ReviewLimit(
                name: "postponed",
                kind: .suppression(
                    ReviewSuppression(
                        after: .notRequested(reason: "userPostponed"), until: .elapsed(.days(10))))),
            ReviewLimit(
                name: "calm",
                kind: .suppression(
                    ReviewSuppression(
                        after: .event("transcriptionFailed"), until: .elapsed(.days(1))))),
        ],
        reasons: [
            ReviewReason(
                name: "finishedTranscript",
                requirement: .count(reason: "finishedTranscript", atLeast: 3, within: nil)),
            ReviewReason(
                name: "exportedVideo",
                requirement: .count(reason: "exportedVideo", atLeast: 1, within: nil),
                when: .minutesAtLeast5),
            ReviewReason(
                name: "activeDay",
                requirement: .distinctDays(reason: "activeDay", atLeast: 5, withinDays: 7)),
            ReviewReason(
                name: "anyTwo",
                requirement: .any([
                    .count(reason: "finishedTranscript", atLeast: 2, within: nil),
                    .count(reason: "exportedVideo", atLeast: 2, within: nil),
                ])),
        ],
        whileThrottled: .drop, afterGrant: .reset, lease: ReviewLease(length: .minutes(10)))
}

extension DonationCondition {
    static let minutesAtLeast5 = DonationCondition(source: "donation.attributes.minutes >= 5") {
        facts in
        guard let minutes = facts.attributes["minutes"]?.intValue else {
            return .unknown(reason: "donation.attributes.minutes is missing")
        }
        return minutes >= 5 ? .holds : .doesNotHold
    }
}
