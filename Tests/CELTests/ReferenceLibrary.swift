import CEL

/// The functions of the reference evaluator: numbers by way of wide integers, strings by way of
/// arrays of code points, everything else by search.
enum ReferenceLibrary {
    typealias Answer = ReferenceEvaluator.Answer
    typealias Body = ([Value]) throws -> Answer?

    static func knows(_ name: String) -> Bool { functions[name] != nil }

    static func call(_ name: String, _ arguments: [Value]) throws -> Answer {
        try functions[name]?(arguments) ?? ReferenceEvaluator.failure(.noSuchOverload)
    }

    private static func failure(_ code: EvaluationError.Code) -> Answer {
        ReferenceEvaluator.failure(code)
    }

    private static func yes(_ holds: Bool) -> Answer { .success(.bool(holds)) }

    // MARK: Numbers

    /// -1, 0, 1 by exact value; nil for NaN or what is no number.
    static func order(_ left: Value, _ right: Value) -> Int? {
        switch (left, right) {
        case (.double(let l), .double(let r)):
            return l < r ? -1 : l > r ? 1 : l == r ? 0 : nil
        case (.double(let l), _): return whole(right).flatMap { order($0, l) }.map { -$0 }
        case (_, .double(let r)): return whole(left).flatMap { order($0, r) }
        default:
            guard let l = whole(left), let r = whole(right) else { return nil }
            return l < r ? -1 : l == r ? 0 : 1
        }
    }

    private static func whole(_ value: Value) -> Int128? {
        switch value {
        case .int(let number): Int128(number)
        case .uint(let number): Int128(number)
        default: nil
        }
    }

    private static func order(_ left: Int128, _ right: Double) -> Int? {
        if right.isNaN { return nil }
        // Beyond what any int or uint reaches.
        if right > 1e30 { return -1 }
        if right < -1e30 { return 1 }
        let below = Int128(right.rounded(.down))
        if left != below { return left < below ? -1 : 1 }
        return right > right.rounded(.down) ? -1 : 0
    }

    static func same(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): return true
        case (.bool(let l), .bool(let r)): return l == r
        case (.string(let l), .string(let r)): return Array(l.utf8) == Array(r.utf8)
        case (.bytes(let l), .bytes(let r)): return l == r
        case (.timestamp(let l), .timestamp(let r)): return l == r
        case (.duration(let l), .duration(let r)): return l == r
        case (.type(let l), .type(let r)): return l.runtimeName == r.runtimeName
        case (.list(let l), .list(let r)):
            return l.count == r.count && zip(l, r).allSatisfy { same($0, $1) }
        case (.map(let l), .map(let r)):
            return l.entries.count == r.entries.count
                && l.entries.allSatisfy { entry in
                    find(entry.key, in: r).map { same($0, entry.value) } ?? false
                }
        case (.optional(nil), .optional(nil)): return true
        case (.optional(let l?), .optional(let r?)): return same(l, r)
        default: return order(left, right) == 0
        }
    }

    static func find(_ key: Value, in map: ValueMap) -> Value? {
        map.entries.first { same($0.key, key) }?.value
    }

    /// What `<` and its kin go by: nil where the kinds have no order, `.some(nil)` for NaN.
    static func compare(_ left: Value, _ right: Value) -> Int?? {
        switch (left, right) {
        case (.bool(let l), .bool(let r)): return (l ? 1 : 0) - (r ? 1 : 0)
        case (.string(let l), .string(let r)): return lexical(Array(l.utf8), Array(r.utf8))
        case (.bytes(let l), .bytes(let r)): return lexical(l, r)
        case (.timestamp(let l), .timestamp(let r)): return l < r ? -1 : l == r ? 0 : 1
        case (.duration(let l), .duration(let r)): return l < r ? -1 : l == r ? 0 : 1
        case (.int, .int), (.int, .uint), (.int, .double), (.uint, .int), (.uint, .uint),
            (.uint, .double), (.double, .int), (.double, .uint), (.double, .double):
            return .some(isLevel(left, right) || isLevel(right, left) ? 0 : order(left, right))
        default: return nil
        }
    }

    /// The one exception from exact order: what rounds to the end of its range is level with it.
    private static func isLevel(_ number: Value, _ end: Value) -> Bool {
        switch (number, end) {
        case (.int(let value), .double(0x1p63)): Double(value) == 0x1p63
        case (.uint(let value), .double(0x1p64)): Double(value) == 0x1p64
        default: false
        }
    }

    private static func lexical(_ left: [UInt8], _ right: [UInt8]) -> Int {
        left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    }

    /// Whole numbers are computed wide and must then fit.
    private static func arithmetic(
        _ a: [Value], _ wide: (Int128, Int128) -> Int128?, _ double: ((Double, Double) -> Double)?
    ) -> Answer? {
        guard a.count == 2 else { return nil }
        switch (a[0], a[1]) {
        case (.int(let l), .int(let r)):
            guard let result = wide(Int128(l), Int128(r)) else { return failure(.divisionByZero) }
            return Int64(exactly: result).map { .success(.int($0)) } ?? failure(.overflow)
        case (.uint(let l), .uint(let r)):
            guard let result = wide(Int128(l), Int128(r)) else { return failure(.divisionByZero) }
            return UInt64(exactly: result).map { .success(.uint($0)) } ?? failure(.overflow)
        case (.double(let l), .double(let r)): return double.map { .success(.double($0(l, r))) }
        default: return nil
        }
    }

    /// Two uints can have a product that is too large even here.
    private static func product(_ left: Int128, _ right: Int128) -> Int128 {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? .max : product
    }

    private static func nanoseconds(_ value: Timestamp) -> Int128 {
        Int128(value.seconds) * 1_000_000_000 + Int128(value.nanoseconds)
    }

    private static func timestamp(_ nanoseconds: Int128) -> Answer {
        var (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        if rest < 0 {
            rest += 1_000_000_000
            seconds -= 1
        }
        return Timestamp(seconds: Int64(seconds), nanoseconds: Int32(rest))
            .map { .success(.timestamp($0)) } ?? failure(.overflow)
    }

    private static func duration(_ nanoseconds: Int128) -> Answer {
        Int64(exactly: nanoseconds).map { .success(.duration(CELDuration(totalNanoseconds: $0))) }
            ?? failure(.overflow)
    }

    private static func add(_ a: [Value]) -> Answer? {
        switch (a[0], a[1]) {
        case (.string(let l), .string(let r)): .success(.string(l + r))
        case (.bytes(let l), .bytes(let r)): .success(.bytes(l + r))
        case (.list(let l), .list(let r)): .success(.list(l + r))
        case (.timestamp(let t), .duration(let d)), (.duration(let d), .timestamp(let t)):
            timestamp(nanoseconds(t) + Int128(d.totalNanoseconds))
        case (.duration(let l), .duration(let r)):
            duration(Int128(l.totalNanoseconds) + Int128(r.totalNanoseconds))
        default: arithmetic(a, { $0 + $1 }, { $0 + $1 })
        }
    }

    private static func subtract(_ a: [Value]) -> Answer? {
        switch (a[0], a[1]) {
        case (.timestamp(let l), .timestamp(let r)): duration(nanoseconds(l) - nanoseconds(r))
        case (.timestamp(let l), .duration(let r)):
            timestamp(nanoseconds(l) - Int128(r.totalNanoseconds))
        case (.duration(let l), .duration(let r)):
            duration(Int128(l.totalNanoseconds) - Int128(r.totalNanoseconds))
        default: arithmetic(a, { $0 - $1 }, { $0 - $1 })
        }
    }

    private static func ordered(_ holds: @escaping (Int) -> Bool) -> Body {
        { a in compare(a[0], a[1]).map { yes($0.map(holds) ?? false) } }
    }

    private static func extreme(_ a: [Value], _ isBetter: (Int) -> Bool) -> Answer? {
        var numbers = a
        if a.count == 1, case .list(let elements) = a[0] { numbers = elements }
        guard var best = numbers.first else { return failure(.invalidArgument) }
        for number in numbers where whole(number) == nil {
            guard case .double = number else { return nil }
        }
        for number in numbers.dropFirst() {
            if case .some(.some(let order)) = compare(number, best), isBetter(order) {
                best = number
            }
        }
        return .success(best)
    }

    // MARK: Access

    private static func index(_ a: [Value], isOptional: Bool) -> Answer? {
        switch a[0] {
        case .optional(let wrapped):
            return wrapped.map { index([$0, a[1]], isOptional: true) } ?? .success(.optional(nil))
        case .map(let map):
            let found = find(a[1], in: map)
            return isOptional
                ? .success(.optional(found)) : found.map { .success($0) } ?? failure(.noSuchKey)
        case .list(let list):
            switch a[1] {
            case .int, .uint: break
            case .double(let number) where number == number.rounded() && abs(number) < 0x1p63:
                break
            case .double: return isOptional ? .success(.optional(nil)) : failure(.invalidArgument)
            default: return nil
            }
            let found = list.indices.first { order(.int(Int64($0)), a[1]) == 0 }.map { list[$0] }
            return isOptional
                ? .success(.optional(found))
                : found.map { .success($0) } ?? failure(.indexOutOfRange)
        default: return nil
        }
    }

    private static func isIn(_ a: [Value]) -> Answer? {
        switch a[1] {
        case .list(let list): yes(list.contains { same($0, a[0]) })
        case .map(let map): yes(find(a[0], in: map) != nil)
        default: nil
        }
    }

    // MARK: Strings

    private static func codePoints(_ text: String) -> [Unicode.Scalar] {
        Array(text.unicodeScalars)
    }

    private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> Answer {
        .success(.string(string(scalars)))
    }

    private static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    private static func place(of part: [Unicode.Scalar], in text: [Unicode.Scalar], from: Int = 0)
        -> Int?
    {
        guard from + part.count <= text.count else { return nil }
        return (from...text.count - part.count).first { text[$0...].starts(with: part) }
    }

    private static func ofStrings(
        _ body: @escaping ([Unicode.Scalar], [Unicode.Scalar]) throws -> Answer
    ) -> Body {
        { a in
            guard a.count == 2, case .string(let l) = a[0], case .string(let r) = a[1] else {
                return nil
            }
            return try body(codePoints(l), codePoints(r))
        }
    }

    private static func ofString(_ body: @escaping ([Unicode.Scalar]) -> Answer) -> Body {
        { a in
            guard a.count == 1, case .string(let text) = a[0] else { return nil }
            return body(codePoints(text))
        }
    }

    private static func size(_ a: [Value]) -> Answer? {
        switch a[0] {
        case .string(let text): .success(.int(Int64(text.unicodeScalars.count)))
        case .bytes(let bytes): .success(.int(Int64(bytes.count)))
        case .list(let list): .success(.int(Int64(list.count)))
        case .map(let map): .success(.int(Int64(map.entries.count)))
        default: nil
        }
    }

    private static func substring(_ a: [Value]) -> Answer? {
        guard case .string(let string) = a[0], case .int(let from) = a[1] else { return nil }
        let scalars = codePoints(string)
        var to = Int64(scalars.count)
        if a.count == 3 {
            guard case .int(let end) = a[2] else { return nil }
            to = end
        }
        guard (0...Int64(scalars.count)).contains(from), (0...Int64(scalars.count)).contains(to)
        else { return failure(.indexOutOfRange) }
        return from <= to ? text(scalars[Int(from)..<Int(to)]) : failure(.invalidArgument)
    }

    private static func replace(_ a: [Value]) -> Answer? {
        guard a.count == 3, case .string(let whole) = a[0], case .string(let old) = a[1],
            case .string(let new) = a[2]
        else { return nil }
        let (scalars, part) = (codePoints(whole), codePoints(old))
        var result: [Unicode.Scalar] = []
        var index = 0
        while index <= scalars.count {
            if index + part.count <= scalars.count, scalars[index...].starts(with: part) {
                result += codePoints(new)
                index += part.count
                if !part.isEmpty { continue }
            }
            if index < scalars.count { result.append(scalars[index]) }
            index += 1
        }
        return text(result)
    }

    private static func split(_ whole: [Unicode.Scalar], _ separator: [Unicode.Scalar]) -> Answer {
        if separator.isEmpty { return .success(.list(whole.map { .string(string([$0])) })) }
        var parts: [Value] = []
        var start = 0
        while let place = place(of: separator, in: whole, from: start) {
            parts.append(.string(string(whole[start..<place])))
            start = place + separator.count
        }
        return .success(.list(parts + [.string(string(whole[start...]))]))
    }

    private static func join(_ a: [Value]) -> Answer? {
        guard case .list(let list) = a[0] else { return nil }
        var separator = ""
        if a.count == 2 {
            guard case .string(let given) = a[1] else { return nil }
            separator = given
        }
        var parts: [String] = []
        for element in list {
            guard case .string(let text) = element else { return nil }
            parts.append(text)
        }
        return .success(.string(parts.joined(separator: separator)))
    }

    /// The few patterns that the generator writes.
    private static func matches(_ text: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) throws
        -> Answer
    {
        switch string(pattern) {
        case "^a": yes(text.first == "a")
        case "b+": yes(text.contains("b"))
        case "^$": yes(text.isEmpty)
        case "(": failure(.invalidArgument)
        case let other: throw ReferenceEvaluator.Unsupported(what: "the pattern \(other)")
        }
    }

    // MARK: Conversions

    private static func toInt(_ a: [Value]) -> Answer? {
        switch a[0] {
        case .int: .success(a[0])
        case .uint(let value):
            Int64(exactly: value).map { .success(.int($0)) } ?? failure(.overflow)
        case .double(let value):
            value > -0x1p63 && value < 0x1p63 ? .success(.int(Int64(value))) : failure(.overflow)
        case .string(let text):
            Int64(text).map { .success(.int($0)) } ?? failure(.invalidArgument)
        case .timestamp(let value): .success(.int(value.seconds))
        case .duration(let value): .success(.int(value.seconds))
        default: nil
        }
    }

    private static func toUint(_ a: [Value]) -> Answer? {
        switch a[0] {
        case .uint: .success(a[0])
        case .int(let value):
            UInt64(exactly: value).map { .success(.uint($0)) } ?? failure(.overflow)
        case .double(let value):
            value >= 0 && value < 0x1p64 ? .success(.uint(UInt64(value))) : failure(.overflow)
        case .string(let text):
            UInt64(text).map { .success(.uint($0)) } ?? failure(.invalidArgument)
        default: nil
        }
    }

    private static func toDouble(_ a: [Value]) throws -> Answer? {
        switch a[0] {
        case .double: .success(a[0])
        case .int(let value): .success(.double(Double(value)))
        case .uint(let value): .success(.double(Double(value)))
        case .string("NaN"): .success(.double(.nan))
        case .string("Infinity"): .success(.double(.infinity))
        case .string(let text) where text.allSatisfy(\.isNumber) && text.allSatisfy(\.isASCII):
            Double(text).map { .success(.double($0)) } ?? failure(.invalidArgument)
        case .string: throw ReferenceEvaluator.Unsupported(what: "a double of text")
        default: nil
        }
    }

    private static func toString(_ a: [Value]) throws -> Answer? {
        switch a[0] {
        case .string: .success(a[0])
        case .bool(let value): .success(.string(value ? "true" : "false"))
        case .int(let value): .success(.string("\(value)"))
        case .uint(let value): .success(.string("\(value)"))
        case .double, .timestamp, .duration, .bytes:
            throw ReferenceEvaluator.Unsupported(what: "the text of \(a[0])")
        default: nil
        }
    }

    // MARK: Lists and sets

    static func sorted(_ range: Value, by keys: [Value]) throws -> Answer {
        let list: [Value]
        switch range {
        case .list(let elements): list = elements
        case .map(let map): list = map.entries.map(\.key)
        default: return failure(.noSuchOverload)
        }
        for key in keys where compare(key, key) == nil || kind(key) != kind(keys[0]) {
            return failure(.noSuchOverload)
        }
        if keys.contains(where: { compare($0, $0) == .some(nil) }) {
            throw ReferenceEvaluator.Unsupported(what: "the place of NaN")
        }
        var order: [Int] = []
        for index in keys.indices {
            let place = order.firstIndex { (compare(keys[index], keys[$0]) ?? 0) ?? 0 < 0 }
            order.insert(index, at: place ?? order.endIndex)
        }
        return .success(.list(order.map { list[$0] }))
    }

    private static func kind(_ value: Value) -> String {
        String("\(value)".prefix { $0 != "(" })
    }

    private static func ofList(_ body: @escaping ([Value]) throws -> Answer?) -> Body {
        { a in
            guard a.count == 1, case .list(let list) = a[0] else { return nil }
            return try body(list)
        }
    }

    private static func ofLists(_ body: @escaping ([Value], [Value]) -> Bool) -> Body {
        { a in
            guard a.count == 2, case .list(let l) = a[0], case .list(let r) = a[1] else {
                return nil
            }
            return yes(body(l, r))
        }
    }

    private static func hasAll(_ whole: [Value], _ part: [Value]) -> Bool {
        part.allSatisfy { element in whole.contains { same($0, element) } }
    }

    private static func slice(_ a: [Value]) -> Answer? {
        guard a.count == 3, case .list(let list) = a[0], case .int(let from) = a[1],
            case .int(let to) = a[2]
        else { return nil }
        guard from >= 0, from <= to, to <= list.count else { return failure(.invalidArgument) }
        return .success(.list(Array(list[Int(from)..<Int(to)])))
    }

    private static func flat(_ list: [Value]) -> [Value] {
        list.flatMap { element in
            if case .list(let inner) = element { return inner }
            return [element]
        }
    }

    private static func distinct(_ list: [Value]) -> [Value] {
        list.reduce(into: []) { kept, element in
            if !kept.contains(where: { same($0, element) }) { kept.append(element) }
        }
    }

    private static func range(_ a: [Value]) -> Answer? {
        guard case .int(let count) = a[0] else { return nil }
        if count > 10_000 { return failure(.sizeLimit) }
        return .success(.list((0..<max(0, count)).map { .int($0) }))
    }

    // MARK: Optionals

    private static func ofOptional(_ body: @escaping (Value?, [Value]) -> Answer?) -> Body {
        { a in
            guard case .optional(let wrapped)? = a.first else { return nil }
            return body(wrapped, a)
        }
    }

    /// Each takes as many arguments as the generator gives it.
    nonisolated(unsafe) private static let functions: [String: Body] = [
        "_+_": add, "_-_": subtract,
        "_*_": { arithmetic($0, { product($0, $1) }, { $0 * $1 }) },
        "_/_": { arithmetic($0, { $1 == 0 ? nil : $0 / $1 }, { $0 / $1 }) },
        // Of the ends of the range too: no remainder can be had where the quotient does not fit.
        "_%_": {
            if case .int(.min) = $0[0], case .int(-1) = $0[1] { return failure(.overflow) }
            return arithmetic($0, { $1 == 0 ? nil : $0 % $1 }, nil)
        },
        "-_": { a in
            if case .double(let value) = a[0] { return .success(.double(-value)) }
            guard case .int(let value) = a[0] else { return nil }
            return value == .min ? failure(.overflow) : .success(.int(-value))
        },
        "!_": { a in
            if case .bool(let value) = a[0] { return yes(!value) }
            return failure(.notBool)
        },
        "_==_": { yes(same($0[0], $0[1])) }, "_!=_": { yes(!same($0[0], $0[1])) },
        "_<_": ordered { $0 < 0 }, "_<=_": ordered { $0 <= 0 },
        "_>_": ordered { $0 > 0 }, "_>=_": ordered { $0 >= 0 },
        "@in": isIn, "_[_]": { index($0, isOptional: false) },
        "_[?_]": { index($0, isOptional: true) },
        "dyn": { .success($0[0]) }, "int": toInt, "uint": toUint, "double": toDouble,
        "string": toString,
        "size": size,
        "contains": ofStrings { yes(place(of: $1, in: $0) != nil) },
        "startsWith": ofStrings { yes($0.starts(with: $1)) },
        "endsWith": ofStrings { yes($0.reversed().starts(with: $1.reversed())) },
        "indexOf": ofStrings { .success(.int(Int64(place(of: $1, in: $0) ?? -1))) },
        "matches": ofStrings(matches), "substring": substring, "replace": replace, "join": join,
        "split": ofStrings(split),
        "lowerAscii": ofString {
            text(
                $0.map {
                    $0.isASCII ? $0.properties.lowercaseMapping.unicodeScalars.first ?? $0 : $0
                })
        },
        "upperAscii": ofString {
            text(
                $0.map {
                    $0.isASCII ? $0.properties.uppercaseMapping.unicodeScalars.first ?? $0 : $0
                })
        },
        "reverse": { a in
            switch a[0] {
            case .string(let string): text(codePoints(string).reversed())
            case .list(let list): .success(.list(list.reversed()))
            default: nil
            }
        },
        "math.greatest": { extreme($0) { $0 > 0 } }, "math.least": { extreme($0) { $0 < 0 } },
        "lists.range": range, "slice": slice,
        "flatten": ofList { .success(.list(flat($0))) },
        "distinct": ofList { .success(.list(distinct($0))) },
        "sort": ofList { try sorted(.list($0), by: $0) },
        "first": ofList { .success(.optional($0.first)) },
        "last": ofList { .success(.optional($0.last)) },
        "sets.contains": ofLists { hasAll($0, $1) },
        "sets.equivalent": ofLists { hasAll($0, $1) && hasAll($1, $0) },
        "sets.intersects": ofLists { left, right in
            right.contains { element in left.contains { same($0, element) } }
        },
        "optional.of": { .success(.optional($0[0])) },
        "optional.none": { _ in .success(.optional(nil)) },
        "hasValue": ofOptional { wrapped, _ in yes(wrapped != nil) },
        "value": ofOptional { wrapped, _ in
            wrapped.map { .success($0) } ?? failure(.invalidArgument)
        },
        "orValue": ofOptional { wrapped, a in .success(wrapped ?? a[1]) },
        "timestamp": { a in
            switch a[0] {
            case .timestamp: return .success(a[0])
            case .int(let seconds):
                return Timestamp(seconds: seconds).map { .success(.timestamp($0)) }
                    ?? failure(.overflow)
            case .string: throw ReferenceEvaluator.Unsupported(what: "a timestamp of text")
            default: return nil
            }
        },
        "duration": { a in
            switch a[0] {
            case .duration: return .success(a[0])
            case .string(let text):
                guard text.hasSuffix("s"), let seconds = Int64(text.dropLast()) else {
                    throw ReferenceEvaluator.Unsupported(what: "a duration of that text")
                }
                return duration(Int128(seconds) * 1_000_000_000)
            default: return nil
            }
        },
    ]
}
