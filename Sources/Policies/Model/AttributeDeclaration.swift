import JSON
import Time

/// The type of an attribute.
public enum AttributeType: String, Sendable, Hashable, CaseIterable {
    case bool
    case int
    case double
    case string
    case timestamp

    /// The names a policy may use.
    public static var names: [String] { allCases.map(\.rawValue) }
}

/// A value of an attribute, of the declared type.
public enum AttributeValue: Sendable, Hashable {
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case timestamp(Instant)
}

/// A bound of a numeric attribute, of the attribute's own type, so that whole numbers above 2^53
/// are compared exactly.
public enum AttributeBound: Sendable, Hashable {
    case int(Int64)
    case double(Double)

    /// The bound as text, for messages.
    public var text: String {
        switch self {
        case .int(let value): String(value)
        case .double(let value): String(value)
        }
    }
}

/// One fact the caller may send: its type and what is allowed. An undeclared one is refused.
public struct AttributeDeclaration: Sendable, Hashable {
    /// The name under `attributes.`.
    public let name: String
    /// The type.
    public let type: AttributeType
    /// Whether it may be left out.
    public let isOptional: Bool
    /// Whether the value may be written down. If not, only a keyed digest is, and rules may use
    /// the attribute in `has()` and `distinct` alone.
    public let isStored: Bool
    /// The least allowed number; nil for no bound.
    public let minimum: AttributeBound?
    /// The greatest allowed number; nil for no bound.
    public let maximum: AttributeBound?
    /// The longest allowed string, in Unicode scalars; meaningless for other types.
    public let maxLength: Int
    /// The only allowed strings; nil for any.
    public let values: [String]?

    /// A declaration as a policy states it.
    public init(
        name: String, type: AttributeType, isOptional: Bool = false, isStored: Bool = true,
        minimum: AttributeBound? = nil, maximum: AttributeBound? = nil,
        maxLength: Int = PolicyLimits.defaultMaxLength, values: [String]? = nil
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isStored = isStored
        self.minimum = minimum
        self.maximum = maximum
        self.maxLength = maxLength
        self.values = values
    }
}
