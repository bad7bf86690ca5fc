import Time

extension Machine {
    /// The accessors of timestamps and durations.
    mutating func time(_ builtin: Builtin, _ a: Arguments, _ code: Code) -> Cell {
        if a.count == 1, a[0].tag == .duration { return ofDuration(builtin, a) }
        guard a.count == 1 || (a.count == 2 && a[1].tag == .string), a[0].tag == .timestamp else {
            return noOverload(builtin, a)
        }
        let timestamp = a[0].asTimestamp
        var offset = 0
        if a.count == 2 {
            guard let zone = Self.zone(a[1].text, code.zones) else {
                return error(.invalidArgument, "\(Self.shown(a[1])) is no known time zone")
            }
            offset = zone.offset(atSeconds: timestamp.seconds)
        }
        let local = CivilDateTime(localSeconds: timestamp.seconds + Int64(offset))
        let components = local.date.components
        switch builtin {
        case .getFullYear: return .int(components.year)
        case .getMonth: return .int(components.month - 1)
        case .getDate: return .int(components.day)
        case .getDayOfMonth: return .int(components.day - 1)
        case .getDayOfYear: return .int(Self.dayOfYear(local.date))
        case .getDayOfWeek: return .int(Self.dayOfWeek(local.date))
        case .getHours: return .int(local.hour)
        case .getMinutes: return .int(local.minute)
        case .getSeconds: return .int(local.second)
        default: return .int(Int(timestamp.nanoseconds) / 1_000_000)
        }
    }

    /// Days since 1 January, from 0.
    private static func dayOfYear(_ date: CivilDate) -> Int {
        let newYear = CivilDate(year: date.components.year, month: 1, day: 1)
        return newYear.map { Int(date.daysSinceEpoch - $0.daysSinceEpoch) } ?? 0
    }

    /// Sunday is 0; 1 January 1970 was a Thursday.
    private static func dayOfWeek(_ date: CivilDate) -> Int {
        let day = (date.daysSinceEpoch + 4) % 7
        return Int(day < 0 ? day + 7 : day)
    }

    /// A name of the database, or an offset; CEL allows offsets without a sign (`02:00`).
    private static func zone(_ name: String, _ zones: ZoneDatabase) -> ZoneRules? {
        if let first = name.utf8.first, Lexer.isDigit(first) {
            return ZoneRules.fixedOffset("+" + name)
        }
        return zones[name] ?? ZoneRules.fixedOffset(name)
    }

    private mutating func ofDuration(_ builtin: Builtin, _ a: Arguments) -> Cell {
        let nanoseconds = a[0].asInt
        switch builtin {
        case .getHours: return .int(nanoseconds / 3_600_000_000_000)
        case .getMinutes: return .int(nanoseconds / 60_000_000_000)
        case .getSeconds: return .int(nanoseconds / 1_000_000_000)
        // The milliseconds of the second, as the specification's tests have it.
        case .getMilliseconds: return .int(nanoseconds % 1_000_000_000 / 1_000_000)
        default: return noOverload(builtin, a)
        }
    }
}
