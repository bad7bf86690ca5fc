import Foundation
import JSON
import Policies
import ReviewPrompts
import Testing
import Time

/// A small generator with a seed, so that a failure can be run again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// What the test itself knows of a grant, kept apart from the code under test.
private struct KnownGrant {
    var grant: ReviewGrant
    var isRequested = false
    var isReturnedInTime = false

    /// Whether a merge put an older open grant in its place, as the ledger of the subject or of
    /// the device knows. A device learns of it with the next report.
    var isSupersededForSubject = false
    var isSupersededOnDevice = false

    func isOpen(at now: Instant, superseded: Bool) -> Bool {
        !isRequested && !isReturnedInTime && !superseded && now <= grant.leaseEndsAt
    }

    func counts(at now: Instant, superseded: Bool) -> Bool {
        if isRequested { return true }
        if isReturnedInTime { return false }
        return isOpen(at: now, superseded: superseded) || grant.silence == .count
    }
}

/// One random history: two subjects that may become one, two devices, and every kind of command in
/// any order.
private struct RandomHistory {
    static let reasons = ["use", "day", "both", "windowed", "crash"]

    var random: SeededGenerator
    var story: Story
    var known: [KnownGrant] = []
    var now = instant("2025-03-20T00:00:00Z")
    var bytes: [UInt8] = []
    var isMerged = false

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        story = Story(Self.policy(&random))
        story.zone = ["UTC", "Europe/London", "America/New_York"].randomElement(using: &random)
        story.installedAt = now - .days(Int64.random(in: 0...5, using: &random))
    }

    static func policy(_ random: inout SeededGenerator) -> ReviewPromptPolicy {
        let scope = ReviewScope.allCases.randomElement(using: &random) ?? .both
        var limits: [ReviewLimit] = [
            .cap(Int.random(in: 1...3, using: &random), .days(30), scope),
            .interval(
                Bool.random(using: &random) ? .calendarDays(7) : .elapsed(.days(5)),
                ReviewScope.allCases.randomElement(using: &random) ?? .both),
            .version(VersionGrain.allCases.randomElement(using: &random) ?? .full),
            .settled(.days(2)), .later(.days(3)),
            ReviewLimit(
                name: "calm",
                kind: .suppression(
                    ReviewSuppression(after: .event("crash"), until: .elapsed(.hours(20))))),
        ]
        limits = limits.filter { _ in Int.random(in: 0...3, using: &random) > 0 }
        limits.append(.cap(4, .days(365), .both))
        limits[limits.count - 1].name = "year"
        let use = ReviewRequirement.count(reason: "use", atLeast: 2, within: nil)
        let day = ReviewRequirement.distinctDays(reason: "day", atLeast: 3, withinDays: 5)
        let windowed = ReviewRequirement.count(reason: "windowed", atLeast: 2, within: .hours(30))
        return ReviewPromptPolicy(
            name: "random", version: 1, zone: .subject, limits: limits,
            reasons: [
                ReviewReason(name: "use", requirement: use),
                ReviewReason(name: "day", requirement: day),
                ReviewReason(
                    name: "both", requirement: .any([.all([use, day]), .not(windowed)])),
                ReviewReason(name: "windowed", requirement: windowed),
                ReviewReason(
                    name: "crash",
                    requirement: .count(reason: "crash", atLeast: 1000, within: nil)),
            ],
            whileThrottled: WhileThrottled.allCases.randomElement(using: &random) ?? .drop,
            afterGrant: [.reset, .requireMore(2), .none].randomElement(using: &random) ?? .none,
            resetOnVersion: ResetOnVersion.allCases.randomElement(using: &random) ?? .none,
            lease: ReviewLease(
                length: .minutes(10),
                silence: ReviewLease.Silence.allCases.randomElement(using: &random) ?? .count))
    }

    /// Runs so many commands and checks after each. Returns false at the first failure, which has
    /// been recorded then.
    mutating func run(_ steps: Int) throws -> Bool {
        for _ in 0..<steps {
            let gap: [Time.Duration] = [
                .zero, .milliseconds(1), .seconds(30), .minutes(11), .hours(3), .days(1), .days(3),
            ]
            now = now + (gap.randomElement(using: &random) ?? .zero)
            switch Int.random(in: 0..<40, using: &random) {
            case 0..<28: if try !donate() { return false }
            case 28..<36: try report()
            case 36: if !isMerged { try merge() }
            default: story.subjects["anna"]?.resetCounts()
            }
            guard try survivesJSON(), hasOneOpenGrant() else { return false }
        }
        return true
    }

    private mutating func donate() throws -> Bool {
        let reason = Self.reasons.randomElement(using: &random) ?? "use"
        let version = ["1.0", "1.0.1", "1.1", "2.0", "?"].randomElement(using: &random) ?? "1.0"
        let either = ["anna", "bert"].randomElement(using: &random) ?? "anna"
        let subject = isMerged ? "anna" : either
        let device = ["phone", "tablet"].randomElement(using: &random) ?? "phone"
        let age: Time.Duration = Int.random(in: 0..<6, using: &random) == 0 ? .hours(1) : .zero
        let decision = try story.donate(
            reason, at: now, version: version, subject: subject, device: device,
            occurredAt: now - age)
        bytes += canonical(decision.subject.json) + canonical(decision.device.json)
        if case .ask(let grant) = decision.answer {
            guard keepsCaps(grant) else { return false }
            known.append(KnownGrant(grant: grant))
            return true
        }
        return try nextEligibleIsTrue(decision) { history, now in
            try history.story.donate(
                reason, at: now, version: version, subject: subject, device: device
            ).asks
        }
    }

    private mutating func report() throws {
        guard let index = known.indices.suffix(3).randomElement(using: &random) else { return }
        let wasOpen = known[index].isOpen(
            at: now, superseded: known[index].isSupersededForSubject)
        let subject = isMerged ? "anna" : known[index].grant.subject
        if Bool.random(using: &random) {
            try story.report(.requested, of: known[index].grant, at: now, subject: subject)
            known[index].isRequested = true
        } else if !known[index].isRequested {
            try story.report(
                .notRequested(reason: "userPostponed"), of: known[index].grant, at: now,
                subject: subject)
            if wasOpen { known[index].isReturnedInTime = true }
        }
        known[index].isSupersededOnDevice = known[index].isSupersededForSubject
    }

    private mutating func merge() throws {
        let merged = try ReviewPrompts.merge(
            install: story.subjects["bert"] ?? ReviewSubjectState(), installID: "bert",
            into: story.subjects["anna"] ?? ReviewSubjectState(), accountID: "anna", now: now)
        story.subjects["bert"] = merged.install
        story.subjects["anna"] = merged.account
        isMerged = true
        let open = known.indices.filter { known[$0].isOpen(at: now, superseded: false) }
        // The account's own comes first where both were given at the same instant.
        let order = open.sorted {
            (known[$0].grant.grantedAt, known[$0].grant.subject)
                < (known[$1].grant.grantedAt, known[$1].grant.subject)
        }
        for index in order.dropFirst() { known[index].isSupersededForSubject = true }
    }

    // MARK: Properties

    /// The new grant must not be one too many in any window that a cap looks at.
    private func keepsCaps(_ grant: ReviewGrant) -> Bool {
        for limit in story.policy.limits {
            guard case .max(let count, let window?, let scope) = limit.kind else { continue }
            let inWindow = known.filter { now - $0.grant.grantedAt <= window }
            let onDevice = inWindow.count {
                $0.grant.device == grant.device
                    && $0.counts(at: now, superseded: $0.isSupersededOnDevice)
            }
            let ofSubject = inWindow.count {
                isOf($0, grant.subject)
                    && $0.counts(at: now, superseded: $0.isSupersededForSubject)
            }
            let isKept =
                switch scope {
                case .device: onDevice < count
                case .subject: ofSubject < count
                case .both: onDevice < count && ofSubject < count
                }
            if !isKept {
                Issue.record("\(limit.name): \(onDevice) on device, \(ofSubject) of subject")
                return false
            }
        }
        let isAlone = !known.contains {
            $0.grant.device == grant.device
                && $0.isOpen(at: now, superseded: $0.isSupersededOnDevice)
                || isOf($0, grant.subject)
                    && $0.isOpen(at: now, superseded: $0.isSupersededForSubject)
        }
        if !isAlone { Issue.record("a second open grant") }
        return isAlone
    }

    private func isOf(_ known: KnownGrant, _ subject: String) -> Bool {
        isMerged || known.grant.subject == subject
    }

    /// At that instant a donation asks; at the millisecond before, and anywhere in between, not.
    private mutating func nextEligibleIsTrue(
        _ decision: ReviewDecision, _ asks: (inout RandomHistory, Instant) throws -> Bool
    ) throws -> Bool {
        var probes: [(Instant, Bool)] = []
        if let next = decision.nextEligibleAt {
            probes.append((next, true))
            if next > now {
                probes.append((next - .milliseconds(1), false))
                for _ in 0..<3 {
                    let span = (next - now).milliseconds - 1
                    probes.append(
                        (now + .milliseconds(Int64.random(in: 0...span, using: &random)), false))
                }
            } else if next < now {
                Issue.record("eligible in the past: \(next) at \(now)")
                return false
            }
        } else {
            for length in [
                Time.Duration.zero, .hours(5), .days(2), .days(8), .days(400), .days(4000),
            ] {
                probes.append((now + length, false))
            }
        }
        for (moment, expected) in probes {
            var copy = self
            if try asks(&copy, moment) != expected {
                Issue.record(
                    """
                    at \(now) next \(decision.nextEligibleAt?.rfc3339 ?? "null") \
                    (missing \(decision.missing)), but at \(moment) asks is \(!expected)
                    """)
                return false
            }
        }
        return true
    }

    private func hasOneOpenGrant() -> Bool {
        let open =
            story.subjects.values.map { $0.ledger.open(at: now).count }
            + story.devices.values.map { $0.ledger.open(at: now).count }
        if open.contains(where: { $0 > 1 }) { Issue.record("two open grants") }
        return !open.contains { $0 > 1 }
    }

    private func survivesJSON() throws -> Bool {
        for state in story.subjects.values {
            let text = canonical(state.json)
            let again = try ReviewSubjectState(json: try JSONReader.parse(text))
            guard again == state, canonical(again.json) == text else {
                Issue.record("\(String(decoding: text, as: UTF8.self))")
                return false
            }
        }
        for state in story.devices.values {
            let text = canonical(state.json)
            guard try ReviewDeviceState(json: try JSONReader.parse(text)) == state else {
                Issue.record("\(String(decoding: text, as: UTF8.self))")
                return false
            }
        }
        return true
    }
}

func canonical(_ value: JSONValue) -> [UInt8] {
    var writer = JSONWriter()
    writer.canonical(value)
    return writer.bytes
}

@Suite struct RandomHistoryTests {
    /// How many histories: few in every run, as many as DISCERN_SEEDS says where time allows.
    static let seeds =
        ProcessInfo.processInfo.environment["DISCERN_SEEDS"].flatMap(UInt64.init) ?? 40

    @Test(.enabled(if: TestZones.arePresent))
    func `caps hold, next eligible is true, states survive, replays agree`() throws {
        var asks = 0
        for seed in UInt64(1)...Self.seeds {
            var history = RandomHistory(seed: seed)
            let isGood = try history.run(60)
            try #require(isGood, "seed \(seed)")
            asks += history.known.count
            if seed % 8 == 0 {
                var replay = RandomHistory(seed: seed)
                _ = try replay.run(60)
                #expect(replay.bytes == history.bytes, "seed \(seed)")
            }
        }
        // Histories in which nothing is ever asked would prove nothing.
        #expect(asks > Int(Self.seeds) * 2, "\(asks)")
    }
}
