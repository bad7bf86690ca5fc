/// A CEL value at the edge of the evaluator, where the host reads or writes it.
///
/// Inside of the evaluator values are 16-byte cells; they become `Value` only on the way in and
/// out. `==` is CEL's equality: numbers compare by their mathematical value across `int`, `uint`
/// and `double`, NaN equals nothing, maps ignore order, values of different kinds are unequal.
/// For "the same value of the same type" use ``isIdentical(to:)``.
public indirect enum Value: Sendable {
    /// The null value.
    case null
    /// A truth value.
    case bool(Bool)
    /// A signed 64-bit integer.
    case int(Int64)
    /// An unsigned 64-bit integer.
    case uint(UInt64)
    /// An IEEE 754 double.
    case double(Double)
    /// Text: a sequence of Unicode code points. Never compared by canonical equivalence.
    case string(String)
    /// A byte sequence.
    case bytes([UInt8])
    /// An ordered list of values.
    case list([Value])
    /// A map. Keys are unique under CEL's equality.
    case map(ValueMap)
    /// A point in time.
    case timestamp(Timestamp)
    /// A span of time.
    case duration(CELDuration)
    /// A type as a value, as `type(1)` gives it. Compared by its runtime name only.
    case type(Type)
    /// An optional value; nil is `optional.none()`.
    case optional(Value?)
    /// A value of an extension's own type (`net.IP`, `net.CIDR`), in its canonical text.
    case opaque(type: String, text: String)
    /// A protobuf message that stands for no other value, `google.protobuf.FieldMask` or `Empty`:
    /// its type's name and the fields that are set, by name.
    case message(type: String, fields: ValueMap)
}

/// The entries of a CEL map, in the order they were written or given.
public struct ValueMap: Sendable {
    /// One key and its value.
    public struct Entry: Sendable {
        /// `bool`, `int`, `uint` or `string`; doubles occur as lookup keys only.
        public var key: Value
        /// What the key maps to.
        public var value: Value

        /// An entry of a map.
        public init(key: Value, value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// All entries, in order.
    public var entries: [Entry]

    /// A map of these entries; the caller sees to it that keys are unique.
    public init(_ entries: [Entry] = []) { self.entries = entries }

    /// The value at a key, by CEL's equality of keys. Linear in the number of entries.
    public subscript(key: Value) -> Value? { entries.first { $0.key == key }?.value }
}

extension Value: Equatable {
    /// CEL's equality, see ``Value``.
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let l), .bool(let r)): l == r
        case (.string(let l), .string(let r)): l.utf8.elementsEqual(r.utf8)
        case (.bytes(let l), .bytes(let r)): l == r
        case (.list(let l), .list(let r)): l.elementsEqual(r, by: ==)
        case (.map(let l), .map(let r)):
            l.entries.count == r.entries.count
                && l.entries.allSatisfy { entry in r[entry.key].map { $0 == entry.value } ?? false }
        case (.timestamp(let l), .timestamp(let r)): l == r
        case (.duration(let l), .duration(let r)): l == r
        case (.type(let l), .type(let r)): l.runtimeName == r.runtimeName
        case (.optional(let l), .optional(let r)):
            switch (l, r) {
            case (nil, nil): true
            case (let l?, let r?): l == r
            default: false
            }
        case (.opaque(let lt, let l), .opaque(let rt, let r)): lt == rt && l == r
        case (.message(let lt, let l), .message(let rt, let r)): lt == rt && .map(l) == .map(r)
        default: Numeric.areEqual(left.numeric, right.numeric)
        }
    }

    /// Whether both are the same value of the same type: `int` 1 is not `uint` 1, NaN is NaN.
    public func isIdentical(to other: Value) -> Bool {
        switch (self, other) {
        case (.double(let l), .double(let r)):
            l.bitPattern == r.bitPattern || (l.isNaN && r.isNaN)
        case (.int(let l), .int(let r)): l == r
        case (.uint(let l), .uint(let r)): l == r
        case (.list(let l), .list(let r)): l.elementsEqual(r) { $0.isIdentical(to: $1) }
        case (.map(let l), .map(let r)):
            l.entries.count == r.entries.count
                && l.entries.allSatisfy { entry in
                    r.entries.contains {
                        $0.key.isIdentical(to: entry.key) && $0.value.isIdentical(to: entry.value)
                    }
                }
        case (.optional(let l), .optional(let r)):
            switch (l, r) {
            case (nil, nil): true
            case (let l?, let r?): l.isIdentical(to: r)
            default: false
            }
        default: numeric == nil && other.numeric == nil && self == other
        }
    }

    var numeric: Numeric? {
        switch self {
        case .int(let value): .int(value)
        case .uint(let value): .uint(value)
        case .double(let value): .double(value)
        default: nil
        }
    }
}
