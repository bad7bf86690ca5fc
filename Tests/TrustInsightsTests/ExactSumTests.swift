import Testing
import TrustInsights

/// A whole number of any length, of which a double is a multiple of 2⁻¹⁰⁷⁴: the independent
/// method that sums are checked against. Schoolbook arithmetic on decimal digits.
private struct Whole: Equatable {
    /// Base 10⁹, the lowest first, without zeros at the end.
    var digits: [Int64] = []
    var isNegative = false
    private static let base: Int64 = 1_000_000_000

    /// A finite double in units of the least one.
    init(_ number: Double) {
        isNegative = number < 0
        var significand = Int64(number.significandBitPattern)
        if number.exponentBitPattern != 0 { significand += 1 << 52 }
        while significand > 0 {
            digits.append(significand % Self.base)
            significand /= Self.base
        }
        for _ in 0..<max(0, Int(number.exponentBitPattern) - 1) { double() }
        if digits.isEmpty { isNegative = false }
    }

    mutating func double() {
        var carry: Int64 = 0
        for index in digits.indices {
            let value = digits[index] * 2 + carry
            digits[index] = value % Self.base
            carry = value / Self.base
        }
        if carry > 0 { digits.append(carry) }
    }

    func doubled() -> Whole {
        var copy = self
        copy.double()
        return copy
    }

    /// −1, 0 or 1.
    static func compareMagnitudes(_ left: Whole, _ right: Whole) -> Int {
        if left.digits.count != right.digits.count {
            return left.digits.count < right.digits.count ? -1 : 1
        }
        for index in left.digits.indices.reversed() where left.digits[index] != right.digits[index]
        {
            return left.digits[index] < right.digits[index] ? -1 : 1
        }
        return 0
    }

    static func + (left: Whole, right: Whole) -> Whole {
        var result = left
        let isSum = left.isNegative == right.isNegative
        let (large, small) =
            isSum || compareMagnitudes(left, right) >= 0 ? (left, right) : (right, left)
        result = large
        var carry: Int64 = 0
        for index in 0..<max(large.digits.count, small.digits.count) {
            let other = index < small.digits.count ? small.digits[index] : 0
            if index == result.digits.count { result.digits.append(0) }
            var value = result.digits[index] + (isSum ? other : -other) + carry
            carry = 0
            if value < 0 { (value, carry) = (value + base, -1) }
            if value >= base { (value, carry) = (value - base, 1) }
            result.digits[index] = value
        }
        if carry > 0 { result.digits.append(carry) }
        while result.digits.last == 0 { result.digits.removeLast() }
        if result.digits.isEmpty { result.isNegative = false }
        return result
    }

    static prefix func - (value: Whole) -> Whole {
        var copy = value
        if !copy.digits.isEmpty { copy.isNegative.toggle() }
        return copy
    }

    /// Whether a double is the number rounded to the nearest, ties to even.
    func rounds(to result: Double) -> Bool {
        // From half a step above the greatest double on, the nearest is infinity.
        let limit = Whole(.greatestFiniteMagnitude)
        let step = limit + -Whole(Double.greatestFiniteMagnitude.nextDown)
        if !result.isFinite {
            guard !result.isNaN, isNegative == (result < 0) else { return false }
            return Self.compareMagnitudes(self.doubled(), limit.doubled() + step) >= 0
        }
        let distance = (self + -Whole(result)).doubled()
        for neighbour in [result.nextUp, result.nextDown] {
            let gap =
                neighbour.isFinite ? Whole(neighbour) + -Whole(result) : step
            guard distance.isNegative == gap.isNegative || distance.digits.isEmpty else { continue }
            switch Self.compareMagnitudes(distance, gap) {
            case 1: return false
            case 0: if result.significandBitPattern & 1 != 0 { return false }
            default: break
            }
        }
        return true
    }
}

@Suite struct ExactSumTests {
    private func sum(_ numbers: [Double]) -> Double {
        var sum = ExactSum()
        for number in numbers { sum.add(number) }
        return sum.value
    }

    static let known: [([Double], Double)] = [
        ([], 0),
        ([0.1], 0.1),
        ([0.1, 0.2], 0.30000000000000004),
        ([0.1, 0.1, 0.1], 0.30000000000000004),
        ([Double](repeating: 0.1, count: 10), 1),
        ([1e16, 1, -1e16], 1),
        ([1, 1e100, 1, -1e100], 2),
        ([1e308, 1e308, -1e308], 1e308),
        ([1e308, 1e308, -1e308, -1e308], 0),
        ([.greatestFiniteMagnitude, 1], .greatestFiniteMagnitude),
        ([.leastNonzeroMagnitude, .leastNonzeroMagnitude], Double(bitPattern: 2)),
        ([.leastNormalMagnitude, -.leastNonzeroMagnitude], Double.leastNormalMagnitude.nextDown),
        // Ties go to even; the least bit below them decides otherwise.
        ([9_007_199_254_740_992, 1], 9_007_199_254_740_992),
        ([9_007_199_254_740_994, 1], 9_007_199_254_740_996),
        ([9_007_199_254_740_992, 1, .leastNonzeroMagnitude], 9_007_199_254_740_994),
        ([9_007_199_254_740_994, 1, -.leastNonzeroMagnitude], 9_007_199_254_740_994),
        ([-9_007_199_254_740_992, -1], -9_007_199_254_740_992),
        ([-9_007_199_254_740_992, -1, -.leastNonzeroMagnitude], -9_007_199_254_740_994),
        ([.infinity, 1], .infinity),
        ([1e308, -.infinity, 1e308], -.infinity),
        ([.greatestFiniteMagnitude, .greatestFiniteMagnitude], .infinity),
    ]

    @Test(arguments: known) func knownSums(numbers: [Double], expected: Double) {
        #expect(sum(numbers) == expected)
        #expect(sum(numbers.reversed()) == expected)
    }

    @Test func halfAStepAboveTheGreatestIsInfinity() {
        let greatest = Double.greatestFiniteMagnitude
        let half = 0x1p970
        #expect(sum([greatest, half]) == .infinity)
        #expect(sum([greatest, half, -.leastNonzeroMagnitude]) == greatest)
        #expect(sum([-greatest, -half]) == -.infinity)
        #expect(sum([greatest, greatest, -greatest, -greatest, 3]) == 3)
    }

    @Test func whatIsNoNumberStaysNone() {
        #expect(sum([.infinity, -.infinity]).isNaN)
        #expect(sum([1, .nan, 2]).isNaN)
        #expect(sum([.nan, .infinity]).isNaN)
    }

    @Test(arguments: 0..<60) func theSameInAnyOrderAndCorrectlyRounded(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        // Of narrow and of wide ranges, with what cancels and what is halfway.
        let width = [1, 8, 60, 300, 1023].randomElement(using: &random)!
        var numbers: [Double] = []
        for _ in 0..<Int.random(in: 1...24, using: &random) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                if let number = numbers.randomElement(using: &random) { numbers.append(-number) }
            case 1:
                if let number = numbers.randomElement(using: &random) {
                    numbers.append(number.ulp / 2)
                }
            default:
                let exponent = Int.random(in: -width...width, using: &random)
                let number = Double(
                    sign: .plus, exponent: exponent,
                    significand: Double.random(in: 1..<2, using: &random))
                numbers.append(Bool.random(using: &random) ? number : -number)
            }
        }
        let exact = numbers.reduce(Whole(0)) { $0 + Whole($1) }
        let result = sum(numbers)
        #expect(exact.rounds(to: result), "seed \(seed): \(numbers) gave \(result)")
        for _ in 0..<6 {
            numbers.shuffle(using: &random)
            #expect(sum(numbers) == result, "seed \(seed): another order \(numbers)")
        }
    }

    @Test(arguments: 0..<20) func subnormalSums(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let numbers = (0..<10).map { _ in
            let bits = UInt64.random(in: 0..<(1 << 54), using: &random)
            return Bool.random(using: &random)
                ? Double(bitPattern: bits) : -Double(bitPattern: bits)
        }
        let exact = numbers.reduce(Whole(0)) { $0 + Whole($1) }
        #expect(exact.rounds(to: sum(numbers)), "seed \(seed): \(numbers)")
    }

    /// The method of checking must itself be able to say no.
    @Test func theCheckTellsWrongFromRight() {
        let exact = Whole(0.1) + Whole(0.2)
        #expect(exact.rounds(to: 0.30000000000000004))
        #expect(!exact.rounds(to: 0.3))
        #expect(!exact.rounds(to: 0.30000000000000004.nextUp))
        #expect(Whole(1e308).rounds(to: 1e308))
        #expect(!Whole(1e308).rounds(to: .infinity))
        #expect(Whole(-3) + Whole(3) == Whole(0))
    }
}
