/// The yearly rule at the end of a TZif file: a POSIX TZ string with the extensions of RFC 9636.
///
/// Examples: `EST5EDT,M3.2.0,M11.1.0`, `<+0330>-3:30`, `EET-2EEST,M3.5.0/0,M10.5.0/0`.
struct PosixZoneRule: Sendable, Equatable {
    /// Seconds east of UTC outside daylight saving time.
    var standard: Int32
    /// Daylight saving time; nil if there is none.
    var daylight: Daylight?

    struct Daylight: Sendable, Equatable {
        /// Seconds east of UTC.
        var offset: Int32
        /// When it starts, in standard time.
        var start: YearlyTime
        /// When it ends, in daylight saving time.
        var end: YearlyTime
    }

    /// A moment that recurs every year.
    struct YearlyTime: Sendable, Equatable {
        var day: YearlyDay
        /// Seconds after 00:00 of that day, −167 to 167 hours.
        var time: Int32
    }

    enum YearlyDay: Sendable, Equatable {
        /// `Jn`: 1…365; February 29th is never counted.
        case withoutLeapDay(Int)
        /// `n`: 0…365; February 29th is counted.
        case withLeapDay(Int)
        /// `Mm.w.d`: the w-th (5: the last) weekday d (0: Sunday) of a month.
        case weekday(month: Int, week: Int, weekday: Int)
    }

    func offset(atSeconds seconds: Int64) -> Int {
        guard let daylight else { return Int(standard) }
        var latest = Int64.min
        var offset = standard
        for year in years(around: seconds) {
            // At equal instants the start wins: that is how a zone on permanent daylight saving
            // time is written.
            let end = daylight.end.seconds(inYear: year, offset: daylight.offset)
            if end <= seconds, end >= latest { (latest, offset) = (end, standard) }
            let start = daylight.start.seconds(inYear: year, offset: standard)
            if start <= seconds, start >= latest { (latest, offset) = (start, daylight.offset) }
        }
        return Int(offset)
    }

    func nextChange(after seconds: Int64) -> Int64? {
        guard let daylight else { return nil }
        var next = Int64.max
        for year in years(around: seconds) {
            for change in [
                daylight.start.seconds(inYear: year, offset: standard),
                daylight.end.seconds(inYear: year, offset: daylight.offset),
            ] where change > seconds {
                next = min(next, change)
            }
        }
        return next == .max ? nil : next
    }

    /// The years whose changes can matter at that moment: a rule may reach a week over New Year.
    private func years(around seconds: Int64) -> ClosedRange<Int> {
        // Kept inside the years of CivilDate; no instant comes near its ends.
        let year = min(max(CivilDateTime(localSeconds: seconds).date.year, -9998), 99_998)
        return year - 1...year + 1
    }
}

extension PosixZoneRule.YearlyTime {
    /// Seconds since the epoch of its occurrence in a year, the wall clock being at that offset.
    func seconds(inYear year: Int, offset: Int32) -> Int64 {
        let newYear = CivilDate.days(year: year, month: 1, day: 1)
        let date: Int64
        switch day {
        case .withoutLeapDay(let number):
            let skipsLeapDay = number >= 60 && CivilDate.isLeap(year: year)
            date = newYear + Int64(number - 1 + (skipsLeapDay ? 1 : 0))
        case .withLeapDay(let number):
            date = newYear + Int64(number)
        case .weekday(let month, let week, let weekday):
            let first = CivilDate(daysSinceEpoch: CivilDate.days(year: year, month: month, day: 1))
            var dayOfMonth = 1 + (weekday - first.weekday + 7) % 7 + (week - 1) * 7
            if dayOfMonth > CivilDate.length(ofMonth: month, inYear: year) { dayOfMonth -= 7 }
            date = first.daysSinceEpoch + Int64(dayOfMonth - 1)
        }
        return date * 86_400 + Int64(time) - Int64(offset)
    }
}

/// Reads the TZ string. Everything is bounds-checked; anything odd gives nil.
extension PosixZoneRule {
    init?(_ text: ArraySlice<UInt8>) {
        var reader = Reader(bytes: text)
        guard reader.name(), let west = reader.time(maxHours: 24) else { return nil }
        standard = -west
        daylight = nil
        if reader.atEnd { return }
        guard reader.name() else { return nil }
        var offset = standard + 3600
        if !reader.next(is: ",") {
            guard let west = reader.time(maxHours: 24) else { return nil }
            offset = -west
        }
        guard reader.skip(","), let start = reader.yearlyTime(), reader.skip(","),
            let end = reader.yearlyTime(), reader.atEnd
        else { return nil }
        daylight = Daylight(offset: offset, start: start, end: end)
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        var atEnd: Bool { bytes.isEmpty }

        func next(is character: Unicode.Scalar) -> Bool { bytes.first == UInt8(ascii: character) }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard next(is: character) else { return false }
            bytes.removeFirst()
            return true
        }

        /// An abbreviation: at least three letters, or `<…>` of letters, digits and signs.
        mutating func name() -> Bool {
            if skip("<") {
                guard let end = bytes.firstIndex(of: UInt8(ascii: ">")), end - bytes.startIndex >= 3
                else { return false }
                bytes = bytes[(end + 1)...]
                return true
            }
            let letters = bytes.prefix {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
            }
            bytes = bytes.dropFirst(letters.count)
            return letters.count >= 3
        }

        mutating func integer(_ range: ClosedRange<Int32>) -> Int32? {
            let digits = bytes.prefix { isDigit($0) }
            guard digits.count <= 3, let value = decimal(digits), range.contains(Int32(value))
            else { return nil }
            bytes = bytes.dropFirst(digits.count)
            return Int32(value)
        }

        /// `[+-]hh[:mm[:ss]]` in seconds.
        mutating func time(maxHours: Int32) -> Int32? {
            let negative = next(is: "-")
            if negative || next(is: "+") { bytes.removeFirst() }
            guard var seconds = integer(0...maxHours).map({ $0 * 3600 }) else { return nil }
            if skip(":") {
                guard let minutes = integer(0...59) else { return nil }
                seconds += minutes * 60
                if skip(":") {
                    guard let rest = integer(0...59) else { return nil }
                    seconds += rest
                }
            }
            return negative ? -seconds : seconds
        }

        mutating func yearlyTime() -> YearlyTime? {
            guard let day = yearlyDay() else { return nil }
            if !skip("/") { return YearlyTime(day: day, time: 2 * 3600) }
            return time(maxHours: 167).map { YearlyTime(day: day, time: $0) }
        }

        mutating func yearlyDay() -> YearlyDay? {
            if skip("J") { return integer(1...365).map { .withoutLeapDay(Int($0)) } }
            if skip("M") {
                guard let month = integer(1...12), skip("."), let week = integer(1...5), skip("."),
                    let weekday = integer(0...6)
                else { return nil }
                return .weekday(month: Int(month), week: Int(week), weekday: Int(weekday))
            }
            return integer(0...365).map { .withLeapDay(Int($0)) }
        }
    }
}
