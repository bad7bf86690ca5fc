/// How often values fell into each of a few fixed ranges, counted by many threads.
public final class Histogram: Sendable {
    /// The upper bounds in seconds, ascending; what is larger falls into one more range.
    public let bounds: [Double]
    private let limits: [Int64]
    private let counts: [Counter]
    private let sum = Counter()

    /// Bounds for the latency of calls: what a commit costs lies in their middle.
    public static let latencyBounds = [
        0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10,
    ]

    /// An empty histogram with upper bounds in seconds.
    public init(bounds: [Double] = Histogram.latencyBounds) {
        self.bounds = bounds
        limits = bounds.map { Int64($0 * 1e9) }
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts one value, in nanoseconds.
    public func observe(nanoseconds: Int64) {
        counts[limits.firstIndex { nanoseconds <= $0 } ?? limits.count].add()
        sum.add(Int(nanoseconds))
    }

    /// How many values fell into each range, the last without a bound, and their sum in seconds.
    var snapshot: (counts: [Int], seconds: Double) {
        (counts.map(\.value), Double(sum.value) / 1e9)
    }
}
