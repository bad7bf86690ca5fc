import Glibc
import Time

/// A year in the life of the transcript app, as donations of its people.
struct DonationYear {
    static let start = Instant(milliseconds: 1_764_547_200_000)  // 2025-12-01T00:00:00Z
    static let days = 365

    /// One event, small enough that a year of them fits into memory to be put in order.
    struct Event {
        enum Reason: UInt8 {
            case activeDay, finishedTranscript, exportedVideo, transcriptionFailed
        }
        enum Report: UInt8 {
            case requested, silent, postponed
        }

        var receivedAt: Instant
        /// What the device believed the time was.
        var occurredAt: Instant
        var person: Int32
        var device: UInt8
        var install: UInt8
        var reason: Reason
        var minutes: UInt8
        var hasActiveScene: Bool
        var report: Report
        /// Whether the person is on a trip.
        var isAway: Bool
        /// Whether ``occurredAt`` is off.
        var isClockWrong: Bool
    }

    /// The releases, with the day of the year each came out on.
    static let releases: [(day: Double, version: String)] = [
        (-400, "3.9"), (-40, "4.0"), (9, "4.0.1"), (31, "4.1"), (52, "4.1.1"), (70, "4.2"),
        (93, "4.3"), (99, "4.3.1"), (128, "4.4"), (150, "4.4.1"), (171, "4.5"), (196, "4.6"),
        (203, "4.6.1"), (231, "4.7"), (258, "5.0"), (262, "5.0.1"), (281, "5.0.2"), (304, "5.1"),
        (332, "5.2"), (351, "5.2.1"),
    ]

    let donors: [Donor]
    /// In the order in which they came in.
    let events: [Event]

    init(people: Int, chance: inout Chance) {
        var donors: [Donor] = []
        var events: [Event] = []
        for number in 0..<people {
            let donor = Donor(number, &chance)
            Self.live(donor, Int32(number), &events, &chance)
            donors.append(donor)
        }
        // What comes in after the year is no part of it.
        events.removeAll { $0.receivedAt >= Self.start + .days(Int64(Self.days)) }
        // Persons break ties, so that the order follows from the seed alone.
        events.sort {
            ($0.receivedAt, $0.person, $0.occurredAt, $0.reason.rawValue)
                < ($1.receivedAt, $1.person, $1.occurredAt, $1.reason.rawValue)
        }
        self.donors = donors
        self.events = events
    }

    static func instant(day: Double) -> Instant {
        start + .milliseconds(Int64(day * 86_400_000))
    }

    static func day(_ instant: Instant) -> Double {
        Double((instant - start).milliseconds) / 86_400_000
    }

    /// The version that a device has on a day.
    static func version(_ device: Donor.Device, on day: Double) -> String {
        // Putting the app on anew brings the newest.
        let installed = device.installs.last { Self.day($0) <= day }.map(Self.day) ?? day
        let release = releases.last { $0.day <= installed || $0.day + device.lag <= day }
        return release?.version ?? releases[0].version
    }

    // MARK: A life

    private static func live(
        _ donor: Donor, _ number: Int32, _ events: inout [Event], _ chance: inout Chance
    ) {
        let span = donor.days.upperBound - donor.days.lowerBound
        let count = Int((donor.sessions * span / Double(days)).rounded(.up))
        var moments = (0..<count).map { _ in
            // A day, then an hour of it: most in the evening.
            let day = floor(chance.between(donor.days))
            let hour = min(max(18.5 + 3.5 * chance.normal(), 0), 23.99)
            return day + (hour - donor.zone.hours) / 24
        }
        moments.sort()
        var lastDay = -1.0
        for moment in moments where moment >= 0 && moment < Double(days) {
            let local = floor(moment + donor.zone.hours / 24)
            session(
                donor, number, at: moment, isNewDay: local > lastDay, &events, &chance)
            lastDay = local
        }
    }

    private static func session(
        _ donor: Donor, _ number: Int32, at moment: Double, isNewDay: Bool,
        _ events: inout [Event], _ chance: inout Chance
    ) {
        let used = donor.devices.indices.filter {
            day(donor.devices[$0].installs[0]) <= moment
        }
        guard let index = used.isEmpty ? nil : used[Int(chance.unit() * Double(used.count))] else {
            return
        }
        var at = instant(day: moment)
        func add(_ reason: Event.Reason, _ events: inout [Event], minutes: Double = 0) {
            events.append(
                event(donor, number, index, reason, at: at, minutes: minutes, &chance))
            at = at + .milliseconds(Int64(chance.between(20_000...900_000)))
        }
        if isNewDay { add(.activeDay, &events) }
        for _ in 0..<(chance.happens(0.2) ? 2 : 1) where chance.happens(0.6) {
            if chance.happens(0.06) {
                add(.transcriptionFailed, &events)
            } else {
                add(.finishedTranscript, &events)
            }
        }
        if chance.happens(0.28) {
            add(.exportedVideo, &events, minutes: chance.skewed(median: 6, spread: 0.9))
        }
    }

    private static func event(
        _ donor: Donor, _ number: Int32, _ index: Int, _ reason: Event.Reason, at: Instant,
        minutes: Double, _ chance: inout Chance
    ) -> Event {
        let device = donor.devices[index]
        let moment = day(at)
        var receivedAt = at + .milliseconds(Int64(chance.between(80...2_500)))
        if chance.happens(0.02) {
            // Without a network: it comes in when there is one again.
            receivedAt =
                receivedAt
                + .milliseconds(Int64(chance.skewed(median: 5_400_000, spread: 1.2)))
        }
        var occurredAt = at
        let wrong = device.wrong.flatMap { $0.days.contains(moment) ? $0.by : nil }
        if let wrong { occurredAt = at + wrong }
        let install = device.installs.lastIndex { $0 <= at } ?? 0
        // Transcripts often end while the app is in the background.
        let hasScene = !chance.happens(reason == .finishedTranscript ? 0.12 : 0.02)
        let report = chance.unit()
        return Event(
            receivedAt: receivedAt, occurredAt: occurredAt, person: number, device: UInt8(index),
            install: UInt8(install), reason: reason, minutes: UInt8(min(max(minutes, 1), 240)),
            hasActiveScene: hasScene,
            report: report < 0.9 ? .requested : report < 0.96 ? .silent : .postponed,
            isAway: donor.trip?.days.contains(moment) ?? false, isClockWrong: wrong != nil)
    }
}
