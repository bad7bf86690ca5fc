/// A JSON document in memory.
///
/// Numbers keep what their text said: a number without point and exponent is an integer
/// (`int`, or `uint` above `Int64.max`), any other is a `double`.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    /// Only for integers above `Int64.max`.
    case uint(UInt64)
    /// Always finite.
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue {
    /// The member of that name, if this is an object that has it.
    public subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    /// The text, if this is a string.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The integer, if this is one that fits, or a double without a fraction that does.
    public var intValue: Int64? {
        switch self {
        case .int(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number as a double, if this is a number.
    public var doubleValue: Double? {
        switch self {
        case .int(let value): Double(value)
        case .uint(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The truth value, if this is one.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements, if this is an array.
    public var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members, if this is an object.
    public var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// JSON's own name of the type, for messages.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .int, .uint, .double: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}

/// The members of a JSON object, in the order of the text. Names are unique.
public struct JSONObject: Sendable {
    /// Name and value of each member, in order.
    public var members: [(key: String, value: JSONValue)]

    /// An object of these members; the caller sees to it that names are unique.
    public init(_ members: [(key: String, value: JSONValue)] = []) {
        self.members = members
    }

    /// The value of that name; setting `nil` removes the member.
    ///
    /// A search from the front: objects here have few members.
    public subscript(key: String) -> JSONValue? {
        get {
            for member in members where member.key == key { return member.value }
            return nil
        }
        set {
            let index = members.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }
}

extension JSONObject {
    /// The members in the byte order of their names.
    public var sorted: [(key: String, value: JSONValue)] {
        // Often they are already; looking costs less than sorting.
        let pairs = zip(members, members.dropFirst())
        if pairs.allSatisfy({ $0.key.isBefore($1.key) }) { return members }
        return members.sorted { $0.key.isBefore($1.key) }
    }
}

extension JSONObject: Equatable {
    /// Equal when the same names have equal values, in whatever order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count
            && left.members.allSatisfy { right[$0.key] == $0.value }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object from a literal, in the literal's order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.map { (key: $0.0, value: $0.1) })
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// A JSON string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A JSON integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A JSON double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A JSON truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A JSON array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// A JSON object, in the literal's order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.map { (key: $0.0, value: $0.1) }))
    }
    /// JSON's null.
    public init(nilLiteral: ()) { self = .null }
}

/// Text that is the same only byte for byte. Swift's `==` on strings takes different sequences
/// of code points for one text where Unicode calls them canonically equivalent; ids and values of
/// callers are what they sent, nothing else.
public struct ExactText: Hashable, Sendable {
    /// The text.
    public let text: String

    /// That text.
    public init(_ text: String) { self.text = text }

    /// Equality of the UTF-8.
    public static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Feeds the UTF-8.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
