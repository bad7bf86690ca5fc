/// The tree of one expression, in one array; nodes refer to each other by index.
///
/// Macros stay in the tree as what they are (``Kind/comprehension(_:)``, ``Kind/bind(variable:initial:body:)``),
/// so that tools see what the author wrote; each node has the range of its source text. After a
/// successful check every node has a type and every name what it refers to.
public struct AST: Sendable {
    /// The index of a node.
    public struct NodeID: Sendable, Hashable, Comparable {
        /// The position in ``AST/nodes``.
        public let index: Int32
        init(_ index: Int) { self.index = Int32(truncatingIfNeeded: index) }
        /// Nodes are numbered in the order they were parsed.
        public static func < (left: NodeID, right: NodeID) -> Bool { left.index < right.index }
    }

    /// What a node is.
    public enum Kind: Sendable {
        /// A literal.
        case literal(Value)
        /// A name. A leading dot (`.x`) is kept in it.
        case identifier(String)
        /// `operand.field`, or `operand.?field` if optional.
        case select(operand: NodeID, field: String, isOptional: Bool)
        /// `has(operand.field)`.
        case presence(operand: NodeID, field: String)
        /// A call; operators have CEL's names for them: `_&&_`, `_?_:_`, `!_`, `-_`, `@in`, `_[_]`.
        case call(function: String, target: NodeID?, arguments: [NodeID])
        /// `[a, ?b]`; the optional ones are given by position.
        case list(elements: [NodeID], optional: [Int])
        /// `{k: v, ?k: v}`: keys and values alternate; the optional entries are given by position.
        case map(keysAndValues: [NodeID], optional: [Int])
        /// `Name{field: value}`.
        case structure(name: String, fields: [String], values: [NodeID], optional: [Int])
        /// `all`, `exists`, `map` and their kind.
        case comprehension(Comprehension)
        /// `cel.bind(variable, initial, body)`.
        case bind(variable: String, initial: NodeID, body: NodeID)
        /// `cel.block([a, b], body)`; `cel.index(n)` is the identifier `@index<n>`.
        case block(bindings: [NodeID], body: NodeID)
        /// A place where the parser found no expression.
        case invalid
    }

    /// A macro that goes over a list or the keys of a map.
    public struct Comprehension: Sendable {
        /// Which macro it is.
        public enum Macro: String, Sendable {
            case all, exists, existsOne, map, filter
            case transformList, transformMap, transformMapEntry
            case sortBy, optMap, optFlatMap
        }
        /// Which macro it is.
        public var macro: Macro
        /// What is gone over (for `optMap` and `optFlatMap` the optional).
        public var range: NodeID
        /// The element; with two variables the index or key.
        public var variable: String
        /// With two variables the element or value.
        public var secondVariable: String?
        /// The condition that `map` and `transform…` may have.
        public var filter: NodeID?
        /// The condition of `all`, `exists`, `filter`; the result of `map`.
        public var body: NodeID
    }

    /// What a name or call refers to.
    public enum Reference: Sendable, Equatable {
        /// A slot of the environment.
        case slot(Int)
        /// A whole object, or nested object, of the host, made up of these slots.
        case object(String)
        /// A variable of a macro, by its number.
        case local(Int)
        /// A constant: a type's name, an enum's value.
        case constant(Value)
        /// The overloads that can apply, by id, of a function resolved to this full name.
        case function(String, overloads: [String])
    }

    /// One node.
    public struct Node: Sendable {
        /// What it is, and its children.
        public var kind: Kind
        /// Its source text: UTF-8 offsets. A macro call's range spans the call.
        public var range: Range<Int>
        /// Where findings about it are reported: the offset of an operator's sign, of the dot of a
        /// selection, of the `(` of a call; for all else its start.
        public var place: Int
        /// Its type; `dyn` until checked.
        public var type: Type = .dyn
        /// What it refers to, where it is a name, a selection that is one, or a call.
        public var reference: Reference?
        /// Distance to its deepest descendant, for the depth limit.
        var depth: Int32 = 1
        /// For a macro with variables: the number of the first; the others follow.
        var firstLocal = 0
    }

    /// All nodes; children come before their parents.
    public internal(set) var nodes: [Node] = []
    /// The whole expression.
    public internal(set) var root = NodeID(0)
    /// The source text.
    public internal(set) var source: [UInt8] = []

    /// A node.
    public subscript(id: NodeID) -> Node { nodes[Int(id.index)] }

    /// The children of a node, in the order of their evaluation.
    public func children(of id: NodeID) -> [NodeID] {
        switch self[id].kind {
        case .literal, .identifier, .invalid: []
        case .select(let operand, _, _), .presence(let operand, _): [operand]
        case .call(_, let target, let arguments): (target.map { [$0] } ?? []) + arguments
        case .list(let elements, _): elements
        case .map(let keysAndValues, _): keysAndValues
        case .structure(_, _, let values, _): values
        case .comprehension(let loop):
            [loop.range] + (loop.filter.map { [$0] } ?? []) + [loop.body]
        case .bind(_, let initial, let body): [initial, body]
        case .block(let bindings, let body): bindings + [body]
        }
    }

    /// The text of a node.
    public func text(of id: NodeID) -> String {
        let range = self[id].range.clamped(to: 0..<source.count)
        return String(decoding: source[range], as: UTF8.self)
    }

    /// The conjuncts of a condition: the operands of the `&&` chain at a node, left to right.
    public func conjuncts(of id: NodeID) -> [NodeID] {
        var found: [NodeID] = []
        var pending = [id]
        while let next = pending.popLast() {
            if case .call("_&&_", nil, let arguments) = self[next].kind {
                pending.append(contentsOf: arguments.reversed())
            } else {
                found.append(next)
            }
        }
        return found
    }

    /// The slots below a node, apart by how they are read.
    public struct SlotUse: Sendable, Equatable {
        /// Slots whose value is read.
        public var read: Set<Int> = []
        /// Slots whose presence is tested with `has()`.
        public var tested: Set<Int> = []
    }

    /// Which slots the expression below a node reads and which it only tests with `has()`.
    /// Lazily computed slots are named themselves, not what they read.
    public func slotUse(below id: NodeID) -> SlotUse {
        var use = SlotUse()
        var pending = [id]
        while let next = pending.popLast() {
            if case .slot(let slot)? = self[next].reference {
                if case .presence = self[next].kind {
                    use.tested.insert(slot)
                } else {
                    use.read.insert(slot)
                }
            } else {
                pending.append(contentsOf: children(of: next))
            }
        }
        return use
    }
}
