import Foundation
import JSON
import Policies
import ReviewPrompts
import Time

/// What must hold after each command of a history.
extension RandomHistory {
    /// At that instant a donation asks; a millisecond before, and anywhere in between, none does.
    mutating func nextEligibleIsTrue(_ decision: ReviewDecision, _ donation: ReviewDonation)
        throws
    {
        var probes: [(now: Instant, asks: Bool)] = []
        if let next = decision.nextEligibleAt {
            try Broken.unless(next >= now, "eligible in the past: \(next) at \(now)")
            tally.awaited += next > now ? 1 : 0
            probes.append((next, true))
            if next > now {
                let span = (next - now).milliseconds - 1
                let between = now + .milliseconds(Int64.random(in: 0...span, using: &random))
                probes.append((next - .milliseconds(1), false))
                if random.once(in: 2) { probes.append((between, false)) }
            }
        } else {
            tally.hopeless += 1
            let lengths: [Time.Duration] = [
                .zero, .minutes(11), .hours(5), .days(1), .days(2), .days(8), .days(400),
                .days(4000),
            ]
            probes.append((now + random.pick(lengths), false))
        }
        for probe in probes {
            var donation = donation
            donation.occurredAt = probe.now
            guard try world.judged(donation, at: probe.now).asks != probe.asks else { continue }
            throw Broken(
                description: """
                    at \(now) next \(decision.nextEligibleAt?.rfc3339 ?? "null") (missing \
                    \(decision.missing)), but at \(probe.now) asks is \(!probe.asks)
                    """)
        }
    }

    /// Each rule passes where it says that it clears and not before; `status` says the same.
    mutating func clearingIsTrue(_ decision: ReviewDecision, _ donation: ReviewDonation)
        throws
    {
        let status = try world.status(donation, at: now)
        try Broken.unless(
            decision.asks || status.nextEligibleAt == decision.nextEligibleAt,
            "status says \(status.nextEligibleAt?.rfc3339 ?? "null")")
        try Broken.unless(
            status.wouldAsk == (status.nextEligibleAt == now), "\(status.failing)")
        guard
            let verdict = status.verdicts.filter({ $0.result != .pass })
                .randomElement(using: &random)
        else { return }
        guard let clears = verdict.clearsAt else {
            try Broken.unless(status.nextEligibleAt == nil, "\(verdict.rule) never clears")
            return
        }
        try Broken.unless(
            status.nextEligibleAt.map { $0 >= clears } ?? true, "\(verdict.rule) clears later")
        for (moment, passes) in [(clears, true), (clears - .milliseconds(1), false)] {
            let then = try world.status(donation, at: moment).verdicts
                .first { $0.rule == verdict.rule }
            try Broken.unless(
                (then?.result == .pass) == passes,
                "at \(now) \(verdict.rule) clears at \(clears), but at \(moment) not so")
        }
    }

    func hasOneOpenGrant() throws {
        for ledger in world.subjects.values.map(\.ledger) + world.devices.values.map(\.ledger) {
            try Broken.unless(ledger.open(at: now).count <= 1, "two open grants")
        }
    }

    func survivesJSON() throws {
        for state in world.subjects.values {
            let text = canonical(state.json)
            let again = try ReviewSubjectState(json: try JSONReader.parse(text))
            try Broken.unless(
                again == state && canonical(again.json) == text,
                String(decoding: text, as: UTF8.self))
        }
        for state in world.devices.values {
            let text = canonical(state.json)
            try Broken.unless(
                try ReviewDeviceState(json: try JSONReader.parse(text)) == state,
                String(decoding: text, as: UTF8.self))
        }
    }

    /// What was told again, from nothing, gives the same grants and the same states.
    func replayed() throws {
        var again = RandomWorld(policy: world.policy, environment: world.environment)
        for entry in log { try again.apply(entry.command, at: entry.now) }
        try Broken.unless(again.grants == world.grants, "a replay gave other grants")
        try Broken.unless(
            again.subjects == world.subjects && again.devices == world.devices,
            "a replay left other states")
    }
}

func canonical(_ value: JSONValue) -> [UInt8] {
    var writer = JSONWriter()
    writer.canonical(value)
    return writer.bytes
}
