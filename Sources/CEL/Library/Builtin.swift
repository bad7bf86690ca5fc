/// The functions that the evaluator knows itself. Each looks at the kinds of its arguments when
/// it runs, so that `dyn` needs nothing special.
enum Builtin: UInt16 {
    // Operators
    case add, subtract, multiply, divide, modulo, negate, not
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    case isIn, index, optionalIndex
    // Conversions
    case toBool, toInt, toUint, toDouble, toString, toBytes, toTimestamp, toDuration, toDyn, typeOf
    // Strings
    case size, contains, startsWith, endsWith, matches
    case charAt, indexOf, lastIndexOf, lowerAscii, upperAscii, replace, split, join, substring
    case trim, format, quote, reverse
    // Time
    case getFullYear, getMonth, getDayOfYear, getDayOfMonth, getDate, getDayOfWeek
    case getHours, getMinutes, getSeconds, getMilliseconds
    // Math
    case greatest, least, ceil, floor, round, trunc, abs, sign, isNaN, isInf, isFinite, sqrt
    case bitAnd, bitOr, bitXor, bitNot, bitShiftLeft, bitShiftRight
    // Lists and sets
    case slice, flatten, distinct, sort, range, first, last
    case setsContains, setsIntersects, setsEquivalent
    // Optionals
    case optionalOf, optionalOfNonZero, optionalNone, hasValue, value, or, orValue, unwrap
    // Encoders, regular expressions
    case base64Encode, base64Decode
    case regexReplace, regexExtract, regexExtractAll
    // Network
    case ip, cidr, isIP, isCIDR, ipIsCanonical, family, isUnspecified, isLoopback, isGlobalUnicast
    case isLinkLocalMulticast, isLinkLocalUnicast, containsIP, containsCIDR, masked, prefixLength

    /// Its name in expressions: that of `toInt` is `int`, that of `add` is `+`.
    var name: String { Library.names[self] ?? "\(self)" }

    /// Whether what it does grows with a text or a collection, by more than reading it once.
    var isDear: Bool {
        switch self {
        case .matches, .regexReplace, .regexExtract, .regexExtractAll, .replace, .split, .join,
            .format, .quote, .reverse, .flatten, .distinct, .sort, .setsContains, .setsIntersects,
            .setsEquivalent, .base64Encode, .base64Decode:
            true
        default: readsSlowly
        }
    }

    /// Whether it takes its texts apart piece by piece, and so costs a unit for each byte of them.
    var readsSlowly: Bool {
        switch self {
        case .toDouble, .toDuration, .ip, .cidr, .isIP, .isCIDR, .ipIsCanonical, .containsIP,
            .containsCIDR:
            true
        default: false
        }
    }
}

/// The signatures of the built-in functions.
enum Library {
    struct Entry: Sendable {
        var builtin: Builtin?
        var overloads: [Function.Overload]
    }

    /// A name, what runs it, and its overloads: `(int): string`, or `.(string, int): string` for
    /// a member whose receiver is the first parameter.
    typealias Line = (name: String, builtin: Builtin?, signatures: [String])

    /// All functions by name.
    static let functions: [String: Entry] = {
        var table: [String: Entry] = [:]
        let lines =
            operators + conversions + strings + time + stringExtension + math + collections
            + optionals + encoders + network
        for line in lines {
            let overloads = line.signatures.compactMap { overload(line.name, $0) }
            table[line.name, default: Entry(builtin: line.builtin, overloads: [])].overloads +=
                overloads
        }
        return table
    }()

    /// The names of the functions, as messages show them: `+` rather than `_+_`.
    static let names: [Builtin: String] = {
        var names: [Builtin: String] = [:]
        for (name, entry) in functions {
            guard let builtin = entry.builtin else { continue }
            let text = name.filter { $0 != "_" && $0 != "@" }
            // Of several names of one function the first in the order of the alphabet.
            names[builtin] = min(names[builtin] ?? text, text)
        }
        return names
    }()

    /// Reads a signature; nil if the text is not one, which the tests rule out for the tables here.
    static func overload(_ name: String, _ signature: String) -> Function.Overload? {
        let isMember = signature.hasPrefix(".")
        guard let colon = signature.lastIndex(of: ":"),
            let result = Type(text: String(signature[signature.index(after: colon)...])),
            let open = signature.firstIndex(of: "(")
        else { return nil }
        let list = signature[signature.index(after: open)..<colon].dropLast()
        var parameters: [Type] = []
        if !list.isEmpty {
            guard case .abstract(_, let parts)? = Type(text: "parameters_(\(list))") else {
                return nil
            }
            parameters = parts
        }
        return Function.Overload(
            id: name + signature, parameters: parameters, result: result, isMember: isMember)
    }

    private static let ordered = [
        "(bool, bool): bool", "(int, int): bool", "(uint, uint): bool", "(double, double): bool",
        "(string, string): bool", "(bytes, bytes): bool", "(timestamp, timestamp): bool",
        "(duration, duration): bool", "(int, uint): bool", "(int, double): bool",
        "(uint, int): bool", "(uint, double): bool", "(double, int): bool", "(double, uint): bool",
    ]
    private static let arithmetic = [
        "(int, int): int", "(uint, uint): uint", "(double, double): double",
    ]

    private static let operators: [Line] = [
        ("_&&_", nil, ["(bool, bool): bool"]),
        ("_||_", nil, ["(bool, bool): bool"]),
        ("_?_:_", nil, ["(bool, A, A): A"]),
        ("!_", .not, ["(bool): bool"]),
        ("-_", .negate, ["(int): int", "(double): double"]),
        (
            "_+_", .add,
            arithmetic + [
                "(string, string): string", "(bytes, bytes): bytes", "(list(A), list(A)): list(A)",
                "(timestamp, duration): timestamp", "(duration, timestamp): timestamp",
                "(duration, duration): duration",
            ]
        ),
        (
            "_-_", .subtract,
            arithmetic + [
                "(timestamp, timestamp): duration", "(timestamp, duration): timestamp",
                "(duration, duration): duration",
            ]
        ),
        ("_*_", .multiply, arithmetic),
        ("_/_", .divide, arithmetic),
        ("_%_", .modulo, ["(int, int): int", "(uint, uint): uint"]),
        ("_==_", .equal, ["(A, A): bool"]),
        ("_!=_", .notEqual, ["(A, A): bool"]),
        ("_<_", .less, ordered),
        ("_<=_", .lessOrEqual, ordered),
        ("_>_", .greater, ordered),
        ("_>=_", .greaterOrEqual, ordered),
        ("@in", .isIn, ["(A, list(A)): bool", "(A, map(A, B)): bool"]),
        (
            "_[_]", .index,
            [
                "(list(A), int): A", "(map(A, B), A): B",
                "(optional_type(list(A)), int): optional_type(A)",
                "(optional_type(map(A, B)), A): optional_type(B)",
            ]
        ),
        (
            "_[?_]", .optionalIndex,
            [
                "(list(A), int): optional_type(A)", "(map(A, B), A): optional_type(B)",
                "(optional_type(list(A)), int): optional_type(A)",
                "(optional_type(map(A, B)), A): optional_type(B)",
            ]
        ),
    ]

    private static let conversions: [Line] = [
        ("bool", .toBool, ["(bool): bool", "(string): bool"]),
        (
            "int", .toInt,
            [
                "(int): int", "(uint): int", "(double): int", "(string): int", "(timestamp): int",
                "(duration): int",
            ]
        ),
        ("uint", .toUint, ["(uint): uint", "(int): uint", "(double): uint", "(string): uint"]),
        (
            "double", .toDouble,
            ["(double): double", "(int): double", "(uint): double", "(string): double"]
        ),
        (
            "string", .toString,
            [
                "(string): string", "(bool): string", "(int): string", "(uint): string",
                "(double): string", "(bytes): string", "(timestamp): string", "(duration): string",
                "(net.IP): string", "(net.CIDR): string",
            ]
        ),
        ("bytes", .toBytes, ["(bytes): bytes", "(string): bytes"]),
        (
            "timestamp", .toTimestamp,
            ["(timestamp): timestamp", "(string): timestamp", "(int): timestamp"]
        ),
        (
            "duration", .toDuration,
            ["(duration): duration", "(string): duration"]
        ),
        ("dyn", .toDyn, ["(A): dyn"]),
        ("type", .typeOf, ["(A): type(A)"]),
    ]

    private static let strings: [Line] = [
        (
            "size", .size,
            [
                "(string): int", "(bytes): int", "(list(A)): int", "(map(A, B)): int",
                ".(string): int", ".(bytes): int", ".(list(A)): int", ".(map(A, B)): int",
            ]
        ),
        ("contains", .contains, [".(string, string): bool"]),
        ("startsWith", .startsWith, [".(string, string): bool"]),
        ("endsWith", .endsWith, [".(string, string): bool"]),
        ("matches", .matches, ["(string, string): bool", ".(string, string): bool"]),
    ]

    private static let dateAccessor = [".(timestamp): int", ".(timestamp, string): int"]
    private static let clockAccessor = dateAccessor + [".(duration): int"]

    private static let time: [Line] = [
        ("getFullYear", .getFullYear, dateAccessor), ("getMonth", .getMonth, dateAccessor),
        ("getDayOfYear", .getDayOfYear, dateAccessor),
        ("getDayOfMonth", .getDayOfMonth, dateAccessor), ("getDate", .getDate, dateAccessor),
        ("getDayOfWeek", .getDayOfWeek, dateAccessor), ("getHours", .getHours, clockAccessor),
        ("getMinutes", .getMinutes, clockAccessor), ("getSeconds", .getSeconds, clockAccessor),
        ("getMilliseconds", .getMilliseconds, clockAccessor),
    ]
}
