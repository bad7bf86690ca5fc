import Glibc
import Synchronization

/// Work on several threads.
enum Parallel {
    private final class Share<Result: Sendable>: Sendable {
        let next = Atomic<Int>(0)
        let count: Int
        let results: Mutex<[Result?]>
        let work: @Sendable (Int) -> Result

        init(_ count: Int, _ work: @escaping @Sendable (Int) -> Result) {
            self.count = count
            self.work = work
            results = Mutex(Array(repeating: nil, count: count))
        }

        func run() {
            while true {
                let index = next.add(1, ordering: .relaxed).oldValue
                guard index < count else { return }
                let result = work(index)
                results.withLock { $0[index] = result }
            }
        }
    }

    /// What `work` gives for 0 to `count`, in that order, by as many threads as there are
    /// processors, or as are asked for.
    static func map<Result: Sendable>(
        _ count: Int, threads: Int? = nil, _ work: @escaping @Sendable (Int) -> Result
    ) -> [Result] {
        let share = Share(count, work)
        let wanted = min(threads ?? max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), count)
        var others: [pthread_t] = []
        for _ in 1..<max(wanted, 1) {
            let run: @Sendable () -> Void = { share.run() }
            let box = Unmanaged.passRetained(Box(run)).toOpaque()
            var thread = pthread_t()
            let failed = pthread_create(
                &thread, nil,
                { box in
                    guard let box else { return nil }
                    Unmanaged<Box>.fromOpaque(box).takeRetainedValue().run()
                    return nil
                }, box)
            // With fewer threads it takes longer; this one always works.
            guard failed == 0 else {
                Unmanaged<Box>.fromOpaque(box).release()
                break
            }
            others.append(thread)
        }
        share.run()
        for thread in others { pthread_join(thread, nil) }
        return share.results.withLock { $0.compactMap { $0 } }
    }

    private final class Box {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
