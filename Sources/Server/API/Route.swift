import Engine

/// One row of the route table: everything that is said about a call. Dispatch, checks, answers
/// to wrong methods and the OpenAPI document all come from it, so that they cannot disagree.
public struct Route: Sendable {
    /// The method; GET serves HEAD as well.
    public var method: HTTPMethod
    /// The path.
    public var template: PathTemplate
    /// A short name in camelCase, unique: the OpenAPI operation and the label in metrics.
    public var name: String
    /// What it does, in one line.
    public var summary: String
    /// Who may call it.
    public var access: Access
    /// The query items it takes; none other is accepted.
    public var query: [Field] = []
    /// The body it takes; nil for none.
    public var body: Shape?
    /// The largest body in bytes, if it is not the ordinary limit.
    public var bodyBytes: Int?
    /// What it answers when all is well: status and meaning.
    public var answers: [(status: Int, meaning: String)] = [(200, "Done.")]
    /// The media type of these answers.
    public var contentType = HTTPResponse.json
    /// The problems that are this call's own, besides those any call can have.
    public var problems: [ProblemCode] = []

    /// Who may make a call.
    public enum Access: Sendable, Hashable {
        /// Anybody, without a key.
        case anyone
        /// An app's key with that scope.
        case app(Scope)
        /// An operator's key with that scope.
        case operators(Scope)
        /// Either, with that scope.
        case appOrOperators(Scope)
    }

    /// A row with what every row has.
    public init(
        _ method: HTTPMethod, _ template: PathTemplate, name: String, summary: String,
        access: Access
    ) {
        self.method = method
        self.template = template
        self.name = name
        self.summary = summary
        self.access = access
    }
}
