import Engine

/// Numbers as people read them.
enum Figures {
    /// `1234567` as `1,234,567`.
    static func grouped(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + text
    }

    /// So many of something: `1 file`, `1,234 files`.
    static func counted(_ number: some BinaryInteger, _ noun: String) -> String {
        grouped(number) + " " + noun + (number == 1 ? "" : "s")
    }

    /// A number with one digit after the point.
    static func tenths(_ number: Double) -> String {
        let tenths = (number.magnitude * 10).rounded()
        guard tenths < 1e15 else { return String(number) }
        let whole = Int64(tenths)
        return (number < 0 && whole > 0 ? "-" : "") + grouped(whole / 10) + ".\(whole % 10)"
    }

    /// A number with at most four digits after the point.
    static func places(_ number: Double) -> String {
        let scaled = (number * 10_000).rounded()
        return scaled.magnitude < 1e15 ? String(scaled / 10_000) : String(number)
    }

    /// A rate as a percentage.
    static func percent(_ rate: Double) -> String { tenths(rate * 100) + " %" }

    /// A share as a percentage. One that is not whole is never shown as 100 %.
    static func share(_ share: PolicyCoverage.Share) -> String {
        let tenths = share.total == 0 ? 1000 : share.covered * 1000 / share.total
        return tenths == 1000 ? "100 %" : "\(tenths / 10).\(tenths % 10) %"
    }

    /// Text moved to the right end of so many columns.
    static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// Text at the left end of so many columns.
    static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
