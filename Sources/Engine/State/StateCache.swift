/// States that were folded from entries, kept for the next command about the same thing.
///
/// Bounded. A full cache drops one state for each that comes: a hand goes round, takes off one of the
/// uses of each state it meets, up to three are counted, and drops the first that has none left
/// (CLOCK with counters). So no call has much to drop at once, which whoever waits would notice.
package struct StateCache<Key: Hashable, State> {
    private struct Slot {
        let key: Key
        var state: State
        var uses: UInt8 = 0

        mutating func use() { uses = min(uses + 1, 3) }
    }

    private var places: [Key: Int] = [:]
    private var slots: [Slot] = []
    private var hand = 0
    private let limit: Int

    /// How many states are kept.
    package var count: Int { slots.count }

    /// A cache of that many states at most, one or more.
    package init(limit: Int) {
        self.limit = limit
        reserve()
    }

    /// The state of a key, if it is kept.
    package subscript(key: Key) -> State? {
        mutating get {
            guard let place = places[key] else { return nil }
            slots[place].use()
            return slots[place].state
        }
        set {
            switch (newValue, places[key]) {
            case (let state?, let place?):
                slots[place].state = state
                slots[place].use()
            case (let state?, nil): insert(Slot(key: key, state: state))
            case (nil, let place?): remove(key, at: place)
            case (nil, nil): break
            }
        }
    }

    private mutating func insert(_ slot: Slot) {
        guard slots.count >= limit else {
            places[slot.key] = slots.count
            return slots.append(slot)
        }
        while slots[hand].uses > 0 {
            slots[hand].uses -= 1
            hand = (hand + 1) % limit
        }
        places[slots[hand].key] = nil
        places[slot.key] = hand
        slots[hand] = slot
        hand = (hand + 1) % limit
    }

    /// The last one moves to where the removed one was.
    private mutating func remove(_ key: Key, at place: Int) {
        places[key] = nil
        let last = slots.removeLast()
        guard place < slots.count else { return }
        slots[place] = last
        places[last.key] = place
    }

    /// Drops all.
    package mutating func removeAll() {
        places = [:]
        slots = []
        hand = 0
        reserve()
    }

    /// Room for all from the start: growing moves everything there is. What is not used of it is
    /// no memory.
    private mutating func reserve() {
        places.reserveCapacity(limit)
        slots.reserveCapacity(limit)
    }
}
