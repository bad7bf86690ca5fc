extension CostWalk {
    mutating func call(
        _ node: AST.Node, _ function: String, _ target: AST.NodeID?, _ arguments: [AST.NodeID],
        isCertain: Bool
    ) -> (most: Bound, shape: Shape) {
        switch function {
        case "_&&_", "_||_":
            // A cheap term further on may be looked at first, and decide.
            let left = visit(arguments[0], isCertain: false).most
            return (left + visit(arguments[1], isCertain: false).most, .scalar)
        case "_?_:_":
            let condition = visit(arguments[0], isCertain: isCertain).most
            let (first, left) = visit(arguments[1], isCertain: false)
            let (second, right) = visit(arguments[2], isCertain: false)
            return (condition + .most(first, second), left.or(right))
        default: break
        }
        guard case .function(let name, _)? = node.reference else { return (0, .scalar) }
        let operands = (name == function ? target.map { [$0] } ?? [] : []) + arguments
        var most: Bound = 0
        var shapes: [Shape] = []
        for operand in operands {
            let (cost, shape) = visit(operand, isCertain: isCertain)
            most += cost
            shapes.append(shape)
        }
        let (cost, shape) = applied(name, operands, shapes)
        return (most + cost, shape)
    }

    /// Apart from `call`, whose frame nests as deep as the tree does.
    @inline(never)
    private func applied(_ name: String, _ operands: [AST.NodeID], _ shapes: [Shape]) -> (
        most: Bound, shape: Shape
    ) {
        if environment.functions.contains(where: { $0.name == name && $0.body != nil }) {
            return host(name, shapes)
        }
        guard let builtin = Library.functions[name]?.builtin else { return (0, .scalar) }
        return Charges(walk: self, nodes: operands, a: shapes).of(builtin)
    }

    /// Arguments and result are copied; a result without a size needs no memory.
    private func host(_ name: String, _ shapes: [Shape]) -> (most: Bound, shape: Shape) {
        let most = shapes.reduce(Bound(1)) { $0 + $1.nodes + $1.weight }
        let results = environment.functions.filter { $0.name == name }
            .flatMap { $0.overloads.map { Shape.of($0.result) } }
        let result = results.reduce(Shape.scalar) { $0.or($1) }
        return (most + result.nodes * 4 + result.weight * 4, result)
    }

    /// The pattern's size in instructions: of a literal exactly, else as large as the limit allows.
    func regexSize(_ pattern: AST.NodeID) -> Int {
        if case .literal(.string(let text)) = ast[pattern].kind,
            case .success(let regex) = Regex.compile(Array(text.utf8), limits: limits)
        {
            return regex.size
        }
        return limits.regexMemory / 16
    }

    func literalInt(_ id: AST.NodeID) -> Int? {
        if case .literal(.int(let value)) = ast[id].kind { return Int(clamping: value) }
        return nil
    }
}

/// What the functions charge for arguments of such shapes, and what they give.
struct Charges {
    let walk: CostWalk
    let nodes: [AST.NodeID]
    let a: [Shape]

    typealias Found = (most: Bound, shape: Shape)

    private var first: Shape { a.first ?? .scalar }
    private var second: Shape { a.count > 1 ? a[1] : .scalar }
    /// Functions that read texts pay for all of them.
    private var texts: Bound { a.reduce(0) { $0 + $1.bytes / 16 } }
    private var longest: Bound { Bound(walk.limits.stringBytes) }

    /// A new text, whose bytes are paid for when they are made.
    private func made(_ bytes: Bound, times: Int = 1) -> Found {
        let bytes = Bound.least(bytes, longest)
        return (texts + (bytes / 16) * Bound(times), .text(bytes))
    }

    func of(_ builtin: Builtin) -> Found {
        switch builtin {
        case .add, .subtract, .multiply, .divide, .modulo, .negate, .not: return sum(builtin)
        case .equal, .notEqual: return (Shape.equality(first, second), .scalar)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            return (.least(first.bytes, second.bytes) / 16, .scalar)
        case .isIn: return (contains(first, in: second), .scalar)
        case .index: return (second.bytes / 16, first.selected)
        case .optionalIndex:
            return (second.bytes / 16, .optional(first.member.or(first.member.member)))
        case .toDyn: return (0, first)
        case .typeOf: return (0, .text(64))
        case .toString: return (texts + first.bytes / 16 + 4, .text(.most(first.bytes, 64)))
        case .toBytes: return (texts, .text(first.bytes))
        case .optionalOf, .optionalOfNonZero, .optionalNone, .hasValue, .value, .or, .orValue,
            .unwrap:
            return optional(builtin)
        case .slice, .flatten, .distinct, .sort, .range, .first, .last, .setsContains,
            .setsIntersects, .setsEquivalent, .greatest, .least:
            return collection(builtin)
        case .charAt, .indexOf, .lastIndexOf, .lowerAscii, .upperAscii, .replace, .split, .join,
            .substring, .trim, .format, .quote, .reverse:
            return string(builtin)
        case .matches, .regexReplace, .regexExtract, .regexExtractAll: return regex(builtin)
        case .base64Encode: return made(first.bytes * 2 + 4)
        case .base64Decode: return made(first.bytes)
        case .masked: return (texts + 1, .scalar)
        // What is left reads texts and gives what has no size.
        default:
            return (builtin.readsSlowly ? a.reduce(0) { $0 + $1.bytes } : texts, .scalar)
        }
    }

    private func sum(_ builtin: Builtin) -> Found {
        guard builtin == .add else { return (0, .scalar) }
        let count = first.count + second.count
        let list = Shape.collection(count, of: first.member.or(second.member))
        let shape = list.or(.text(first.bytes + second.bytes))
        return ((first.bytes + second.bytes) / 16 + count, shape)
    }

    private func contains(_ wanted: Shape, in list: Shape) -> Bound {
        list.count + list.count * Shape.equality(list.member, wanted) + wanted.bytes / 16
    }

    private func optional(_ builtin: Builtin) -> Found {
        switch builtin {
        case .optionalOf, .optionalOfNonZero: return (0, .optional(first))
        case .optionalNone: return (0, .optional(.scalar))
        case .value: return (0, first.member)
        case .or: return (0, first.or(second))
        case .orValue: return (0, first.member.or(second))
        case .unwrap:
            return (first.count * 2, .collection(first.count, of: first.member.member))
        default: return (0, .scalar)
        }
    }

    private func collection(_ builtin: Builtin) -> Found {
        let count = first.count
        switch builtin {
        case .slice: return (texts, first)
        case .first, .last: return (texts, .optional(first.member))
        case .flatten:
            let nodes = first.nodes
            let isDeep = a.count > 1
            let element = first.member
            let flat: Shape =
                isDeep
                ? .unknown
                : .collection(count * .most(1, element.count), of: element.or(element.member))
            return (texts + nodes * 2, flat)
        case .distinct:
            let comparisons = count * (count + 1)
            return (
                texts + comparisons + comparisons * Shape.equality(first.member, first.member)
                    + count, first
            )
        case .sort: return (texts + CostWalk.sorting(count, first.member), first)
        case .range:
            let size = nodes.first.flatMap { walk.literalInt($0) }.map { max(0, $0) }
            return (texts + Bound(size), .collection(Bound(size), of: .scalar))
        case .setsContains, .setsIntersects: return (texts + all(of: second, in: first), .scalar)
        case .setsEquivalent:
            return (texts + all(of: second, in: first) + all(of: first, in: second), .scalar)
        default:
            return (texts + .most(count, Bound(a.count)), .scalar)
        }
    }

    private func all(of part: Shape, in whole: Shape) -> Bound {
        part.count + part.count * contains(part.member, in: whole)
    }

    // MARK: Texts

    private func string(_ builtin: Builtin) -> Found {
        let bytes = first.bytes
        switch builtin {
        case .charAt, .substring, .trim: return (texts, .text(bytes))
        case .lastIndexOf:
            return (texts + .least(bytes, second.bytes) * bytes / 64, .scalar)
        case .lowerAscii, .upperAscii: return made(bytes)
        case .quote: return made(bytes * 2 + 2)
        case .reverse:
            let reversed = Shape.text(bytes).or(.collection(first.count, of: first.member))
            return (texts + bytes / 16 + first.count, reversed)
        case .replace:
            let new = a.count > 2 ? a[2].bytes : 0
            // It stops after the piece that makes it too long.
            let result = Bound.least(bytes + (bytes + 1) * new, longest + bytes + new)
            return (texts + (result / 16) * 2, .text(.least(result, longest)))
        case .split:
            return (texts + (bytes + 2) * 2, .collection(bytes + 1, of: .text(bytes)))
        case .join:
            let piece = first.member.bytes + second.bytes
            let result = Bound.least(first.count * piece, longest + piece)
            return (texts + first.count + (result / 16) * 2, .text(.least(result, longest)))
        case .format: return format()
        default: return (texts, .scalar)
        }
    }

    /// A clause shows one value of the list, with at most some 1,500 digits.
    private func format() -> Found {
        let value = second.member
        let text = value.textLength + 1_500
        // Of a map all is copied, and the keys are compared in as many rounds as its length has bits.
        let copies = Bound(33) * Bound(value.height + 1)
        let clause =
            (text / 16 + 1) * (copies + 2) + value.nodes * 40 + value.weight * 4 + 1_100
        let result = first.bytes + second.count * text
        return (
            texts + second.count * clause + .least(result, longest) / 16,
            .text(.least(result, longest))
        )
    }

    // MARK: Regular expressions

    private func regex(_ builtin: Builtin) -> Found {
        guard nodes.count >= 2 else { return (texts, .scalar) }
        let bytes = first.bytes
        let size = walk.regexSize(nodes[1])
        let factor = Bound(Regex.factor(size))
        let compiling = second.bytes * 16 + Bound(2_000 + 64 * size + walk.limits.regexMemory / 4)
        let once = bytes * factor + 16
        let most = texts + compiling + once
        switch builtin {
        case .regexExtract: return (most, .optional(.text(bytes)))
        case .regexExtractAll:
            let matches = bytes + 1
            let every = matches * 16 + bytes * factor + matches * (once / 16 + 1)
            return (most + every + matches, .collection(matches, of: .text(bytes)))
        case .regexReplace:
            let matches = bytes + 1
            let template = a.count > 2 ? a[2].bytes : 0
            let every = matches * 16 + bytes * factor + matches * (once / 16 + 1 + template / 16)
            // A group can stand in the replacement again and again.
            let result = Bound.least(
                bytes + matches * template * .most(1, bytes), longest)
            return (most + every + result / 16, .text(result))
        default: return (most, .scalar)
        }
    }
}
