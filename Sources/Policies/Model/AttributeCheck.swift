import JSON
import Time

/// Why a caller's value is refused.
public struct AttributeRefusal: Error, Sendable, Equatable {
    /// What is wrong.
    public enum Code: String, Sendable {
        /// The value has another type than declared.
        case wrongType
        /// A number or a string's length is outside the declared bounds.
        case outOfRange
        /// A string is not one of those listed.
        case notAllowed
    }

    /// What is wrong, as a stable code.
    public let code: Code
    /// What is wrong, in words, without the value (it may not be written down).
    public let message: String
    /// What would be accepted, for a problem's `allowed`.
    public let allowed: [String]
}

extension AttributeDeclaration {
    /// Reads a caller's JSON value as the declared type.
    ///
    /// A whole number is a fine double; a double is an int only when it is whole and exact, so an
    /// attribute declared `int` stays one however the caller's encoder writes it. Nothing is
    /// rounded and nothing is cut.
    public func check(_ value: JSONValue) -> Result<AttributeValue, AttributeRefusal> {
        switch (type, value) {
        case (.bool, .bool(let flag)): return .success(.bool(flag))
        case (.int, .int(let number)): return inRange(.int(number))
        case (.int, .double(let number)):
            guard let exact = Int64(exactly: number) else { return wrongType("a whole number") }
            return inRange(.int(exact))
        case (.int, _): return wrongType("a whole number of 64 bits")
        case (.double, .int(let number)):
            guard let exact = Double(exactly: number) else {
                return wrongType("a number that a double holds exactly")
            }
            return inRange(.double(exact))
        case (.double, .double(let number)) where number.isFinite: return inRange(.double(number))
        case (.double, _): return wrongType("a number")
        case (.string, .string(let text)): return fits(text)
        case (.timestamp, .string(let text)):
            guard let instant = Instant(rfc3339: text) else { return wrongType("an RFC 3339 time") }
            return .success(.timestamp(instant))
        case (.timestamp, _): return wrongType("an RFC 3339 time")
        case (.bool, _): return wrongType("true or false")
        case (.string, _): return wrongType("a string")
        }
    }

    /// Why a value of the declared type is refused; nil if it is not.
    public func refusal(of value: AttributeValue) -> AttributeRefusal? {
        let result =
            switch value {
            case .int, .double: inRange(value)
            case .string(let text): fits(text)
            case .bool, .timestamp: Result<AttributeValue, AttributeRefusal>.success(value)
            }
        if case .failure(let refusal) = result { return refusal }
        return nil
    }

    private func wrongType(_ wanted: String) -> Result<AttributeValue, AttributeRefusal> {
        .failure(
            AttributeRefusal(
                code: .wrongType, message: "`\(name)` must be \(wanted)", allowed: [type.rawValue]))
    }

    private func inRange(_ value: AttributeValue) -> Result<AttributeValue, AttributeRefusal> {
        let below = minimum.map { Self.isBelow(value, $0) } ?? false
        let above = maximum.map { Self.isAbove(value, $0) } ?? false
        guard below || above else { return .success(value) }
        var allowed: [String] = []
        if let minimum { allowed.append(">= " + minimum.text) }
        if let maximum { allowed.append("<= " + maximum.text) }
        return .failure(
            AttributeRefusal(
                code: .outOfRange, message: "`\(name)` is outside what the policy allows",
                allowed: allowed))
    }

    /// Bounds are of the attribute's own type, so only like pairs occur; others never refuse.
    private static func isBelow(_ value: AttributeValue, _ bound: AttributeBound) -> Bool {
        switch (value, bound) {
        case (.int(let number), .int(let limit)): number < limit
        case (.double(let number), .double(let limit)): number < limit
        default: false
        }
    }

    private static func isAbove(_ value: AttributeValue, _ bound: AttributeBound) -> Bool {
        switch (value, bound) {
        case (.int(let number), .int(let limit)): number > limit
        case (.double(let number), .double(let limit)): number > limit
        default: false
        }
    }

    private func fits(_ text: String) -> Result<AttributeValue, AttributeRefusal> {
        if let values {
            guard values.contains(text) else {
                return .failure(
                    AttributeRefusal(
                        code: .notAllowed, message: "`\(name)` must be one of those listed",
                        allowed: values))
            }
            return .success(.string(text))
        }
        // Bytes first: counting scalars of a huge string is work a caller should not get for free.
        guard text.utf8.count <= maxLength * 4, text.unicodeScalars.count <= maxLength else {
            return .failure(
                AttributeRefusal(
                    code: .outOfRange, message: "`\(name)` is too long",
                    allowed: ["at most \(maxLength) characters"]))
        }
        return .success(.string(text))
    }
}
