import Glibc

/// Chance that follows from a seed alone (SplitMix64: Steele, Lea and Flood, 2014).
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// True so often.
    mutating func happens(_ rate: Double) -> Bool { unit() < rate }

    /// 0 up to 1, 1 left out.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func between(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + unit() * (range.upperBound - range.lowerBound)
    }

    /// A normally distributed number (Box and Muller).
    mutating func normal() -> Double {
        (-2 * log(1 - unit())).squareRoot() * cos(2 * Double.pi * unit())
    }

    /// A number whose logarithm is normal: many small, few large.
    mutating func skewed(median: Double, spread: Double) -> Double {
        median * exp(spread * normal())
    }
}
