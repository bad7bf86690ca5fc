import Glibc
import Synchronization

/// A thread of the operating system that runs one closure.
final class BackgroundThread: Sendable {
    private let handle: pthread_t

    /// Starts the thread. Nil if the system has none left.
    init?(_ body: @escaping @Sendable () -> Void) {
        var handle = pthread_t()
        let box = Unmanaged.passRetained(Box(body))
        let status = pthread_create(
            &handle, nil,
            { pointer in
                if let pointer {
                    Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
                }
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            box.release()
            return nil
        }
        self.handle = handle
    }

    /// Waits for the closure to return. To be called once.
    func join() { pthread_join(handle, nil) }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// A flag that one thread raises and another sleeps on.
final class WakeUp: Sendable {
    // A pipe: its closed end wakes a sleeper, needs no byte, and cannot be missed.
    private let reader: Int32
    private let writer: Atomic<Int32>

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = ends[0]
        writer = Atomic(ends[1])
    }

    deinit {
        raise()
        close(reader)
    }

    /// Raises the flag for good.
    func raise() {
        let descriptor = writer.exchange(-1, ordering: .acquiringAndReleasing)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Sleeps. True if the flag was raised, false if the time was up.
    func sleep(milliseconds: Int64) -> Bool {
        var poll = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, Int32(clamping: milliseconds)) > 0
    }
}
