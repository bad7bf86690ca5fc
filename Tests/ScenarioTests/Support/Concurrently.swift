import Foundation
import Glibc
import Synchronization

/// Runs a closure on that many threads at once and waits for all of them.
func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    Threads(count, body).join()
}

/// Threads that are under way, while the test does something else.
final class Threads {
    private let group = DispatchGroup()

    init(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        for index in 0..<count {
            group.enter()
            let thread = Thread { [group] in
                body(index)
                group.leave()
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    func join() { group.wait() }
}

/// What threads gather.
final class Gathered<Element: Sendable>: Sendable {
    private let items = Mutex<[Element]>([])

    func add(_ item: Element) { items.withLock { $0.append(item) } }
    var all: [Element] { items.withLock { $0 } }
    var count: Int { items.withLock { $0.count } }
}

/// A flag that threads look at.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// Two or more threads that go on together.
final class Barrier: @unchecked Sendable {
    // Unchecked: the memory is a barrier of pthread, made for use by many threads.
    private let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)

    init(_ count: Int) { pthread_barrier_init(barrier, nil, UInt32(count)) }

    deinit {
        pthread_barrier_destroy(barrier)
        barrier.deallocate()
    }

    func wait() { pthread_barrier_wait(barrier) }
}

/// What a long run tells of itself, on standard error.
enum Progress {
    static func say(_ text: String) {
        FileHandle.standardError.write(Data("prove: \(text)\n".utf8))
    }
}
