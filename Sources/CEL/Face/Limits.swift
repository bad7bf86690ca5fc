/// Every limit of the language in one place. Beyond one: a diagnostic or an error value.
public struct Limits: Sendable, Equatable {
    /// The longest source text, in bytes.
    public var sourceBytes = 1 << 20
    /// How deep brackets, calls, conditionals and unary operators may nest.
    public var nesting = 200
    /// How deep the tree may get, long chains of `+` included.
    public var treeDepth = 350
    /// The most nodes one expression may have, after macros are expanded.
    public var nodes = 200_000
    /// The most diagnostics that are collected.
    public var diagnostics = 100
    /// What one evaluation may cost: one for each step, element and 16 bytes that it makes.
    public var cost = 10_000_000
    /// The most bytes of memory that one evaluation may use.
    public var memory = 64 << 20
    /// The longest string or byte sequence an evaluation may make, in bytes.
    public var stringBytes = 16 << 20
    /// The most memory that one regular expression may use, in bytes (its program and caches).
    public var regexMemory = 1 << 20
    /// The longest regular expression, in bytes.
    public var regexBytes = 4096
    /// How many different literal regular expressions one expression may have: each is kept
    /// compiled, and may need ``regexMemory``.
    public var regexes = 100

    /// The limits that ship.
    public init() {}
}
