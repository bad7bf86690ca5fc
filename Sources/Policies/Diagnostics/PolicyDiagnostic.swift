/// How bad a finding is.
public enum Severity: String, Sendable, Hashable {
    /// The policy cannot be used.
    case error
    /// The policy can be used and probably does not mean what was intended.
    case warning
}

/// A finding about a file that a user wrote.
public struct PolicyDiagnostic: Sendable, Hashable {
    /// How bad it is.
    public let severity: Severity
    /// A stable name of the kind of finding, such as `unknownKey`.
    public let code: String
    /// What is wrong: lower case, no full stop. User text is in backticks, but in messages that
    /// all implementations of CEL word alike.
    public let message: String
    /// What would help; nil where nothing is to be said.
    public let help: String?
    /// The file, as given to the loader.
    public let file: String
    /// The offending text.
    public let range: SourceRange
    /// The place that is reported: where the range begins, but an operator's sign rather than its
    /// operands, and so on, as other implementations of CEL report it.
    public let place: SourcePosition
    /// A change that would remove the finding; nil where none is known that is safe.
    public let fix: PolicyFix?

    package init(
        severity: Severity, code: String, message: String, help: String? = nil, file: String,
        range: SourceRange, place: SourcePosition? = nil, fix: PolicyFix? = nil
    ) {
        self.severity = severity
        self.code = code
        self.message = message
        self.help = help
        self.file = file
        self.range = range
        self.place = place ?? range.start
        self.fix = fix
    }
}
