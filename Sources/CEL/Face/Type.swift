/// A CEL type as the checker sees it.
///
/// The text form (`description`) is CEL's own notation and can be read back with
/// ``Type/init(text:)``: `int`, `list(string)`, `map(string, dyn)`, `optional_type(int)`,
/// `wrapper(int)`, `google.protobuf.Timestamp`.
public indirect enum Type: Sendable, Equatable {
    /// Any value; checked when evaluated.
    case dyn
    /// The type of `null`.
    case null
    /// `true` and `false`.
    case bool
    /// Signed 64-bit integers.
    case int
    /// Unsigned 64-bit integers.
    case uint
    /// IEEE 754 doubles.
    case double
    /// Text.
    case string
    /// Byte sequences.
    case bytes
    /// `google.protobuf.Timestamp`.
    case timestamp
    /// `google.protobuf.Duration`.
    case duration
    /// A list of one element type.
    case list(Type)
    /// A map of one key and one value type.
    case map(Type, Type)
    /// A record declared by the host.
    case object(ObjectType)
    /// `optional_type(T)`.
    case optional(Type)
    /// The type of a type; nil where it is not known which.
    case type(Type?)
    /// A type parameter in a function's signature.
    case param(String)
    /// A scalar that may also be null (`google.protobuf.Int64Value` and the like).
    case wrapper(Type)
    /// `google.protobuf.Any`.
    case any
    /// A named type of an extension or of the host, with its parameters.
    case abstract(String, [Type])
    /// The type of an expression that was already reported as wrong.
    case error
}

extension Type: CustomStringConvertible {
    /// The type in CEL's notation.
    public var description: String {
        switch self {
        case .list(let element): "list(\(element))"
        case .map(let key, let value): "map(\(key), \(value))"
        case .optional(let wrapped): "optional_type(\(wrapped))"
        case .type(let inner): inner.map { "type(\($0))" } ?? "type"
        case .wrapper(let scalar): "wrapper(\(scalar))"
        case .param(let name): name
        case .null: "null"
        case .dyn: "dyn"
        case .any: "any"
        case .error: "!error!"
        case .abstract(let name, let parameters):
            parameters.isEmpty
                ? name : name + "(" + parameters.map(\.description).joined(separator: ", ") + ")"
        default: runtimeName
        }
    }

    /// The type as messages of the type check write it: as ``description``, but with short names
    /// for times.
    var checkedName: String {
        switch self {
        case .timestamp: "timestamp"
        case .duration: "duration"
        case .list(let element): "list(\(element.checkedName))"
        case .map(let key, let value): "map(\(key.checkedName), \(value.checkedName))"
        case .optional(let wrapped): "optional_type(\(wrapped.checkedName))"
        case .type(let inner?): "type(\(inner.checkedName))"
        case .abstract(let name, let parameters) where !parameters.isEmpty:
            "\(name)(\(parameters.map(\.checkedName).joined(separator: ", ")))"
        default: description
        }
    }

    /// The name that `type(x)` shows and compares; parameters are erased at run time.
    public var runtimeName: String {
        switch self {
        case .dyn: "dyn"
        case .null: "null_type"
        case .bool: "bool"
        case .int: "int"
        case .uint: "uint"
        case .double: "double"
        case .string: "string"
        case .bytes: "bytes"
        case .timestamp: "google.protobuf.Timestamp"
        case .duration: "google.protobuf.Duration"
        case .list: "list"
        case .map: "map"
        case .object(let object): object.name
        case .optional: "optional_type"
        case .type: "type"
        case .param(let name): name
        case .wrapper(let scalar): scalar.runtimeName
        case .any: "google.protobuf.Any"
        case .abstract(let name, _): name
        case .error: "!error!"
        }
    }

    var isDyn: Bool {
        switch self {
        case .dyn, .any, .error: true
        default: false
        }
    }
}

/// A record declared by the host, such as `attributes` or `velocity`.
///
/// A variable of an object type has no value of its own: every leaf field is a slot of the
/// environment, found when an expression is compiled.
public struct ObjectType: Sendable, Equatable {
    /// One declared field.
    public struct Field: Sendable, Equatable {
        /// The field's name, an identifier.
        public var name: String
        /// The type of its value. An object type nests.
        public var type: Type
        /// Whether the value may be absent. Reading an absent one is an error value of the code
        /// ``EvaluationError/Code/missing``; `has()` tests it.
        public var isOptional: Bool
        /// For a string that acts as an enumeration: every value it can have.
        public var values: [String]?

        /// A declared field.
        public init(
            _ name: String, _ type: Type, isOptional: Bool = false, values: [String]? = nil
        ) {
            self.name = name
            self.type = type
            self.isOptional = isOptional
            self.values = values
        }
    }

    /// The name of the type, for messages.
    public var name: String
    /// The fields, in order of declaration.
    public var fields: [Field]

    /// A record type.
    public init(name: String, fields: [Field]) {
        self.name = name
        self.fields = fields
    }

    /// The field of a name.
    public func field(_ name: String) -> Field? { fields.first { $0.name == name } }
}
