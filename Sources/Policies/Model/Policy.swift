/// A checked policy of any kind.
public enum Policy: Sendable {
    /// How much to interrupt somebody who is about to do something.
    case trust(TrustPolicy)
    /// Whether now is the moment to ask for a review.
    case reviewPrompt(ReviewPromptPolicy)
    /// A plain CEL policy, which `serve` does not act on.
    case plain(PlainPolicy)

    /// The policy's name.
    public var name: String {
        switch self {
        case .trust(let policy): policy.name
        case .reviewPrompt(let policy): policy.name
        case .plain(let policy): policy.name
        }
    }

    /// The policy's version; nil for plain ones, which have none.
    public var version: Int? {
        switch self {
        case .trust(let policy): policy.version
        case .reviewPrompt(let policy): policy.version
        case .plain: nil
        }
    }

    /// The kind, as in `kind:`.
    public var kind: String {
        switch self {
        case .trust: "trust"
        case .reviewPrompt: "reviewPrompt"
        case .plain: "plain"
        }
    }

    /// `name@version`, or the name alone.
    public var reference: String { version.map { "\(name)@\($0)" } ?? name }
}
