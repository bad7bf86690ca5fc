import Glibc

/// A value that threads share, with waiting for it to change: a mutex and a condition of
/// pthread, which `Synchronization` lacks. The only such wrapper here.
public final class Guarded<Value>: @unchecked Sendable {
    // Unchecked: `value` is touched only while the mutex is held.
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// A shared value.
    public init(_ value: sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Time-outs must not depend on the wall clock.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Reads or changes the value.
    public func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Changes the value and wakes whoever waits for that.
    public func signal<R>(_ body: (inout Value) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return body(&value)
    }

    /// Waits until `body` gives something. With a time-out in milliseconds, `nil` when it is
    /// over.
    public func wait<R>(milliseconds: Int64? = nil, for body: (inout Value) -> R?) -> R? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        var deadline = timespec()
        if let milliseconds {
            clock_gettime(CLOCK_MONOTONIC, &deadline)
            let nanoseconds = deadline.tv_nsec + Int(milliseconds % 1000) * 1_000_000
            deadline.tv_sec += Int(milliseconds / 1000) + nanoseconds / 1_000_000_000
            deadline.tv_nsec = nanoseconds % 1_000_000_000
        }
        while true {
            if let result = body(&value) { return result }
            if milliseconds == nil {
                pthread_cond_wait(condition, mutex)
            } else if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT {
                return body(&value)
            }
        }
    }
}

/// A thread of the system that runs one closure.
public final class Thread: @unchecked Sendable {
    // Unchecked: `handle` is written once, before the thread can be joined.
    private var handle = pthread_t()

    /// Starts a thread.
    public init(name: String, _ body: @escaping @Sendable () -> Void) {
        let status = Self.start(&handle, body)
        // A process that may not start its few threads cannot serve at all.
        precondition(status == 0, "cannot start the thread \(name): error \(status)")
    }

    /// Starts a thread that nobody waits for; its memory is given back when it ends. False if
    /// the system has none to give.
    public static func detach(_ body: @escaping @Sendable () -> Void) -> Bool {
        var handle = pthread_t()
        guard start(&handle, body) == 0 else { return false }
        pthread_detach(handle)
        return true
    }

    private static func start(
        _ handle: inout pthread_t, _ body: @escaping @Sendable () -> Void
    ) -> Int32 {
        let box = Unmanaged.passRetained(Body(run: body))
        let status = pthread_create(
            &handle, nil,
            { context in
                guard let context else { return nil }
                let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
                body.run()
                return nil
            }, box.toOpaque())
        if status != 0 { box.release() }
        return status
    }

    /// Waits until the closure has returned. To be called once.
    public func join() { pthread_join(handle, nil) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
