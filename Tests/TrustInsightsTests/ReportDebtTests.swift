import Testing
import Time
import TrustInsights

/// The rules of report debt, said the slow way: everything is kept, and every look goes through
/// every instant at which something could have changed.
private struct NaiveDebt {
    struct Evaluation {
        var sequence: Int64
        var completedAt: Instant
        var dueAt: Instant
        var reportedAt: Instant?
    }

    var evaluations: [Evaluation] = []
    var refusingSince: Instant?
    var asOf: Instant

    func isOverdue(_ item: Evaluation, at now: Instant, _ policy: DebtPolicy) -> Bool {
        item.reportedAt == nil && item.dueAt < now && item.dueAt >= now - policy.period
    }

    func overdue(at now: Instant, _ policy: DebtPolicy) -> [Int64] {
        evaluations.filter { isOverdue($0, at: now, policy) }
            .map(\.sequence)
    }

    /// Counted by whole hours: the one that the period begins in counts as a whole.
    func threshold(at now: Instant, _ policy: DebtPolicy) -> Int64 {
        let hour: Int64 = 3_600_000
        let first = (now - policy.period).milliseconds / hour * hour
        let count = evaluations.filter { $0.completedAt.milliseconds >= first }.count
        // A share of so many evaluations, rounded up, without a double in between.
        let perMille = Int64((policy.share * 1000).rounded())
        return max(policy.minimum, (Int64(count) * perMille + 999) / 1000)
    }

    mutating func note(at now: Instant, _ policy: DebtPolicy, since: Instant) {
        if Int64(overdue(at: now, policy).count) < threshold(at: now, policy) {
            refusingSince = nil
        } else if refusingSince == nil {
            refusingSince = since
        }
    }

    mutating func advance(to now: Instant, _ policy: DebtPolicy) {
        let tick = Duration.milliseconds(1)
        var changes = Set<Instant>()
        for item in evaluations {
            changes.insert(item.dueAt + tick)
            changes.insert(item.dueAt + policy.period + tick)
            let hour = item.completedAt.milliseconds / 3_600_000 + 1
            changes.insert(Instant(milliseconds: hour * 3_600_000) + policy.period)
        }
        for change in changes.filter({ $0 > asOf && $0 <= now }).sorted() {
            note(at: change, policy, since: change - tick)
        }
        asOf = now
        note(at: now, policy, since: now)
    }
}

@Suite struct ReportDebtTests {
    private static let tick = Duration.milliseconds(1)

    private func policy(minimum: Int64 = 20, share: Double = 0.05) -> DebtPolicy {
        var policy = DebtPolicy()
        policy.minimum = minimum
        policy.share = share
        return policy
    }

    private func debt(_ count: Int64, spacing: Time.Duration = .milliseconds(1)) -> ReportDebt {
        var debt = ReportDebt()
        for index in 0..<count {
            let at = noon + .milliseconds(index * spacing.milliseconds)
            debt.advance(to: at, policy: policy())
            debt.completed(sequence: index + 1, at: at, dueAt: at + .hours(1))
        }
        return debt
    }

    @Test func refusalBeginsAtTheInstantTheTwentiethBecameOverdue() {
        var debt = debt(25)
        let twentieth = noon + .milliseconds(19) + .hours(1)
        debt.advance(to: twentieth, policy: policy())
        #expect(debt.count == 19)
        #expect(debt.refusingSince == nil)
        // However late somebody looks.
        for late in [Self.tick, .seconds(1), .days(3)] {
            var copy = debt
            copy.advance(to: twentieth + late, policy: policy())
            #expect(copy.refusingSince == twentieth)
        }
    }

    @Test func theThresholdIsTheShareWhereThatIsMore() {
        for (evaluations, threshold) in [
            (0 as Int64, 20 as Int64), (400, 20), (401, 21), (420, 21), (421, 22), (1000, 50),
        ] {
            #expect(debt(evaluations).threshold(policy()) == threshold, "\(evaluations)")
        }
    }

    @Test func reportingLiftsAtOnce() {
        var debt = debt(20)
        debt.advance(to: noon + .hours(2), policy: policy())
        #expect(debt.refusingSince != nil)
        debt.reported(
            sequence: 7, dueAt: noon + .milliseconds(6) + .hours(1), policy: policy())
        #expect(debt.count == 19)
        #expect(debt.refusingSince == nil)
        // The same again is no second one.
        debt.reported(
            sequence: 7, dueAt: noon + .milliseconds(6) + .hours(1), policy: policy())
        #expect(debt.count == 19)
    }

    @Test func debtLapsesAfterThirtyDays() {
        let due = noon + .hours(1)
        for (now, count) in [
            (due, 0 as Int64), (due + Self.tick, 1), (due + .days(30), 1),
            (due + .days(30) + Self.tick, 0), (due + .days(400), 0),
        ] {
            var debt = debt(1)
            debt.advance(to: now, policy: policy())
            #expect(debt.count == count, "\(now)")
        }
    }

    @Test func aThresholdThatFallsToTheDebtRefusesToo() {
        // 1000 evaluations that were reported, then 40 that are not: 5 % of 1040 are 52.
        var debt = ReportDebt()
        for sequence in 1...1000 as ClosedRange<Int64> {
            debt.completed(sequence: sequence, at: noon, dueAt: noon + .hours(1))
            debt.reported(sequence: sequence, dueAt: noon + .hours(1), policy: policy())
        }
        let later = noon + .days(10)
        debt.advance(to: later, policy: policy())
        for sequence in 1001...1040 as ClosedRange<Int64> {
            debt.completed(sequence: sequence, at: later, dueAt: later + .hours(1))
        }
        debt.advance(to: noon + .days(30), policy: policy())
        #expect(debt.count == 40)
        #expect(debt.refusingSince == nil)
        // The hour of the thousand leaves the period; nothing else happens.
        debt.advance(to: noon + .days(35), policy: policy())
        #expect(debt.threshold(policy()) == 20)
        #expect(debt.refusingSince == noon + .days(30) + .hours(1) - Self.tick)
    }

    @Test func aShorterTimeForReportsIsKeptInOrder() {
        var debt = ReportDebt()
        debt.completed(sequence: 1, at: noon, dueAt: noon + .hours(1))
        debt.completed(sequence: 2, at: noon, dueAt: noon + .minutes(1))
        debt.completed(sequence: 3, at: noon, dueAt: noon + .minutes(30))
        debt.advance(to: noon + .minutes(31), policy: policy())
        #expect(debt.overdue(limit: 9).map(\.sequence) == [2, 3])
        // Pages go by the ledger's order, and so neither skip nor repeat.
        debt.advance(to: noon + .hours(2), policy: policy())
        #expect(debt.overdue(limit: 2).map(\.sequence) == [1, 2])
        #expect(debt.overdue(limit: 2, after: 2).map(\.sequence) == [3])
        debt.reported(sequence: 3, dueAt: noon + .minutes(30), policy: policy())
        #expect(debt.overdue(limit: 9).map(\.sequence) == [1, 2])
    }

    @Test func whatIsListedHasALimitAndGoesOn() {
        var debt = debt(10)
        debt.advance(to: noon + .hours(2), policy: policy())
        #expect(debt.overdue(limit: 3).map(\.sequence) == [1, 2, 3])
        #expect(debt.overdue(limit: 3, after: 3).map(\.sequence) == [4, 5, 6])
        #expect(debt.overdue(limit: 3, after: 9).map(\.sequence) == [10])
        #expect(debt.overdue(limit: 3, after: 10).isEmpty)
        #expect(debt.overdue(limit: 0).isEmpty)
    }

    @Test func memoryFollowsWhatIsOpen() {
        // Reported as they come.
        var debt = ReportDebt()
        for index in 1...20_000 as ClosedRange<Int64> {
            let at = noon + .seconds(index)
            debt.advance(to: at, policy: policy())
            debt.completed(sequence: index, at: at, dueAt: at + .hours(1))
            debt.reported(sequence: index, dueAt: at + .hours(1), policy: policy())
            #expect(debt.held <= 2_100)
            if debt.held > 2_100 { return }
        }
        #expect(debt.unreported.isEmpty)
        // Never reported: what has lapsed goes too.
        var silent = ReportDebt()
        for index in 1...20_000 as ClosedRange<Int64> {
            let at = noon + .minutes(index * 43)
            silent.advance(to: at, policy: policy())
            silent.completed(sequence: index, at: at, dueAt: at + .hours(1))
            // Thirty days of one every 43 minutes are 1005.
            #expect(silent.held <= 2_100)
            if silent.held > 2_100 { return }
        }
        #expect(silent.evaluationsByHour.count <= 722)
    }

    @Test(arguments: 0..<40) func agreesWithTheNaiveModel(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var numbers = policy(
            minimum: Int64.random(in: 1...4, using: &random),
            share: [0, 0.05, 0.25].randomElement(using: &random)!)
        numbers.period = [.hours(3), .days(2)].randomElement(using: &random)!
        var now = noon
        var debt = ReportDebt()
        var naive = NaiveDebt(asOf: noon)
        debt.advance(to: now, policy: numbers)
        naive.advance(to: now, numbers)
        for step in 0..<150 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<6:
                let sequence = Int64(naive.evaluations.count + 1)
                // The time for reports may have been changed meanwhile.
                let within: Time.Duration =
                    [.zero, .minutes(20), .hours(1), .hours(1), .hours(1)]
                    .randomElement(using: &random)!
                debt.completed(sequence: sequence, at: now, dueAt: now + within)
                naive.evaluations.append(
                    .init(sequence: sequence, completedAt: now, dueAt: now + within))
            case 6..<8:
                guard let index = naive.evaluations.indices.randomElement(using: &random) else {
                    continue
                }
                let item = naive.evaluations[index]
                if item.reportedAt == nil { naive.evaluations[index].reportedAt = now }
                debt.reported(sequence: item.sequence, dueAt: item.dueAt, policy: numbers)
            case 8:
                numbers.minimum = Int64.random(in: 1...4, using: &random)
            case 9:
                // Stored and read again, all it was is there.
                debt = ReportDebt(
                    unreported: debt.unreported.map { ($0.dueAt, $0.sequence) },
                    evaluationsByHour: debt.evaluationsByHour,
                    refusingSince: debt.refusingSince, asOf: debt.asOf)
            default:
                now =
                    now
                    + ([
                        .milliseconds(1), .minutes(10), .hours(1), .hours(5), .days(1), .days(3),
                    ] as [Time.Duration]).randomElement(using: &random)!
            }
            debt.advance(to: now, policy: numbers)
            naive.advance(to: now, numbers)
            let expected = naive.overdue(at: now, numbers)
            guard debt.count == Int64(expected.count),
                debt.overdue(limit: .max).map(\.sequence) == expected,
                debt.threshold(numbers) == naive.threshold(at: now, numbers),
                debt.refusingSince == naive.refusingSince
            else {
                Issue.record(
                    """
                    seed \(seed), step \(step), \(now): \(debt.count) \
                    \(debt.overdue(limit: .max).map(\.sequence)) of \(debt.threshold(numbers)) \
                    since \(String(describing: debt.refusingSince)); should be \(expected) of \
                    \(naive.threshold(at: now, numbers)) since \
                    \(String(describing: naive.refusingSince))
                    """)
                return
            }
        }
    }

    /// Looking more often changes nothing.
    @Test(arguments: 0..<20) func howOftenSomebodyLooksChangesNothing(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let numbers = policy(minimum: 3, share: 0.2)
        var seldom = ReportDebt()
        for sequence in 1...30 as ClosedRange<Int64> {
            let at = noon + .minutes(sequence * 50)
            seldom.advance(to: at, policy: numbers)
            seldom.completed(sequence: sequence, at: at, dueAt: at + .hours(1))
        }
        var often = seldom
        let end = noon + .days(Int64.random(in: 1...40, using: &random))
        var now = noon + .days(1) + .hours(1)
        while now < end {
            often.advance(to: now, policy: numbers)
            now = now + .milliseconds(Int64.random(in: 1...20_000_000, using: &random))
        }
        often.advance(to: end, policy: numbers)
        seldom.advance(to: end, policy: numbers)
        #expect(often == seldom, "seed \(seed)")
    }
}
