/// A day of the proleptic Gregorian calendar, without a zone.
///
/// Years −9999 to 99999, wider than ``Instant`` so that the local date of any instant fits.
public struct CivilDate: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Days since 1970-01-01; negative before it.
    public let daysSinceEpoch: Int64

    static let range: ClosedRange<Int64> = -4_371_587...35_804_721

    /// The day so many days after 1970-01-01; outside the range of years, the nearest end of it.
    public init(daysSinceEpoch: Int64) {
        self.daysSinceEpoch = Swift.min(
            Swift.max(daysSinceEpoch, Self.range.lowerBound), Self.range.upperBound)
    }

    /// The day with that year, month (1…12) and day of the month; nil if there is no such day.
    public init?(year: Int, month: Int, day: Int) {
        guard (-9999...99_999).contains(year), (1...12).contains(month),
            day >= 1, day <= Self.length(ofMonth: month, inYear: year)
        else { return nil }
        daysSinceEpoch = Self.days(year: year, month: month, day: day)
    }

    /// Year, month (1…12) and day of the month (1…31).
    public var components: (year: Int, month: Int, day: Int) {
        // The year begins in March here, so that the leap day is the last day of it and month
        // lengths follow 153 days per five months. An era is 400 years, always 146,097 days.
        let shifted = Int(daysSinceEpoch) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    /// The year of the calendar.
    public var year: Int { components.year }
    /// The month, 1…12.
    public var month: Int { components.month }
    /// The day of the month, 1…31.
    public var day: Int { components.day }

    /// The day of the week, 0 for Sunday to 6 for Saturday.
    public var weekday: Int {
        // 1970-01-01 was a Thursday.
        let remainder = Int((daysSinceEpoch + 4) % 7)
        return remainder < 0 ? remainder + 7 : remainder
    }

    /// The day of the year, 1 for January 1st.
    public var dayOfYear: Int {
        Int(daysSinceEpoch - Self.days(year: year, month: 1, day: 1)) + 1
    }

    /// The day so many days later; outside the range of years, the nearest end of it.
    public func adding(days: Int64) -> CivilDate {
        CivilDate(daysSinceEpoch: saturatingSum(daysSinceEpoch, days))
    }

    /// Whether the left day is the earlier one.
    public static func < (left: CivilDate, right: CivilDate) -> Bool {
        left.daysSinceEpoch < right.daysSinceEpoch
    }

    /// Date subtraction: the number of days from `right` to `left`.
    public static func - (left: CivilDate, right: CivilDate) -> Int64 {
        left.daysSinceEpoch - right.daysSinceEpoch
    }

    /// Whether a year has a February 29th.
    public static func isLeap(year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    static func length(ofMonth month: Int, inYear year: Int) -> Int {
        switch month {
        case 2: isLeap(year: year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since the epoch of a day that exists. The caller has checked the ranges.
    static func days(year: Int, month: Int, day: Int) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int64(era * 146_097 + dayOfEra - 719_468)
    }
}

extension CivilDate: CustomStringConvertible {
    /// `2026-11-30`.
    public var description: String {
        let (year, month, day) = components
        var bytes: [UInt8] = []
        if (0...9999).contains(year) {
            appendPadded(year, width: 4, to: &bytes)
        } else {
            bytes += "\(year)".utf8
        }
        bytes.append(UInt8(ascii: "-"))
        appendPadded(month, width: 2, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        appendPadded(day, width: 2, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
