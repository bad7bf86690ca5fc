import Policies
import Time

/// Everything that rules look at, for a donation made at some instant.
///
/// The instant is a parameter of every rule, so that the same code says what holds now and finds
/// when it will pass.
struct Situation {
    let policy: ReviewPromptPolicy
    let donation: ReviewDonation
    let environment: ReviewEnvironment
    let zone: ZoneRules
    /// The subject without this donation in its counts, settled.
    var subject: ReviewSubjectState
    var device: ReviewDeviceState
    /// Whether the donation that was made counts.
    var countedAs: DonationCondition.Outcome
    /// When the donation happened; nil for one that is imagined at the instant asked about.
    let happenedAt: Instant?
    /// Whether the donation is too old to ask.
    let isStale: Bool
    /// Whether nobody has made the donation, so that its condition is asked anew at each instant.
    var isImagined = false

    /// The version that rules see: as written, or as the fault of reading anything as 1.0.0 has it.
    var versionText: String {
        policy.faults.readsUnreadableVersionAs1 && AppVersion(donation.version) == nil
            ? "1.0.0" : donation.version
    }

    /// The same with an imagined donation instead of the one that was made.
    func imagining() -> Situation {
        Situation(
            policy: policy, donation: donation, environment: environment, zone: zone,
            subject: subject, device: device, countedAs: countedAs, happenedAt: nil,
            isStale: false, isImagined: true)
    }

    /// Whether the donation counts, for an imagined one at the instant asked about.
    func countsAs(at instant: Instant) -> DonationCondition.Outcome {
        guard isImagined, let condition = policy.reason(named: donation.reason)?.when else {
            return countedAs
        }
        return condition.imagine(facts(at: instant))
    }

    /// The ledgers that a scope names.
    func ledgers(_ scope: ReviewScope) -> [PromptLedger] {
        switch scope {
        case .device: [device.ledger]
        case .subject: [subject.ledger]
        case .both: [subject.ledger, device.ledger]
        }
    }

    /// The open grants of the subject and the device.
    func openGrants(at now: Instant) -> [ReviewGrant] {
        subject.ledger.open(at: now) + device.ledger.open(at: now)
    }

    /// Every rule, in the order of verdicts.
    var rules: [Rule] {
        var rules: [Rule] = [
            .enabled, .distribution, .fresh, .readableVersion, .reservation, .holdout, .remembered,
        ]
        rules += policy.limits.map { .limit($0) }
        if case .requireMore(let count) = policy.afterGrant { rules.append(.requireMore(count)) }
        rules.append(.reason)
        return rules
    }

    /// What every rule says.
    func verdicts(at now: Instant) -> [RuleVerdict] { rules.map { verdict(of: $0, at: now) } }
}

/// One rule of a policy.
enum Rule {
    case enabled, distribution, fresh, readableVersion, reservation, holdout, remembered
    case limit(ReviewLimit)
    case requireMore(Int)
    case reason

    /// Whether a donation that meets this rule is throttled, as `whileThrottled` has it.
    var throttles: Bool {
        switch self {
        case .reservation, .limit: true
        default: false
        }
    }
}

extension Situation {
    /// What a rule says at an instant.
    func verdict(of rule: Rule, at now: Instant) -> RuleVerdict {
        switch rule {
        case .enabled:
            policy.isEnabled
                ? .pass(ReviewRuleName.enabled) : .fail(ReviewRuleName.enabled, .disabled)
        case .distribution:
            environment == .sandbox || donation.distribution == .appStore
                ? .pass(ReviewRuleName.distribution)
                : .fail(
                    ReviewRuleName.distribution, .notFromAppStore,
                    have: .text(donation.distribution.rawValue),
                    need: .equal(.text(ReviewDistribution.appStore.rawValue)))
        case .fresh:
            freshness(at: now)
        case .readableVersion:
            AppVersion(versionText) != nil
                ? .pass(ReviewRuleName.readableVersion)
                : .fail(
                    ReviewRuleName.readableVersion, .unreadableVersion,
                    have: .text(donation.version))
        case .reservation:
            openGrants(at: now).isEmpty
                ? .pass(ReviewRuleName.reservation)
                : .fail(
                    ReviewRuleName.reservation, .reservationOpen,
                    have: .count(Set(openGrants(at: now).map(\.id)).count),
                    need: .below(.count(1)))
        case .holdout:
            policy.holdout.holds(out: donation.subject)
                ? .fail(ReviewRuleName.holdout, .heldOut) : .pass(ReviewRuleName.holdout)
        case .remembered:
            subject.ledger.isFull || device.ledger.isFull
                ? .fail(ReviewRuleName.remembered, .ledgerFull) : .pass(ReviewRuleName.remembered)
        case .limit(let limit):
            verdict(of: limit, at: now)
        case .requireMore(let count):
            requireMore(count)
        case .reason:
            reasonVerdict(at: now)
        }
    }

    private func freshness(at now: Instant) -> RuleVerdict {
        guard let happenedAt else { return .pass(ReviewRuleName.fresh) }
        let have = ReviewAmount.elapsed(max(now - happenedAt, .zero))
        // `below` names the first age that is too old.
        let need = ReviewNeed.below(
            .elapsed(ReviewPromptLimits.freshness + .milliseconds(1)))
        return isStale
            ? .fail(ReviewRuleName.fresh, .stale, have: have, need: need)
            : .pass(ReviewRuleName.fresh, have: have, need: need)
    }

    /// The earliest instant, not before `from`, at which a rule passes; nil if time alone never
    /// makes it pass. Exact as long as time does not change what is remembered: at a millisecond
    /// before it the rule does not pass.
    func earliestPass(of rule: Rule, from: Instant) -> Instant? {
        if verdict(of: rule, at: from).result == .pass { return from }
        switch rule {
        case .enabled, .distribution, .fresh, .readableVersion, .holdout, .remembered, .requireMore:
            return nil
        case .reservation:
            return openGrants(at: from).map(\.leaseEndsAt).max().map { $0 + .milliseconds(1) }
        case .limit(let limit):
            return earliestPass(of: limit, from: from)
        case .reason:
            return earliestReason(from: from)
        }
    }
}
