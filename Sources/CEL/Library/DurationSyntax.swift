/// Durations as text: read as `1h30m`, `-1.5s`, `100ms`, `5us`, `7ns`; written in seconds.
enum DurationSyntax {
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("ns", 1), ("us", 1_000), ("µs", 1_000), ("μs", 1_000), ("ms", 1_000_000),
        ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
    ]

    /// Nanoseconds; nil where the text is no duration or beyond ±292 years.
    static func parse(_ text: UnsafeRawBufferPointer) -> Int64? {
        var rest = text[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        if rest.count == 1, rest.first == UInt8(ascii: "0") { return 0 }
        guard !rest.isEmpty else { return nil }
        // Summed up below zero, where the range is larger by one.
        var total: Int64 = 0
        while !rest.isEmpty {
            guard let part = part(&rest) else { return nil }
            let sum = total.addingReportingOverflow(part)
            if sum.overflow { return nil }
            total = sum.partialValue
        }
        if isNegative { return total }
        return total == .min ? nil : -total
    }

    /// A count with its unit, below zero.
    private static func part(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int64? {
        let whole = rest.prefix(while: Lexer.isDigit)
        rest = rest.dropFirst(whole.count)
        var fraction = rest.prefix(0)
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = rest.prefix(while: Lexer.isDigit)
            rest = rest.dropFirst(fraction.count)
        }
        guard !whole.isEmpty || !fraction.isEmpty,
            let unit = units.first(where: { rest.starts(with: $0.name.utf8) })
        else { return nil }
        rest = rest.dropFirst(unit.name.utf8.count)
        guard
            let count = whole.isEmpty ? 0 : Int64("-" + String(decoding: whole, as: UTF8.self))
        else { return nil }
        let scaled = count.multipliedReportingOverflow(by: unit.nanoseconds)
        if scaled.overflow { return nil }
        // Exact in whole numbers: each digit is worth a tenth of the one before.
        var value: Int64 = 0
        var worth = unit.nanoseconds
        for digit in fraction {
            worth /= 10
            value += Int64(digit - UInt8(ascii: "0")) * worth
        }
        let sum = scaled.partialValue.subtractingReportingOverflow(value)
        return sum.overflow ? nil : sum.partialValue
    }

    /// Seconds with as many decimals as needed: `5400s`, `-1.5s`.
    static func text(_ nanoseconds: Int64) -> String {
        let magnitude = nanoseconds.magnitude
        var text = (nanoseconds < 0 ? "-" : "") + String(magnitude / 1_000_000_000)
        let rest = magnitude % 1_000_000_000
        if rest > 0 {
            var decimals = String(rest + 1_000_000_000).dropFirst()
            while decimals.last == "0" { decimals.removeLast() }
            text += "." + decimals
        }
        return text + "s"
    }
}
