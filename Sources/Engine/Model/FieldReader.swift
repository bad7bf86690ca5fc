import JSON
import Time

/// Reads the members of a JSON object, with refusals that name the field, the value given
/// and what is allowed.
public struct FieldReader: Sendable {
    /// The object.
    public let object: JSONObject
    private let path: String

    /// A reader of a value that must be an object, at a JSON pointer.
    public init(_ value: JSONValue, at path: String) throws(Refusal) {
        guard case .object(let object) = value else {
            throw Refusal(
                .invalidValue, "an object should be here, not a \(value.typeName)", field: path,
                value: value.shortened, allowed: ["object"])
        }
        self.object = object
        self.path = path
    }

    /// The pointer of a member.
    public func pointer(_ name: String) -> String { path + "/" + JSONPointer.escape(name) }

    /// Refuses members of any other name.
    public func allowOnly(_ names: [String]) throws(Refusal) {
        for member in object.members where !names.contains(member.key) {
            throw Refusal(
                .unknownField, "there is no such field", field: pointer(member.key),
                value: member.value.shortened, allowed: names.map { .string($0) })
        }
    }

    /// The member, unless it is left out or null.
    public func value(_ name: String) -> JSONValue? {
        guard let value = object[name], value != .null else { return nil }
        return value
    }

    /// A member that must be there.
    public func required<T>(_ name: String, _ value: T?) throws(Refusal) -> T {
        guard let value else {
            throw Refusal(.missingField, "`\(name)` is required", field: pointer(name))
        }
        return value
    }

    /// A string of 1 to `maxBytes` bytes without control characters.
    public func string(_ name: String, maxBytes: Int = 256) throws(Refusal) -> String? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value else { throw wrong(name, value, ["string"]) }
        guard (1...maxBytes).contains(text.utf8.count) else {
            throw wrong(name, value, [.string("1 to \(maxBytes) bytes")])
        }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw wrong(name, value, ["no control characters"])
        }
        return text
    }

    /// One of a closed set of names.
    public func choice<T: RawRepresentable & CaseIterable>(_ name: String, _ type: T.Type)
        throws(Refusal) -> T? where T.RawValue == String
    {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value, let choice = T(rawValue: text) else {
            throw wrong(name, value, T.allCases.map { .string($0.rawValue) })
        }
        return choice
    }

    /// A whole number in a range.
    public func integer(_ name: String, in range: ClosedRange<Int64>) throws(Refusal) -> Int64? {
        guard let value = value(name) else { return nil }
        guard let number = value.intValue, range.contains(number) else {
            throw wrong(
                name, value, [.string("\(range.lowerBound) to \(range.upperBound)")])
        }
        return number
    }

    /// A number in a range.
    public func number(_ name: String, in range: ClosedRange<Double>) throws(Refusal) -> Double? {
        guard let value = value(name) else { return nil }
        guard let number = value.doubleValue, range.contains(number) else {
            throw wrong(
                name, value, [.string("\(range.lowerBound) to \(range.upperBound)")])
        }
        return number
    }

    /// A truth value.
    public func bool(_ name: String) throws(Refusal) -> Bool? {
        guard let value = value(name) else { return nil }
        guard case .bool(let flag) = value else { throw wrong(name, value, [true, false]) }
        return flag
    }

    /// An RFC 3339 time.
    public func instant(_ name: String) throws(Refusal) -> Instant? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value, let instant = Instant(rfc3339: text) else {
            throw wrong(name, value, ["an RFC 3339 time such as 2026-11-30T12:00:00Z"])
        }
        return instant
    }

    /// A duration such as `10m` or `1h30m`, not negative.
    public func duration(_ name: String) throws(Refusal) -> Duration? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value, let duration = Duration(policyText: text),
            duration >= .zero
        else { throw wrong(name, value, ["a duration such as 90s, 10m, 24h or 7d"]) }
        return duration
    }

    /// An object.
    public func object(_ name: String) throws(Refusal) -> FieldReader? {
        guard let value = value(name) else { return nil }
        return try FieldReader(value, at: pointer(name))
    }

    /// An array of up to `limit` elements.
    public func array(_ name: String, limit: Int) throws(Refusal) -> [JSONValue]? {
        guard let value = value(name) else { return nil }
        guard case .array(let elements) = value else { throw wrong(name, value, ["array"]) }
        guard elements.count <= limit else {
            throw Refusal(
                .invalidValue, "`\(name)` has \(elements.count) elements", field: pointer(name),
                allowed: [.string("at most \(limit)")])
        }
        return elements
    }

    /// A refusal of a member's value.
    public func wrong(_ name: String, _ value: JSONValue, _ allowed: [JSONValue]) -> Refusal {
        Refusal(
            .invalidValue, "`\(name)` does not have an allowed value", field: pointer(name),
            value: value.shortened, allowed: allowed)
    }
}

extension JSONValue {
    /// The value as it may be shown in a refusal: whole if it is small.
    public var shortened: JSONValue {
        switch self {
        case .string(let text) where text.utf8.count > 100:
            .string(String(text.unicodeScalars.prefix(100)) + "…")
        case .array, .object: .string("(\(typeName))")
        default: self
        }
    }
}
