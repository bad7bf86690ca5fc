import Time

/// A person of the year of donations: habits, devices, and what goes wrong.
struct Donor {
    /// A zone, with the offset that local hours are reckoned with; it is off by an hour in summer,
    /// which no habit notices.
    struct Zone {
        var name: String
        var hours: Double
        var weight: Double
    }

    static let zones = [
        Zone(name: "America/New_York", hours: -5, weight: 0.22),
        Zone(name: "Europe/London", hours: 0, weight: 0.17),
        Zone(name: "Europe/Berlin", hours: 1, weight: 0.16),
        Zone(name: "America/Los_Angeles", hours: -8, weight: 0.13),
        Zone(name: "Asia/Tokyo", hours: 9, weight: 0.09),
        Zone(name: "Asia/Kolkata", hours: 5.5, weight: 0.08),
        Zone(name: "America/Sao_Paulo", hours: -3, weight: 0.06),
        Zone(name: "Australia/Sydney", hours: 10, weight: 0.05),
        Zone(name: "Pacific/Auckland", hours: 12, weight: 0.02),
        Zone(name: "Asia/Kathmandu", hours: 5.75, weight: 0.02),
    ]

    /// Where the app came from.
    enum Build {
        case appStore, testFlight, development
    }

    /// One device of a person.
    struct Device {
        var name: String
        /// When the app was put on it; after the first, when it was removed and put on again.
        var installs: [Instant]
        /// Days between a release and its arrival here; never, if it is longer than the year.
        var lag: Double
        /// When its clock is wrong, and by how much.
        var wrong: (days: ClosedRange<Double>, by: Duration)?
    }

    var name: String
    var zone: Zone
    /// The days of the year on which the person is about.
    var days: ClosedRange<Double>
    var devices: [Device]
    /// How many sessions in a year.
    var sessions: Double
    var build: Build
    /// Whether the build says which version it is.
    var tellsVersion: Bool
    /// A trip to another zone.
    var trip: (days: ClosedRange<Double>, zone: Zone)?

    init(_ number: Int, _ chance: inout Chance) {
        let digits = String(number)
        name = "person-" + String(repeating: "0", count: max(0, 5 - digits.count)) + digits
        zone = Self.zone(&chance)
        let last = Double(DonationYear.days)
        // Three in five were there before the year began.
        let from = chance.happens(0.6) ? 0 : chance.unit() * (last - 10)
        let stays = chance.happens(0.55) ? last : from + chance.skewed(median: 60, spread: 1)
        days = from...min(last, max(stays, from + 1))
        sessions = min(chance.skewed(median: 26, spread: 0.9), 300)
        let kind = chance.unit()
        build = kind < 0.975 ? .appStore : kind < 0.995 ? .testFlight : .development
        tellsVersion = !chance.happens(0.004)
        devices = []
        if chance.happens(0.03) {
            let start = chance.between(days)
            trip = (start...min(start + 12, last), Self.zone(&chance))
        }
        devices.append(device("phone", since: days.lowerBound, &chance))
        if chance.happens(0.18) {
            devices.append(device("tablet", since: chance.between(days), &chance))
        }
    }

    private static func zone(_ chance: inout Chance) -> Zone {
        var rest = chance.unit() * zones.reduce(0) { $0 + $1.weight }
        for zone in zones {
            rest -= zone.weight
            if rest < 0 { return zone }
        }
        return zones[0]
    }

    private func device(_ kind: String, since day: Double, _ chance: inout Chance) -> Device {
        // Who was there before the year has had the app for some time.
        let first = day == 0 ? -chance.skewed(median: 120, spread: 0.8) : day
        var installs = [DonationYear.instant(day: first)]
        while chance.happens(installs.count == 1 ? 0.07 : 0.3), installs.count < 4 {
            let again = DonationYear.instant(day: chance.between(day...days.upperBound))
            if let last = installs.last, again > last { installs.append(again) }
        }
        let habit = chance.unit()
        let lag =
            habit < 0.75
            ? chance.between(0.1...6) : habit < 0.95 ? chance.skewed(median: 30, spread: 0.6) : 999
        var device = Device(name: "\(name)-\(kind)", installs: installs, lag: lag)
        if chance.happens(0.015) {
            let start = chance.between(days)
            let off = chance.between(1...45) * (chance.happens(0.5) ? 1 : -1)
            device.wrong = (
                start...start + chance.between(2...25),
                .milliseconds(Int64(off * 86_400_000))
            )
        }
        return device
    }
}
