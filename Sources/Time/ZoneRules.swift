/// The offsets of one time zone from UTC, past and future, immutable and without I/O.
///
/// It is a step function over the seconds of the time line: a table of changes, then the yearly
/// rule that a TZif file carries at its end (RFC 9636). Offsets are seconds east of UTC, always
/// within ±26 hours, so arithmetic on any ``Instant`` is far from overflow.
public final class ZoneRules: Sendable {
    /// Every offset lies within this many seconds of UTC.
    static let maxOffset = 26 * 3600

    /// The name it was registered under: `Europe/London`, `UTC`, `+05:30`.
    public let name: String
    /// Seconds since the epoch at which the offset changes, strictly rising.
    let changes: [Int64]
    /// The offset from the change at the same index on.
    let offsets: [Int32]
    /// The offset before the first change.
    let firstOffset: Int32
    /// The rule after the last change; nil if the last offset stays for ever.
    let rule: PosixZoneRule?

    init(
        name: String, changes: [Int64], offsets: [Int32], firstOffset: Int32, rule: PosixZoneRule?
    ) {
        self.name = name
        self.changes = changes
        self.offsets = offsets
        self.firstOffset = firstOffset
        self.rule = rule
    }

    /// Coordinated universal time.
    public static let utc = ZoneRules(
        name: "UTC", changes: [], offsets: [], firstOffset: 0, rule: nil)

    /// A zone with one offset for ever, written `+05:30`, `-08:00` or, as in CEL, `05:30`.
    ///
    /// Nil unless it is two digits of hours (00…23) and two of minutes (00…59).
    public static func fixedOffset(_ text: some StringProtocol) -> ZoneRules? {
        var bytes = Array(text.utf8)
        var sign: Int32 = 1
        if let first = bytes.first, first == UInt8(ascii: "+") || first == UInt8(ascii: "-") {
            sign = first == UInt8(ascii: "-") ? -1 : 1
            bytes.removeFirst()
        }
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
            let hours = decimal(bytes[..<2]), hours <= 23,
            let minutes = decimal(bytes[3...]), minutes <= 59
        else { return nil }
        return ZoneRules(
            name: String(text), changes: [], offsets: [],
            firstOffset: sign * Int32(hours * 3600 + minutes * 60), rule: nil)
    }

    /// The offset in force, in seconds east of UTC, at so many seconds since the epoch.
    public func offset(atSeconds seconds: Int64) -> Int {
        let count = changes.count
        if count == 0 || seconds < changes[0] {
            // A file without any change and with a rule follows the rule from the start.
            if count == 0, let rule { return rule.offset(atSeconds: seconds) }
            return Int(firstOffset)
        }
        if seconds >= changes[count - 1] {
            return rule?.offset(atSeconds: seconds) ?? Int(offsets[count - 1])
        }
        var (low, high) = (0, count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if changes[middle] <= seconds { low = middle } else { high = middle }
        }
        return Int(offsets[low])
    }

    /// The wall clock at so many seconds since the epoch.
    public func local(atSeconds seconds: Int64) -> CivilDateTime {
        CivilDateTime(localSeconds: saturatingSum(seconds, Int64(offset(atSeconds: seconds))))
    }

    /// The wall clock at an instant.
    public func local(at instant: Instant) -> CivilDateTime { local(atSeconds: instant.seconds) }

    /// The day of the calendar at an instant.
    public func date(at instant: Instant) -> CivilDate { local(at: instant).date }

    /// Days of the calendar from one instant to another: the subtraction of their local dates.
    ///
    /// Negative if `end` lies on an earlier day; never an absolute value. A day that the zone
    /// skipped (Apia, 2011-12-30) still counts, since dates are subtracted and not lived days.
    public func calendarDays(from start: Instant, to end: Instant) -> Int64 {
        date(at: end) - date(at: start)
    }

    /// The earliest instant, not before `earliest`, whose local date is `day` or later.
    ///
    /// Where the wall clock jumps over midnight (Beirut, 2025-03-30) that is the instant of the
    /// jump; where a whole day is skipped (Apia, 2011-12-30) it is the start of the next day.
    /// Where the clock goes back over midnight a date can be left and entered again; that is why
    /// the lower bound matters. Nil only beyond ``Instant/max``.
    public func earliestInstant(of day: CivilDate, notBefore earliest: Instant = .min) -> Instant? {
        if date(at: earliest) >= day { return earliest }
        let midnight = day.daysSinceEpoch * 86_400
        // No offset is larger than this, so nothing earlier can show that date.
        let horizon = midnight - Int64(Self.maxOffset)
        var from = max(horizon, earliest.seconds)
        while true {
            let candidate = max(from, midnight - Int64(offset(atSeconds: from)))
            let next = nextChange(after: from)
            if next.map({ candidate < $0 }) ?? true {
                let (milliseconds, overflow) = candidate.multipliedReportingOverflow(by: 1000)
                if overflow || milliseconds > Instant.max.milliseconds { return nil }
                return max(Instant(milliseconds: milliseconds), earliest)
            }
            // `next` exists here, or the candidate would have been taken; it lies after `from`,
            // so the walk ends within the few changes around one midnight.
            guard let next else { return nil }
            from = next
        }
    }

    /// Where the local date goes back to an earlier day, after an instant and up to another, with
    /// the instant at which the later day is reached again.
    ///
    /// That happens where clocks go back just after midnight (St. John's until 2011, at 00:01), or
    /// a zone changes its side of the date line.
    public func returnsToEarlierDays(
        after start: Instant, to end: Instant
    ) -> [(instant: Instant, end: Instant)] {
        var result: [(instant: Instant, end: Instant)] = []
        var seconds = start.seconds
        while let change = nextChange(after: seconds), change <= end.seconds {
            seconds = change
            let left = local(atSeconds: change - 1).date
            guard local(atSeconds: change).date < left else { continue }
            let instant = Instant(milliseconds: change * 1000)
            if let again = earliestInstant(of: left, notBefore: instant) {
                result.append((instant, again))
            }
        }
        return result
    }

    /// The first second after `seconds` at which the offset may change; nil if it never does.
    func nextChange(after seconds: Int64) -> Int64? {
        guard let last = changes.last, seconds < last else {
            return rule?.nextChange(after: seconds)
        }
        var (low, high) = (0, changes.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle] > seconds { high = middle } else { low = middle + 1 }
        }
        return changes[low]
    }
}
