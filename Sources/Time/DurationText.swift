/// The two spellings of a duration: the short one of policy files and the ISO 8601 one of answers.

extension Duration {
    /// The units of policy files, largest first; a sum must name them in this order.
    private static let units: [(name: StaticString, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Reads the spelling of policy files: `500ms`, `10s`, `15m`, `24h`, `7d`, or a sum with the
    /// units in falling order, such as `1h30m`.
    ///
    /// Digits only: no sign, no fraction, no blanks. Nil if it is not of that form or above
    /// `Int64.max` milliseconds.
    public init?(policyText text: some StringProtocol) {
        var total: Int64 = 0
        var lastUnit = -1
        var bytes = text.utf8[...]
        if bytes.isEmpty { return nil }
        while !bytes.isEmpty {
            let digits = bytes.prefix { isDigit($0) }
            bytes = bytes.dropFirst(digits.count)
            let letters = bytes.prefix { !isDigit($0) }
            bytes = bytes.dropFirst(letters.count)
            guard
                let count = decimal(digits),
                let unit = Self.units.firstIndex(where: { name, _ in
                    name.withUTF8Buffer { $0.elementsEqual(letters) }
                }), unit > lastUnit
            else { return nil }
            lastUnit = unit
            let (part, tooLong) = count.multipliedReportingOverflow(
                by: Self.units[unit].milliseconds)
            let (sum, tooLongInAll) = total.addingReportingOverflow(part)
            if tooLong || tooLongInAll { return nil }
            total = sum
        }
        self.init(milliseconds: total)
    }

    /// Reads a policy duration with a sign in front, as in the steps of a test: `+1m`, `-10m`.
    ///
    /// The sign must be there. Nil if it is not of that form.
    public init?(signedPolicyText text: some StringProtocol) {
        guard let sign = text.utf8.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
            let length = Duration(policyText: text.dropFirst())
        else { return nil }
        self = sign == UInt8(ascii: "-") ? -length : length
    }

    /// The spelling of policy files: the largest units first, `0s` for nothing, a `-` in front of a
    /// negative length. ``init(policyText:)`` reads back every length that is not negative.
    public var policyText: String {
        if milliseconds == 0 { return "0s" }
        var text = milliseconds < 0 ? "-" : ""
        var rest = milliseconds.magnitude
        for (name, size) in Self.units where rest >= UInt64(size) {
            text += "\(rest / UInt64(size))\(name)"
            rest %= UInt64(size)
        }
        return text
    }

    /// The ISO 8601 spelling used in answers: `PT15M`, `PT72H`, `PT0.5S`, `PT0S`.
    ///
    /// It counts in hours, never in days: a day of ISO 8601 is a day of the calendar, which need
    /// not have 24 hours.
    public var iso8601: String {
        var rest = milliseconds.magnitude
        let hours = rest / 3_600_000
        rest %= 3_600_000
        let minutes = rest / 60_000
        rest %= 60_000
        var text = milliseconds < 0 ? "-PT" : "PT"
        if hours > 0 { text += "\(hours)H" }
        if minutes > 0 { text += "\(minutes)M" }
        if rest > 0 || milliseconds.magnitude < 60_000 {
            text += "\(rest / 1000)"
            var fraction = rest % 1000
            if fraction > 0 {
                text += fraction < 10 ? ".00" : fraction < 100 ? ".0" : "."
                while fraction % 10 == 0 { fraction /= 10 }
                text += "\(fraction)"
            }
            text += "S"
        }
        return text
    }

    /// Reads what ``iso8601`` writes: hours, minutes and seconds with at most three decimals.
    ///
    /// Nil for anything else, days and months included, since their length depends on a calendar.
    public init?(iso8601 text: some StringProtocol) {
        var bytes = text.utf8[...]
        let negative = bytes.first == UInt8(ascii: "-")
        if negative { bytes = bytes.dropFirst() }
        guard bytes.starts(with: "PT".utf8) else { return nil }
        bytes = bytes.dropFirst(2)
        if bytes.isEmpty { return nil }
        var total = Duration.zero
        var designators: [UInt8] = [UInt8(ascii: "H"), UInt8(ascii: "M"), UInt8(ascii: "S")]
        while !bytes.isEmpty {
            let digits = bytes.prefix { isDigit($0) }
            bytes = bytes.dropFirst(digits.count)
            guard let count = decimal(digits) else { return nil }
            var fraction: Int64 = 0
            if bytes.first == UInt8(ascii: ".") {
                let decimals = bytes.dropFirst().prefix { isDigit($0) }
                bytes = bytes.dropFirst(1 + decimals.count)
                guard decimals.count <= 3, let value = decimal(decimals),
                    bytes.first == UInt8(ascii: "S")
                else { return nil }
                fraction = value * (decimals.count == 1 ? 100 : decimals.count == 2 ? 10 : 1)
            }
            guard let designator = bytes.popFirst(),
                let place = designators.firstIndex(of: designator)
            else { return nil }
            designators.removeFirst(place + 1)
            let size: Int64 =
                designator == UInt8(ascii: "H")
                ? 3_600_000 : designator == UInt8(ascii: "M") ? 60_000 : 1000
            let (part, tooLong) = count.multipliedReportingOverflow(by: size)
            let (sum, overflow) = total.milliseconds.addingReportingOverflow(part)
            let (sumInAll, overflowInAll) = sum.addingReportingOverflow(fraction)
            if tooLong || overflow || overflowInAll { return nil }
            total = Duration(milliseconds: sumInAll)
        }
        self = negative ? -total : total
    }
}

@inline(__always)
func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

/// The value of a run of decimal digits; nil if there are none or it is above `Int64.max`.
func decimal(_ digits: some Sequence<UInt8>) -> Int64? {
    var value: Int64 = 0
    var any = false
    for digit in digits {
        guard isDigit(digit) else { return nil }
        any = true
        let (shifted, tooLong) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflow) = shifted.addingReportingOverflow(Int64(digit &- UInt8(ascii: "0")))
        if tooLong || overflow { return nil }
        value = sum
    }
    return any ? value : nil
}
