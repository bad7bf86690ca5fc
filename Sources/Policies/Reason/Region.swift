/// Events: all those for which each of some terms is among some values.
struct Box: Equatable {
    /// Terms that are not here can be anything.
    var sides: [Int: ValueSet] = [:]

    /// What is in both; nil if nothing is.
    func intersection(_ other: Box) -> Box? {
        var result = self
        for (term, theirs) in other.sides {
            let side = result.sides[term].map { $0.intersection(theirs) } ?? theirs
            if side.isEmpty { return nil }
            result.sides[term] = side
        }
        return result
    }

    /// What is here and not there, in boxes that do not overlap.
    func subtracting(_ other: Box, _ universes: [ValueSet]) -> [Box] {
        guard intersection(other) != nil else { return [self] }
        var rest = self
        var result: [Box] = []
        for (term, theirs) in other.sides.sorted(by: { $0.key < $1.key }) {
            let mine = rest.sides[term] ?? universes[term]
            let outside = mine.intersection(theirs.complement)
            if !outside.isEmpty {
                var piece = rest
                piece.sides[term] = outside
                result.append(piece)
            }
            rest.sides[term] = mine.intersection(theirs)
        }
        return result
    }

    func contains(_ other: Box, _ universes: [ValueSet]) -> Bool {
        other.subtracting(self, universes).isEmpty
    }
}

/// Events: those in any of some boxes.
struct Region {
    /// More boxes than this are too many to reason about.
    static let limit = 64

    private(set) var boxes: [Box]

    static let everything = Region(boxes: [Box()])
    static let nothing = Region(boxes: [])

    init(boxes: [Box]) { self.boxes = boxes }

    /// The events for which a term is among these values.
    init(_ term: Int, _ values: ValueSet, in terms: Terms) {
        let side = values.intersection(terms.universes[term])
        boxes = side.isEmpty ? [] : side == terms.universes[term] ? [Box()] : [Box(sides: [term: side])]
    }

    var isEmpty: Bool { boxes.isEmpty }

    /// What is in either; nil if that is too much.
    func union(_ other: Region, _ terms: Terms) -> Region? {
        var result = boxes
        for box in other.boxes where !result.contains(where: { $0.contains(box, terms.universes) }) {
            result.removeAll { box.contains($0, terms.universes) }
            result.append(box)
        }
        return result.count <= Self.limit ? Region(boxes: result) : nil
    }

    /// What is in both; nil if that is too much.
    func intersection(_ other: Region, _ terms: Terms) -> Region? {
        var result = Region.nothing
        for box in boxes {
            let common = other.boxes.compactMap { box.intersection($0) }
            guard let next = result.union(Region(boxes: common), terms) else { return nil }
            result = next
        }
        return result
    }

    /// What is here and not there; nil if that is too much.
    func subtracting(_ other: Region, _ terms: Terms) -> Region? {
        var rest = boxes
        for box in other.boxes {
            rest = rest.flatMap { $0.subtracting(box, terms.universes) }
            if rest.count > Self.limit { return nil }
        }
        return Region(boxes: rest)
    }

    /// Whether everything here is known to be there.
    func isInside(_ other: Region, _ terms: Terms) -> Bool {
        subtracting(other, terms)?.isEmpty ?? false
    }
}
