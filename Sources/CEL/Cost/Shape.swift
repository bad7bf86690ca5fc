/// How large a value can be, whatever its kind turns out to be.
///
/// Kinds are not told apart, since `dyn` lets any stand anywhere: a value is a text of so many bytes
/// or a collection of so many members, and its shape bounds both.
struct Shape {
    /// The bytes of a text.
    var bytes: Bound = 0
    /// The elements of a list, the entries of a map, 1 for an optional.
    var count: Bound = 0
    /// What members, keys among them, can be. One or none; an array since a shape holds shapes.
    private var members: [Shape] = []
    private var depth = 0
    private var isUnknown = false

    /// A value without a size.
    static let scalar = Shape()
    static let unknown: Shape = {
        var shape = Shape()
        shape.bytes = .none
        shape.count = .none
        shape.isUnknown = true
        return shape
    }()

    /// Deeper than this nothing is known.
    private static let deepest = 40

    static func text(_ bytes: Bound) -> Shape {
        var shape = Shape()
        shape.bytes = bytes
        return shape
    }

    static func collection(_ count: Bound, of member: Shape) -> Shape {
        guard member.depth < deepest else { return unknown }
        var shape = Shape()
        shape.count = count
        shape.members = [member]
        shape.depth = member.depth + 1
        return shape
    }

    static func optional(_ wrapped: Shape) -> Shape { collection(1, of: wrapped) }

    /// What any member is.
    var member: Shape { isUnknown ? .unknown : members.first ?? .scalar }

    /// What selecting or indexing gives: a member, or through an optional a member's member.
    var selected: Shape { member.or(.optional(member.member)) }

    /// A value that is one or the other.
    func or(_ other: Shape) -> Shape {
        if isUnknown || other.isUnknown { return .unknown }
        var shape = Shape()
        shape.bytes = .most(bytes, other.bytes)
        shape.count = .most(count, other.count)
        shape.depth = max(depth, other.depth)
        switch (members.first, other.members.first) {
        case (let left?, let right?): shape.members = [left.or(right)]
        case (let one?, nil), (nil, let one?): shape.members = [one]
        case (nil, nil): break
        }
        return shape
    }

    /// What reading all of it costs.
    var weight: Bound {
        if isUnknown { return .none }
        return bytes / 16 + (members.first.map { (count * 2) * ($0.weight + 1) } ?? 0)
    }

    /// How many values it is made of, itself included.
    var nodes: Bound {
        if isUnknown { return .none }
        return 1 + (members.first.map { (count * 2) * $0.nodes } ?? 0)
    }

    /// The bytes of its text in a format.
    var textLength: Bound {
        if isUnknown { return .none }
        return bytes * 3 + 40 + (members.first.map { (count * 2) * ($0.textLength + 4) } ?? 0)
    }

    var height: Int { depth }

    /// What comparing two values for equality costs.
    static func equality(_ left: Shape, _ right: Shape) -> Bound {
        // Of a text no more is compared than it has.
        right.count.value == 0 ? .least(left.weight, right.weight) : left.weight
    }

    init() {}

    init(_ hint: SizeHint) {
        switch hint {
        case .scalar: self = .scalar
        case .text(let bytes): self = .text(Bound(max(0, bytes)))
        case .collection(let count, let member):
            self = .collection(Bound(max(0, count)), of: Shape(member))
        }
    }

    init(_ type: Type) {
        switch type {
        case .null, .bool, .int, .uint, .double, .timestamp, .duration: self = .scalar
        case .string, .bytes: self = .text(.none)
        case .type: self = .text(64)
        case .list(let element): self = .collection(.none, of: Shape(element))
        case .map(let key, let value): self = .collection(.none, of: Shape(key).or(Shape(value)))
        case .optional(let wrapped): self = .optional(Shape(wrapped))
        case .wrapper(let scalar): self = Shape(scalar)
        case .dyn, .object, .param, .any, .abstract, .error: self = .unknown
        }
    }
}
