import Policies
import Time

/// The grants of one subject or of one device. Resets of counts never touch it.
public struct PromptLedger: Sendable, Hashable {
    /// How many older grants counted for a version.
    public struct VersionCount: Sendable, Hashable {
        /// The version in canonical text, or as the caller wrote it where it cannot be read.
        public var version: String
        /// Counting grants.
        public var count: Int
    }

    /// Remembered one by one, in the order of `grantedAt`.
    public private(set) var grants: [ReviewGrant] = []
    /// Counting grants that are no longer remembered one by one, by version, sorted.
    public private(set) var older: [VersionCount] = []

    /// No grants.
    public init() {}

    init(grants: [ReviewGrant], older: [VersionCount]) {
        self.grants = grants
        self.older = older
    }

    /// Whether one more grant might make it forget a version.
    public var isFull: Bool { older.count >= ReviewPromptLimits.versions }

    /// The grant of that id.
    public subscript(id: String) -> ReviewGrant? { grants.last { $0.id == id } }

    /// The open grants; at most one by this module's own doing.
    public func open(at now: Instant) -> [ReviewGrant] {
        grants.filter { $0.state(at: now) == .open }
    }

    /// Counting grants, ever.
    public func countingTotal(at now: Instant) -> Int {
        older.reduce(grants.count { $0.isCounting(at: now) }) { $0 + $1.count }
    }

    /// When counting grants were given that still lie in `[now − window, now]`, in order. One in
    /// the future of `now` is in it too: a clock that went back must not hide it.
    func countingTimes(at now: Instant, within window: Duration) -> [Instant] {
        grants.filter { $0.isCounting(at: now) && now - $0.grantedAt <= window }.map(\.grantedAt)
    }

    /// The last counting grant.
    func lastCounting(at now: Instant) -> ReviewGrant? {
        grants.last { $0.isCounting(at: now) }
    }

    /// Counting grants for a version, compared at a grain.
    func countingCount(of version: AppVersion, grain: VersionGrain, at now: Instant) -> Int {
        let wanted = version.cut(to: grain)
        let isWanted = { (text: String) in AppVersion(text)?.cut(to: grain) == wanted }
        return older.reduce(grants.count { $0.isCounting(at: now) && isWanted($0.version) }) {
            $0 + (isWanted($1.version) ? $1.count : 0)
        }
    }

    /// Adds a grant or replaces the one of the same id, then forgets what need not be remembered.
    mutating func put(_ grant: ReviewGrant, now: Instant) {
        grants.removeAll { $0.id == grant.id }
        // Ties keep the order of arrival.
        let index = grants.lastIndex { $0.grantedAt <= grant.grantedAt }.map { $0 + 1 } ?? 0
        grants.insert(grant, at: index)
        compact(now: now)
    }

    /// Takes in the grants of another ledger.
    mutating func merge(_ other: PromptLedger, now: Instant) {
        for entry in other.older { add(entry.version, entry.count) }
        for grant in other.grants where self[grant.id] == nil { put(grant, now: now) }
    }

    /// Changes the grant of that id, if it is remembered.
    mutating func update(_ id: String, _ change: (inout ReviewGrant) -> Void) {
        guard let index = grants.lastIndex(where: { $0.id == id }) else { return }
        change(&grants[index])
    }

    /// Leaves of grants what caps count: times and versions.
    mutating func erase(_ ids: Set<String>) {
        for index in grants.indices where ids.contains(grants[index].id) {
            grants[index].isErased = true
            grants[index].reason = ""
            grants[index].returnReason = nil
        }
    }

    /// Takes out whom the grants were given to.
    mutating func forgetSubjects() {
        for index in grants.indices { grants[index].subject = "" }
    }

    /// Forgets returned grants, and turns counting ones into a number per version, once they are
    /// too many or too old to lie in any window.
    private mutating func compact(now: Instant) {
        var counting = 0
        var returned = 0
        var kept: [ReviewGrant] = []
        for grant in grants.reversed() {
            let isOld = now - grant.grantedAt > ReviewPromptLimits.grantAge
            if grant.isCounting(at: now) {
                counting += 1
                // The last one is what intervals are measured from, however old.
                if counting == 1 || (counting <= ReviewPromptLimits.grants && !isOld) {
                    kept.append(grant)
                } else {
                    add(AppVersion(grant.version)?.description ?? grant.version, 1)
                }
            } else {
                returned += 1
                if let end = grant.countsErasedUntil, now > end { continue }
                if returned <= ReviewPromptLimits.returnedGrants && !isOld { kept.append(grant) }
            }
        }
        grants = kept.reversed()
    }

    private mutating func add(_ version: String, _ count: Int) {
        if let index = older.firstIndex(where: { $0.version == version }) {
            older[index].count = min(older[index].count + count, ReviewPromptLimits.count)
        } else {
            let index = older.firstIndex { $0.version > version } ?? older.count
            older.insert(VersionCount(version: version, count: count), at: index)
        }
    }
}
