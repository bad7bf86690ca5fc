/// Events: all those for which each of some terms is among some values.
package struct Box: Equatable {
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
        guard overlaps(other) else { return [self] }
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
        sides.allSatisfy { term, side in
            (other.sides[term] ?? universes[term]).intersection(side.complement).isEmpty
        }
    }

    func overlaps(_ other: Box) -> Bool {
        sides.allSatisfy { term, side in
            other.sides[term].map { !$0.intersection(side).isEmpty } ?? true
        }
    }
}

/// Events: those in any of some boxes.
package struct Region {
    /// More boxes than this are too many to reason about.
    package static let limit = 64

    package private(set) var boxes: [Box]

    package static let everything = Region(boxes: [Box()])
    static let nothing = Region(boxes: [])

    init(boxes: [Box]) { self.boxes = boxes }

    /// The events for which a term is among these values.
    init(_ term: Int, _ values: ValueSet, in terms: Terms) {
        let side = values.intersection(terms.universes[term])
        boxes =
            side.isEmpty ? [] : side == terms.universes[term] ? [Box()] : [Box(sides: [term: side])]
    }

    package var isEmpty: Bool { boxes.isEmpty }

    /// What is in either; nil if that is too much.
    func union(_ other: Region, _ terms: Terms) -> Region? {
        guard terms.allows(boxes.count * other.boxes.count) else { return nil }
        var result = boxes
        for box in other.boxes where !result.contains(where: { $0.contains(box, terms.universes) })
        {
            result.removeAll { box.contains($0, terms.universes) }
            result.append(box)
        }
        return result.count <= Self.limit ? Region(boxes: result) : nil
    }

    /// What is in both; nil if that is too much.
    func intersection(_ other: Region, _ terms: Terms) -> Region? {
        guard terms.allows(boxes.count * other.boxes.count) else { return nil }
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
            guard terms.allows(rest.count) else { return nil }
            rest = rest.flatMap { $0.subtracting(box, terms.universes) }
            if rest.count > Self.limit { return nil }
        }
        return Region(boxes: rest)
    }

    /// For each term that every box restricts, all that it can be. Two regions can be told apart by
    /// these alone in most cases.
    var outline: Box {
        guard var outline = boxes.first else { return Box() }
        for box in boxes.dropFirst() {
            for (term, side) in outline.sides {
                outline.sides[term] = box.sides[term].map { $0.union(side) }
            }
        }
        return outline
    }

    /// Whether everything here is known to be there.
    package func isInside(_ other: Region, _ terms: Terms) -> Bool {
        subtracting(other, terms)?.isEmpty ?? false
    }
}
