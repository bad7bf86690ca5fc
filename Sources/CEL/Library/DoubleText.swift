/// The text of doubles as CEL writes it: shortest that reads back the same, `1e+21` from there on.
enum DoubleText {
    private static let zero = UInt8(ascii: "0")

    /// With `isPlain` there is never an exponent, as `format` wants it.
    static func text(_ number: Double, isPlain: Bool = false) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        if number == 0 { return number.sign == .minus ? "-0" : "0" }
        let (digits, scale) = digits(of: number.magnitude)
        var text: [UInt8] = number < 0 ? [UInt8(ascii: "-")] : []
        if isPlain || (-3...21).contains(scale) {
            plain(digits, scale, into: &text)
        } else {
            scientific(digits, scale, into: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The digits that count, the first and the last of them no zero (unless it is the only one),
    /// and how many stand before the point.
    private static func digits(of number: Double) -> (digits: ArraySlice<UInt8>, scale: Int) {
        // Swift's description is the shortest that round-trips; only its notation differs.
        let description = Array(number.description.utf8)
        let mark = description.firstIndex(of: UInt8(ascii: "e")) ?? description.endIndex
        let exponent = Int(String(decoding: description[mark...].dropFirst(), as: UTF8.self)) ?? 0
        let mantissa = description[..<mark]
        let point = mantissa.firstIndex(of: UInt8(ascii: ".")) ?? mark
        var digits = mantissa[..<point] + mantissa[point...].dropFirst()
        var scale = exponent + point
        while digits.count > 1, digits.first == zero {
            digits.removeFirst()
            scale -= 1
        }
        while digits.count > 1, digits.last == zero { digits.removeLast() }
        return (digits, scale)
    }

    private static func scientific(
        _ digits: ArraySlice<UInt8>, _ scale: Int, into text: inout [UInt8]
    ) {
        let power = scale - 1
        text += digits.prefix(1)
        if digits.count > 1 { text.append(UInt8(ascii: ".")) }
        text += digits.dropFirst()
        text += [UInt8(ascii: "e"), UInt8(ascii: power < 0 ? "-" : "+")]
        if power.magnitude < 10 { text.append(zero) }
        text += String(power.magnitude).utf8
    }

    private static func plain(
        _ digits: ArraySlice<UInt8>, _ scale: Int, into text: inout [UInt8]
    ) {
        if scale <= 0 {
            text += [zero, UInt8(ascii: ".")]
            text += repeatElement(zero, count: -scale)
            text += digits
        } else if digits.count <= scale {
            text += digits
            text += repeatElement(zero, count: scale - digits.count)
        } else {
            text += digits.prefix(scale)
            text.append(UInt8(ascii: "."))
            text += digits.dropFirst(scale)
        }
    }
}
