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
    /// What is wrong: lower case, no full stop, user text in backticks.
    public let message: String
    /// What would help; nil where nothing is to be said.
    public let help: String?
    /// The file, as given to the loader.
    public let file: String
    /// Where in the file.
    public let range: SourceRange

    package init(
        severity: Severity, code: String, message: String, help: String? = nil, file: String,
        range: SourceRange
    ) {
        self.severity = severity
        self.code = code
        self.message = message
        self.help = help
        self.file = file
        self.range = range
    }
}
