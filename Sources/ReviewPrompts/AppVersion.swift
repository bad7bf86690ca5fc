import Policies

/// The version of an app, compared as a version: `1.10 > 1.9`, `2.0 = 2.0.0`, `2.0-beta < 2.0`.
///
/// Numbers between dots, then optionally a pre-release (`-beta.2`, ordered as in Semantic
/// Versioning) and build data (`+77`, not compared). Equal versions are the same version, however
/// they were spelt.
public struct AppVersion: Hashable, Comparable, Sendable {
    /// The longest text that is read, in bytes.
    public static let maxLength = 64

    /// The numbers, without the zeros at the end.
    let numbers: [UInt64]
    /// The identifiers of the pre-release; empty for a release.
    let preRelease: [Identifier]

    /// One part of a pre-release. A number is below any word.
    enum Identifier: Hashable, Sendable {
        case number(UInt64)
        case word(String)
    }

    /// Reads a version; nil if the text is not one.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.maxLength else { return nil }
        if let numbers = Self.plainNumbers(text) {
            self.init(numbers: numbers, preRelease: [])
            return
        }
        let isAllowed = { (byte: UInt8) in
            byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        let build = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        if build.count == 2 {
            let parts = build[1].split(separator: ".", omittingEmptySubsequences: false)
            guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isAllowed) }) else {
                return nil
            }
        }
        let halves = build[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        var numbers: [UInt64] = []
        for part in halves[0].split(separator: ".", omittingEmptySubsequences: false) {
            guard let number = Self.number(part) else { return nil }
            numbers.append(number)
        }
        while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
        var preRelease: [Identifier] = []
        if halves.count == 2 {
            for part in halves[1].split(separator: ".", omittingEmptySubsequences: false) {
                guard !part.isEmpty, part.utf8.allSatisfy(isAllowed) else { return nil }
                preRelease.append(Self.number(part).map { .number($0) } ?? .word(String(part)))
            }
        }
        self.init(numbers: numbers, preRelease: preRelease)
    }

    private init(numbers: [UInt64], preRelease: [Identifier]) {
        self.numbers = numbers
        self.preRelease = preRelease
    }

    /// The numbers of a version that has nothing but numbers and dots, as nearly all have: rules
    /// read versions many times. Nil for any other text, a wrong one too.
    private static func plainNumbers(_ text: String) -> [UInt64]? {
        var numbers: [UInt64] = []
        var number: UInt64?
        for byte in text.utf8 {
            if byte == UInt8(ascii: ".") {
                guard let complete = number else { return nil }
                numbers.append(complete)
                number = nil
                continue
            }
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (tenfold, isTooLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflows) = tenfold.addingReportingOverflow(UInt64(digit))
            guard !isTooLarge, !overflows else { return nil }
            number = sum
        }
        guard let last = number else { return nil }
        numbers.append(last)
        while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
        return numbers
    }

    private static func number(_ text: Substring) -> UInt64? {
        // `UInt64` would also take a sign.
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return UInt64(text)
    }

    /// The version as far as a grain looks: `4.6.1-beta` is itself, `4.6` or `4`.
    public func cut(to grain: VersionGrain) -> AppVersion {
        let count: Int
        switch grain {
        case .full: return self
        case .minor: count = 2
        case .major: count = 1
        }
        var numbers = Array(numbers.prefix(count))
        while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
        return AppVersion(numbers: numbers, preRelease: [])
    }

    /// Whether the left version comes before the right one.
    public static func < (left: AppVersion, right: AppVersion) -> Bool {
        for index in 0..<max(left.numbers.count, right.numbers.count) {
            let l = index < left.numbers.count ? left.numbers[index] : 0
            let r = index < right.numbers.count ? right.numbers[index] : 0
            if l != r { return l < r }
        }
        // A release is above all its pre-releases.
        if left.preRelease.isEmpty || right.preRelease.isEmpty {
            return !left.preRelease.isEmpty && right.preRelease.isEmpty
        }
        for (l, r) in zip(left.preRelease, right.preRelease) where l != r {
            switch (l, r) {
            case (.number(let l), .number(let r)): return l < r
            case (.number, .word): return true
            case (.word, .number): return false
            // By bytes, so that no locale or normal form is involved.
            case (.word(let l), .word(let r)): return l.utf8.lexicographicallyPrecedes(r.utf8)
            }
        }
        return left.preRelease.count < right.preRelease.count
    }
}

extension AppVersion: CustomStringConvertible {
    /// The canonical text: no zeros at the end except in a single number, no build data.
    public var description: String {
        let core = numbers.map(String.init).joined(separator: ".")
        let parts = preRelease.map { identifier in
            switch identifier {
            case .number(let number): String(number)
            case .word(let word): word
            }
        }
        return parts.isEmpty ? core : core + "-" + parts.joined(separator: ".")
    }
}
