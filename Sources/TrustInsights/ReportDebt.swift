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
/// It is fed with completed evaluations and reports in ledger order, so due instants only
/// grow, and derived from them alone.
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
    /// Completed evaluations by hour, for the share: hours since the epoch and a count.
    private var hours: [(hour: Int64, count: Int64)] = []
    private var evaluations: Int64 = 0
    /// Since when the debt has been at or above the threshold without a break.
    public private(set) var refusingSince: Instant?

    /// No debt.
    public init() {}

    /// A completed evaluation that owes a report by `dueAt`.
    public mutating func completed(sequence: Int64, at now: Instant, dueAt: Instant) {
        open.append(Open(dueAt: dueAt, sequence: sequence))
        let hour = now.milliseconds / 3_600_000
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
        if overdue < threshold(policy) { refusingSince = nil }
        clear()
    }

    /// Moves the sums to `now`, and notes since when evaluations are refused.
    ///
    /// The state of refusal begins at the instant at which the debt reached the threshold,
    /// which is right after the due instant of the evaluation that made it so.
    public mutating func advance(to now: Instant, policy: DebtPolicy) {
        forget(before: now - policy.period)
        while firstNotDue < open.count, open[firstNotDue].dueAt < now {
            if !open[firstNotDue].isReported {
                overdue += 1
                if refusingSince == nil, overdue >= threshold(policy) {
                    refusingSince = open[firstNotDue].dueAt
                }
            }
            firstNotDue += 1
        }
        if overdue < threshold(policy) { refusingSince = nil }
    }

    /// Unreported evaluations that are past due, within the period, as of the latest look.
    public var count: Int64 { overdue }

    /// The debt from which on evaluations are refused.
    public func threshold(_ policy: DebtPolicy) -> Int64 {
        max(policy.minimum, Int64((Double(evaluations) * policy.share).rounded(.up)))
    }

    /// The ledger's numbers of overdue evaluations, the oldest first, from the one after
    /// `after`.
    public func overdue(limit: Int, after: Int64 = 0) -> [Open] {
        var found: [Open] = []
        for item in open[start..<firstNotDue] where !item.isReported && item.sequence > after {
            if found.count == limit { break }
            found.append(item)
        }
        return found
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
        let firstHour = horizon.milliseconds / 3_600_000
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

    /// Drops what is marked once it is most of the list, so that memory follows what is open.
    private mutating func clear() {
        guard marked > 1024, marked * 2 > open.count - start else { return }
        var due = 0
        var kept: [Open] = []
        kept.reserveCapacity(open.count - start - marked)
        for index in start..<open.count where !open[index].isReported {
            if index < firstNotDue { due += 1 }
            kept.append(open[index])
        }
        (open, start, firstNotDue, marked) = (kept, 0, due, 0)
    }

    /// Same open evaluations and same sums.
    public static func == (left: ReportDebt, right: ReportDebt) -> Bool {
        left.unreported == right.unreported && left.overdue == right.overdue
            && left.evaluations == right.evaluations && left.refusingSince == right.refusingSince
            && left.hours.elementsEqual(right.hours, by: ==)
    }
}

extension ReportDebt {
    /// What is not reported yet, in order: with the hours, all there is to store.
    public var unreported: [Open] { open[start...].filter { !$0.isReported } }

    /// Completed evaluations by hour since the epoch.
    public var evaluationsByHour: [(hour: Int64, count: Int64)] { hours }

    /// A debt as it was stored; ``advance(to:policy:)`` brings it up to date.
    public init(
        unreported: [(dueAt: Instant, sequence: Int64)],
        evaluationsByHour: [(hour: Int64, count: Int64)], refusingSince: Instant?
    ) {
        open = unreported.map { Open(dueAt: $0.dueAt, sequence: $0.sequence) }
        hours = evaluationsByHour
        evaluations = evaluationsByHour.reduce(0) { $0 + $1.count }
        self.refusingSince = refusingSince
    }
}
