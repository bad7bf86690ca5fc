/// How large a value can be, whatever its kind turns out to be.
///
/// Kinds are not told apart, since `dyn` lets any stand anywhere: a value is a text of so many bytes
/// or a collection of so many members, and its shape bounds both.
/// An object, so that what walks a deep tree with shapes needs little of the native stack.
final class Shape: Sendable {
    /// The bytes of a text.
    let bytes: Bound
    /// The elements of a list, the entries of a map, 1 for an optional.
    let count: Bound
    /// What members, keys among them, can be; nil where there are none.
    private let members: Shape?
    private let depth: Int
    private let isUnknown: Bool

    init(bytes: Bound = 0, count: Bound = 0, of members: Shape? = nil, isUnknown: Bool = false) {
        self.bytes = bytes
        self.count = count
        self.members = members
        self.isUnknown = isUnknown
        depth = members.map { $0.depth + 1 } ?? 0
    }

    /// A value without a size.
    static let scalar = Shape()
    static let unknown = Shape(bytes: .none, count: .none, isUnknown: true)

    /// Deeper than this nothing is known.
    private static let deepest = 40

    static func text(_ bytes: Bound) -> Shape { Shape(bytes: bytes) }

    static func collection(_ count: Bound, of member: Shape) -> Shape {
        member.depth < deepest ? Shape(count: count, of: member) : unknown
    }

    static func optional(_ wrapped: Shape) -> Shape { collection(1, of: wrapped) }

    /// What any member is.
    var member: Shape { isUnknown ? .unknown : members ?? .scalar }

    /// What selecting or indexing gives: a member, or through an optional a member's member.
    var selected: Shape { member.or(.optional(member.member)) }

    /// A value that is one or the other.
    func or(_ other: Shape) -> Shape {
        if isUnknown || other.isUnknown { return .unknown }
        let inner =
            switch (members, other.members) {
            case (let left?, let right?): left.or(right)
            case (let left, let right): left ?? right
            }
        return Shape(
            bytes: .most(bytes, other.bytes), count: .most(count, other.count), of: inner)
    }

    /// What reading all of it costs.
    var weight: Bound {
        if isUnknown { return .none }
        return bytes / 16 + (members.map { (count * 2) * ($0.weight + 1) } ?? 0)
    }

    /// How many values it is made of, itself included.
    var nodes: Bound {
        if isUnknown { return .none }
        return 1 + (members.map { (count * 2) * $0.nodes } ?? 0)
    }

    /// The bytes of its text in a format.
    var textLength: Bound {
        if isUnknown { return .none }
        return bytes * 3 + 40 + (members.map { (count * 2) * ($0.textLength + 4) } ?? 0)
    }

    var height: Int { depth }

    /// What comparing two values for equality costs.
    static func equality(_ left: Shape, _ right: Shape) -> Bound {
        // Of a text no more is compared than it has.
        right.count.value == 0 ? .least(left.weight, right.weight) : left.weight
    }

    static func hinted(_ hint: SizeHint) -> Shape {
        switch hint {
        case .scalar: .scalar
        case .text(let bytes): .text(Bound(max(0, bytes)))
        case .collection(let count, let member):
            .collection(Bound(max(0, count)), of: hinted(member))
        }
    }

    static func of(_ type: Type) -> Shape {
        switch type {
        case .null, .bool, .int, .uint, .double, .timestamp, .duration: .scalar
        case .string, .bytes: .text(.none)
        case .type: .text(64)
        case .list(let element): .collection(.none, of: of(element))
        case .map(let key, let value): .collection(.none, of: of(key).or(of(value)))
        case .optional(let wrapped): .optional(of(wrapped))
        case .wrapper(let scalar): of(scalar)
        case .dyn, .object, .param, .any, .abstract, .error: .unknown
        }
    }
}
