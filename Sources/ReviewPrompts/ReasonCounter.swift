import Time

/// What is remembered of the counted donations of one reason.
public struct ReasonCounter: Sendable, Hashable {
    /// Counted donations since the last reset.
    public internal(set) var total = 0
    /// `total` when the last grant became counting.
    public internal(set) var atLastGrant = 0
    /// When they happened, the newest, in order.
    public internal(set) var recent: [Instant] = []
    /// The days on which they happened, as days since the epoch in the zone of that time, the
    /// newest, rising.
    public internal(set) var days: [Int64] = []

    /// Nothing counted.
    public init() {}

    /// Counts one donation.
    mutating func add(at instant: Instant, day: CivilDate) {
        total = min(total + 1, ReviewPromptLimits.count)
        insert(instant)
        insert(day: day.daysSinceEpoch)
    }

    /// Counts what another counter has counted.
    mutating func add(_ other: ReasonCounter) {
        total = min(total + other.total, ReviewPromptLimits.count)
        atLastGrant = min(atLastGrant + other.atLastGrant, ReviewPromptLimits.count)
        other.recent.forEach { insert($0) }
        other.days.forEach { insert(day: $0) }
    }

    private mutating func insert(_ instant: Instant) {
        recent.insert(instant, at: recent.firstIndex { $0 > instant } ?? recent.count)
        if recent.count > ReviewPromptLimits.recentDonations { recent.removeFirst() }
    }

    private mutating func insert(day: Int64) {
        let index = days.firstIndex { $0 >= day } ?? days.count
        if index < days.count, days[index] == day { return }
        days.insert(day, at: index)
        if days.count > ReviewPromptLimits.days { days.removeFirst() }
    }

    /// Counted donations in `(now − window, now]`; exact up to as many as are remembered.
    func count(within window: Duration, at now: Instant) -> Int {
        recent.count { $0 <= now && now - $0 < window }
    }

    /// Distinct days among the last so many, `today` included.
    func distinctDays(within window: Int, today: CivilDate) -> Int {
        let last = today.daysSinceEpoch
        return days.count { $0 <= last && last - $0 < Int64(window) }
    }
}
