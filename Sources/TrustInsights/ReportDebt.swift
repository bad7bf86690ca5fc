import Time

/// How much debt an app may have before its evaluations are refused.
public struct DebtPolicy: Sendable, Equatable {
    /// How long an unreported evaluation counts as debt after its due instant.
    public var period = Duration.days(30)
    /// Evaluations are refused from this much debt on …
    public var minimum: Int64 = 20
    /// … or from this part of the period's evaluations on, whichever is more; in 0…1.
    public var share = 0.05
    /// After this long in refusal, access is suspended.
    public var suspendAfter = Duration.hours(24)
    /// Only warn, refuse nothing.
    public var warnOnly = false

    /// The defaults.
    public init() {}
}

/// The reports that one app owes in one environment, as running sums: asking costs the same
/// however many evaluations there were.
///
/// It is fed with completed evaluations and reports in ledger order, and derived from them
/// alone: what time changes is taken at the instant of the change, however seldom and however
/// late somebody looks.
public struct ReportDebt: Sendable, Equatable {
    /// An evaluation that owes a report.
    public struct Open: Sendable, Equatable {
        /// The last instant in time.
        public var dueAt: Instant
        /// The ledger's number of the evaluation.
        public var sequence: Int64
        /// Set when the report came, until the front of the list is cleared.
        var isReported = false
    }

    /// Evaluations not yet reported, in order of `dueAt`; some are marked as reported.
    private var open: [Open] = []
    /// Where the list starts; what stands before is waiting to be cleared in one go.
    private var start = 0
    /// How many of `open` are marked.
    private var marked = 0
    /// The first of `open` that was not yet due at the latest look.
    private var firstNotDue = 0
    /// Unreported ones between `start` and `firstNotDue`: the debt.
    private var overdue: Int64 = 0
    /// Whether `open` is in ledger order as well, as it is unless the time for reports was made
    /// shorter.
    private var isInLedgerOrder = true
    /// Completed evaluations by hour, for the share: hours since the epoch and a count.
    private var hours: [(hour: Int64, count: Int64)] = []
    private var evaluations: Int64 = 0
    /// The last instant before the debt was at or above the threshold without a break.
    public private(set) var refusingSince: Instant?
    /// The latest look: everything else is as of this instant.
    public private(set) var asOf = Instant.min

    /// No debt.
    public init() {}

    /// A completed evaluation that owes a report by `dueAt`, which is not before the latest
    /// look. It may be due before earlier ones, after the time for reports was made shorter.
    public mutating func completed(sequence: Int64, at now: Instant, dueAt: Instant) {
        var place = open.count
        while place > firstNotDue, open[place - 1].dueAt > dueAt { place -= 1 }
        if place < open.count { isInLedgerOrder = false }
        open.insert(Open(dueAt: dueAt, sequence: sequence), at: place)
        let hour = Self.hour(of: now)
        if let last = hours.indices.last, hours[last].hour == hour {
            hours[last].count += 1
        } else {
            hours.append((hour, 1))
        }
        evaluations += 1
    }

    /// The report of an evaluation came. Unknown ones are no fault: their debt has lapsed.
    public mutating func reported(sequence: Int64, dueAt: Instant, policy: DebtPolicy) {
        guard let index = find(sequence: sequence, dueAt: dueAt), !open[index].isReported else {
            return
        }
        open[index].isReported = true
        marked += 1
        if index < firstNotDue { overdue -= 1 }
        note(policy, since: asOf)
        clear()
    }

    /// Moves the sums to `now`, and notes since when evaluations are refused.
    ///
    /// The state of refusal begins at the instant at which the debt reached the threshold:
    /// right after the due instant of the evaluation that made it so, or when evaluations
    /// left the period and the threshold fell to the debt.
    public mutating func advance(to now: Instant, policy: DebtPolicy) {
        // The end of time is nobody's change: sums with it are cut off there.
        while let next = nextChange(policy), next <= now, next < .max {
            while firstNotDue < open.count, open[firstNotDue].dueAt < next {
                if !open[firstNotDue].isReported { overdue += 1 }
                firstNotDue += 1
            }
            forget(before: next - policy.period)
            note(policy, since: max(next - .milliseconds(1), asOf))
        }
        clear()
        asOf = max(asOf, now)
        // The numbers of the policy may have changed.
        note(policy, since: asOf)
    }

    private mutating func note(_ policy: DebtPolicy, since: Instant) {
        if overdue < threshold(policy) {
            refusingSince = nil
        } else if refusingSince == nil {
            refusingSince = since
        }
    }

    /// The next instant at which time alone changes a sum: a report becomes overdue, one
    /// lapses, or an hour of evaluations leaves the period.
    private func nextChange(_ policy: DebtPolicy) -> Instant? {
        var next: Instant?
        func consider(_ instant: Instant) { next = next.map { min($0, instant) } ?? instant }
        if firstNotDue < open.count { consider(open[firstNotDue].dueAt + .milliseconds(1)) }
        if start < firstNotDue {
            consider(open[start].dueAt + policy.period + .milliseconds(1))
        }
        if let hour = hours.first?.hour {
            consider(Instant(milliseconds: (hour + 1) * Self.hourLength) + policy.period)
        }
        return next
    }

    private static let hourLength: Int64 = 3_600_000

    private static func hour(of instant: Instant) -> Int64 {
        let (hour, rest) = instant.milliseconds.quotientAndRemainder(dividingBy: hourLength)
        return rest < 0 ? hour - 1 : hour
    }

    /// Unreported evaluations that are past due, within the period, as of the latest look.
    public var count: Int64 { overdue }

    /// The debt from which on evaluations are refused.
    public func threshold(_ policy: DebtPolicy) -> Int64 {
        max(policy.minimum, Int64((Double(evaluations) * policy.share).rounded(.up)))
    }

    /// The ledger's numbers of overdue evaluations, in ledger order, from the one after
    /// `after`.
    public func overdue(limit: Int, after: Int64 = 0) -> [Open] {
        var found: [Open] = []
        for item in open[start..<firstNotDue] where !item.isReported && item.sequence > after {
            if isInLedgerOrder, found.count == limit { break }
            found.append(item)
        }
        if isInLedgerOrder { return found }
        return Array(found.sorted { $0.sequence < $1.sequence }.prefix(limit))
    }

    // MARK: Keeping the list

    private func find(sequence: Int64, dueAt: Instant) -> Int? {
        var (low, high) = (start, open.count)
        while low < high {
            let middle = low + (high - low) / 2
            let isBefore = (open[middle].dueAt, open[middle].sequence) < (dueAt, sequence)
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low < open.count && open[low].sequence == sequence ? low : nil
    }

    private mutating func forget(before horizon: Instant) {
        while start < firstNotDue, open[start].dueAt < horizon {
            if open[start].isReported { marked -= 1 } else { overdue -= 1 }
            start += 1
        }
        let firstHour = Self.hour(of: horizon)
        if let keep = hours.firstIndex(where: { $0.hour >= firstHour }) {
            if keep > 0 {
                evaluations -= hours[..<keep].reduce(0) { $0 + $1.count }
                hours.removeSubrange(..<keep)
            }
        } else {
            hours = []
            evaluations = 0
        }
    }

    /// Drops what is reported or has lapsed once it is most of the list, so that memory
    /// follows what is open.
    private mutating func clear() {
        let gone = start + marked
        guard gone > 1024, gone * 2 > open.count else { return }
        var due = 0
        var kept: [Open] = []
        kept.reserveCapacity(open.count - start - marked)
        for index in start..<open.count where !open[index].isReported {
            if index < firstNotDue { due += 1 }
            kept.append(open[index])
        }
        (open, start, firstNotDue, marked) = (kept, 0, due, 0)
        isInLedgerOrder = Self.isInLedgerOrder(open)
    }

    private static func isInLedgerOrder(_ open: [Open]) -> Bool {
        zip(open, open.dropFirst()).allSatisfy { $0.sequence < $1.sequence }
    }

    /// Same open evaluations and same sums.
    public static func == (left: ReportDebt, right: ReportDebt) -> Bool {
        left.unreported == right.unreported && left.overdue == right.overdue
            && left.evaluations == right.evaluations && left.refusingSince == right.refusingSince
            && left.hours.elementsEqual(right.hours, by: ==)
    }
}

extension ReportDebt {
    /// What is not reported yet, in order: with the hours and since when evaluations are
    /// refused, all there is to store.
    public var unreported: [Open] { open[start...].filter { !$0.isReported } }

    /// How many evaluations are held, those included that wait to be cleared.
    package var held: Int { open.count }

    /// Completed evaluations by hour since the epoch.
    public var evaluationsByHour: [(hour: Int64, count: Int64)] { hours }

    /// A debt as it was stored as of an instant; ``advance(to:policy:)`` brings it up to date.
    public init(
        unreported: [(dueAt: Instant, sequence: Int64)],
        evaluationsByHour: [(hour: Int64, count: Int64)], refusingSince: Instant?, asOf: Instant
    ) {
        open = unreported.map { Open(dueAt: $0.dueAt, sequence: $0.sequence) }
        isInLedgerOrder = Self.isInLedgerOrder(open)
        firstNotDue = open.firstIndex { $0.dueAt >= asOf } ?? open.count
        overdue = Int64(firstNotDue)
        self.asOf = asOf
        hours = evaluationsByHour
        evaluations = evaluationsByHour.reduce(0) { $0 + $1.count }
        self.refusingSince = refusingSince
    }
}
