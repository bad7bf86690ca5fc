extension Library {
    static let stringExtension: [Line] = [
        ("charAt", .charAt, [".(string, int): string"]),
        ("indexOf", .indexOf, [".(string, string): int", ".(string, string, int): int"]),
        ("lastIndexOf", .lastIndexOf, [".(string, string): int", ".(string, string, int): int"]),
        ("lowerAscii", .lowerAscii, [".(string): string"]),
        ("upperAscii", .upperAscii, [".(string): string"]),
        (
            "replace", .replace,
            [".(string, string, string): string", ".(string, string, string, int): string"]
        ),
        (
            "split", .split,
            [".(string, string): list(string)", ".(string, string, int): list(string)"]
        ),
        ("join", .join, [".(list(string)): string", ".(list(string), string): string"]),
        ("substring", .substring, [".(string, int): string", ".(string, int, int): string"]),
        ("trim", .trim, [".(string): string"]),
        ("format", .format, [".(string, list(dyn)): string"]),
        ("strings.quote", .quote, ["(string): string"]),
        ("reverse", .reverse, [".(string): string", ".(list(A)): list(A)"]),
        (
            "regex.replace", .regexReplace,
            ["(string, string, string): string", "(string, string, string, int): string"]
        ),
        ("regex.extract", .regexExtract, ["(string, string): optional_type(string)"]),
        ("regex.extractAll", .regexExtractAll, ["(string, string): list(string)"]),
    ]

    private static let numbers = ["int", "uint", "double"]

    /// `math.greatest` and `math.least` of one or two numbers, or a list of them; the checker itself
    /// knows that they take any number of numbers.
    private static let extremes: [String] = {
        var signatures = numbers.map { "(\($0)): \($0)" }
        for left in numbers {
            for right in numbers {
                signatures.append("(\(left), \(right)): \(left == right ? left : "dyn")")
            }
            signatures.append("(list(\(left))): \(left)")
        }
        return signatures
    }()

    private static let ofDouble = ["(double): double"]
    private static let testOfDouble = ["(double): bool"]
    private static let ofTwoBits = ["(int, int): int", "(uint, uint): uint"]
    private static let shift = ["(int, int): int", "(uint, int): uint"]
    private static let ofNumber = numbers.map { "(\($0)): \($0)" }

    static let math: [Line] = [
        ("math.greatest", .greatest, extremes), ("math.least", .least, extremes),
        ("math.ceil", .ceil, ofDouble), ("math.floor", .floor, ofDouble),
        ("math.round", .round, ofDouble), ("math.trunc", .trunc, ofDouble),
        ("math.abs", .abs, ofNumber), ("math.sign", .sign, ofNumber),
        ("math.isNaN", .isNaN, testOfDouble), ("math.isInf", .isInf, testOfDouble),
        ("math.isFinite", .isFinite, testOfDouble),
        ("math.sqrt", .sqrt, ["(double): double", "(int): double", "(uint): double"]),
        ("math.bitAnd", .bitAnd, ofTwoBits), ("math.bitOr", .bitOr, ofTwoBits),
        ("math.bitXor", .bitXor, ofTwoBits),
        ("math.bitNot", .bitNot, ["(int): int", "(uint): uint"]),
        ("math.bitShiftLeft", .bitShiftLeft, shift), ("math.bitShiftRight", .bitShiftRight, shift),
    ]

    private static let pairOfLists = ["(list(A), list(A)): bool"]

    static let collections: [Line] = [
        ("slice", .slice, [".(list(A), int, int): list(A)"]),
        ("flatten", .flatten, [".(list(A)): list(dyn)", ".(list(A), int): list(dyn)"]),
        ("distinct", .distinct, [".(list(A)): list(A)"]),
        ("sort", .sort, [".(list(A)): list(A)"]),
        ("lists.range", .range, ["(int): list(int)"]),
        ("first", .first, [".(list(A)): optional_type(A)"]),
        ("last", .last, [".(list(A)): optional_type(A)"]),
        ("sets.contains", .setsContains, pairOfLists),
        ("sets.intersects", .setsIntersects, pairOfLists),
        ("sets.equivalent", .setsEquivalent, pairOfLists),
    ]

    static let optionals: [Line] = [
        ("optional.of", .optionalOf, ["(A): optional_type(A)"]),
        ("optional.ofNonZeroValue", .optionalOfNonZero, ["(A): optional_type(A)"]),
        ("optional.none", .optionalNone, ["(): optional_type(A)"]),
        ("optional.unwrap", .unwrap, ["(list(optional_type(A))): list(A)"]),
        ("unwrapOpt", .unwrap, [".(list(optional_type(A))): list(A)"]),
        ("hasValue", .hasValue, [".(optional_type(A)): bool"]),
        ("value", .value, [".(optional_type(A)): A"]),
        ("or", .or, [".(optional_type(A), optional_type(A)): optional_type(A)"]),
        ("orValue", .orValue, [".(optional_type(A), A): A"]),
    ]

    static let encoders: [Line] = [
        ("base64.encode", .base64Encode, ["(bytes): string"]),
        ("base64.decode", .base64Decode, ["(string): bytes"]),
    ]

    private static let testOfAddress = [".(net.IP): bool"]

    static let network: [Line] = [
        ("ip", .ip, ["(string): net.IP", ".(net.CIDR): net.IP"]),
        ("cidr", .cidr, ["(string): net.CIDR"]),
        ("isIP", .isIP, ["(string): bool"]),
        ("isCIDR", .isCIDR, ["(string): bool"]),
        ("ip.isCanonical", .ipIsCanonical, ["(string): bool"]),
        ("family", .family, [".(net.IP): int"]),
        ("isUnspecified", .isUnspecified, testOfAddress),
        ("isLoopback", .isLoopback, testOfAddress),
        ("isGlobalUnicast", .isGlobalUnicast, testOfAddress),
        ("isLinkLocalMulticast", .isLinkLocalMulticast, testOfAddress),
        ("isLinkLocalUnicast", .isLinkLocalUnicast, testOfAddress),
        ("containsIP", .containsIP, [".(net.CIDR, net.IP): bool", ".(net.CIDR, string): bool"]),
        (
            "containsCIDR", .containsCIDR,
            [".(net.CIDR, net.CIDR): bool", ".(net.CIDR, string): bool"]
        ),
        ("masked", .masked, [".(net.CIDR): net.CIDR"]),
        ("prefixLength", .prefixLength, [".(net.CIDR): int"]),
    ]
}
