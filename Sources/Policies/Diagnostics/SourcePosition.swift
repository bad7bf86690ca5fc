/// A place in a file. Lines and columns count from 1; columns count Unicode scalars.
public struct SourcePosition: Sendable, Hashable, Comparable {
    /// The line, from 1.
    public let line: Int
    /// The column in Unicode scalars, from 1.
    public let column: Int

    /// A place as editors count it.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Whether `lhs` comes first in the file.
    public static func < (lhs: SourcePosition, rhs: SourcePosition) -> Bool {
        (lhs.line, lhs.column) < (rhs.line, rhs.column)
    }
}

/// From one place up to, not including, another.
public struct SourceRange: Sendable, Hashable {
    /// The first place.
    public let start: SourcePosition
    /// The place after the last.
    public let end: SourcePosition

    /// A range in one file.
    public init(start: SourcePosition, end: SourcePosition) {
        self.start = start
        self.end = end
    }
}
