/// What an insight is about. More kinds will come.
public enum InsightKind: String, Sendable, CaseIterable {
    /// Somebody may be telling the person what to do.
    case isLikelyBeingCoached
}
