/// A node of a YAML document with its place.
package struct YAMLNode: Sendable {
    package enum Content: Sendable {
        case scalar(YAMLScalar)
        case sequence([YAMLNode])
        case mapping([YAMLEntry])
    }

    package let content: Content
    package let range: SourceRange

    package var typeName: String {
        switch content {
        case .scalar(let scalar): scalar.isNull ? "nothing" : "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    package var scalar: YAMLScalar? {
        if case .scalar(let scalar) = content { scalar } else { nil }
    }

    package var isNull: Bool { scalar?.isNull ?? false }
}

/// A key and its value. Keys are always plain text, and unique in their mapping.
package struct YAMLEntry: Sendable {
    package let key: String
    package let keyRange: SourceRange
    package let value: YAMLNode
}

/// A scalar as text, before any reading as number or truth value.
package struct YAMLScalar: Sendable {
    package enum Style: Sendable {
        case plain
        case singleQuoted
        case doubleQuoted
        case literal
        case folded
    }

    package let text: String
    package let style: Style
    /// A `!!str` tag forces text.
    package let isForcedString: Bool

    /// Whether numbers, truth values and null may be read from it.
    package var isPlain: Bool { style == .plain && !isForcedString }

    package var isNull: Bool { isPlain && ["", "~", "null", "Null", "NULL"].contains(text) }
}
