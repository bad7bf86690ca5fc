import Glibc

/// Times something again and again.
struct Sampler {
    /// What one run took, in nanoseconds.
    struct Times {
        var samples: Int
        var least: Double
        var median: Double
        var p99: Double
        /// Allocations of one run; nil if they are not counted.
        var allocations: Double?
    }

    /// How long a measurement takes, in nanoseconds.
    let budget: Int64
    /// What reading the clock twice takes.
    private let overhead: Int64
    private static let most = 1_000_000
    private static let least = 5

    init(budget: Int64) {
        self.budget = budget
        var empty = (0..<1_001).map { _ -> Int64 in
            let start = Self.now()
            return Self.now() - start
        }
        empty.sort()
        overhead = empty[500]
    }

    /// Runs `body` until the time is over. `before` is not timed; it says how many things one run
    /// of `body` does, of which one is reported.
    func sample(_ before: (_ round: Int) -> Int, body: () -> Void) -> Times {
        var times: [Double] = []
        var allocations = 0
        var done = 0
        let end = Self.now() + budget
        var round = 0
        // The first run pays for what later ones find ready.
        _ = before(0)
        body()
        while round < Self.least || (Self.now() < end && round < Self.most) {
            let count = before(round)
            let taken = Allocations.count()
            let start = Self.now()
            body()
            let time = Self.now() - start
            if let taken, let now = Allocations.count() { allocations += now - taken }
            times.append(Double(max(time - overhead, 0)) / Double(count))
            done += count
            round += 1
        }
        times.sort()
        return Times(
            samples: times.count, least: times[0], median: times[times.count / 2],
            p99: times[min(times.count * 99 / 100, times.count - 1)],
            allocations: Allocations.count().map { _ in Double(allocations) / Double(done) })
    }

    private static func now() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}

/// What a counter of allocations says, if one was loaded before the program.
enum Allocations {
    private typealias Function = @convention(c) () -> Int

    private static let function: Function? = {
        guard let program = dlopen(nil, RTLD_NOW), let symbol = dlsym(program, "count_allocations")
        else { return nil }
        // The counter declares it so: Benchmarks/CEL/count.c.
        return unsafeBitCast(symbol, to: Function.self)
    }()

    /// Allocations so far.
    static func count() -> Int? { function?() }
}
