/// States that were folded from entries, kept for the next command about the same thing.
///
/// Bounded: two generations, of which the older is dropped when the younger has filled half
/// of the room. What is used moves to the younger, so what stays is what is used.
package struct StateCache<Key: Hashable, State> {
    private var young: [Key: State] = [:]
    private var old: [Key: State] = [:]
    private let half: Int

    /// How many states are kept.
    package var count: Int { young.count + old.count }

    /// A cache of that many states at most.
    package init(limit: Int) { half = limit / 2 }

    /// The state of a key, if it is kept.
    package subscript(key: Key) -> State? {
        mutating get {
            if let state = young[key] { return state }
            guard let state = old.removeValue(forKey: key) else { return nil }
            self[key] = state
            return state
        }
        set {
            guard let newValue else {
                young[key] = nil
                old[key] = nil
                return
            }
            if young.count >= half, young[key] == nil {
                old = young
                young = [:]
            }
            young[key] = newValue
        }
    }

    /// Drops all.
    package mutating func removeAll() {
        young = [:]
        old = [:]
    }
}
