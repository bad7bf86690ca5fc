import Synchronization

/// A number that only grows, counted by many threads.
public final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    /// A counter at 0.
    public init() {}

    /// Counts that many more.
    public func add(_ amount: Int = 1) { count.wrappingAdd(amount, ordering: .relaxed) }

    /// What has been counted.
    public var value: Int { count.load(ordering: .relaxed) }
}
