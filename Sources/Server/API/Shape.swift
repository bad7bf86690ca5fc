/// What a body or a query item must look like, as data: requests are checked against it and the
/// OpenAPI document shows it.
public indirect enum Shape: Sendable, Equatable {
    /// Text of so many bytes of UTF-8, without control characters.
    case string(minBytes: Int = 1, maxBytes: Int)
    /// One of these words.
    case choice([String])
    /// A whole number in a range.
    case integer(ClosedRange<Int64>)
    /// A number in a range.
    case number(ClosedRange<Double>)
    /// True or false.
    case bool
    /// An RFC 3339 time.
    case instant
    /// A duration as policies write it: `90s`, `10m`, `24h`, `7d`.
    case duration
    /// Text, a number, or a truth value: what an attribute can be.
    case scalar
    /// Anything; whoever reads it checks it.
    case any
    /// A list of up to so many.
    case list(Shape, max: Int)
    /// An object with names of the caller's choice, up to so many.
    case map(Shape, max: Int)
    /// An object with these members and no other.
    case object([Field], oneOf: [String] = [])

    /// Text of up to 256 bytes: what ids of callers may be.
    public static let id = Shape.string(maxBytes: 256)
}

/// A member of an object, or a query item.
public struct Field: Sendable, Equatable {
    /// Its name.
    public var name: String
    /// What its value must look like.
    public var shape: Shape
    /// Whether it may be left out. A member that is null counts as left out.
    public var isRequired: Bool
    /// What it means, for the document.
    public var meaning: String

    /// A field that must be there.
    public static func required(_ name: String, _ shape: Shape, _ meaning: String = "") -> Field {
        Field(name: name, shape: shape, isRequired: true, meaning: meaning)
    }

    /// A field that may be left out.
    public static func optional(_ name: String, _ shape: Shape, _ meaning: String = "") -> Field {
        Field(name: name, shape: shape, isRequired: false, meaning: meaning)
    }
}
