import JSON
import Time

/// Compares a value with a shape and collects what is wrong.
///
/// The order of faults is fixed, whatever order the members came in: for each object first its
/// declared fields in their order, then unknown members as they came. The first fault becomes the
/// problem; all of them, up to a limit, are listed in it, so that a caller mends a request once.
package struct ShapeCheck {
    private var path: [Step] = []
    private(set) var faults: [Problem] = []
    /// More faults than this are not listed.
    package static let limit = 20

    private enum Step {
        case name(String)
        case index(Int)
    }

    /// The problem of a value that does not have the shape; nil if it has.
    package static func problem(_ value: JSONValue, _ shape: Shape) -> Problem? {
        var check = ShapeCheck()
        check.check(value, shape)
        guard var problem = check.faults.first else { return nil }
        if check.faults.count > 1 {
            problem.members.append(("errors", .array(check.faults.map(\.summary))))
        }
        return problem
    }

    /// The problem of a query item.
    static func problem(query item: QueryItem, _ shape: Shape) -> Problem? {
        // A number arrives as text; read as JSON where the shape is not text.
        var value = JSONValue.string(item.value)
        switch shape {
        case .integer, .number, .bool:
            if let parsed = try? JSONReader.parse(Array(item.value.utf8)) { value = parsed }
        default: break
        }
        var problem = problem(value, shape)
        problem?.field = item.name
        return problem
    }

    private mutating func check(_ value: JSONValue, _ shape: Shape) {
        switch shape {
        case .any: break
        case .object(let fields, let oneOf): object(value, fields, oneOf)
        case .list(let element, let max): list(value, element, max)
        case .map(let element, let max): map(value, element, max)
        default:
            if let allowed = Self.mismatch(value, shape) {
                fault(.invalidValue, value: value, allowed: allowed)
            }
        }
    }

    private mutating func object(_ value: JSONValue, _ fields: [Field], _ oneOf: [String]) {
        guard case .object(let object) = value else {
            fault(.invalidValue, value: value, allowed: ["object"])
            return
        }
        var known = 0
        for field in fields {
            let member = object[field.name]
            if member != nil { known += 1 }
            path.append(.name(field.name))
            if let member, member != .null {
                check(member, field.shape)
            } else if field.isRequired {
                fault(.missingField, detail: "'\(field.name)' is required.")
            }
            path.removeLast()
        }
        if !oneOf.isEmpty {
            let given = oneOf.count { object[$0].map { $0 != .null } ?? false }
            if given != 1 { notOne(of: oneOf, given: given) }
        }
        // Names are unique on both sides: most requests need no search for unknown ones.
        if known == object.members.count { return }
        for member in object.members where !fields.contains(where: { $0.name == member.key }) {
            path.append(.name(member.key))
            fault(
                .unknownField, detail: "There is no such field here.", value: member.value,
                allowed: fields.map { .string($0.name) })
            path.removeLast()
        }
    }

    private mutating func notOne(of names: [String], given: Int) {
        fault(
            given == 0 ? .missingField : .invalidValue,
            detail: "Exactly one of \(names.joined(separator: ", ")) is required.",
            allowed: names.map { .string($0) })
    }

    private mutating func list(_ value: JSONValue, _ element: Shape, _ max: Int) {
        guard case .array(let elements) = value else {
            fault(.invalidValue, value: value, allowed: ["array"])
            return
        }
        guard elements.count <= max else {
            fault(
                .invalidValue, detail: "\(elements.count) elements.",
                allowed: [.string("at most \(max) elements")])
            return
        }
        for (index, member) in elements.enumerated() {
            path.append(.index(index))
            check(member, element)
            path.removeLast()
        }
    }

    private mutating func map(_ value: JSONValue, _ element: Shape, _ max: Int) {
        guard case .object(let object) = value else {
            fault(.invalidValue, value: value, allowed: ["object"])
            return
        }
        guard object.members.count <= max else {
            fault(
                .invalidValue, detail: "\(object.members.count) members.",
                allowed: [.string("at most \(max) members")])
            return
        }
        for member in object.members {
            path.append(.name(member.key))
            check(member.value, element)
            path.removeLast()
        }
    }

    private mutating func fault(
        _ code: ProblemCode, detail: String? = nil, value: JSONValue? = nil,
        allowed: [JSONValue]? = nil
    ) {
        guard faults.count < Self.limit else { return }
        faults.append(
            Problem(
                code, detail: detail, field: pointer, value: value?.shortEcho, allowed: allowed))
    }

    private var pointer: String {
        JSONPointer.text(
            path.map {
                switch $0 {
                case .name(let name): name
                case .index(let index): String(index)
                }
            })
    }
}

extension ShapeCheck {
    /// What would be allowed, if the value does not have a simple shape.
    private static func mismatch(_ value: JSONValue, _ shape: Shape) -> [JSONValue]? {
        switch shape {
        case .string(let minBytes, let maxBytes): return text(value, minBytes...maxBytes)
        case .choice(let words):
            if case .string(let text) = value, words.contains(text) { return nil }
            return words.map { .string($0) }
        case .integer(let range):
            if let number = value.intValue, range.contains(number) { return nil }
            return [.string("a whole number, \(range.lowerBound) to \(range.upperBound)")]
        case .number(let range):
            if let number = value.doubleValue, range.contains(number) { return nil }
            return [.string("a number, \(range.lowerBound) to \(range.upperBound)")]
        case .bool:
            if case .bool = value { return nil }
            return [true, false]
        case .instant:
            if case .string(let text) = value, Instant(rfc3339: text) != nil { return nil }
            return ["an RFC 3339 time such as 2026-11-30T12:00:00Z"]
        case .duration:
            if case .string(let text) = value, let duration = Duration(policyText: text),
                duration >= .zero
            {
                return nil
            }
            return ["a duration such as 90s, 10m, 24h or 7d"]
        case .scalar:
            switch value {
            case .null, .array, .object: return ["string", "number", true, false]
            default: return nil
            }
        case .any, .list, .map, .object: return nil
        }
    }

    private static func text(_ value: JSONValue, _ bytes: ClosedRange<Int>) -> [JSONValue]? {
        guard case .string(let text) = value else { return ["string"] }
        guard bytes.contains(text.utf8.count) else {
            return [.string("\(bytes.lowerBound) to \(bytes.upperBound) bytes")]
        }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            return ["text without control characters"]
        }
        return nil
    }
}

extension Problem {
    /// The problem as one of several: what differs from one to the next.
    fileprivate var summary: JSONValue {
        var object = JSONObject([("code", .string(code.rawValue))])
        if let field { object.members.append(("field", .string(field))) }
        if let value { object.members.append(("value", value)) }
        if let allowed { object.members.append(("allowed", .array(allowed))) }
        return .object(object)
    }
}

extension JSONValue {
    /// The value as it is repeated in a problem: whole if it is small.
    var shortEcho: JSONValue {
        switch self {
        case .string(let text) where text.utf8.count > 100:
            .string(String(text.unicodeScalars.prefix(100)) + "…")
        case .array(let elements): .string("(array of \(elements.count))")
        case .object(let object): .string("(object of \(object.members.count))")
        default: self
        }
    }
}
